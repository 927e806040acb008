package dot

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// difference describes the first difference between two workflows, ignoring positions.
// It returns "" if there is none.
func difference(a, b *core.Workflow) string {
	x, y := *a, *b
	x.Dir, y.Dir, x.Findings, y.Findings = "", "", nil, nil
	return differ("workflow", reflect.ValueOf(x), reflect.ValueOf(y))
}

var (
	positionType  = reflect.TypeFor[source.Position]()
	objectType    = reflect.TypeFor[*value.Object]()
	conditionType = reflect.TypeFor[core.Condition]()
)

func differ(at string, a, b reflect.Value) string {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return fmt.Sprintf("%s: %v and %v", at, a, b)
	}
	if !a.IsValid() || a.Type() == positionType {
		return ""
	}
	switch a.Type() {
	case objectType:
		return differObjects(at, a.Interface().(*value.Object), b.Interface().(*value.Object))
	case conditionType:
		if a.IsNil() || b.IsNil() {
			return differNil(at, a, b)
		}
		return differ(at, reflect.ValueOf(a.Interface().(core.Condition).Source()), reflect.ValueOf(b.Interface().(core.Condition).Source()))
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return differNil(at, a, b)
		}
		return differ(at, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if d := differ(at+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d and %d elements", at, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := differ(fmt.Sprintf("%s[%d]", at, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Map:
		if !reflect.DeepEqual(a.Interface(), b.Interface()) {
			return at
		}
		return ""
	case reflect.Func:
		return differNil(at, a, b)
	}
	if !a.Equal(b) {
		return fmt.Sprintf("%s: %#v and %#v", at, a, b)
	}
	return ""
}

func differNil(at string, a, b reflect.Value) string {
	if a.IsNil() != b.IsNil() {
		return fmt.Sprintf("%s: %v and %v", at, a, b)
	}
	return ""
}

func differObjects(at string, a, b *value.Object) string {
	if a.Len() != b.Len() {
		return fmt.Sprintf("%s: %v and %v", at, a.Keys(), b.Keys())
	}
	for i := range a.Len() {
		k, v := a.At(i)
		l, w := b.At(i)
		if k != l || !value.Equal(v, w) || value.TypeName(v) != value.TypeName(w) {
			return fmt.Sprintf("%s: %s=%#v and %s=%#v", at, k, v, l, w)
		}
	}
	return ""
}
