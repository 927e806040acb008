package machine

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Items is the array that a fan-out or pipeline iterates over: []any or a slice of a Go type. The
// zero Items is empty.
type Items struct {
	list  []any
	typed reflect.Value
	n     int
	base  int // index of the first element, if it is a part of an array
}

// itemsAt evaluates a source, which must be an array; what names the setting in errors. The
// evaluation is never interrupted, because the result of the machine must not depend on the
// patience of its driver.
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

// itemsOf returns the elements of v. ok is false if v is not an array.
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

// At returns the i-th element, which is shared with the state.
func (s Items) At(i int) any {
	i -= s.base
	if s.list != nil {
		return s.list[i]
	}
	return s.typed.Index(i).Interface()
}

// List returns the elements as a []any or a slice or array of a Go type, and the index of the
// first.
func (s Items) List() (list any, first int) {
	if s.list != nil || !s.typed.IsValid() {
		return s.list, s.base
	}
	return s.typed.Interface(), s.base
}

// inBatches groups the elements into lists of the given size. A size of 0 leaves them ungrouped.
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
