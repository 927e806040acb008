package state

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// After a failed merge, the value stays failed regardless of later writes, and the
// prefix before it keeps its value.
func TestFailedMergeStays(t *testing.T) {
	col := NewColumn(&schemaOf(t, typed("sum", value.GoTypeFor[int8]())).Fields[0], int8(100), nil)
	col.Resolve(1, nil, []any{int8(-100), int8(-100)})
	col.Resolve(0, int8(100), nil)
	if s, ok := col.At(1).(*FailedMerge); !ok || s.Slot != 0 {
		t.Errorf("got %v", col.At(1))
	}
	if col.Last() != col.At(1) || col.At(0) != int8(100) {
		t.Errorf("got %v and %v", col.Last(), col.At(0))
	}
}

// Forget must not change the remaining values: the values of later prefixes, the list
// of all writes, and the column restored from a snapshot.
func TestForget(t *testing.T) {
	for _, st := range Strategies() {
		f := &schemaOf(t, field("x", st.Name)).Fields[0]
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 2))
			whole, part := NewColumn(f, value.Missing, nil), NewColumn(f, value.Missing, nil)
			floor := 0
			for _, k := range r.Perm(12) {
				w := randomWrite(r, st.Name)
				if st.MayReject {
					w = value.Missing
				}
				whole.Resolve(k, w, nil)
				part.Resolve(k, w, nil)
				if r.IntN(2) == 0 {
					floor = max(floor, r.IntN(part.Cursor()+1))
					part.Forget(floor, true)
				}
				if r.IntN(3) == 0 {
					part = reload(t, f, part)
				}
				for p := max(floor, 0); p <= whole.Cursor(); p++ {
					if got, want := value.JSON(part.At(p)), value.JSON(whole.At(p)); got != want {
						t.Fatalf("%s, seed %d: prefix %d of %d is %s, want %s", st.Name, seed, p, floor, got, want)
					}
				}
			}
			got, want := NewColumn(f, value.Missing, nil), whole.Last()
			got.Resolve(0, nil, append([]any{}, part.Writes(12)...))
			if value.JSON(got.Last()) != value.JSON(want) {
				t.Fatalf("%s, seed %d: the writes make %s, want %s", st.Name, seed, value.JSON(got.Last()), value.JSON(want))
			}
		}
	}
}

// reload returns a column restored from its own snapshot.
func reload(t *testing.T, f *Field, c *Column) *Column {
	t.Helper()
	d, err := c.Dump()
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var o *value.Object
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	back := NewColumn(f, value.Missing, nil)
	if err := back.Load(o); err != nil {
		t.Fatal(err)
	}
	return back
}

// A snapshot preserves the difference between integers and floats, all their digits,
// and failed merges.
func TestSnapshotKeepsNumbers(t *testing.T) {
	const big = int64(1<<53 + 1)
	for _, c := range []struct {
		field  core.FieldDecl
		writes []any
		want   string
	}{
		{field("x", "sum"), []any{big, int64(2)}, "int64 9007199254740995"},
		{field("x", "sum"), []any{1.0, 2.0}, "float64 3"},
		{field("x", "sum"), []any{int64(1), 2.0}, "float64 3"},
		{field("x", "min"), []any{big, float64(1 << 53)}, "float64 9.007199254740992e+15"},
		{field("x", "max"), []any{float64(1 << 53), big}, "int64 9007199254740993"},
		{typed("sum", value.GoTypeFor[int]()), []any{int(big), 2}, "int 9007199254740995"},
		{typed("max", value.GoTypeFor[float32]()), []any{float32(0.1), float32(0.2)}, "float32 0.2"},
		{typed("sum", value.GoTypeFor[int8]()), []any{int8(100), int8(100)}, "*state.FailedMerge"},
	} {
		f := &schemaOf(t, c.field).Fields[0]
		for _, forget := range []int{0, 1, 2} {
			col := NewColumn(f, value.Missing, nil)
			for i, w := range c.writes {
				col.Resolve(i, w, nil)
			}
			col.Forget(forget, false)
			v := reload(t, f, col).Last()
			got := fmt.Sprintf("%T %v", v, v)
			if s, ok := v.(*FailedMerge); ok {
				got = fmt.Sprintf("%T", v)
				if s.Slot != 1 || s.Err.Error() != "100 + 100 does not fit int8" {
					t.Errorf("slot %d: %v", s.Slot, s.Err)
				}
			}
			if got != c.want {
				t.Errorf("%s %v without %d: got %s, want %s", f.strategy.Name, c.writes, forget, got, c.want)
			}
		}
	}
}

// A write that was tried is not merged a second time when it is resolved; any other
// write is merged.
func TestTriedOnce(t *testing.T) {
	calls := 0
	d := field("x", "")
	d.Reduce = func(old, v any) (any, error) { calls++; return v, nil }
	col := NewColumn(&schemaOf(t, d).Fields[0], value.Missing, nil)
	for k, v := range []any{int64(1), int64(2)} {
		if err := col.Try(v); err != nil {
			t.Fatal(err)
		}
		col.Resolve(k, v, nil)
	}
	if calls != 2 || col.Last() != int64(2) {
		t.Errorf("%d calls, value %v", calls, col.Last())
	}
	if err := col.Try(int64(3)); err != nil { // another field of the delta then rejects its write
		t.Fatal(err)
	}
	col.Resolve(2, value.Missing, nil)
	col.Expect(int64(9))
	col.Resolve(4, int64(5), nil) // not at the cursor
	col.Resolve(3, nil, []any{int64(4)})
	if calls != 5 || col.At(3) != int64(2) || col.At(4) != int64(4) || col.Last() != int64(5) {
		t.Errorf("%d calls, values %v %v %v", calls, col.At(3), col.At(4), col.Last())
	}
	col.Expect(int64(7))
	col.Resolve(5, nil, []any{int64(6)})
	if calls != 5 || col.Last() != int64(7) {
		t.Errorf("%d calls, value %v", calls, col.Last())
	}
}

// A reducer's result that does not fit the field is an error.
func TestReducerResultsAreChecked(t *testing.T) {
	for _, c := range []struct {
		result any
		want   string
	}{
		{int(3), "3"},
		{"a", `the reducer of field "x": want integer, got string "a"`},
		{make(chan int), `the reducer of field "x": json: unsupported type: chan int`},
	} {
		d := integers("")
		d.Reduce = func(_, _ any) (any, error) { return c.result, nil }
		col := NewColumn(&schemaOf(t, d).Fields[0], value.Missing, nil)
		got := "accepted"
		if err := col.Try(int64(1)); err != nil {
			got = err.Error()
		} else {
			col.Resolve(0, int64(1), nil)
			got = value.JSON(col.Last())
		}
		if got != c.want {
			t.Errorf("%v: got %s, want %s", c.result, got, c.want)
		}
	}
}

// A column made by NewRecord keeps the writes and folds nothing.
func TestRecord(t *testing.T) {
	d := field("x", "")
	d.Reduce = func(_, _ any) (any, error) { panic("nobody asked") }
	col := NewRecord(&schemaOf(t, d).Fields[0])
	col.Resolve(0, int64(1), nil)
	col.Resolve(1, value.Missing, nil)
	col.Resolve(2, int64(2), nil)
	col.Forget(1, true)
	col.Resolve(3, nil, nil)
	if got := value.JSON(col.Writes(3)); got != "[1,2]" {
		t.Errorf("got %s", got)
	}
	for k, want := range map[int]any{1: value.Missing, 2: int64(2), 3: nil} {
		if v, ok := col.Wrote(k); v != want || ok != !value.IsMissing(want) {
			t.Errorf("slot %d: %v, %t; want %v", k, v, ok, want)
		}
	}
}

// Elements of a Go type are compared by their JSON form and stored unchanged.
func TestUnionOfGoTypes(t *testing.T) {
	type tag struct {
		Name   string
		secret int
	}
	d := typed("union", value.GoTypeFor[[]tag]())
	d.Key.Value = "Name"
	col := NewColumn(&schemaOf(t, d).Fields[0], value.Missing, nil)
	first := make([]tag, 1, 8)
	first[0] = tag{"a", 1}
	col.Resolve(0, first, nil)
	col.Resolve(1, []tag{{"b", 2}, {"a", 3}}, nil)
	before := col.At(1).([]tag)
	col.Resolve(2, []tag{{"c", 4}}, nil)
	if got := fmt.Sprint(col.At(2), before, first[:2]); got != "[{a 1} {b 2}] [{a 1}] [{a 1} { 0}]" {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(col.Last()); got != "[{a 1} {b 2} {c 4}]" {
		t.Errorf("got %s", got)
	}
}
