package native

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

func (w *writer) inputs(o object, d *core.Workflow) {
	if !d.HasInputs && len(d.Inputs) == 0 {
		return
	}
	inputs := w.section()
	for _, in := range d.Inputs {
		v := newObject()
		t := orEmpty(in.Type)
		if len(t.Required) > 0 || t.Ref != "" {
			w.fail("input %s: required members and $ref of a type cannot be written", in.Name.Value)
		}
		kind(v, t)
		v.flag("required", in.Required)
		w.value(v, "default", in.Default, "input "+in.Name.Value)
		w.typeParts(v, t, "input "+in.Name.Value)
		v.description(in.Description, t)
		inputs.put(in.Name.Value, v.Value)
	}
	o.put("inputs", inputs.Value)
}

func (w *writer) state(o object, d *core.Workflow) {
	if len(d.Fields) == 0 {
		return
	}
	schema := w.section()
	for _, f := range d.Fields {
		if f.Reduce != nil {
			w.fail("field %s: its merge strategy is a Go function, which a document cannot hold", f.Name.Value)
		}
		v := newObject()
		t := orEmpty(f.Type)
		kind(v, t)
		v.word("merge", f.Merge, "last_wins")
		v.text("key", f.Key)
		w.value(v, "default", f.Default, "field "+f.Name.Value)
		w.typeParts(v, t, "field "+f.Name.Value)
		v.description(f.Description, t)
		schema.put(f.Name.Value, v.Value)
	}
	state := w.section()
	state.put("schema", schema.Value)
	o.put("state", state.Value)
}

// orEmpty returns t, or an empty type if t is nil.
func orEmpty(t *value.Type) *value.Type {
	if t == nil {
		return &value.Type{}
	}
	return t
}

func kind(o object, t *value.Type) {
	if t.Kind != value.AnyType {
		o.put("type", stringValue(t.Kind.String()))
	}
}

// typeParts adds the keys of a type other than its kind and description.
func (w *writer) typeParts(o object, t *value.Type, subject string) {
	if t.Items != nil {
		o.object("items", w.typeTree(t.Items, subject))
	}
	if len(t.Properties) > 0 {
		props := newObject()
		for _, p := range t.Properties {
			props.put(p.Name, w.typeTree(orEmpty(p.Type), subject).Value)
		}
		o.put("properties", props.Value)
	}
	o.stringList("required", t.Required, false)
	if len(t.Enum) > 0 {
		enum := &source.Value{Kind: source.ArrayValue}
		for _, e := range t.Enum {
			enum.Items = append(enum.Items, w.tree(e, subject+": enum"))
		}
		o.put("enum", enum)
	}
	o.text("$ref", source.At(t.Ref, source.Position{}))
}

func (w *writer) typeTree(t *value.Type, subject string) object {
	o := newObject()
	kind(o, t)
	w.typeParts(o, t, subject)
	o.description(source.Text{}, t)
	return o
}

// description adds the description of a field, or of its type if the field has none.
func (o object) description(text source.Text, t *value.Type) {
	if text.Value == "" {
		text.Value = t.Desc
	}
	o.text("description", text)
}

// value adds a value unless it is value.Missing.
func (w *writer) value(o object, key string, v any, subject string) {
	if !value.IsMissing(v) {
		o.put(key, w.tree(v, subject+": "+key))
	}
}

func (w *writer) tree(v any, subject string) *source.Value {
	c, err := value.Canonical(v)
	if err != nil {
		w.fail("%s: %v", subject, err)
		return &source.Value{}
	}
	return source.Tree(c, source.Position{})
}
