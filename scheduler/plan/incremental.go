package plan

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// Incremental describes what a run stores for the next one.
type Incremental struct {
	File string // "" for the default
	// Cursor is the input that gets the value of From, or "" if there is none.
	Cursor string
	From   *expressions.Program
	// Partitions is the input that lists the partitions, or "" if there is none. Node is the
	// fan-out that processes them.
	Partitions string
	Node       string
}

// incremental checks the settings of what a run stores for the next one.
func (c *compiler) incremental() {
	d := c.w.Incremental
	if d == nil || c.w.Lost.Has("incremental") {
		return
	}
	inc := &Incremental{File: d.File.Value}
	c.p.Incremental = inc
	if d.Cursor == nil && d.Partitions == nil {
		c.ds.Errorf(source.CodeMissingKey, d.Pos, "incremental: want cursor or partitions")
	}
	if d.Cursor != nil {
		c.cursor(inc, d.Cursor, place{what: "incremental", id: "cursor"})
	}
	if d.Partitions != nil {
		c.partitions(inc, d.Partitions, place{what: "incremental", id: "partitions"})
	}
}

func (c *compiler) cursor(inc *Incremental, d *core.Cursor, at place) {
	in, ok := c.incrementalInput(d.Input, at)
	p := c.expression(d.From, c.scope(expressions.RootState|expressions.RootInput), at.at("from"), &References{})
	if p == nil || !ok {
		return
	}
	if disjoint(p.Type(), in.kind()) {
		c.ds.Errorf(source.CodeWrongType, d.From.Pos, "%s: %s is of type %s, the input %q of type %s", at.at("from"), d.From.Value, p.Type(), in.name, in.kind())
	}
	inc.Cursor, inc.From = in.name, p
}

func (c *compiler) partitions(inc *Incremental, d *core.Partitions, at place) {
	in, ok := c.incrementalInput(d.Input, at)
	i, found := c.nodeRef(d.Node, at.at("node"))
	if !ok || !found {
		return
	}
	if k := in.kind(); k != value.AnyType && k != value.ArrayType {
		c.ds.Errorf(source.CodeWrongType, d.Input.Pos, "%s: the input %q lists the partitions and must be an array, not of type %s", at.at("input"), in.name, k)
		return
	}
	n := &c.p.Nodes[i]
	if n.Source.broken() || n.Decl.Lost.Has("for_each") {
		return
	}
	if !n.Source.names(in.name) {
		c.ds.Errorf(source.CodeBadValue, d.Node.Pos, "%s: node %s must have for_each over the input: source: $input.%s", at.at("node"), n.ID, in.name)
		return
	}
	inc.Partitions, inc.Node = in.name, n.ID
}

// incrementalInput finds a declared input.
func (c *compiler) incrementalInput(name source.Text, at place) (input, bool) {
	in, ok := c.p.input(name.Value)
	if (!ok || !declaresInputs(c.w)) && !c.invalid.has(expressions.RootInput, name.Value) {
		names, _ := c.p.InputNames()
		c.ds.Errorf(source.CodeUnknownField, name.Pos, "%s: there is no declared input %q", at.at("input"), name.Value).
			WithHint("%s", source.DidYouMean(name.Value, names))
	}
	return in, ok && declaresInputs(c.w)
}

// names reports whether a source is an input, or the field that the input fills.
func (s *Source) names(input string) bool {
	if s == nil || s.program == nil {
		return false
	}
	path, ok := s.program.Tree().Path()
	return ok && (path.Root == expressions.RootState || path.Root == expressions.RootInput) && len(path.Steps) == 1 && path.Steps[0].Name == input
}
