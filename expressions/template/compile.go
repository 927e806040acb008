package template

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// Template is a compiled template. It is immutable and safe for concurrent use.
type Template struct {
	src    core.Text
	parts  []part
	slots  []string // numbering of Env.Field
	nodes  []string // numbering of Env.Node
	fields []string
	names  []string
}

// part is a literal text or a place to fill in.
type part struct {
	literal string
	offset  int      // of a place: where its {{ stands
	written string   // of a place: the text as it was written, {{ and }} included
	name    []string // of a plain name: its dotted parts
	program *expressions.Program
	filter  *filter // nil for none
}

// Compile reads a template. The findings carry their places in the document,
// src.Pos being that of the text's first character; their messages begin with
// subject. The template is nil when a finding is an error.
//
// Plain names are not checked against the scope, because edge inputs and args
// are not known here; those that are fields of the schema count as read.
func Compile(src core.Text, scope expressions.Scope, subject string) (*Template, core.Diagnostics) {
	if scope.Fields == nil {
		scope.Fields = &expressions.Open{} // all places share their slots
	}
	c := &compiler{t: &Template{src: src}, scope: scope, subject: subject}
	c.split()
	if c.ds.Failed(false) {
		return nil, c.ds
	}
	c.collect()
	return c.t, c.ds
}

// compiler reads one template.
type compiler struct {
	t       *Template
	scope   expressions.Scope
	subject string
	ds      core.Diagnostics
}

func (c *compiler) fail(code core.Code, offset int, message, hint string) {
	if c.subject != "" {
		message = c.subject + ": " + message
	}
	c.ds.Errorf(code, core.Inside(c.t.src, offset), "%s", message).WithHint("%s", hint)
}

// split cuts the text into literals and places. After an error inside a place
// it goes on, so that all are reported.
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
			c.fail(core.CodeSyntax, open, `"{{" is never closed`, "close it with }}, or write {{'{{'}} for the two signs themselves")
			return
		}
		c.place(open, end)
		at = end + 2
	}
}

// closing finds the }} that ends a place, looking past texts in quotes. Where a
// quote is never closed it takes the next }}, and leaves it to the parser to
// complain.
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

// place compiles what stands between {{ at open and }} at end.
func (c *compiler) place(open, end int) {
	text := c.t.src.Value
	inside, filter, ok := c.filter(text[open+2:end], open)
	if !ok {
		return
	}
	p := part{offset: open, written: text[open : end+2], filter: filter}
	if word := strings.TrimSpace(inside); c.isName(word) {
		p.name = strings.Split(word, ".")
		c.t.parts = append(c.t.parts, p)
		return
	}
	if strings.TrimSpace(inside) == "" {
		c.fail(core.CodeSyntax, open, `nothing is between "{{" and "}}"`, "")
		return
	}
	src := core.Cut(c.t.src, open+2, open+2+len(inside))
	program, ds := expressions.Compile(src, c.scope, c.subject)
	c.ds = append(c.ds, ds...)
	p.program = program
	if program != nil {
		c.checkFilter(&p)
	}
	c.t.parts = append(c.t.parts, p)
}

// isName reports whether a place holds a plain name. In the walk mode some
// words are roots of the language, elsewhere they are names like any other.
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

// collect notes what the places read and how slots and ids are numbered.
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

// Source returns the text of the template.
func (t *Template) Source() string { return t.src.Value }

// Fields lists the state fields the template reads: those of its expressions,
// and plain names that are fields of the schema, by first use.
func (t *Template) Fields() []string { return t.fields }

// Evaluates reports whether an expression of the template reads a state field, as
// opposed to a plain name.
func (t *Template) Evaluates(field string) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool {
		return p.program != nil && slices.Contains(p.program.Fields(), field)
	})
}

// Names lists the first parts of the plain names, by first use.
func (t *Template) Names() []string { return t.names }

// Nodes lists the ids that $nodes refers to, by first use, as indexes into
// NodeNames.
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

// SlotNames lists the names of the slots that Env.Field is asked for, NodeNames
// the ids that Env.Node is asked for, in order.
func (t *Template) SlotNames() []string { return t.slots }

// NodeNames lists the ids that Env.Node is asked for, in order.
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

// Constant reports whether the template has no places, and so is its own result.
func (t *Template) Constant() bool {
	return !slices.ContainsFunc(t.parts, func(p part) bool { return p.written != "" })
}
