package convert

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// same reports whether two fields of workflows are equal. Positions are not compared, and of
// functions only whether they are set. An empty list, mapping or condition equals none.
func same(a, b reflect.Value) bool {
	if _, ok := a.Interface().(source.Position); ok {
		return true
	}
	if x, ok := members(a); ok {
		y, _ := members(b)
		return sameObject(x, y)
	}
	switch x := a.Interface().(type) {
	case *source.Value:
		y := b.Interface().(*source.Value)
		return (x == nil) == (y == nil) && (x == nil || sameValue(x.Plain(), y.Plain()))
	case core.Condition:
		y, ok := b.Interface().(core.Condition)
		return ok && x.Source() == y.Source()
	}
	switch a.Kind() {
	case reflect.Pointer:
		return a.IsNil() && b.IsNil() || !a.IsNil() && !b.IsNil() && same(a.Elem(), b.Elem())
	case reflect.Interface:
		if a.NumMethod() > 0 { // a Go function
			return a.IsNil() == b.IsNil()
		}
		return sameValue(a.Interface(), b.Interface())
	case reflect.Struct:
		for i := range a.NumField() {
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Func:
		return a.IsNil() == b.IsNil()
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// members returns the value of a field that holds an object.
func members(v reflect.Value) (o *value.Object, ok bool) {
	if !v.IsValid() {
		return nil, false
	}
	switch x := v.Interface().(type) {
	case *value.Object:
		return x, true
	case *source.Value:
		if x == nil {
			return nil, true
		}
		o, ok = x.Plain().(*value.Object)
		return o, ok
	}
	return nil, false
}

// sameValue compares JSON values with their types: 1 and 1.0 differ.
func sameValue(a, b any) bool {
	switch x := a.(type) {
	case *value.Object:
		y, ok := b.(*value.Object)
		return ok && sameObject(x, y)
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !sameValue(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return value.IsMissing(a) && value.IsMissing(b) || value.TypeName(a) == value.TypeName(b) && value.Equal(a, b)
}

// sameObject compares objects with the order of their members, which documents keep. An
// object without members equals none.
func sameObject(a, b *value.Object) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Len() {
		k, v := a.At(i)
		l, w := b.At(i)
		if k != l || !sameValue(v, w) {
			return false
		}
	}
	return true
}

// positionOf returns the position of a field that has one.
func positionOf(v reflect.Value) source.Position {
	v = reflect.Indirect(v)
	if v.Kind() == reflect.Slice && v.Len() > 0 {
		v = reflect.Indirect(v.Index(0))
	}
	if v.Kind() != reflect.Struct {
		return source.Position{}
	}
	if pos := v.FieldByName("Pos"); pos.IsValid() {
		p, _ := pos.Interface().(source.Position)
		return p
	}
	return source.Position{}
}

// maxShort limits the length of a value in a message.
const maxShort = 60

// short formats a field for a message, "" if it is not set.
func short(v reflect.Value) string {
	v = reflect.Indirect(v)
	if v.IsValid() && v.Kind() == reflect.Struct && v.FieldByName("Value").IsValid() {
		v = v.FieldByName("Value")
	}
	switch {
	case !v.IsValid() || v.IsZero():
		return ""
	case v.Kind() == reflect.Struct || v.Kind() == reflect.Slice || v.Kind() == reflect.Func:
		return "another one"
	}
	return text(v.Interface())
}

// text formats a value for a message.
func text(v any) string {
	var out string
	switch v := v.(type) {
	case nil, bool, int64, float64, string, []any, *value.Object:
		out = value.JSON(v)
	default:
		out = fmt.Sprint(v)
	}
	if r := []rune(out); len(r) > maxShort {
		out = string(r[:maxShort]) + "…"
	}
	return out
}
