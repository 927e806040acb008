package core_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// encoded returns what encoding/json writes for an event.
func encoded(e *core.Event) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), err
}

// samples returns values of the type of a member of core.Event.
func samples(t *testing.T, typ reflect.Type) []any {
	switch typ {
	case reflect.TypeFor[time.Time]():
		return []any{time.Date(2024, 1, 31, 8, 0, 0, 120, time.UTC), time.Date(2024, 1, 31, 8, 0, 0, 0, time.FixedZone("", 3600)), time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 1, 31, 8, 0, 0, 0, time.FixedZone("", 25*3600))}
	case reflect.TypeFor[core.Ordinal]():
		return []any{core.Nth(0), core.Nth(41), core.Ordinal(-3)}
	case reflect.TypeFor[*core.Failure]():
		return []any{&core.Failure{}, &core.Failure{Class: core.ClassPanic, Message: "<b> & \"c\"\n", Node: "a", Permanent: true, RetryAfter: 3, Stack: "x"}}
	case reflect.TypeFor[*bool]():
		return []any{new(bool)}
	case reflect.TypeFor[*value.Object]():
		return []any{value.NewObject(0), value.ObjectOf("<a>", []any{int64(1), 2.5, nil, true, "ä\u2028", value.ObjectOf("b", 1.0)}), value.ObjectOf("nan", math.NaN())}
	case reflect.TypeFor[*core.Usage]():
		return []any{&core.Usage{}, &core.Usage{Calls: 2, Cost: 1e-9}}
	case reflect.TypeFor[[]string]():
		return []any{[]string{}, []string{"a", "<b>"}}
	case reflect.TypeFor[*core.Limits]():
		return []any{&core.Limits{}, &core.Limits{Concurrency: 1, MaxInFlight: 2, Barrier: true, MaxVisits: 3}}
	}
	switch typ.Kind() {
	case reflect.Bool:
		return []any{true}
	case reflect.Int, reflect.Int64:
		return []any{1, -7, math.MaxInt64}
	case reflect.String:
		return []any{"a", "<b> & c", `"\`, "\x00\n\u007f", "ä€😀\u2028", "bad \xff utf-8"}
	}
	t.Fatalf("no samples of %s", typ)
	return nil
}

// TestAppendJSON checks that AppendJSON produces the same JSON as encoding/json, for events with one
// member and for an event with all of them.
func TestAppendJSON(t *testing.T) {
	same := func(e *core.Event) {
		t.Helper()
		want, wantErr := encoded(e)
		got, err := e.AppendJSON([]byte("before "))
		if (err == nil) != (wantErr == nil) || err == nil && string(got) != "before "+want || err != nil && string(got) != "before " {
			t.Errorf("got %q, %v, want %q, %v", got, err, want, wantErr)
		}
	}
	var all core.Event
	same(&all)
	for i := range reflect.TypeFor[core.Event]().NumField() {
		for n, v := range samples(t, reflect.TypeFor[core.Event]().Field(i).Type) {
			var one core.Event
			at := reflect.ValueOf(&one).Elem().Field(i)
			at.Set(reflect.ValueOf(v).Convert(at.Type()))
			same(&one)
			if n == 0 {
				at := reflect.ValueOf(&all).Elem().Field(i)
				at.Set(reflect.ValueOf(v).Convert(at.Type()))
			}
		}
	}
	same(&all)
}

// TestAppendJSONAllocatesNothing: an event of an item takes no allocation.
func TestAppendJSONAllocatesNothing(t *testing.T) {
	e := core.Event{V: 1, Seq: 5, Time: time.Unix(0, 1), Type: core.ItemFinished, Run: "r", Node: "n", Kind: "tool", Item: core.Nth(1), Attempt: 1, Status: "success"}
	b := make([]byte, 0, 1000)
	if n := testing.AllocsPerRun(100, func() { b, _ = e.AppendJSON(b[:0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	e := core.Event{V: 1, Seq: 5, Time: time.Unix(1e9, 123456789), Type: core.ItemFinished, Run: "r", Node: "n", Kind: "tool", Item: core.Nth(1), Attempt: 1, Status: "success"}
	var buf []byte
	for b.Loop() {
		buf, _ = e.AppendJSON(buf[:0])
	}
}
