package wavefold

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

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

// typeOf derives the JSON type of a Go type, as encoding/json writes it. Where the Go
// type does not tell, such as for interfaces and types with a JSON form of their own,
// it is nil: anything.
func typeOf(t reflect.Type) *core.Type { return typeWithin(t, nil) }

// typeWithin is typeOf inside the given structs; a type that holds itself is open from
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

// ownJSON reports whether a type decides itself what its JSON form is.
func ownJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(jsonMarshaler) || p.Implements(jsonUnmarshaler)
}

// member is a struct field as encoding/json sees it.
type member struct {
	name      string
	typ       reflect.Type
	index     []int // nil when the way leads through a pointer
	quoted    bool  // written as a text by the option string
	omitEmpty bool
	omitZero  bool
	ambiguous bool // several fields claim the name
}

// members lists the fields of a struct and of the structs embedded in it.
func members(t reflect.Type) []member { return membersWithin(t, nil) }

func membersWithin(t reflect.Type, outer []reflect.Type) []member {
	var out []member
	outer = append(outer, t)
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Tag.Get("json") == "-" {
			continue
		}
		if f.Anonymous && tag == "" {
			if inner := deref(f.Type); inner.Kind() == reflect.Struct && !ownJSON(inner) && !slices.Contains(outer, inner) {
				for _, m := range membersWithin(inner, outer) {
					if m.index != nil {
						m.index = append([]int{i}, m.index...)
					}
					if f.Type.Kind() == reflect.Pointer {
						m.index = nil
					}
					out = addMember(out, m)
				}
				continue
			}
		}
		if !f.IsExported() {
			continue
		}
		if tag == "" {
			tag = f.Name
		}
		out = addMember(out, member{name: tag, typ: f.Type, index: []int{i}, quoted: strings.Contains(options, "string"),
			omitEmpty: strings.Contains(options, "omitempty"), omitZero: strings.Contains(options, "omitzero")})
	}
	return out
}

func addMember(list []member, m member) []member {
	for i := range list {
		if list[i].name == m.name {
			list[i].ambiguous = true
			return list
		}
	}
	return append(list, m)
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// memberNames lists the names a struct takes; open tells that there may be others.
func memberNames(t reflect.Type) (names []string, open bool) {
	t = deref(t)
	if t.Kind() != reflect.Struct || ownJSON(t) {
		return nil, true
	}
	for _, m := range members(t) {
		names = append(names, m.name)
	}
	return names, false
}
