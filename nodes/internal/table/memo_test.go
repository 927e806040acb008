package table

import (
	"fmt"
	"math"
	"testing"
)

// A memo never changes a value, whether values are repeated or not.
func TestMemo(t *testing.T) {
	for _, distinct := range []int64{1, 3, 200, 1000, 3 * lastMemo, math.MaxInt64} {
		var texts, bytes, integers, floats Memo
		for i := range int64(10 * lastMemo) {
			n := i * 7919 % distinct
			if got, want := texts.Text(fmt.Sprint("t", n)), fmt.Sprint("t", n); got != want {
				t.Fatalf("text %v, want %v", got, want)
			}
			if got := integers.Integer(-n); got != -n {
				t.Fatalf("integer %v, want %d", got, -n)
			}
			if got, want := bytes.Bytes(fmt.Appendf(nil, "b%d", n)), fmt.Sprint("b", n); got != want {
				t.Fatalf("bytes %v, want %v", got, want)
			}
			f := float64(n) / 3
			if got := floats.Float(f); got != f {
				t.Fatalf("float %v, want %v", got, f)
			}
		}
	}
	var m Memo
	if got := m.Float(math.Copysign(0, -1)).(float64); !math.Signbit(got) || m.Float(0) != 0.0 || math.Signbit(m.Float(0).(float64)) {
		t.Error("-0.0 and 0.0 are two values")
	}
}

// Repeated values do not allocate. If no values are repeated, the memo turns itself
// off.
func TestMemoAllocates(t *testing.T) {
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprint("name", i)
	}
	var m Memo
	round := func() {
		for i, n := range names {
			m.Text(n)
			m.Integer(int64(1000 + i%50))
			m.Float(float64(i%10) / 2)
		}
	}
	round()
	if n := testing.AllocsPerRun(20, round); n > 100 { // some values share a slot
		t.Errorf("%v allocations for 300 values that come again", n)
	}
	var few Memo
	for i := range int64(patience * (firstMemo + 4*firstMemo + lastMemo)) {
		if !few.enabled() {
			t.Fatalf("a memo gives up after %d values, before it had all slots", i)
		}
		few.Integer(1000 + i)
	}
	if few.enabled() || few.slots != nil {
		t.Error("a memo goes on although no value came again")
	}
	var wide Memo
	for i := range int64(50 * lastMemo) {
		wide.Integer(1000 + i%2000)
	}
	if n := len(wide.slots); n != lastMemo {
		t.Errorf("2,000 values that come again have %d slots, want %d", n, lastMemo)
	}
}
