package machine

import (
	"reflect"

	"github.com/wavefold/wavefold/core"
)

// Items is the array a fan-out or pipeline walks: []any or a slice of a Go
// type. The zero Items is empty.
type Items struct {
	list  []any
	typed reflect.Value
	n     int
	base  int // index of the first element that is here, for a part of an array
}

// itemsOf returns the elements of v; ok is false when v is no array.
func itemsOf(v any) (Items, bool) {
	if list, ok := v.([]any); ok {
		return Items{list: list, n: len(list)}, true
	}
	if v == nil || core.IsMissing(v) {
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
