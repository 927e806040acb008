package source

import "slices"

import (
	"github.com/wavefold/wavefold/core/value"
)

// ValueKind is the shape of a positioned value.
type ValueKind uint8

// Shapes of positioned values.
const (
	NullValue ValueKind = iota
	BoolValue
	IntValue
	FloatValue
	StringValue
	ArrayValue
	ObjectValue
)

var valueKindNames = [...]string{"null", "boolean", "integer", "number", "string", "list", "mapping"}

// String returns the name of the shape in messages.
func (k ValueKind) String() string { return valueKindNames[k] }

// Value is a tree of values with their positions in the document. Formats create it, and
// Decode decodes it into structs. Scalar holds a bool, int64, float64 or string for the
// scalar kinds.
type Value struct {
	Kind ValueKind
	// Lost marks a value that could not be read, or an object with keys that could not be
	// read. The error has been reported.
	Lost   bool
	Pos    Position
	Scalar any
	Items  []*Value // of an array
	Keys   []Text   // of an object, in document order
	Values []*Value // of an object, parallel to Keys
}

// refused reports whether no part of the value could be read.
func (v *Value) refused() bool { return v.Lost && v.Kind != ObjectValue }

// Whole reports whether the value and everything in it could be read.
func (v *Value) Whole() bool {
	if v == nil {
		return true
	}
	if v.Lost {
		return false
	}
	part := func(e *Value) bool { return !e.Whole() }
	return !slices.ContainsFunc(v.Items, part) && !slices.ContainsFunc(v.Values, part)
}

// Get returns the member of an object, or nil if there is none.
func (v *Value) Get(key string) *Value {
	if v == nil {
		return nil
	}
	for i, k := range v.Keys {
		if k.Value == key {
			return v.Values[i]
		}
	}
	return nil
}

// Set adds a member to an object.
func (v *Value) Set(key Text, member *Value) {
	v.Keys = append(v.Keys, key)
	v.Values = append(v.Values, member)
}

// Without returns a copy of an object that lacks some of its members.
func (v *Value) Without(keys []string) *Value {
	if v == nil {
		return nil
	}
	out := *v
	out.Keys, out.Values = nil, nil
	for i, k := range v.Keys {
		if !slices.Contains(keys, k.Value) {
			out.Set(k, v.Values[i])
		}
	}
	return &out
}

// Plain returns the tree as a run-time value, without positions.
func (v *Value) Plain() any {
	if v == nil {
		return nil
	}
	switch v.Kind {
	case ArrayValue:
		out := make([]any, len(v.Items))
		for i, e := range v.Items {
			out[i] = e.Plain()
		}
		return out
	case ObjectValue:
		out := value.NewObject(len(v.Keys))
		for i, k := range v.Keys {
			out.Set(k.Value, v.Values[i].Plain())
		}
		return out
	case NullValue:
		return nil
	default:
		return v.Scalar
	}
}

// Tree returns a run-time value as a tree in which every part has the position pos.
func Tree(v any, pos Position) *Value {
	if value.IsMissing(v) {
		v = nil
	}
	switch v := v.(type) {
	case nil:
		return &Value{Kind: NullValue, Pos: pos}
	case bool:
		return &Value{Kind: BoolValue, Pos: pos, Scalar: v}
	case int64:
		return &Value{Kind: IntValue, Pos: pos, Scalar: v}
	case float64:
		return &Value{Kind: FloatValue, Pos: pos, Scalar: v}
	case string:
		return &Value{Kind: StringValue, Pos: pos, Scalar: v}
	case []any:
		out := &Value{Kind: ArrayValue, Pos: pos}
		for _, e := range v {
			out.Items = append(out.Items, Tree(e, pos))
		}
		return out
	case *value.Object:
		out := &Value{Kind: ObjectValue, Pos: pos}
		for k, e := range v.All() {
			out.Set(At(k, pos), Tree(e, pos))
		}
		return out
	}
	c, err := value.Canonical(v)
	if err != nil {
		return &Value{Kind: NullValue, Pos: pos}
	}
	return Tree(c, pos)
}
