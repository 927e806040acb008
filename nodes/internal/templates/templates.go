// Package templates compiles the templates in the configuration of a node and lists the fields
// and nodes that they read. Function compiles a node whose handler is a Go function registered
// under the name of the node's kind.
package templates

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/expressions/template"
	"github.com/wavefold/wavefold/internal/lazyregexp"
)

// Set compiles the templates of one node. It must be used by one goroutine, while the node is
// compiled.
type Set struct {
	// Found collects the findings.
	Found source.Diagnostics
	// Reads and Nodes list the fields and nodes that the templates read, for core.Compiled.
	Reads []source.Text
	Nodes []source.Text
	// Names lists the plain names of the templates. A name is looked up in the args, the edge
	// inputs and the view of the state.
	Names []string

	schema  value.Schema
	inputs  []value.Property
	roots   expressions.Root // that a template may refer to
	item    source.Columns   // of $item
	rows    func(field string) source.Columns
	given   func(input string) source.Columns
	subject string
	// args lists the args of the node that always have a value.
	args []string
}

// NewSet returns an empty set for a node. Every message begins with the subject of the node.
func NewSet(n *core.Node, env core.Env) *Set {
	s := &Set{schema: env.Schema, rows: env.Columns, given: env.InputColumns, inputs: env.Inputs, subject: n.Subject(), args: constantArgs(n.Args), roots: expressions.RootNodes | expressions.RootInput}
	if env.Items {
		s.roots |= expressions.RootItem | expressions.RootIndex
		s.item = env.Item
	}
	if env.Rounds {
		s.roots |= expressions.RootIter | expressions.RootLoop
	}
	return s
}

// constantArgs lists the args that are not paths. A path may have no value.
func constantArgs(args *source.Value) []string {
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

// nodeRef matches references to nodes. A kind does not know the other nodes of the graph, so every
// id is accepted here and listed in Set.Nodes, whose ids are checked against the graph.
var nodeRef = lazyregexp.New(`\$nodes\s*\.\s*([A-Za-z_][A-Za-z0-9_]*)`)

// Template compiles one template. key is the key of the template in messages. Template returns nil
// after an error.
func (s *Set) Template(src source.Text, key string) *Template {
	scope, places := s.scope(src)
	t, ds := template.CompilePart(src, scope, s.subject+": "+key)
	s.Found = append(s.Found, ds...)
	s.Names = append(s.Names, t.Names()...)
	for _, field := range t.Fields() {
		if slices.Contains(s.args, field) && !t.Evaluates(field) {
			continue // args take precedence over the state
		}
		s.Reads = appendOnce(s.Reads, source.At(field, src.Pos))
	}
	for _, i := range t.Nodes() {
		s.Nodes = appendOnce(s.Nodes, place(places, t.NodeNames()[i], src.Pos))
	}
	if ds.Failed(false) {
		return nil
	}
	return &Template{t}
}

// scope returns what a text of the node may refer to, and where it refers to nodes.
func (s *Set) scope(src source.Text) (expressions.Scope, []source.Text) {
	var places []source.Text
	for _, m := range nodeRef.FindAllStringSubmatchIndex(src.Value, -1) {
		places = appendOnce(places, source.Cut(src, m[2], m[3]))
	}
	return expressions.Scope{Fields: s.schema, Inputs: s.inputs, Roots: s.roots, Item: s.item, Rows: s.rows, InputRows: s.given, Nodes: source.Strings(places)}, places
}

// place returns the first position of a node id. For a spelling that nodeRef does not match it
// returns the position of the template.
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

// Render renders the template for one attempt. A placeholder without a value is a permanent
// error, because every attempt has the same input.
func (t *Template) Render(in core.Input) (string, error) {
	s, err := t.t.Render(input{t.t.ForInput(in.Values()), in})
	return s, core.Permanent(err)
}

// RenderLenient is like Render and leaves placeholders without a value unchanged.
func (t *Template) RenderLenient(in core.Input) string {
	return t.t.RenderLenient(input{t.t.ForInput(in.Values()), in})
}

// RenderEscaped is like Render and escapes the values, see template.Template.RenderEscaped.
func (t *Template) RenderEscaped(in core.Input, escape func(before, value string) string) (string, error) {
	s, err := t.t.RenderEscaped(input{t.t.ForInput(in.Values()), in}, escape)
	return s, core.Permanent(err)
}

// input adds $iter and $loop, which core.Shared does not have, to an Env.
type input struct {
	template.Env
	in core.Input
}

func (e input) Extra(root expressions.Root) any {
	if v, ok := ofRound(e.in, root); ok {
		return v
	}
	return e.Env.Extra(root)
}
