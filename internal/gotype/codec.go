// Package gotype copies values of Go types, converts them from and to run-time values, and
// derives the declared types of Go types. It follows the rules of encoding/json for names
// and tags, so that a type has the same meaning for both; unlike encoding/json, integers
// stay exact everywhere and floats stay floats.
package gotype

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core/value"
)

// Codec converts and copies values of one Go type. It is built once per type, and is then
// immutable and safe for concurrent use.
type Codec struct {
	// Err is not nil if no value of the type can be part of a state; the methods then
	// return it. Types inside others are checked when a value is used.
	Err error

	hasUserMethods bool

	copy   value.Copier
	check  checker // nil for types all of whose values have a JSON form
	decode decoder
	encode encoder
}

// New builds the codec of a type.
func New(t reflect.Type) *Codec {
	if err := usableError(t); err != nil {
		return &Codec{Err: err}
	}
	return &Codec{hasUserMethods: hasUserMethods(t, map[reflect.Type]bool{}), copy: value.NewCopier(t), check: checkers{}.of(t), decode: decoders{}.of(t), encode: encoders{}.of(t)}
}

// Flat reports whether an assignment copies a value of the type.
func (c *Codec) Flat() bool { return c.copy.Flat() }

// Copy copies src to dst, which must be zero. The copy shares no memory with src, except
// for what unexported fields refer to.
func (c *Codec) Copy(dst, src reflect.Value) error {
	if c.Err != nil {
		return c.Err
	}
	return c.copy.Copy(dst, src)
}

// Decode fills dst, which must be zero, from a run-time value or a value of another Go
// type. The result shares no memory with the value. A null becomes the zero value.
func (c *Codec) Decode(dst reflect.Value, v any) error {
	if c.Err != nil {
		return c.Err
	}
	return c.decode(dst, v)
}

// Encode converts a value of the type to a run-time value that shares no memory with it.
func (c *Codec) Encode(v reflect.Value) (any, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	return c.encode(v, 0)
}

// Checker returns a function that returns an error if a value of the type has no JSON form.
// Conditions, events and documents show that form. Checker returns nil if every value has
// one.
func (c *Codec) Checker() func(v any) error {
	if c.check == nil {
		return nil
	}
	return func(v any) error { return c.check(reflect.ValueOf(v), 0) }
}

// HasUserMethods reports whether user code may run when a value is decoded or encoded: methods of
// the type or of a type that it contains.
func (c *Codec) HasUserMethods() bool { return c.hasUserMethods }

// As decodes a run-time value as a T.
func As[T any](c *Codec, v any) (T, error) {
	var x T
	err := c.Decode(reflect.ValueOf(&x).Elem(), v)
	return x, err
}

// usableError returns an error if no value of a type can be part of a state.
func usableError(t reflect.Type) error {
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return fmt.Errorf("%s has no JSON form", t)
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Errorf("%s is an interface: nothing says which type its values have", t)
		}
	}
	return nil
}

// mismatch returns the error about a value that does not match a type.
func mismatch(v any, t reflect.Type) error {
	s := value.JSON(v)
	if len(s) > 40 {
		return fmt.Errorf("%s does not fit %s", value.TypeName(v), t)
	}
	return fmt.Errorf("%s %s does not fit %s", value.TypeName(v), s, t)
}
