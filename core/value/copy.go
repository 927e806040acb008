package value

import (
	"fmt"
	"reflect"
)

// Copier makes deep copies of the values of one Go type. It copies everything that can be
// reached through exported fields, elements and pointers. Data that can be reached only
// through unexported fields stays shared, since only the package of the type can access it.
// A Copier is immutable and safe for concurrent use.
type Copier struct{ copy copyFunc }

// NewCopier returns the copier of a type. Creating it takes longer than copying one value.
func NewCopier(t reflect.Type) Copier { return Copier{copiers{}.of(t)} }

// Flat reports whether a plain assignment copies values of the type.
func (c Copier) Flat() bool { return c.copy == nil }

// Copy makes dst, which must be zero, a copy of src. It returns an error if the value is
// nested too deeply, for example because it contains itself.
func (c Copier) Copy(dst, src reflect.Value) error { return c.copy.into(dst, src, 0) }

// copyFunc makes dst, which is zero, a deep copy of src. If it is nil, an assignment is
// enough.
type copyFunc func(dst, src reflect.Value, depth int) error

func (c copyFunc) into(dst, src reflect.Value, depth int) error {
	if c == nil {
		dst.Set(src)
		return nil
	}
	return c(dst, src, depth)
}

// maxCopyDepth limits the nesting of values that are copied or written: a stack overflow
// ends the process, and recover cannot catch it.
const maxCopyDepth = 10 * MaxJSONDepth

// copiers maps named types to their copy functions. The copy function of a flat type is
// nil. An entry is added before it is complete, because a named type may contain itself.
type copiers map[reflect.Type]*copyFunc

// of returns the copy function of a type, or nil if an assignment is enough.
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

// copyTooDeep returns an error without the path to the place, which would be as long as the
// value is deep.
func copyTooDeep(t reflect.Type) error {
	return fmt.Errorf("a value of type %s nests deeper than %d: does it refer to itself?", t, maxCopyDepth)
}

// pointer copies a pointer and what it points to. Likewise, slice and mapping copy slices
// and maps.
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
	for it := src.MapRange(); it.Next(); { // the order does not matter: entries are copied independently
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
	embedded bool // copy copies the parts of an embedded struct
}

// copy replaces the parts of a shallow copy by deep copies.
func (ps parts) copy(dst, src reflect.Value, depth int) error {
	for _, p := range ps {
		f := dst.Field(p.field)
		if !p.embedded {
			f.SetZero() // a copy function leaves dst unchanged for nil
		}
		if err := p.copy(f, src.Field(p.field), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// parts lists the parts of a struct. An embedded struct of an unexported type cannot be
// assigned as a whole, but its exported fields can.
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

// copyInterface copies the value in an interface, or an Object behind a pointer.
func copyInterface(dst, src reflect.Value, depth int) error {
	c, err := clone(src.Interface(), depth+1)
	if c != nil {
		dst.Set(reflect.ValueOf(c))
	}
	return err
}

// clone is Clone at a nesting depth.
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
