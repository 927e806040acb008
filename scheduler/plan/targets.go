package plan

import (
	"fmt"
	"path"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// Target is a file or table that a node, or one nested in it, reads or writes.
type Target struct {
	core.Target
	Node   int32
	Nested bool
	Pos    source.Position
	inner  source.Position // position in the nested workflow
}

// targets records what a node reads and writes.
func (c *compiler) targets(n *Node, made core.Compiled) {
	for _, t := range made.Outputs {
		c.output(n, Target{Target: t, Node: n.Index, Pos: t.Name.Pos})
	}
	for _, t := range made.Inputs {
		c.p.inputs = append(c.p.inputs, Target{Target: t, Node: n.Index, Pos: t.Name.Pos})
	}
}

// output records what a node writes. It is an error if items or rows replace a target with a fixed
// name, because each would replace the output of the one before it. Rounds of a loop may do so.
func (c *compiler) output(n *Node, t Target) {
	part := "item"
	switch {
	case t.Adds:
		part = ""
	case n.Decl.ForEach != nil:
	case c.memberRoots[n.ID]&itemRoots != 0:
		part = "row"
	default:
		part = ""
	}
	if part == "" {
		c.p.outputs = append(c.p.outputs, t)
		return
	}
	about, hint := "", fmt.Sprintf("make the name depend on the %s, such as out/{{$index}}%s", part, path.Ext(t.Key))
	switch {
	case t.Nested:
		about, hint = fmt.Sprintf(", which its workflow writes (%s)", t.inner), "let the workflow take the name as an input, and make it depend on the "+part
	case t.Table != "":
		hint = "let each " + part + " add to the table: mode append, insert or upsert"
	}
	c.ds.Errorf(source.CodeOverwrite, t.Pos, "node %s: every %s would replace %s%s", n.ID, part, t, about).WithHint("%s", hint)
}

// nestedTargets records what the nodes of a nested workflow read and write.
func (c *compiler) nestedTargets(n *Node, inner *Plan) {
	for _, t := range inner.outputs {
		c.output(n, Target{Target: t.Target, Node: n.Index, Nested: true, Pos: n.Decl.Pos, inner: t.Pos})
	}
	for _, t := range inner.inputs {
		c.p.inputs = append(c.p.inputs, Target{Target: t.Target, Node: n.Index, Nested: true, Pos: n.Decl.Pos})
	}
}
