package gotype

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// encoder converts a Go value to a run-time value that shares no memory with it. The result
// is what encoding/json would write, except that a float without a fraction stays a float.
type encoder func(v reflect.Value, depth int) (any, error)

// encoders builds encoders. An entry exists before it is complete, so that a type may
// contain itself.
type encoders map[reflect.Type]*encoder

// of returns the encoder of a type.
func (es encoders) of(t reflect.Type) encoder {
	if known, ok := es[t]; ok {
		return func(v reflect.Value, depth int) (any, error) { return (*known)(v, depth) }
	}
	e := new(encoder)
	es[t] = e
	*e = es.build(t)
	return *e
}

func (es encoders) build(t reflect.Type) encoder {
	if t == numberType {
		return func(v reflect.Value, _ int) (any, error) { return value.ParseNumber(v.String()) }
	}
	if ownJSON(t) || t.Implements(textMarshaler) || reflect.PointerTo(t).Implements(textMarshaler) {
		return encodeJSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		return es.pointer(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return encodeJSON // base64
		}
		return es.list(t)
	case reflect.Array:
		return es.list(t)
	case reflect.Map:
		if t.Key().Kind() != reflect.String || t.Key().Implements(textMarshaler) {
			return encodeJSON
		}
		return es.mapping(t)
	case reflect.Struct:
		return es.structure(t)
	default:
		return encodeScalar
	}
}

func encodeJSON(v reflect.Value, _ int) (any, error) {
	c, err := value.Canonical(v.Interface())
	return value.Clone(c), err
}

// maxDepth limits the nesting of values. A value that refers to itself would otherwise
// exhaust the stack, from which recover cannot recover.
const maxDepth = 10_000

// deepError reports that a value is nested too deeply. It omits the path, which is as long
// as the value is deep.
type deepError struct {
	t     reflect.Type
	limit int
}

func (e deepError) Error() string {
	return fmt.Sprintf("a value of type %s nests deeper than %d: does it refer to itself?", e.t, e.limit)
}

func tooDeep(t reflect.Type) error { return deepError{t, maxDepth} }

func (es encoders) pointer(t reflect.Type) encoder {
	element := es.of(t.Elem())
	return func(v reflect.Value, depth int) (any, error) {
		switch {
		case v.IsNil():
			return nil, nil
		case depth > maxDepth:
			return nil, tooDeep(t)
		}
		return element(v.Elem(), depth+1)
	}
}

func (es encoders) list(t reflect.Type) encoder {
	if r := es.rows(t.Elem()); r != nil {
		return r.encodeList
	}
	element := es.of(t.Elem())
	return func(v reflect.Value, depth int) (any, error) {
		switch {
		case v.Kind() == reflect.Slice && v.IsNil():
			return nil, nil
		case depth > maxDepth:
			return nil, tooDeep(t)
		}
		out := make([]any, v.Len())
		for i := range out {
			var err error
			if out[i], err = element(v.Index(i), depth+1); err != nil {
				return nil, addPath(fmt.Sprintf("[%d]", i), err)
			}
		}
		return out, nil
	}
}

func (es encoders) mapping(t reflect.Type) encoder {
	element := es.of(t.Elem())
	return func(v reflect.Value, depth int) (any, error) {
		switch {
		case v.IsNil():
			return nil, nil
		case depth > maxDepth:
			return nil, tooDeep(t)
		}
		keys := make([]string, 0, v.Len())
		for _, k := range v.MapKeys() {
			keys = append(keys, k.String())
		}
		slices.Sort(keys)
		out := value.NewObject(len(keys))
		for _, k := range keys {
			e, err := element(v.MapIndex(reflect.ValueOf(k).Convert(t.Key())), depth+1)
			if err != nil {
				return nil, addPath(k, err)
			}
			out.Set(k, e)
		}
		return out, nil
	}
}

func (es encoders) structure(t reflect.Type) encoder {
	if r := es.rows(t); r != nil {
		return r.encode
	}
	parts := members(t)
	if slices.ContainsFunc(parts, member.needsEncodingJSON) {
		return encodeJSON
	}
	encode := make([]encoder, len(parts))
	for i, m := range parts {
		encode[i] = es.of(m.typ)
	}
	return func(v reflect.Value, depth int) (any, error) {
		out := value.NewObject(len(parts))
		for i, m := range parts {
			f := v.FieldByIndex(m.index)
			if m.omitEmpty && isEmpty(f) {
				continue
			}
			e, err := encode[i](f, depth+1)
			if err != nil {
				return nil, addPath(m.name, err)
			}
			out.Set(m.name, e)
		}
		return out, nil
	}
}

// rows encodes structs of one type, whose objects all have the same keys and share them.
type rows struct {
	keys    *value.Keys
	members []member
	encoder []encoder
}

// rows returns the encoder of structs whose members are always present, nil for other
// types.
func (es encoders) rows(t reflect.Type) *rows {
	if t.Kind() != reflect.Struct || ownJSON(t) || t.Implements(textMarshaler) || reflect.PointerTo(t).Implements(textMarshaler) {
		return nil
	}
	parts := members(t)
	if slices.ContainsFunc(parts, func(m member) bool { return m.needsEncodingJSON() || m.omitEmpty }) {
		return nil
	}
	r := &rows{members: parts, encoder: make([]encoder, len(parts))}
	names := make([]string, len(parts))
	for i, m := range parts {
		names[i], r.encoder[i] = m.name, es.of(m.typ)
	}
	r.keys, _ = value.NewKeys(names) // names that appear twice are ambiguous, and have been excluded
	return r
}

func (r *rows) encode(v reflect.Value, depth int) (any, error) {
	values := make([]any, len(r.members))
	if err := r.fill(values, v, depth); err != nil {
		return nil, err
	}
	return value.NewRow(r.keys, values), nil
}

// rowBlock is the number of rows of a list that share a block of memory. A row that is
// retained also retains the other rows of its block.
const rowBlock = 64

// encodeList encodes a list of structs.
func (r *rows) encodeList(v reflect.Value, depth int) (any, error) {
	switch {
	case v.Kind() == reflect.Slice && v.IsNil():
		return nil, nil
	case depth > maxDepth:
		return nil, tooDeep(v.Type())
	}
	out, width := make([]any, v.Len()), len(r.members)
	var objects []value.Object
	var values []any
	for i := range out {
		if len(objects) == 0 {
			n := min(len(out)-i, rowBlock)
			objects, values = make([]value.Object, n), make([]any, n*width)
		}
		if err := r.fill(values[:width], v.Index(i), depth+1); err != nil {
			return nil, addPath(fmt.Sprintf("[%d]", i), err)
		}
		value.InitRow(&objects[0], r.keys, values[:width])
		out[i] = &objects[0]
		objects, values = objects[1:], values[width:]
	}
	return out, nil
}

// fill encodes the members.
func (r *rows) fill(values []any, v reflect.Value, depth int) error {
	for i := range r.members {
		m := &r.members[i]
		f := v.Field(m.index[0])
		if len(m.index) > 1 {
			f = f.FieldByIndex(m.index[1:])
		}
		var err error
		if values[i], err = r.encoder[i](f, depth+1); err != nil {
			return addPath(m.name, err)
		}
	}
	return nil
}

// isEmpty reports whether the option omitempty omits the value.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func encodeScalar(v reflect.Value, depth int) (any, error) {
	switch {
	case v.CanInt():
		return v.Int(), nil
	case v.CanUint():
		if v.Uint() > math.MaxInt64 {
			return nil, fmt.Errorf("%d is above the largest 64-bit integer", v.Uint())
		}
		return int64(v.Uint()), nil
	case v.CanFloat():
		if f := v.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
		return nil, fmt.Errorf("%v has no JSON form", v.Float())
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Interface:
		return encodeInterface(v, depth)
	}
	return nil, fmt.Errorf("%s has no JSON form", v.Type())
}

// encodeInterface encodes the value in an interface.
func encodeInterface(v reflect.Value, depth int) (any, error) {
	if v.IsNil() {
		return nil, nil
	}
	switch x := v.Interface().(type) {
	case bool, int64, float64, string:
		return x, nil
	case *value.Object:
		return value.Clone(x), nil
	}
	return encoders{}.of(v.Elem().Type())(v.Elem(), depth+1)
}
