package gotype

import (
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core"
)

// copier makes dst, which is zero, a deep copy of src.
type copier func(dst, src reflect.Value, depth int) error

// maxDepth bounds how deep values nest. A value that refers to itself would otherwise
// exhaust the stack, which no recover catches.
const maxDepth = 10_000

// copiers builds copiers. They follow the rule of core.Clone, which finds its way anew for
// each value: building a copier for one value takes longer than that, and having one
// saves half of it. A test holds the two together. An entry is there before it is complete, so that a type may
// contain itself.
type copiers map[reflect.Type]*copier

// of returns the copier of a type, nil when an assignment is a copy already.
func (cs copiers) of(t reflect.Type) copier {
	if flat(t) {
		return nil
	}
	if known, ok := cs[t]; ok {
		return func(dst, src reflect.Value, depth int) error { return (*known)(dst, src, depth) }
	}
	c := new(copier)
	cs[t] = c
	*c = cs.build(t)
	return *c
}

func (cs copiers) build(t reflect.Type) copier {
	switch t.Kind() {
	case reflect.Pointer:
		return cs.pointer(t)
	case reflect.Slice:
		return cs.slice(t)
	case reflect.Array:
		element := cs.of(t.Elem())
		return func(dst, src reflect.Value, depth int) error { return each(element, dst, src, depth) }
	case reflect.Map:
		return cs.mapping(t)
	case reflect.Struct:
		return cs.structure(t)
	default: // an interface
		return copyInterface
	}
}

func (cs copiers) pointer(t reflect.Type) copier {
	if t == reflect.PointerTo(objectType) {
		return func(dst, src reflect.Value, _ int) error {
			dst.Set(reflect.ValueOf(core.Clone(src.Interface())))
			return nil
		}
	}
	element := cs.of(t.Elem())
	return func(dst, src reflect.Value, depth int) error {
		if src.IsNil() {
			return nil
		}
		if depth > maxDepth {
			return tooDeep(t)
		}
		dst.Set(reflect.New(t.Elem()))
		return copyInto(element, dst.Elem(), src.Elem(), depth+1)
	}
}

// copyInto is a copier that may be nil.
func copyInto(c copier, dst, src reflect.Value, depth int) error {
	if c == nil {
		dst.Set(src)
		return nil
	}
	return c(dst, src, depth)
}

func each(element copier, dst, src reflect.Value, depth int) error {
	for i := range src.Len() {
		if err := copyInto(element, dst.Index(i), src.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (cs copiers) slice(t reflect.Type) copier {
	element := cs.of(t.Elem())
	return func(dst, src reflect.Value, depth int) error {
		switch {
		case src.IsNil():
			return nil
		case depth > maxDepth:
			return tooDeep(t)
		}
		dst.Set(reflect.MakeSlice(t, src.Len(), src.Len()))
		if element == nil {
			reflect.Copy(dst, src)
			return nil
		}
		return each(element, dst, src, depth)
	}
}

func (cs copiers) mapping(t reflect.Type) copier {
	element := cs.of(t.Elem())
	return func(dst, src reflect.Value, depth int) error {
		switch {
		case src.IsNil():
			return nil
		case depth > maxDepth:
			return tooDeep(t)
		}
		dst.Set(reflect.MakeMapWithSize(t, src.Len()))
		for it := src.MapRange(); it.Next(); { // the order does not matter: every entry is copied on its own
			v := reflect.New(t.Elem()).Elem()
			if err := copyInto(element, v, it.Value(), depth+1); err != nil {
				return err
			}
			dst.SetMapIndex(it.Key(), v)
		}
		return nil
	}
}

// structure copies all fields with one assignment and then those that hold references.
// What unexported fields refer to stays shared: only the type's own package can reach it.
// An embedded struct of an unexported type lends its fields to everybody.
func (cs copiers) structure(t reflect.Type) copier {
	parts := cs.parts(t, nil)
	return func(dst, src reflect.Value, depth int) error {
		dst.Set(src)
		for _, p := range parts {
			f := dst.FieldByIndex(p.at)
			f.SetZero() // a copier leaves the place of a nil alone
			if err := p.copy(f, src.FieldByIndex(p.at), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
}

// part is a field of a struct that holds references.
type part struct {
	at   []int
	copy copier
}

func (cs copiers) parts(t reflect.Type, way []int) []part {
	var out []part
	for i := range t.NumField() {
		at := append(slices.Clone(way), i)
		switch f := t.Field(i); {
		case f.IsExported():
			if c := cs.of(f.Type); c != nil {
				out = append(out, part{at, c})
			}
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			out = append(out, cs.parts(f.Type, at)...)
		}
	}
	return out
}

// copyInterface copies what an any holds.
func copyInterface(dst, src reflect.Value, depth int) error {
	switch v := src.Interface().(type) {
	case nil, bool, int64, float64, string:
		dst.Set(src)
		return nil
	case *core.Object:
		dst.Set(reflect.ValueOf(core.Clone(v)))
		return nil
	}
	held := src.Elem()
	x := reflect.New(held.Type()).Elem()
	if err := copyInto(copiers{}.of(held.Type()), x, held, depth+1); err != nil {
		return err
	}
	dst.Set(x)
	return nil
}

// flat reports whether a type holds no reference that an assignment would share.
func flat(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return false
	case reflect.Array:
		return flat(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			reachable := f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct
			if reachable && !flat(f.Type) {
				return false
			}
		}
	}
	return true
}
