package table

import (
	"context"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// From is the source of a node's value: a state field or an expression.
type From struct {
	// Name is the name in messages.
	Name source.Text
	// Type is the declared type, nil if it is unknown.
	Type *value.Type
	// Key is the key of the node that contains the name.
	Key     string
	field   string // the field, if the value is a whole field
	item    bool   // the value is $item
	program *expressions.Program
}

// Source compiles the key "from": a field, or an expression that begins with "$". If
// the key is absent, the value is the node's only declared read. Source returns nil
// after an error, and if the key could not be read.
func (s *Scope) Source(from source.Text) *From {
	if s.node.Lost.Has("from") {
		return nil
	}
	src := &From{Name: from, Key: "from"}
	if from.Value == "" {
		if len(s.node.Reads) != 1 {
			s.Errorf(source.CodeBadValue, s.node.Pos, src.Key, "name the field: the node reads %d", len(s.node.Reads)).WithHint("from: rows")
			return nil
		}
		src.Name, src.Key = s.node.Reads[0], "reads"
	}
	if !strings.HasPrefix(src.Name.Value, "$") {
		if _, declared := s.FieldType(src.Name.Value); !declared && from.Value == "" {
			src.field = src.Name.Value // checking the node's reads reports the error
			return src
		}
		t, ok := s.Field(src.Name, src.Key)
		if !ok {
			return nil
		}
		src.Type, src.field = t, src.Name.Value
		return src
	}
	if src.program = s.Value(src.Name, src.Key); src.program == nil {
		return nil
	}
	if k := src.program.Type(); k != value.AnyType {
		src.Type = &value.Type{Kind: k}
	}
	p, ok := src.program.Tree().Path()
	switch {
	case ok && p.Root == expressions.RootState && len(p.Steps) == 1:
		src.field = p.Steps[0].Name
		src.Type, _ = s.FieldType(src.field)
	case ok && p.Root == expressions.RootItem && len(p.Steps) == 0:
		src.item = true
		src.Type = s.item.Type
	}
	return src
}

// Streams returns the field that the value is, for core.Compiled.Streams. It returns
// nil if the value is not a whole field, or not known.
func (s *From) Streams() []source.Text {
	if s == nil || s.field == "" {
		return nil
	}
	return []source.Text{source.At(s.field, s.Name.Pos)}
}

// Stream opens the field as a stream, which begins at a position unless that is nil; see
// core.Input.StreamAt. ok is false if the value is not a stream.
func (s *From) Stream(ctx context.Context, in core.Input, at *value.Object) (stream core.Stream, ok bool, err error) {
	if s.field == "" {
		return nil, false, nil
	}
	return in.StreamAt(ctx, s.field, at)
}

// Field returns the state field that the value is, or "" if the value is not a whole
// field.
func (s *From) Field() string { return s.field }

// BatchHint explains how to get a table where $item is one row.
const BatchHint = "write the whole field in one node, or give the pipeline batch: 1000, which makes $item an array of rows"

// IsItem reports whether the value is $item.
func (s *From) IsItem() bool { return s.item }

// Kind returns the declared type, AnyType if it is unknown.
func (s *From) Kind() value.TypeKind {
	if s.Type == nil {
		return value.AnyType
	}
	return s.Type.Kind
}

// Value returns the value for one attempt, or Missing if there is none.
func (s *From) Value(in core.Shared) any {
	if s.program == nil {
		return Value(in, s.Name.Value)
	}
	return s.program.Value(expressions.ForInput(in.Values(), s.program.SlotNames(), s.program.NodeNames()))
}
