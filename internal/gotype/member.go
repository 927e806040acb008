package gotype

import (
	"reflect"
	"slices"
	"strings"
)

// TakesObject reports whether a value of the type can be decoded from an object: the type
// is a struct, a map, any, or a pointer to one of them.
func TakesObject(t reflect.Type) bool {
	t = deref(t)
	if ownJSON(t) {
		return t == objectType
	}
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Map || t == anyType
}

// ownJSON reports whether a type implements its own JSON encoding or decoding.
func ownJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(jsonMarshaler) || p.Implements(jsonUnmarshaler)
}

// member is a struct field as encoding/json sees it.
type member struct {
	name      string
	typ       reflect.Type
	index     []int // nil if the path leads through a pointer
	quoted    bool  // encoded as a string because of the option string
	omitEmpty bool
	omitZero  bool
	ambiguous bool // several fields have the name
}

// needsEncodingJSON reports whether only encoding/json can handle the field.
func (m member) needsEncodingJSON() bool {
	return m.quoted || m.ambiguous || m.omitZero || m.index == nil
}

// members lists the fields of a struct and of the structs embedded in it.
func members(t reflect.Type) []member { return membersWithin(t, nil, map[reflect.Type]int{}) }

// membersWithin implements members inside the structs outer; met counts the occurrences of
// each struct. A third occurrence adds nothing: its names are already ambiguous.
func membersWithin(t reflect.Type, outer []reflect.Type, met map[reflect.Type]int) []member {
	var out []member
	outer = append(outer, t)
	met[t]++
	for i := range t.NumField() {
		f := t.Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Tag.Get("json") == "-" {
			continue
		}
		if f.Anonymous && tag == "" {
			if inner := deref(f.Type); inner.Kind() == reflect.Struct && !ownJSON(inner) {
				if slices.Contains(outer, inner) || met[inner] > 1 {
					continue
				}
				for _, m := range membersWithin(inner, outer, met) {
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

// Names lists the names that a struct accepts; open reports whether it may accept others.
func Names(t reflect.Type) (names []string, open bool) {
	t = deref(t)
	if t.Kind() != reflect.Struct || ownJSON(t) {
		return nil, true
	}
	for _, m := range members(t) {
		names = append(names, m.name)
	}
	return names, false
}
