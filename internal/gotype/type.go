package gotype

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

var (
	anyType         = reflect.TypeFor[any]()
	numberType      = reflect.TypeFor[json.Number]()
	objectType      = reflect.TypeFor[value.Object]()
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
)

// Of derives the JSON type of a Go type, as encoding/json writes it. It is nil, which means
// any value, if the Go type does not determine it, as for interfaces and types with their
// own JSON encoding.
//
// Inside itself, a recursive type is described as any value. So is every part that would
// make a description larger than maxParts: generated types may refer to each other along
// too many paths to describe them all.
func Of(t reflect.Type) *value.Type { return types{}.of(t).typ }

// maxParts is the maximum number of types in the description of one type.
const maxParts = 10_000

// types caches the descriptions of Go types, so that each is built once, however many types
// refer to it. A description that is being built is open.
type types map[reflect.Type]described

// described is a description and the number of types in it.
type described struct {
	typ   *value.Type
	parts int
}

func (ts types) of(t reflect.Type) described {
	known, ok := ts[t]
	if !ok {
		ts[t] = described{nil, 1}
		known = described{nil, 1}
		known.typ = ts.build(t, &known.parts)
		ts[t] = known
	}
	return known
}

// inside returns the description of a type for use in another description, whose size so
// far is parts. If the limit is exceeded, the description consists of the kind only.
func (ts types) inside(t reflect.Type, parts *int) *value.Type {
	d := ts.of(t)
	if *parts+d.parts > maxParts && d.typ != nil {
		d = described{&value.Type{Kind: d.typ.Kind}, 1}
	}
	*parts += d.parts
	return d.typ
}

func (ts types) build(t reflect.Type, parts *int) *value.Type {
	switch {
	case t == anyType:
		return nil
	case t == objectType:
		return &value.Type{Kind: value.ObjectType}
	case t.Kind() == reflect.Pointer:
		return ts.inside(t.Elem(), parts)
	case ownJSON(t):
		return nil
	case t.Implements(textMarshaler) || reflect.PointerTo(t).Implements(textMarshaler):
		return &value.Type{Kind: value.StringType}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &value.Type{Kind: value.BooleanType}
	case reflect.String:
		if t == numberType {
			return nil
		}
		return &value.Type{Kind: value.StringType}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &value.Type{Kind: value.IntegerType}
	case reflect.Float32, reflect.Float64:
		return &value.Type{Kind: value.NumberType}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &value.Type{Kind: value.StringType} // base64
		}
		return &value.Type{Kind: value.ArrayType, Items: ts.inside(t.Elem(), parts)}
	case reflect.Array:
		return &value.Type{Kind: value.ArrayType, Items: ts.inside(t.Elem(), parts)}
	case reflect.Map:
		return &value.Type{Kind: value.ObjectType}
	case reflect.Struct:
		return ts.structure(t, parts)
	}
	return nil
}

func (ts types) structure(t reflect.Type, parts *int) *value.Type {
	out := &value.Type{Kind: value.ObjectType}
	for _, m := range members(t) {
		mt := ts.inside(m.typ, parts)
		if m.quoted {
			mt = &value.Type{Kind: value.StringType}
		}
		if m.ambiguous {
			mt = nil
		}
		out.Properties = append(out.Properties, value.Property{Name: m.name, Type: mt})
	}
	return out
}

// hasUserMethods reports whether user-defined methods may run when a value of the type is decoded
// or encoded. seen holds the types that have been checked.
func hasUserMethods(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || t == timeType || t == objectType {
		return false
	}
	seen[t] = true
	p := reflect.PointerTo(t)
	if ownJSON(t) || p.Implements(textMarshaler) || p.Implements(textUnmarshaler) {
		return true
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Map:
		return hasUserMethods(t.Key(), seen) || hasUserMethods(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return hasUserMethods(t.Elem(), seen)
	case reflect.Struct:
		return slices.ContainsFunc(members(t), func(m member) bool { return hasUserMethods(m.typ, seen) })
	}
	return false
}
