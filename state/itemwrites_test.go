package state

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// intsField returns a field of the Go type []int.
func intsField(t *testing.T, strategy string, reduce func(old, new any) (any, error)) *Field {
	d := field("x", strategy)
	d.Go, d.Reduce = value.GoTypeFor[[]int](), reduce
	return &schemaOf(t, d).Fields[0]
}

// TestItemWritesInAnyForm compares the writes of items in each form with a list of them.
func TestItemWritesInAnyForm(t *testing.T) {
	count := func(old, _ any) (any, error) {
		list, _ := old.([]int)
		return append(list[:len(list):len(list)], len(list)), nil
	}
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 3))
		f := intsField(t, []string{"", "array_append", "union"}[r.IntN(3)], nil)
		if r.IntN(4) == 0 {
			f = intsField(t, "", count)
		}
		accepted := func() any {
			list := make([]int, []int{1, 1, 1, 0, 2, 12}[r.IntN(6)])
			for i := range list {
				list[i] = r.IntN(9)
			}
			return list
		}
		// chunk returns the writes of n items, and the values as a list: nil for an item
		// that writes nothing.
		chunk := func(n int) (*ItemWrites, []any) {
			list := make([]any, n)
			for i := range list {
				if r.IntN(5) > 0 {
					list[i] = accepted()
				}
			}
			switch r.IntN(3) {
			case 0:
				w := NewItemWrites(f, n)
				for i, v := range list {
					if v != nil {
						w.Set(i, v)
					}
				}
				return w, list
			case 1:
				whole := make([][]int, n)
				w := TypedItemWrites(f, whole)
				for i, v := range list {
					if v != nil {
						if whole[i] = v.([]int); w.Accept(i) != nil {
							t.Fatal("not accepted")
						}
					}
				}
				return w, list
			}
			single := make([]int, n)
			w := TypedItemWrites(f, single)
			for i, v := range list {
				if v != nil {
					single[i] = r.IntN(9)
					list[i] = []int{single[i]}
					if w.Accept(i) != nil {
						t.Fatal("not accepted")
					}
				}
			}
			return w, list
		}
		n := r.IntN(30)
		got, want := chunk(n)
		if r.IntN(2) == 0 {
			got, want = got.SameForm(n), make([]any, n)
		}
		for range r.IntN(8) {
			switch r.IntN(5) {
			case 0, 1:
				part, list := chunk(r.IntN(n + 1))
				from := r.IntN(len(list) + 1)
				at := r.IntN(n - len(list) + from + 1)
				got.Copy(at, part, from, len(list)-from)
				copy(want[at:], list[from:])
				part.Clear()
			case 2:
				if n > 0 {
					i, v := r.IntN(n), accepted()
					got.Set(i, v)
					want[i] = v
				}
			case 3:
				if n > 0 {
					i := r.IntN(n)
					got.Drop(i)
					want[i] = nil
				}
			case 4:
				from := r.IntN(n + 1)
				to := from + r.IntN(n+3)
				got.Resize(from, to)
				want = append(want, make([]any, n+3)...)[from:to]
				n = to - from
			}
		}
		for i, v := range want {
			if g := got.At(i); got.Wrote(i) != (v != nil) || v != nil && !reflect.DeepEqual(g, v) {
				t.Fatalf("seed %d: item %d has written %v, want %v", seed, i, g, v)
			}
		}
		cut := r.IntN(n + 1)
		var many []any
		for _, v := range want[:cut] {
			if v != nil {
				many = append(many, v)
			}
		}
		result := func(one any, many []any) string {
			c := NewColumn(f, any([]int{7}), nil)
			c.Resolve(0, one, many)
			return fmt.Sprint(c.Last())
		}
		wanted := result(value.Missing, nil)
		if many != nil {
			wanted = result(nil, many)
		}
		if one, many := got.Take(cut); result(one, many) != wanted {
			t.Fatalf("seed %d: %s: %v %v, want %s", seed, f.strategy.Name, one, many, wanted)
		}
	}
}

// TestItemWritesWithoutJSON: a stored value without a JSON form is rejected and not
// written.
func TestItemWritesWithoutJSON(t *testing.T) {
	d := field("x", "array_append")
	d.Go = value.GoTypeFor[[]float64]()
	list := []float64{1, math.NaN()}
	w := TypedItemWrites(&schemaOf(t, d).Fields[0], list)
	if err := w.Accept(0); err != nil || !w.Wrote(0) {
		t.Error(err)
	}
	if err := w.Accept(1); err == nil || !strings.Contains(err.Error(), "NaN") || w.Wrote(1) {
		t.Errorf("error %v", err)
	}
}

// TestTypedItemsOfAField checks which lists hold the writes of items to a field.
func TestTypedItemsOfAField(t *testing.T) {
	ints, plain := intsField(t, "array_append", nil), &schemaOf(t, core.FieldDecl{Name: field("x", "").Name, Default: value.Missing}).Fields[0]
	for _, c := range []struct {
		f    *Field
		list any
		want bool
	}{
		{ints, []int{}, true}, {ints, [][]int{}, true}, {ints, []int64{}, false}, {ints, [][][]int{}, false}, {ints, [1]int{}, false},
		{plain, []int{}, false}, {plain, []any{}, false},
	} {
		if got := c.f.TakesItems(reflect.TypeOf(c.list)); got != c.want {
			t.Errorf("%T: %t", c.list, got)
		}
	}
}

// TestTakenWritesAreNoLargerThanNeeded: a list of few results does not keep the memory of a
// list of all items.
func TestTakenWritesAreNoLargerThanNeeded(t *testing.T) {
	list := make([]int, 1000)
	w := TypedItemWrites(intsField(t, "array_append", nil), list)
	for i := 3; i < 1000; i += 300 {
		list[i] = i
		_ = w.Accept(i)
	}
	one, _ := w.Take(1000)
	got := one.([]int)
	if !reflect.DeepEqual(got, []int{3, 303, 603, 903}) || cap(got) != 4 {
		t.Errorf("%v, room for %d", got, cap(got))
	}
}
