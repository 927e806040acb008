package wavefold

import (
	"fmt"
	"reflect"

	"github.com/wavefold/wavefold/core"
)

// codec copies the values of a Go type and makes them of run-time values. It is built
// once for each type and is immutable then.
type codec struct {
	// copy makes a deep copy; nil for types without references, which an assignment
	// copies.
	copy   copier
	decode decoder
	encode encoder
	err    error // the type has no JSON form
}

// newCodec builds the codec of a type.
func newCodec(t reflect.Type) *codec {
	if err := unusable(t); err != nil {
		return &codec{err: err, decode: func(reflect.Value, any) error { return err },
			encode: func(reflect.Value, int) (any, error) { return nil, err }}
	}
	return &codec{copy: copiers{}.of(t), decode: decoders{}.of(t), encode: encoders{}.of(t)}
}

// unusable says why no value of a type can stand in a state. Types inside others are
// judged when a value is used.
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

// decodeAs returns a run-time value as a T. A null is the zero T.
func decodeAs[T any](c *codec, v any) (T, error) {
	var x T
	err := c.decode(reflect.ValueOf(&x).Elem(), v)
	return x, err
}

// mismatch words the error about a value that does not fit a type.
func mismatch(v any, t reflect.Type) error {
	s := core.JSON(v)
	if len(s) > 40 {
		return fmt.Errorf("%s does not fit %s", core.TypeName(v), t)
	}
	return fmt.Errorf("%s %s does not fit %s", core.TypeName(v), s, t)
}

// badInput makes an error about what a function was to be given. Another attempt would
// be given the same.
func badInput(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &core.Failure{Class: core.ClassInput, Permanent: true, Message: err.Error(), Cause: err}
}
