package eval

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// Source is what a node takes its value from: a state field or an expression.
type Source struct {
	// Name is how messages call it.
	Name core.Text
	// Type is its declared type, nil when unknown.
	Type *core.Type
	// Key is the key of the node that names it.
	Key     string
	program *expressions.Program
}

// Source compiles the key "from": a field, or an expression that begins with
// "$". Without it the node's only declared read is meant. It returns nil after
// an error.
func (s *Scope) Source(from core.Text) *Source {
	src := &Source{Name: from, Key: "from"}
	if from.Value == "" {
		if len(s.node.Reads) != 1 {
			s.Errorf(core.CodeBadValue, s.node.Pos, src.Key, "name the field: the node reads %d", len(s.node.Reads)).WithHint("from: rows")
			return nil
		}
		src.Name, src.Key = s.node.Reads[0], "reads"
	}
	if !strings.HasPrefix(src.Name.Value, "$") {
		t, ok := s.Field(src.Name, src.Key)
		if !ok {
			return nil
		}
		src.Type = t
		return src
	}
	if src.program = s.Value(src.Name, src.Key); src.program == nil {
		return nil
	}
	if k := src.program.Type(); k != core.AnyType {
		src.Type = &core.Type{Kind: k}
	}
	return src
}

// Kind returns the declared type, AnyType when unknown.
func (s *Source) Kind() core.TypeKind {
	if s.Type == nil {
		return core.AnyType
	}
	return s.Type.Kind
}

// Value returns the value for one attempt, Missing when there is none.
func (s *Source) Value(in core.Shared) any {
	if s.program == nil {
		return Value(in, s.Name.Value)
	}
	return s.program.Value(expressions.ForInput(in, s.program.SlotNames(), s.program.NodeNames()))
}
