package nodestest

import (
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Schema parses a state schema for core.Env. text is a JSON mapping from field names to types as in
// documents, such as
//
//	{"rows": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}}, "any": {}}
func Schema(t testing.TB, text string) value.Schema {
	t.Helper()
	var s schema
	v := Tree(t, text)
	for i, k := range v.Keys {
		s = append(s, value.Property{Name: k.Value, Type: typeOf(t, v.Values[i])})
	}
	return s
}

type schema []value.Property

// FieldType returns the type of a field.
func (s schema) FieldType(name string) (*value.Type, bool) {
	return (&value.Type{Properties: s}).Property(name)
}

// FieldNames lists the fields in declared order.
func (s schema) FieldNames() []string {
	out := make([]string, len(s))
	for i, p := range s {
		out[i] = p.Name
	}
	return out
}

// typeOf parses a type. A type without the key "type" accepts any value.
func typeOf(t testing.TB, v *source.Value) *value.Type {
	t.Helper()
	word := v.Get("type")
	if word == nil {
		return nil
	}
	out := &value.Type{}
	name, _ := word.Scalar.(string)
	kind, ok := value.TypeKindOf(name)
	if !ok {
		t.Fatalf("%s: unknown type %q", word.Pos, name)
	}
	out.Kind = kind
	if items := v.Get("items"); items != nil {
		out.Items = typeOf(t, items)
	}
	if members := v.Get("properties"); members != nil {
		for i, k := range members.Keys {
			out.Properties = append(out.Properties, value.Property{Name: k.Value, Type: typeOf(t, members.Values[i])})
		}
	}
	if required := v.Get("required"); required != nil {
		out.Required = []string{}
		for _, r := range textsOf(t, required) {
			out.Required = append(out.Required, r.Value)
		}
	}
	if enum := v.Get("enum"); enum != nil {
		out.Enum, _ = enum.Plain().([]any)
	}
	return out
}
