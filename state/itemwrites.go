package state

import (
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// ItemWrites holds the writes of consecutive items of a fan-out to one field, at most one
// for each item.
//
// One goroutine may set an item while another one reads other items, because items share no
// memory.
type ItemWrites struct {
	field *Field
	wrote []bool
	// values holds the accepted values, unless typed is valid.
	values []any
	// typed is a slice of the field's Go type, whose elements are the values, or, if single
	// is set, a value of the field's Go type: the value of an item is then the list of its
	// one element.
	typed  reflect.Value
	single bool
	list   any // typed, if TypedItemWrites has made it; an interface of it would be allocated
}

// NewItemWrites returns the writes of n items that have not written yet.
func NewItemWrites(f *Field, n int) *ItemWrites {
	return &ItemWrites{field: f, wrote: make([]bool, n), values: make([]any, n)}
}

// TypedItemWrites returns the writes of items that have not written yet. The caller stores
// the value of an item in list before it calls Accept. list must be a slice of the field's
// Go type or a value of that type; see TakesItems.
func TypedItemWrites(f *Field, list any) *ItemWrites {
	v := reflect.ValueOf(list)
	return &ItemWrites{field: f, wrote: make([]bool, v.Len()), typed: v, single: v.Type() == f.goType.Type, list: list}
}

// TakesItems reports whether TypedItemWrites takes lists of a type for the field.
func (f *Field) TakesItems(list reflect.Type) bool {
	return f.goType != nil && list.Kind() == reflect.Slice && f.goType.Type.Kind() == reflect.Slice &&
		(list == f.goType.Type || list.Elem() == f.goType.Type)
}

// SameForm returns the writes of n items that have not written yet, in the form of w.
func (w *ItemWrites) SameForm(n int) *ItemWrites {
	if !w.typed.IsValid() {
		return NewItemWrites(w.field, n)
	}
	return &ItemWrites{field: w.field, wrote: make([]bool, n), typed: reflect.MakeSlice(w.typed.Type(), n, n), single: w.single}
}

// Len returns the number of items.
func (w *ItemWrites) Len() int { return len(w.wrote) }

// Empty reports whether no item has written.
func (w *ItemWrites) Empty() bool { return !slices.Contains(w.wrote, true) }

// Clear removes all writes.
func (w *ItemWrites) Clear() {
	clear(w.wrote)
	clear(w.values)
	if w.typed.IsValid() {
		w.typed.Clear()
	}
}

// Wrote reports whether an item has written.
func (w *ItemWrites) Wrote(i int) bool { return w.wrote[i] }

// At returns the write of an item, or value.Missing if there is none. It may share memory
// with w.
func (w *ItemWrites) At(i int) any {
	if !w.Wrote(i) {
		return value.Missing
	}
	return w.value(i)
}

// List returns the list of typed writes: a slice whose elements are the writes of the items or, if
// single is set, the only elements of the lists that the items have written. It returns nil for
// writes in another form. The caller must not change the list.
func (w *ItemWrites) List() (list any, single bool) { return w.list, w.single }

func (w *ItemWrites) value(i int) any {
	switch {
	case !w.typed.IsValid():
		return w.values[i]
	case w.single:
		return w.typed.Slice3(i, i+1, i+1).Interface()
	}
	return w.typed.Index(i).Interface()
}

// ownValue is value for a user that keeps it although w changes later.
func (w *ItemWrites) ownValue(i int) any {
	if !w.single {
		return w.value(i)
	}
	list := reflect.MakeSlice(w.typed.Type(), 1, 1)
	list.Index(0).Set(w.typed.Index(i))
	return list.Interface()
}

// Set sets the write of an item to an accepted value.
func (w *ItemWrites) Set(i int, v any) {
	if w.typed.IsValid() && !w.setTyped(i, v) {
		w.untype()
	}
	if w.values != nil {
		w.values[i] = v
	}
	w.wrote[i] = true
}

// setTyped stores a value if its form allows that.
func (w *ItemWrites) setTyped(i int, v any) bool {
	e := reflect.ValueOf(v)
	switch {
	case !w.field.goType.Holds(v) || w.single && e.Len() != 1:
		return false
	case w.single:
		e = e.Index(0)
	}
	w.typed.Index(i).Set(e)
	return true
}

// untype converts the writes to the form that holds any value.
func (w *ItemWrites) untype() {
	values := make([]any, len(w.wrote))
	for i := range values {
		if w.wrote[i] {
			values[i] = w.At(i)
		}
	}
	w.values, w.typed, w.single, w.list = values, reflect.Value{}, false, nil
}

// Accept checks the value that the caller has stored for an item of typed writes, and
// counts it as the write of the item.
func (w *ItemWrites) Accept(i int) error {
	if w.field.goType.Check != nil {
		if err := w.field.goType.Check(w.value(i)); err != nil {
			return err
		}
	}
	w.wrote[i] = true
	return nil
}

// Drop removes the write of an item.
func (w *ItemWrites) Drop(i int) { w.wrote[i] = false }

// Copy replaces the writes of n items, beginning at index at, by the writes of n items of
// src, beginning at index from. Afterwards w shares no memory with src, apart from what the
// values refer to.
func (w *ItemWrites) Copy(at int, src *ItemWrites, from, n int) {
	if w.typed.IsValid() != src.typed.IsValid() || w.single != src.single {
		for i := range n {
			if src.wrote[from+i] {
				w.Set(at+i, src.ownValue(from+i))
			} else {
				w.Drop(at + i)
			}
		}
		return
	}
	copy(w.wrote[at:], src.wrote[from:from+n])
	switch {
	case !w.typed.IsValid():
		copy(w.values[at:], src.values[from:from+n])
	case n == 1: // slicing would allocate
		w.typed.Index(at).Set(src.typed.Index(from))
	default:
		reflect.Copy(w.typed.Slice(at, at+n), src.typed.Slice(from, from+n))
	}
}

// Resize removes the first items and items at the end, or adds items without writes at
// the end.
func (w *ItemWrites) Resize(from, to int) {
	if w.typed.IsValid() {
		w.untype()
	}
	clear(w.values[:from]) // so that what they refer to can be freed
	w.wrote, w.values = w.wrote[from:], w.values[from:]
	if n := to - from - len(w.wrote); n > 0 {
		w.wrote, w.values = append(w.wrote, make([]bool, n)...), append(w.values, make([]any, n)...)
	}
	clear(w.values[to-from:])
	w.wrote, w.values = w.wrote[:to-from], w.values[:to-from]
}

// Take returns the writes of the first n items in item order, for Column.Resolve: one
// write with the effect of all of them, or a list of writes. w must not be used
// afterwards.
func (w *ItemWrites) Take(n int) (one any, many []any) {
	if !slices.Contains(w.wrote[:n], true) {
		return value.Missing, nil
	}
	switch {
	case w.typed.IsValid() && !w.field.strategy.joins:
		w.untype()
		fallthrough
	case !w.typed.IsValid():
		return nil, w.takeValues(n)
	case w.single:
		return w.takeElements(n), nil
	}
	return w.takeJoined(n), nil
}

// takeJoined returns the elements of all writes as one list.
func (w *ItemWrites) takeJoined(n int) any {
	total := 0
	for i, wrote := range w.wrote[:n] {
		if wrote {
			total += w.typed.Index(i).Len()
		}
	}
	list := reflect.MakeSlice(w.typed.Type().Elem(), total, total)
	k := 0
	for i, wrote := range w.wrote[:n] {
		if !wrote {
			continue
		}
		add := w.typed.Index(i)
		if m := add.Len(); m > 8 { // slicing allocates
			k += reflect.Copy(list.Slice(k, k+m), add)
			continue
		}
		for j := range add.Len() {
			list.Index(k).Set(add.Index(j))
			k++
		}
	}
	return list.Interface()
}

func (w *ItemWrites) takeValues(n int) []any {
	k := 0
	for i, wrote := range w.wrote[:n] {
		if wrote {
			w.values[k] = w.values[i]
			k++
		}
	}
	clear(w.values[k:])
	return w.values[:k:k]
}

func (w *ItemWrites) takeElements(n int) any {
	k := 0
	for i, wrote := range w.wrote[:n] {
		if wrote {
			if k < i {
				w.typed.Index(k).Set(w.typed.Index(i))
			}
			k++
		}
	}
	list := w.typed.Slice3(0, k, k)
	if k < len(w.wrote)/2 { // the rest of the array would be kept in memory
		list = reflect.AppendSlice(reflect.MakeSlice(list.Type(), 0, k), list)
	}
	return list.Interface()
}
