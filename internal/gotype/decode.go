package gotype

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// decoder fills dst, which is zero, from a run-time value. The result shares no memory with
// the value. It reads what encoding/json would read, with two differences: integers stay
// exact, even if the Go type is any, and a float without a fraction is accepted as an
// integer.
type decoder func(dst reflect.Value, v any) error

// decoders builds decoders. An entry exists before it is complete, so that a type may
// contain itself.
type decoders map[reflect.Type]*decoder

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// of returns the decoder of a type.
func (ds decoders) of(t reflect.Type) decoder {
	if known, ok := ds[t]; ok {
		return func(dst reflect.Value, v any) error { return (*known)(dst, v) }
	}
	d := new(decoder)
	ds[t] = d
	inner := ds.build(t)
	*d = func(dst reflect.Value, v any) error {
		if v == nil {
			dst.SetZero()
			return nil
		}
		return inner(dst, v)
	}
	return *d
}

func (ds decoders) build(t reflect.Type) decoder {
	switch {
	case t == reflect.PointerTo(objectType):
		return decodeObject
	case ownJSON(t) || t == numberType || reflect.PointerTo(t).Implements(textUnmarshaler):
		return decodeJSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		element := ds.of(t.Elem())
		return func(dst reflect.Value, v any) error {
			dst.Set(reflect.New(t.Elem()))
			return element(dst.Elem(), v)
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return decodeJSON // base64
		}
		return ds.list(t)
	case reflect.Array:
		return ds.list(t)
	case reflect.Map:
		if t.Key().Kind() != reflect.String || reflect.PointerTo(t.Key()).Implements(textUnmarshaler) {
			return decodeJSON
		}
		return ds.mapping(t)
	case reflect.Struct:
		return ds.structure(t)
	default:
		return decodeScalar
	}
}

// decodeJSON encodes the value as JSON and unmarshals that, for types that implement their
// own decoding.
func decodeJSON(dst reflect.Value, v any) error {
	data, err := value.AppendJSON(nil, v)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, dst.Addr().Interface()); err != nil {
		return fmt.Errorf("%w: %w", mismatch(v, dst.Type()), err)
	}
	return nil
}

func decodeObject(dst reflect.Value, v any) error {
	c, err := value.Canonical(v)
	if err != nil {
		return err
	}
	o, ok := value.Clone(c).(*value.Object)
	if !ok {
		return mismatch(v, dst.Type())
	}
	dst.Set(reflect.ValueOf(o))
	return nil
}

// runtimeValue converts a value, which may have any Go type, to a run-time value.
func runtimeValue(v any) (any, error) {
	switch v.(type) {
	case bool, string, int64, float64, []any, *value.Object:
		return v, nil
	}
	return value.Canonical(v)
}

func (ds decoders) list(t reflect.Type) decoder {
	element := ds.of(t.Elem())
	return func(dst reflect.Value, v any) error {
		v, err := runtimeValue(v)
		if err != nil {
			return err
		}
		list, ok := v.([]any)
		if !ok || t.Kind() == reflect.Array && len(list) != t.Len() {
			return mismatch(v, t)
		}
		if t.Kind() == reflect.Slice && list != nil {
			dst.Set(reflect.MakeSlice(t, len(list), len(list)))
		}
		for i, e := range list {
			if err := element(dst.Index(i), e); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		return nil
	}
}

func (ds decoders) mapping(t reflect.Type) decoder {
	element := ds.of(t.Elem())
	return func(dst reflect.Value, v any) error {
		v, err := runtimeValue(v)
		if err != nil {
			return err
		}
		o, ok := v.(*value.Object)
		if !ok {
			return mismatch(v, t)
		}
		dst.Set(reflect.MakeMapWithSize(t, o.Len()))
		for k, e := range o.All() {
			x := reflect.New(t.Elem()).Elem()
			if err := element(x, e); err != nil {
				return fmt.Errorf("%s: %w", k, err)
			}
			dst.SetMapIndex(reflect.ValueOf(k).Convert(t.Key()), x)
		}
		return nil
	}
}

// structure fills the fields for which the object has members, by exact name or else
// ignoring case; members without a field are ignored.
func (ds decoders) structure(t reflect.Type) decoder {
	parts := members(t)
	decode := make([]decoder, len(parts))
	for i, m := range parts {
		if m.quoted || m.ambiguous || m.index == nil {
			return decodeJSON
		}
		decode[i] = ds.of(m.typ)
	}
	return func(dst reflect.Value, v any) error {
		v, err := runtimeValue(v)
		if err != nil {
			return err
		}
		o, ok := v.(*value.Object)
		if !ok {
			return mismatch(v, t)
		}
		for i := range parts {
			m := &parts[i]
			e, ok := memberOf(o, m.name, i)
			if !ok {
				continue
			}
			f := dst.Field(m.index[0])
			if len(m.index) > 1 {
				f = f.FieldByIndex(m.index[1:])
			}
			if err := decode[i](f, e); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		return nil
	}
}

// memberOf finds a member, which is often at the index of the field.
func memberOf(o *value.Object, name string, index int) (any, bool) {
	if index < o.Len() {
		if k, v := o.At(index); k == name {
			return v, true
		}
	}
	if v, ok := o.Get(name); ok {
		return v, true
	}
	for k, v := range o.All() {
		if strings.EqualFold(k, name) {
			return v, true
		}
	}
	return nil, false
}

// decodeScalar fills booleans, strings, numbers and any.
func decodeScalar(dst reflect.Value, v any) error {
	v, err := runtimeValue(v)
	if err != nil {
		return err
	}
	t := dst.Type()
	switch dst.Kind() {
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return mismatch(v, t)
		}
		if p := value.Plain(v); p != nil {
			dst.Set(reflect.ValueOf(p))
		}
		return nil
	case reflect.Bool:
		b, ok := v.(bool)
		if !ok {
			return mismatch(v, t)
		}
		dst.SetBool(b)
		return nil
	case reflect.String:
		s, ok := v.(string)
		if !ok {
			return mismatch(v, t)
		}
		dst.SetString(s)
		return nil
	}
	return decodeNumber(dst, v)
}

func decodeNumber(dst reflect.Value, v any) error {
	n, isInt := v.(int64)
	f, isFloat := v.(float64)
	if isFloat && f == math.Trunc(f) && f >= -(1<<63) && f < 1<<63 {
		n, isInt = int64(f), true
	}
	switch {
	case dst.CanFloat() && (isFloat || isInt):
		if !isFloat {
			f = float64(n)
		}
		if dst.OverflowFloat(f) {
			break
		}
		dst.SetFloat(f)
		return nil
	case dst.CanInt() && isInt && !dst.OverflowInt(n):
		dst.SetInt(n)
		return nil
	case dst.CanUint() && isInt && n >= 0 && !dst.OverflowUint(uint64(n)):
		dst.SetUint(uint64(n))
		return nil
	}
	return mismatch(v, dst.Type())
}
