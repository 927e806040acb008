package value

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// GoType describes the Go type of a typed field: how its values are converted from and to
// JSON, and how they are copied.
type GoType struct {
	Type reflect.Type
	// Decode converts a canonical value to the type.
	Decode func(v any) (any, error)
	// Check returns an error if a value of the type has no JSON form. It is nil if every
	// value has one.
	Check func(v any) error
	// RunsUserCode reports whether conversion from or to JSON may run user code: methods such as
	// MarshalJSON, of the type or of a type that it may contain.
	RunsUserCode bool
	// KeepsIntegers reports whether Decode stores an integer in an any as an int64.
	KeepsIntegers bool
}

// GoTypeFor returns the GoType of T. Values are decoded by encoding/json.
func GoTypeFor[T any]() *GoType {
	t := reflect.TypeFor[T]()
	return &GoType{Type: t, Check: hasJSON, RunsUserCode: true, Decode: func(v any) (any, error) {
		if x, ok := v.(T); ok {
			return x, nil
		}
		data, err := AppendJSON(nil, v)
		if err != nil {
			return nil, err
		}
		var x T
		if err := json.Unmarshal(data, &x); err != nil {
			return nil, fmt.Errorf("does not fit %s: %w", t, err)
		}
		return x, nil
	}}
}

func hasJSON(v any) error {
	_, err := Canonical(v)
	return err
}

// Holds reports whether v is a value of the type.
func (g *GoType) Holds(v any) bool { return v != nil && reflect.TypeOf(v) == g.Type }
