// Package filename evaluates the names of files in the configuration of a node: fixed names,
// templates and paths into the state.
package filename

import (
	"fmt"
	"path"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/template"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Name is a file name in a document: a fixed name, a template, or a path such as
// $.report.file whose value is the name.
type Name struct {
	text     string
	program  *expressions.Program
	template *template.Template
}

// Input compiles the name of a file that is read. It returns nil after an error.
func Input(s *table.Scope, src source.Text, key string) *Name { return compile(s, src, key) }

// Output compiles the name of a file that is replaced. It returns nil after an error.
func Output(s *table.Scope, src source.Text, key string) *Name {
	n := compile(s, src, key)
	if n != nil && n.Fixed() {
		s.AddOutput(src)
	}
	return n
}

// OutputName is Output for package rowcheck, which must not import this one: after an error
// its result is nil, and not a nil *Name.
func OutputName(s *table.Scope, src source.Text, key string) interface {
	Fixed() bool
	Text(in core.Shared) (string, error)
} {
	if n := Output(s, src, key); n != nil {
		return n
	}
	return nil
}

func compile(s *table.Scope, src source.Text, key string) *Name {
	if strings.TrimSpace(src.Value) == "" {
		s.Errorf(source.CodeMissingKey, src.Pos, key, "the file name is empty")
		return nil
	}
	if err := files.NotURI(src.Value); err != nil {
		s.Errorf(source.CodeBadValue, src.Pos, key, "%v", err)
		return nil
	}
	n := &Name{text: src.Value}
	if strings.Contains(src.Value, "{{") {
		t, ds := template.Compile(src, s.InputScope(), s.About(key))
		s.Found = append(s.Found, ds...)
		if n.template = t; t == nil {
			return nil
		}
		s.Need(t.Fields(), src.Pos)
		s.AddNames(t.Names())
		return n
	}
	if !strings.HasPrefix(src.Value, "$") {
		return n
	}
	n.program = s.Value(src, key)
	if n.program == nil {
		return nil
	}
	if k := n.program.Type(); k != value.AnyType && k != value.StringType {
		s.Errorf(source.CodeExprType, src.Pos, key, "a file name is a string, %s is %s", src.Value, k)
		return nil
	}
	return n
}

// Fixed reports whether the name is fixed in the document.
func (n *Name) Fixed() bool { return n.program == nil && n.template == nil }

// Text returns the name for one attempt.
func (n *Name) Text(in core.Shared) (string, error) {
	if n.Fixed() {
		return n.text, nil
	}
	name, err := n.value(in)
	if err == nil {
		err = core.Permanent(files.NotURI(name))
	}
	if err != nil {
		return "", err
	}
	return name, nil
}

// value evaluates a name that is not fixed.
func (n *Name) value(in core.Shared) (string, error) {
	if n.template != nil {
		return n.render(in)
	}
	v := n.program.Value(expressions.ForInput(in.Values(), n.program.SlotNames(), n.program.NodeNames()))
	s, ok := v.(string)
	if !ok || strings.TrimSpace(s) == "" {
		return "", fmt.Errorf("%s is not a file name: %s", n.text, value.JSON(v))
	}
	return s, nil
}

// render renders the template. A value may contain folders, but the result must stay in
// the folder that precedes the first template: data must not select a file of the
// workflow elsewhere that is replaced.
func (n *Name) render(in core.Shared) (string, error) {
	name, err := n.template.Render(n.template.ForInput(in.Values()))
	if err != nil {
		return "", err
	}
	fixed, _, _ := strings.Cut(n.text, "{{")
	dir := fixed[:strings.LastIndex(fixed, "/")+1]
	clean := path.Clean(name)
	switch {
	case strings.TrimSpace(name) == "":
		return "", fmt.Errorf("%s gives an empty file name", n.text)
	case dir != "" && !strings.HasPrefix(clean, strings.TrimSuffix(path.Clean(dir), "/")+"/") && path.Clean(dir) != ".":
		return "", core.Permanent(fmt.Errorf("%q leaves the folder %s", name, dir))
	}
	return name, nil
}
