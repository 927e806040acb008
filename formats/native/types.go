package native

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

func inputDecl(m source.Member[inputShape]) core.InputDecl {
	d := m.Value
	return core.InputDecl{
		Name:        m.Key,
		Type:        typeOf(&typeShape{Type: d.Type, Items: d.Items, Properties: d.Properties, Enum: d.Enum}),
		TypePos:     d.Type.Pos,
		Required:    d.Required,
		Default:     valueOf(d.Default),
		Description: d.Description,
		Lost:        d.Lost,
		Pos:         m.Key.Pos,
	}
}

func fieldDecl(m source.Member[fieldShape]) core.FieldDecl {
	d := m.Value
	return core.FieldDecl{
		Name: m.Key,
		Type: typeOf(&typeShape{Type: d.Type, Items: d.Items, Properties: d.Properties, Required: d.Required, Enum: d.Enum, Ref: d.Ref}),

		Merge:       d.Merge,
		Key:         d.Key,
		Default:     valueOf(d.Default),
		Description: d.Description,
		Lost:        d.Lost,
		Pos:         m.Key.Pos,
	}
}

// valueOf distinguishes an absent value from null.
func valueOf(v *any) any {
	if v == nil {
		return value.Missing
	}
	return *v
}

// typeOf returns the type that the keys describe, nil if none is set.
func typeOf(d *typeShape) *value.Type {
	if d == nil {
		return nil
	}
	t := &value.Type{
		Items: typeOf(d.Items),
		Enum:  d.Enum,
		Ref:   d.Ref.Value,
		Desc:  d.Description.Value,
	}
	if k, ok := value.TypeKindOf(d.Type.Value); ok {
		t.Kind = k
	}
	for _, m := range d.Properties {
		t.Properties = append(t.Properties, value.Property{Name: m.Key.Value, Type: typeOf(&m.Value)})
	}
	if d.Required != nil {
		t.Required = append([]string{}, source.Strings(d.Required)...)
	}
	if t.Kind == value.AnyType && t.Items == nil && t.Enum == nil && t.Properties == nil && t.Required == nil && t.Ref == "" && t.Desc == "" {
		return nil
	}
	return t
}
