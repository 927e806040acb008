package gotype

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core"
)

var (
	anyType         = reflect.TypeFor[any]()
	numberType      = reflect.TypeFor[json.Number]()
	objectType      = reflect.TypeFor[core.Object]()
	jsonMarshaler   = reflect.TypeFor[json.Marshaler]()
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
)

// Of derives the JSON type of a Go type, as encoding/json writes it. Where the Go
// type does not tell, such as for interfaces and types with a JSON form of their own,
// it is nil: anything.
func Of(t reflect.Type) *core.Type { return typeWithin(t, nil) }

// typeWithin is Of inside the given structs; a type that holds itself is open from
// the second time on.
func typeWithin(t reflect.Type, outer []reflect.Type) *core.Type {
	switch {
	case t == anyType:
		return nil
	case t == objectType:
		return &core.Type{Kind: core.ObjectType}
	case t.Kind() == reflect.Pointer:
		return typeWithin(t.Elem(), outer)
	case ownJSON(t):
		return nil
	case t.Implements(textMarshaler) || reflect.PointerTo(t).Implements(textMarshaler):
		return &core.Type{Kind: core.StringType}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &core.Type{Kind: core.BooleanType}
	case reflect.String:
		if t == numberType {
			return nil
		}
		return &core.Type{Kind: core.StringType}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &core.Type{Kind: core.IntegerType}
	case reflect.Float32, reflect.Float64:
		return &core.Type{Kind: core.NumberType}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &core.Type{Kind: core.StringType} // base64
		}
		return &core.Type{Kind: core.ArrayType, Items: typeWithin(t.Elem(), outer)}
	case reflect.Array:
		return &core.Type{Kind: core.ArrayType, Items: typeWithin(t.Elem(), outer)}
	case reflect.Map:
		return &core.Type{Kind: core.ObjectType}
	case reflect.Struct:
		return structType(t, outer)
	}
	return nil
}

func structType(t reflect.Type, outer []reflect.Type) *core.Type {
	if slices.Contains(outer, t) {
		return nil
	}
	out := &core.Type{Kind: core.ObjectType}
	for _, m := range members(t) {
		mt := typeWithin(m.typ, append(outer, t))
		if m.quoted {
			mt = &core.Type{Kind: core.StringType}
		}
		if m.ambiguous {
			mt = nil
		}
		out.Properties = append(out.Properties, core.Property{Name: m.name, Type: mt})
	}
	return out
}

// foreign reports whether methods of somebody else's may run when a value of the type is
// read from JSON or written. seen holds the types that were looked at.
func foreign(t reflect.Type, seen map[reflect.Type]bool) bool {
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
		return foreign(t.Key(), seen) || foreign(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return foreign(t.Elem(), seen)
	case reflect.Struct:
		return slices.ContainsFunc(members(t), func(m member) bool { return foreign(m.typ, seen) })
	}
	return false
}
