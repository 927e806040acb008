package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// needsJSON reports whether the writes of the node need an answer that is JSON.
func (b *builder) needsJSON() bool {
	if len(b.node.Writes) != 1 {
		return len(b.node.Writes) > 1
	}
	t := b.writeType(b.node.Writes[0])
	return t != nil && t.Kind != value.AnyType && t.Kind != value.StringType && t.Kind != value.NullType || t != nil && len(t.Enum) > 0
}

// writesSchema returns the schema of an answer that fills the writes of a node: an object
// whose members are the fields.
func (b *builder) writesSchema() *value.Object {
	members, required := value.NewObject(len(b.node.Writes)), []any{}
	for _, w := range b.node.Writes {
		members.Set(w.Value, schemaOf(b.writeType(w)))
		required = append(required, w.Value)
	}
	return value.ObjectOf("type", "object", "properties", members, "required", required, "additionalProperties", false)
}

// writeType returns the type of the values that a field accepts, nil if it accepts any.
func (b *builder) writeType(field source.Text) *value.Type {
	if b.env.WriteType == nil {
		return nil
	}
	return b.env.WriteType(field.Value)
}

// checkWrites reports members of the answer whose type their field never accepts. Otherwise the
// run would find out only after a paid call of the model.
func (b *builder) checkWrites(schema *source.Value) {
	for _, w := range b.node.Writes {
		t := b.writeType(w)
		members := schema.Get("properties")
		member := members.Get(w.Value)
		switch closed := schema.Get("additionalProperties"); {
		case member != nil:
			b.checkWrite(member, t, w.Value)
		case len(b.node.Writes) == 1 && (members != nil || typeOf(schema) != value.ObjectType):
			b.checkWrite(schema, t, w.Value)
		case closed != nil && closed.Scalar == false:
			b.errorf(source.CodeBadValue, closed.Pos, "schema: the node writes %s, and the answer can have no such member", w.Value)
		}
	}
}

// rows describes the rows in the fields that the node writes, as far as the schema of the
// document declares them. Members that it does not require are optional. Rows have no others
// if additionalProperties is false and the schema is enforced.
func (b *builder) rows(r *runner) map[string]source.Columns {
	if b.Schema == nil || r.schema == nil {
		return nil
	}
	out := map[string]source.Columns{}
	for _, w := range b.node.Writes {
		field := member(r.schema.object, "properties", w.Value)
		if field == nil && len(b.node.Writes) == 1 {
			field = r.schema.object // the whole answer, if it is an array
		}
		row := member(field, "items")
		if kind, _ := field.Get("type"); kind != "array" || row == nil {
			continue
		}
		c := source.Columns{Names: memberNames(row, "properties")}
		required := requiredOf(row)
		for _, name := range c.Names {
			if !slices.Contains(required, name) {
				c.Optional = append(c.Optional, name)
			}
		}
		others, _ := row.Get("additionalProperties")
		_, patterns := row.Get("patternProperties")
		_, refers := row.Get("$ref")
		c.Closed = others == false && !patterns && !refers && !r.lenient
		out[w.Value] = c
	}
	return out
}

// member returns the mapping at a path of keys of a schema, or nil if there is none.
func member(o *value.Object, keys ...string) *value.Object {
	for _, key := range keys {
		v, _ := o.Get(key)
		o, _ = v.(*value.Object)
	}
	return o
}

// checkWrite reports a schema whose values a field never accepts.
func (b *builder) checkWrite(schema *source.Value, field *value.Type, name string) {
	kind := typeOf(schema)
	if field == nil || !kind.Disjoint(field.Kind) {
		return
	}
	d := b.errorf(source.CodeWrongType, schema.Get("type").Pos, "schema: the field %s wants %s, and the answer gives it %s", name, field.Kind, kind)
	if field.Kind == value.ArrayType {
		d.WithHint("a list takes elements as a list: the answer may be one, or an object with a member %s that is one", name)
	}
}

// typeOf returns the type that a schema names, AnyType if it names none or several.
func typeOf(schema *source.Value) value.TypeKind {
	name, _ := schema.Get("type").Plain().(string)
	kind, _ := value.TypeKindOf(name)
	return kind
}

// deltaOf returns the writes of an answer. A single declared field gets the member of its
// name or, if there is none, the whole answer. If several fields are declared, each gets the
// member of its name. A field keeps its value if its member is optional and absent.
func (r *runner) deltaOf(v any) (map[string]any, error) {
	o, isObject := v.(*value.Object)
	optional := func(name string) bool { return isObject && r.schema.optional(name) }
	if len(r.writes) == 1 {
		name := r.writes[0]
		member, ok := o.Get(name)
		switch {
		case ok:
			v = member
		case optional(name):
			return nil, nil
		}
		return map[string]any{name: v}, nil
	}
	left := slices.DeleteFunc(lacking(v, r.writes), optional)
	if len(left) > 0 {
		return nil, fmt.Errorf("the answer has no member %s, which the node writes", strings.Join(left, ", "))
	}
	var delta map[string]any
	for _, name := range r.writes {
		member, ok := o.Get(name)
		if !ok {
			continue
		}
		if delta == nil {
			delta = make(map[string]any, len(r.writes))
		}
		delta[name] = member
	}
	return delta, nil
}
