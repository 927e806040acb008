package state

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core/value"
)

// Collectable returns an error that explains why the field cannot collect the results
// of a fan-out's items as one array, or nil if it can.
func (f *Field) Collectable() error {
	kind := f.kind()
	switch {
	case f.stream:
		return fmt.Errorf("field %q is a stream", f.Name)
	case f.goType != nil && f.goType.Type.Kind() != reflect.Slice:
		return fmt.Errorf("field %q has the Go type %s, want a slice", f.Name, f.goType.Type)
	case kind != value.ArrayType && kind != value.AnyType:
		return fmt.Errorf("field %q is of type %s, want array", f.Name, kind)
	case !f.strategy.collects:
		return fmt.Errorf("field %q merges %s, which does not take a list of results", f.Name, f.strategy.Name)
	}
	return nil
}

// ElementType returns the type of the field's elements, or nil if they may be of any
// type.
func (f *Field) ElementType() *value.Type {
	if f.Type != nil {
		return f.Type.Items
	}
	if f.goType != nil && f.goType.Type.Kind() == reflect.Slice {
		if k := kindOfGo(f.goType.Type.Elem()); k != value.AnyType {
			return &value.Type{Kind: k}
		}
	}
	return nil
}

// AcceptElement checks the result of one item for a field that collects results. It
// returns an array with this single element in the form the field stores.
func (f *Field) AcceptElement(v any) (any, error) {
	if f.goType != nil && v != nil && reflect.TypeOf(v) == f.goType.Type.Elem() {
		list := reflect.MakeSlice(f.goType.Type, 1, 1)
		list.Index(0).Set(reflect.ValueOf(v))
		return list.Interface(), f.writable(list.Interface())
	}
	c, err := value.Canonical(v)
	if err != nil {
		return nil, err
	}
	if err := f.ElementType().Check(c); err != nil {
		return nil, err
	}
	if f.goType != nil {
		return f.decode([]any{c})
	}
	return []any{c}, nil
}

// Collect combines the arrays that AcceptElement returned, in order, into one write.
func (f *Field) Collect(lists []any) any {
	if f.goType == nil {
		out := make([]any, 0, len(lists))
		for _, l := range lists {
			out = append(out, l.([]any)...)
		}
		return out
	}
	out := reflect.MakeSlice(f.goType.Type, 0, len(lists))
	for _, l := range lists {
		out = reflect.AppendSlice(out, reflect.ValueOf(l))
	}
	return out.Interface()
}
