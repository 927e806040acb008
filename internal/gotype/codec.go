// Package gotype knows how values of Go types are copied, made of run-time values and
// turned into them, and which declared type they have. It follows the rules of
// encoding/json for names and tags, so that a type means the same to both; unlike it,
// whole numbers stay exact everywhere and floats stay floats.
package gotype

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
)

// Codec handles the values of one Go type. It is built once for the type, and is
// immutable then and safe for concurrent use.
type Codec struct {
	// Err says why no value of the type can stand in a state; the methods return it.
	// Types inside others are judged when a value is used.
	Err error

	foreign bool

	copy   core.Copier
	check  checker // nil for types all of whose values have a JSON form
	decode decoder
	encode encoder
}

// New builds the codec of a type.
func New(t reflect.Type) *Codec {
	if err := unusable(t); err != nil {
		return &Codec{Err: err}
	}
	return &Codec{foreign: foreign(t, map[reflect.Type]bool{}), copy: core.NewCopier(t), check: checkers{}.of(t), decode: decoders{}.of(t), encode: encoders{}.of(t)}
}

// Flat reports whether an assignment copies a value of the type.
func (c *Codec) Flat() bool { return c.copy.Flat() }

// Copy makes dst, which must be zero, a copy of src that shares nothing with it, except
// what unexported fields refer to.
func (c *Codec) Copy(dst, src reflect.Value) error {
	if c.Err != nil {
		return c.Err
	}
	return c.copy.Copy(dst, src)
}

// Decode fills dst, which must be zero, from a run-time value or a value of another Go
// type. It shares nothing with the value. A null is the zero value.
func (c *Codec) Decode(dst reflect.Value, v any) error {
	if c.Err != nil {
		return c.Err
	}
	return c.decode(dst, v)
}

// Encode returns a value of the type as a run-time value that shares nothing with it.
func (c *Codec) Encode(v reflect.Value) (any, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	return c.encode(v, 0)
}

// Checker returns a function that says why a value of the type has no JSON form, which is
// the form that conditions, events and documents show; nil when every value has one.
func (c *Codec) Checker() func(v any) error {
	if c.check == nil {
		return nil
	}
	return func(v any) error { return c.check(reflect.ValueOf(v), 0) }
}

// Foreign reports whether code of somebody else's may run when a value is read from JSON
// or written: methods of the type or of what it may hold.
func (c *Codec) Foreign() bool { return c.foreign }

// As decodes a run-time value as a T.
func As[T any](c *Codec, v any) (T, error) {
	var x T
	err := c.Decode(reflect.ValueOf(&x).Elem(), v)
	return x, err
}

// unusable says why no value of a type can stand in a state.
func unusable(t reflect.Type) error {
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

// mismatch words the error about a value that does not fit a type.
func mismatch(v any, t reflect.Type) error {
	s := core.JSON(v)
	if len(s) > 40 {
		return fmt.Errorf("%s does not fit %s", core.TypeName(v), t)
	}
	return fmt.Errorf("%s %s does not fit %s", core.TypeName(v), s, t)
}
