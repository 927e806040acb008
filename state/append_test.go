package state

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// TestAppendAllIsAppend checks that appending all writes of a fan-out at once gives the
// same result as appending them one by one, and changes no shared array.
func TestAppendAllIsAppend(t *testing.T) {
	took := 0
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 5))
		typed := r.IntN(2) == 0
		list := func(n, room int) any {
			if typed {
				l := make([]int, n, n+room)
				for i := range l {
					l[i] = r.IntN(100)
				}
				return l
			}
			l := make([]any, n, n+room)
			for i := range l {
				l[i] = int64(r.IntN(100))
			}
			return l
		}
		old := []any{nil, value.Missing, list(0, 0), list(r.IntN(5), r.IntN(9))}[r.IntN(4)]
		var writes []any
		for range r.IntN(6) {
			writes = append(writes, list(r.IntN(4), r.IntN(3)))
		}
		if r.IntN(10) == 0 { // as if a value of another type had been read from a snapshot
			writes = append(writes, []any{"other"})
		}
		owns := r.IntN(2) == 0
		// Unless the array of old is owned, another slice shares its array beyond the end of old.
		held := held(old)
		before := value.JSON(value.Clone(held))
		got, ok, _ := appendAll(nil, old, writes, &owned{array: owns})
		if !owns && value.JSON(held) != before {
			t.Fatalf("seed %d: the array of somebody else was changed", seed)
		}
		if !ok {
			continue
		}
		took++
		want, own := old, owned{}
		for _, w := range writes {
			want, _ = mergeAppend(nil, want, w, &own)
			own.array = true
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got %#v, want %#v", seed, got, want)
		}
	}
	if took < 1000 {
		t.Errorf("only %d of 3000 cases were taken", took)
	}
}

// held returns the whole array of a slice, up to its capacity.
func held(old any) any {
	if empty(old) {
		return nil
	}
	v := reflect.ValueOf(old)
	return v.Slice(0, v.Cap()).Interface()
}
