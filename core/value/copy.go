package value

import (
	"fmt"
	"reflect"
)

// Copier copies the values of one Go type: what exported fields, elements and pointers lead
// to is copied, what only unexported fields lead to stays shared, since nothing but the
// type's own package can reach it. A Copier is immutable and safe for concurrent use.
type Copier struct{ copy copyFunc }

// NewCopier returns the copier of a type. Building it takes longer than copying one value.
func NewCopier(t reflect.Type) Copier { return Copier{copiers{}.of(t)} }

// Flat reports whether an assignment copies a value of the type.
func (c Copier) Flat() bool { return c.copy == nil }

// Copy makes dst, which must be zero, a copy of src. It fails for a value that is nested too
// deep, as one that contains itself.
func (c Copier) Copy(dst, src reflect.Value) error { return c.copy.into(dst, src, 0) }

// copyFunc makes dst, which is zero, a deep copy of src; nil assigns.
type copyFunc func(dst, src reflect.Value, depth int) error

func (c copyFunc) into(dst, src reflect.Value, depth int) error {
	if c == nil {
		dst.Set(src)
		return nil
	}
	return c(dst, src, depth)
}

// maxCopyDepth bounds how deep a value that is copied or written may nest: a stack that
// overflows ends the process, and no recover catches it.
const maxCopyDepth = 10 * MaxJSONDepth

// copiers maps named types to their copy functions; the function of a flat type is nil. An
// entry is added before it is complete, so that a type may contain itself, which
// only a named type can.
type copiers map[reflect.Type]*copyFunc

// of returns the copy function of a type, nil if an assignment is a copy already.
func (cs copiers) of(t reflect.Type) copyFunc {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Array, reflect.Struct:
	default:
		return nil
	}
	if t.Name() == "" {
		return cs.build(t)
	}
	if known, ok := cs[t]; ok {
		if known == nil {
			return nil
		}
		return func(dst, src reflect.Value, depth int) error { return (*known)(dst, src, depth) }
	}
	c := new(copyFunc)
	cs[t] = c
	if *c = cs.build(t); *c == nil {
		cs[t] = nil
	}
	return *c
}

func (cs copiers) build(t reflect.Type) copyFunc {
	switch t.Kind() {
	case reflect.Interface:
		return copyInterface
	case reflect.Struct:
		return cs.structure(t)
	}
	if t == reflect.TypeFor[*Object]() {
		return copyInterface
	}
	element := cs.of(t.Elem())
	switch kind := t.Kind(); {
	case kind == reflect.Array && element == nil:
		return nil
	case kind == reflect.Array:
		return element.each
	case kind == reflect.Slice && element == nil:
		return copyFlatSlice
	case kind == reflect.Slice:
		return element.slice
	case kind == reflect.Map:
		return element.mapping
	default:
		return element.pointer
	}
}

// copyTooDeep is returned without the way to the place, which is as long as the value is deep.
func copyTooDeep(t reflect.Type) error {
	return fmt.Errorf("a value of type %s nests deeper than %d: does it refer to itself?", t, maxCopyDepth)
}

// pointer copies a pointer to what c copies, as slice and mapping copy slices and maps.
func (c copyFunc) pointer(dst, src reflect.Value, depth int) error {
	switch {
	case src.IsNil():
		return nil
	case depth > maxCopyDepth:
		return copyTooDeep(src.Type())
	}
	to := reflect.New(src.Type().Elem())
	if err := c.into(to.Elem(), src.Elem(), depth+1); err != nil {
		return err
	}
	dst.Set(to)
	return nil
}

func (c copyFunc) each(dst, src reflect.Value, depth int) error {
	for i := range src.Len() {
		if err := c(dst.Index(i), src.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func copyFlatSlice(dst, src reflect.Value, _ int) error {
	if !src.IsNil() {
		dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
		reflect.Copy(dst, src)
	}
	return nil
}

func (c copyFunc) slice(dst, src reflect.Value, depth int) error {
	switch {
	case src.IsNil():
		return nil
	case depth > maxCopyDepth:
		return copyTooDeep(src.Type())
	}
	dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
	return c.each(dst, src, depth)
}

func (c copyFunc) mapping(dst, src reflect.Value, depth int) error {
	switch {
	case src.IsNil():
		return nil
	case depth > maxCopyDepth:
		return copyTooDeep(src.Type())
	}
	dst.Set(reflect.MakeMapWithSize(src.Type(), src.Len()))
	for it := src.MapRange(); it.Next(); { // the order does not matter: every entry is copied on its own
		v := it.Value()
		if c != nil {
			v = reflect.New(src.Type().Elem()).Elem()
			if err := c(v, it.Value(), depth+1); err != nil {
				return err
			}
		}
		dst.SetMapIndex(it.Key(), v)
	}
	return nil
}

// structure copies all fields with one assignment, then copies the fields that hold references.
func (cs copiers) structure(t reflect.Type) copyFunc {
	parts := cs.parts(t)
	if parts == nil {
		return nil
	}
	return func(dst, src reflect.Value, depth int) error {
		dst.Set(src)
		return parts.copy(dst, src, depth)
	}
}

// parts are the fields of a struct that hold references.
type parts []part

type part struct {
	field    int
	copy     copyFunc
	embedded bool // copy handles the parts of an embedded struct
}

// copy replaces the parts of a shallow copy.
func (ps parts) copy(dst, src reflect.Value, depth int) error {
	for _, p := range ps {
		f := dst.Field(p.field)
		if !p.embedded {
			f.SetZero() // a copy function leaves a nil as it is
		}
		if err := p.copy(f, src.Field(p.field), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// parts lists the parts of a struct. An embedded struct of an unexported type cannot be
// assigned, but its exported fields can.
func (cs copiers) parts(t reflect.Type) parts {
	var out parts
	for i := range t.NumField() {
		p := part{field: i}
		switch f := t.Field(i); {
		case f.IsExported():
			p.copy = cs.of(f.Type)
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			if inner := cs.parts(f.Type); inner != nil {
				p.copy, p.embedded = inner.copy, true
			}
		}
		if p.copy != nil {
			if out == nil {
				out = make(parts, 0, t.NumField()-i)
			}
			out = append(out, p)
		}
	}
	return out
}

// copyInterface copies what an interface or a pointer to an Object holds.
func copyInterface(dst, src reflect.Value, depth int) error {
	c, err := clone(src.Interface(), depth+1)
	if c != nil {
		dst.Set(reflect.ValueOf(c))
	}
	return err
}

// clone is Clone at a depth.
func clone(v any, depth int) (any, error) {
	switch v := v.(type) {
	case nil, bool, int64, float64, string, missing:
		return v, nil
	case []any:
		return cloneArray(v, depth)
	case *Object:
		return cloneObject(v, depth)
	}
	src := reflect.ValueOf(v)
	c := copiers{}.of(src.Type())
	if c == nil {
		return v, nil
	}
	dst := reflect.New(src.Type()).Elem()
	if err := c(dst, src, depth); err != nil {
		return nil, err
	}
	return dst.Interface(), nil
}

func cloneArray(list []any, depth int) (any, error) {
	if depth > maxCopyDepth {
		return nil, copyTooDeep(reflect.TypeOf(list))
	}
	out := make([]any, len(list))
	for i, e := range list {
		c, err := clone(e, depth+1)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

func cloneObject(o *Object, depth int) (any, error) {
	switch {
	case o == nil:
		return o, nil
	case depth > maxCopyDepth:
		return nil, copyTooDeep(reflect.TypeOf(o))
	}
	out := o.Copy(0)
	for i, e := range out.values {
		c, err := clone(e, depth+1)
		if err != nil {
			return nil, err
		}
		out.values[i] = c
	}
	return out, nil
}
