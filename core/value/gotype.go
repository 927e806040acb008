package value

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// GoType describes the Go type of a typed field: how its values get into and
// out of JSON and how they are copied.
type GoType struct {
	Type reflect.Type
	// Decode makes a value of the type from a canonical one.
	Decode func(v any) (any, error)
	// Check says why a value of the type has no JSON form; nil when every value has
	// one.
	Check func(v any) error
	// Foreign tells that code of somebody else's may run on the way from JSON or to
	// it: methods such as MarshalJSON, of the type or of what it may hold.
	Foreign bool
}

// GoTypeFor returns the GoType of T. Values are decoded by encoding/json.
func GoTypeFor[T any]() *GoType {
	t := reflect.TypeFor[T]()
	return &GoType{Type: t, Check: hasJSON, Foreign: true, Decode: func(v any) (any, error) {
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
