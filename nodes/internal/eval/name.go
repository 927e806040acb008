package eval

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// Name is a file name in a document: the name itself, or a path such as
// $.report.file whose value it is.
type Name struct {
	text    string
	program *expressions.Program
	output  bool
}

// Input compiles the name of a file that is read. It returns nil after an
// error.
func (s *Scope) Input(src core.Text, key string) *Name { return s.name(src, key, false) }

// Output compiles the name of a file that is written. A fixed name in a fan-out
// is an error, because each item would replace the file of the one before.
func (s *Scope) Output(src core.Text, key string) *Name {
	n := s.name(src, key, true)
	if n != nil && n.Fixed() && s.node.ForEach != nil {
		s.Errorf(core.CodeBadValue, src.Pos, key, "every item would replace the same file").
			WithHint("make the name depend on the item, such as $item.file")
	}
	return n
}

func (s *Scope) name(src core.Text, key string, output bool) *Name {
	if strings.TrimSpace(src.Value) == "" {
		s.Errorf(core.CodeMissingKey, src.Pos, key, "the file name is empty")
		return nil
	}
	n := &Name{text: src.Value, output: output}
	if !strings.HasPrefix(src.Value, "$") {
		return n
	}
	n.program = s.Value(src, key)
	if n.program == nil {
		return nil
	}
	if k := n.program.Type(); k != core.AnyType && k != core.StringType {
		s.Errorf(core.CodeExprType, src.Pos, key, "a file name is a text, %s is %s", src.Value, k)
		return nil
	}
	return n
}

// Value compiles an expression over the node's own input: the state, the item
// of a fan-out or pipeline, the inputs of the run.
func (s *Scope) Value(src core.Text, key string) *expressions.Program {
	p, ds := expressions.Compile(src, expressions.Scope{
		Fields: s.fields,
		Roots:  expressions.RootItem | expressions.RootIndex | expressions.RootInput,
	}, s.about(key))
	s.Found = append(s.Found, ds...)
	if p == nil {
		return nil
	}
	s.Need(p.Fields(), src.Pos)
	return p
}

// Fixed reports whether the name is the text of the document.
func (n *Name) Fixed() bool { return n.program == nil }

// Text returns the name for one attempt.
func (n *Name) Text(in core.Shared) (string, error) {
	if n.Fixed() {
		if n.output && in.Index != 0 {
			return "", core.Permanent(errors.New("every item would replace the same file; make its name depend on the item"))
		}
		return n.text, nil
	}
	v := n.program.Value(expressions.ForInput(in, n.program.SlotNames(), n.program.NodeNames()))
	s, ok := v.(string)
	if !ok || strings.TrimSpace(s) == "" {
		return "", fmt.Errorf("%s is no file name: %s", n.text, core.JSON(v))
	}
	return s, nil
}
