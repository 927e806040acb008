package sweny

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// inputs reads the declared inputs.
func (l *loader) inputs() {
	for _, m := range l.doc.Inputs {
		d := inputShape{name: m.Key.Value}
		l.ds = append(l.ds, source.Decode(m.Value, &d)...)
		in := core.InputDecl{Name: m.Key, Required: d.Required, Default: value.Missing, Description: d.Description, Lost: d.Lost, Pos: m.Key.Pos}
		if !d.Lost.Has("type") {
			in.Type, in.TypePos = l.inputType(&d), d.Type.Pos
		}
		l.inputDefault(&d, &in)
		l.w.Inputs = append(l.w.Inputs, in)
	}
}

// inputType returns the type of an input whose type name is valid.
func (l *loader) inputType(d *inputShape) *value.Type {
	t := &value.Type{}
	switch d.Type.Value {
	case "string":
		t.Kind = value.StringType
	case "number":
		t.Kind = value.NumberType
	case "boolean":
		t.Kind = value.BooleanType
	default:
		t.Kind, t.Items = value.ArrayType, &value.Type{Kind: value.StringType}
	}
	var enum []any
	for i, v := range d.Enum {
		if err := t.Check(v.Plain()); err != nil || v.Kind == source.NullValue {
			l.ds.Errorf(source.CodeSchema, v.Pos, "input %s: enum[%d]: want %s, found %s", d.name, i, d.Type.Value, v.Describe())
			continue
		}
		enum = append(enum, v.Plain())
	}
	t.Enum = enum
	return t
}

func (l *loader) inputDefault(d *inputShape, in *core.InputDecl) {
	v := d.Default
	if v == nil || v.Kind == source.NullValue {
		return
	}
	if d.Required {
		l.ds.Errorf(source.CodeSchema, v.Pos, "input %s: has a default, so it cannot be required", d.name).WithHint("leave out one of the two")
		return
	}
	if in.Type == nil {
		return
	}
	if err := in.Type.Check(v.Plain()); err != nil {
		l.ds.Errorf(source.CodeSchema, v.Pos, "input %s: default: %v", d.name, err)
		return
	}
	in.Default = v.Plain()
}
