package machine

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Items is the array a fan-out or pipeline walks: []any or a slice of a Go
// type. The zero Items is empty.
type Items struct {
	list  []any
	typed reflect.Value
	n     int
	base  int // index of the first element that is here, for a part of an array
}

// itemsAt looks up the array that a source names; what says whose it is. A path is
// followed to its end: the machine's answer must not depend on when its driver
// loses patience.
func itemsAt(what string, source *plan.Source, env expressions.Env) (Items, *core.Failure) {
	v, err := source.Value(env, nil)
	if err != nil {
		return Items{}, badInputs(fmt.Errorf("%s: %w", what, err))
	}
	items, ok := itemsOf(v)
	if !ok {
		return Items{}, badInputs(fmt.Errorf("%s %s is %s, want an array", what, source.Text.Value, value.TypeName(v)))
	}
	return items, nil
}

// itemsOf returns the elements of v; ok is false when v is no array.
func itemsOf(v any) (Items, bool) {
	if list, ok := v.([]any); ok {
		return Items{list: list, n: len(list)}, true
	}
	if v == nil || value.IsMissing(v) {
		return Items{}, false
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Slice && rv.Kind() != reflect.Array {
		return Items{}, false
	}
	return Items{typed: rv, n: rv.Len()}, true
}

// Len returns the number of elements.
func (s Items) Len() int { return s.n }

// At returns the i-th element, shared with the state.
func (s Items) At(i int) any {
	i -= s.base
	if s.list != nil {
		return s.list[i]
	}
	return s.typed.Index(i).Interface()
}

// inBatches makes lists of so many elements the elements; 0 leaves them alone.
func (s Items) inBatches(size int) Items {
	if size == 0 || s.n == 0 {
		return s
	}
	batches := make([]any, 0, (s.n+size-1)/size)
	for from := 0; from < s.n; from += size {
		to := min(from+size, s.n)
		if s.list != nil {
			batches = append(batches, s.list[from:to:to])
		} else {
			batches = append(batches, s.slice(int32(from), int32(to)))
		}
	}
	return Items{list: batches, n: len(batches)}
}
