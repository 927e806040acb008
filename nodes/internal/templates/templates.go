// Package templates compiles the templates in the configuration of a node and lists what they
// read. Function makes a node of a Go function that is registered under the name of the
// node's kind: it gets the rendered templates as arguments.
package templates

import (
	"regexp"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/template"
)

// Set collects the templates of one node. It is used by one goroutine, while the
// node is compiled.
type Set struct {
	// Found collects what is wrong.
	Found source.Diagnostics
	// Reads and Nodes are what the templates read beyond the node's own
	// declarations, for Compiled.
	Reads []source.Text
	Nodes []source.Text
	// Names lists the plain names of the templates. A name is looked up in the args, the edge
	// inputs and the view of the state.
	Names []string

	schema  core.Schema
	inputs  []value.Property
	roots   expressions.Root // that a template may refer to
	item    core.Columns     // of $item
	rows    func(field string) core.Columns
	subject string
	// args are the names that the node's args always have a value for.
	args []string
}

// NewSet returns an empty set for a node; "node ID" begins every message.
func NewSet(n *core.Node, env core.Env) *Set {
	s := &Set{schema: env.Schema, rows: env.Columns, inputs: env.Inputs, subject: n.Subject(), args: constants(n.Args), roots: expressions.RootNodes | expressions.RootInput}
	if env.Items {
		s.roots |= expressions.RootItem | expressions.RootIndex
		s.item = env.Item
	}
	if env.Rounds {
		s.roots |= expressions.RootIter | expressions.RootLoop
	}
	return s
}

// constants lists the args that are no paths, which may lead nowhere.
func constants(args *source.Value) []string {
	if args == nil {
		return nil
	}
	var names []string
	for i, v := range args.Values {
		if text, isText := v.Scalar.(string); !isText || text == "" || text[0] != '$' {
			names = append(names, args.Keys[i].Value)
		}
	}
	return names
}

// nodeRef finds what may be a reference to a node. A kind does not know the other
// nodes of the graph, so every id is accepted here and reported in Nodes, where
// it is checked against the graph.
var nodeRef = regexp.MustCompile(`\$nodes\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)`)

// Template compiles one template. key says in messages where it stands. Without
// a template, after an error, it returns nil.
func (s *Set) Template(src source.Text, key string) *Template {
	scope := expressions.Scope{Fields: s.schema, Inputs: s.inputs, Roots: s.roots, Item: s.item, Rows: s.rows}
	var places []source.Text
	for _, m := range nodeRef.FindAllStringSubmatchIndex(src.Value, -1) {
		places = appendOnce(places, source.Cut(src, m[2], m[3]))
	}
	scope.Nodes = source.Strings(places)
	t, ds := template.Compile(src, scope, s.subject+": "+key)
	s.Found = append(s.Found, ds...)
	if t == nil {
		return nil
	}
	s.Names = append(s.Names, t.Names()...)
	for _, field := range t.Fields() {
		if slices.Contains(s.args, field) && !t.Evaluates(field) {
			continue // the args win over the state
		}
		s.Reads = appendOnce(s.Reads, source.At(field, src.Pos))
	}
	for _, i := range t.Nodes() {
		s.Nodes = appendOnce(s.Nodes, place(places, t.NodeNames()[i], src.Pos))
	}
	return &Template{t}
}

// place returns the first place an id is named at; a spelling that nodeRef does
// not know has the place of the whole text.
func place(places []source.Text, id string, otherwise source.Position) source.Text {
	for _, p := range places {
		if p.Value == id {
			return p
		}
	}
	return source.At(id, otherwise)
}

func appendOnce(list []source.Text, t source.Text) []source.Text {
	for _, e := range list {
		if e.Value == t.Value {
			return list
		}
	}
	return append(list, t)
}

// Template is a compiled template. It is immutable and safe for concurrent use.
type Template struct{ t *template.Template }

// Render fills the template for one attempt. What has no value is an error, and a
// permanent one: every attempt is given the same input.
func (t *Template) Render(in core.Input) (string, error) {
	s, err := t.t.Render(input{t.t.ForInput(in.Shared()), in})
	return s, core.Permanent(err)
}

// RenderLenient is Render that leaves places without a value as they are written.
func (t *Template) RenderLenient(in core.Input) string {
	return t.t.RenderLenient(input{t.t.ForInput(in.Shared()), in})
}

// RenderEscaped is Render with values that are escaped, see
// template.Template.RenderEscaped.
func (t *Template) RenderEscaped(in core.Input, escape func(before, value string) string) (string, error) {
	s, err := t.t.RenderEscaped(input{t.t.ForInput(in.Shared()), in}, escape)
	return s, core.Permanent(err)
}

// input adds the loop, which is not among the shared values, to an Env.
type input struct {
	template.Env
	in core.Input
}

func (e input) Extra(root expressions.Root) any {
	switch {
	case e.in.Loop() == "":
	case root == expressions.RootIter:
		return int64(e.in.Round())
	case root == expressions.RootLoop:
		return e.in.Loop()
	}
	return e.Env.Extra(root)
}
