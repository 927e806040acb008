package template

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
)

// Template is a compiled template. It is immutable and safe for concurrent use.
type Template struct {
	src    source.Text
	parts  []part
	slots  []string // the names of the slots passed to Env.Field
	nodes  []string // the ids passed to Env.Node, by index
	fields []string
	names  []string
}

// part is a literal or a placeholder.
type part struct {
	literal string
	offset  int      // of a placeholder: the offset of its {{
	source  string   // of a placeholder: its source, including {{ and }}; empty for a literal
	name    []string // of a plain name: its dotted parts
	program *expressions.Program
	filter  *filter // nil if there is none
}

// Compile parses and compiles a template. The findings have positions in the document,
// where src.Pos is the position of the template's first character. Their messages begin
// with subject. The template is nil if any finding is an error.
//
// Plain names are not checked against the scope because edge inputs and args are not
// known here. A plain name that is a field of the schema counts as read.
func Compile(src source.Text, scope expressions.Scope, subject string) (*Template, source.Diagnostics) {
	t, ds := CompilePart(src, scope, subject)
	if ds.Failed(false) {
		return nil, ds
	}
	return t, ds
}

// CompilePart is like Compile, but returns a template also after errors. That template tells
// what the placeholders without errors refer to, and must not be rendered.
func CompilePart(src source.Text, scope expressions.Scope, subject string) (*Template, source.Diagnostics) {
	if scope.Fields == nil {
		scope.Fields = &expressions.Open{} // all placeholders share their slots
	}
	c := &compiler{t: &Template{src: src}, scope: scope, subject: subject}
	c.split()
	c.collect()
	return c.t, c.ds
}

// compiler compiles one template.
type compiler struct {
	t       *Template
	scope   expressions.Scope
	subject string
	ds      source.Diagnostics
}

func (c *compiler) fail(code source.Code, offset int, message, hint string) {
	if c.subject != "" {
		message = c.subject + ": " + message
	}
	c.ds.Errorf(code, source.Inside(c.t.src, offset), "%s", message).WithHint("%s", hint)
}

// split splits the source into literals and placeholders. It continues after an error
// in a placeholder, so that all errors are reported.
func (c *compiler) split() {
	text := c.t.src.Value
	for at := 0; at < len(text); {
		open := strings.Index(text[at:], "{{")
		if open < 0 {
			c.t.parts = append(c.t.parts, part{literal: text[at:]})
			return
		}
		if open += at; open > at {
			c.t.parts = append(c.t.parts, part{literal: text[at:open]})
		}
		end, ok := closing(text, open+2)
		if !ok {
			c.fail(source.CodeSyntax, open, `"{{" is never closed`, "close it with }}, or write {{'{{'}} for the two signs themselves")
			return
		}
		c.placeholder(open, end)
		at = end + 2
	}
}

// closing returns the offset of the }} that ends a placeholder, skipping quoted
// strings. If a quote is never closed, it returns the next }}, and the parser reports
// the error.
func closing(text string, from int) (end int, ok bool) {
	for i := from; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\'' || b == '"':
			n := strings.IndexByte(text[i+1:], b)
			if n < 0 || strings.Contains(text[i:i+1+n], "\n") {
				n = strings.Index(text[i:], "}}")
				return i + n, n >= 0
			}
			i += n + 1
		case strings.HasPrefix(text[i:], "}}"):
			return i, true
		}
	}
	return 0, false
}

// placeholder compiles the placeholder between {{ at open and }} at end.
func (c *compiler) placeholder(open, end int) {
	text := c.t.src.Value
	inside, filter, ok := c.filter(text[open+2:end], open)
	if !ok {
		return
	}
	p := part{offset: open, source: text[open : end+2], filter: filter}
	if word := strings.TrimSpace(inside); c.isName(word) {
		p.name = strings.Split(word, ".")
		c.t.parts = append(c.t.parts, p)
		return
	}
	if strings.TrimSpace(inside) == "" {
		c.fail(source.CodeSyntax, open, `nothing is between "{{" and "}}"`, "")
		return
	}
	src := source.Cut(c.t.src, open+2, open+2+len(inside))
	program, ds := expressions.Compile(src, c.scope, c.subject)
	c.ds = append(c.ds, ds...)
	p.program = program
	if program != nil {
		c.checkFilter(&p)
	}
	c.t.parts = append(c.t.parts, p)
}

// isName reports whether a placeholder holds a plain name. Some words are roots of the
// language in walk mode and ordinary names elsewhere.
func (c *compiler) isName(word string) bool {
	if root, ok := expressions.WordRoot(word); ok && c.scope.Roots&root != 0 {
		return false
	}
	for _, name := range strings.Split(word, ".") {
		for i, r := range name {
			letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
			if !letter && (r < '0' || r > '9' || i == 0) {
				return false
			}
		}
		if name == "" {
			return false
		}
	}
	return true
}

// collect records what the placeholders read and how slots and ids are numbered.
func (c *compiler) collect() {
	t := c.t
	_, open := c.scope.Fields.(*expressions.Open)
	for _, p := range t.parts {
		switch {
		case p.program != nil:
			for _, f := range p.program.Fields() {
				t.fields = appendOnce(t.fields, f)
			}
			t.slots, t.nodes = p.program.SlotNames(), p.program.NodeNames()
		case p.name != nil:
			t.names = appendOnce(t.names, p.name[0])
			if _, ok := c.scope.Fields.FieldType(p.name[0]); ok && !open {
				t.fields = appendOnce(t.fields, p.name[0])
			}
		}
	}
}

func appendOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// Source returns the source of the template.
func (t *Template) Source() string { return t.src.Value }

// Fields returns the state fields the template reads, each once, in order of first use:
// the fields in its expressions, and the plain names that are fields of the schema.
func (t *Template) Fields() []string { return t.fields }

// Evaluates reports whether an expression of the template, as opposed to a plain name,
// reads a state field.
func (t *Template) Evaluates(field string) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool {
		return p.program != nil && slices.Contains(p.program.Fields(), field)
	})
}

// Names returns the first parts of the plain names, each once, in order of first use.
func (t *Template) Names() []string { return t.names }

// Nodes returns the ids that $nodes refers to, as indexes into NodeNames, each once, in
// order of first use.
func (t *Template) Nodes() []int {
	var out []int
	for _, p := range t.parts {
		if p.program == nil {
			continue
		}
		for _, n := range p.program.Nodes() {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// SlotNames returns the names of the slots passed to Env.Field, in order.
func (t *Template) SlotNames() []string { return t.slots }

// NodeNames returns the ids passed to Env.Node, in order.
func (t *Template) NodeNames() []string { return t.nodes }

// Roots returns the roots its expressions read from.
func (t *Template) Roots() expressions.Root {
	var set expressions.Root
	for _, p := range t.parts {
		if p.program != nil {
			set |= p.program.Roots()
		}
	}
	return set
}

// Constant reports whether the template has no placeholders and is therefore its own
// result.
func (t *Template) Constant() bool {
	return !slices.ContainsFunc(t.parts, func(p part) bool { return p.source != "" })
}
