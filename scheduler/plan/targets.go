package plan

import "github.com/wavefold/wavefold/core"

// Target is a file or table that a node, or one nested in it, reads or writes.
type Target struct {
	core.Target
	Node   int32
	Nested bool
	Pos    core.Position
}

// targets notes what a node reads and writes.
func (c *compiler) targets(n *Node, made core.Compiled) {
	for _, t := range made.Outputs {
		c.p.outputs = append(c.p.outputs, Target{Target: t, Node: n.Index, Pos: t.Name.Pos})
	}
	for _, t := range made.Inputs {
		c.p.inputs = append(c.p.inputs, Target{Target: t, Node: n.Index, Pos: t.Name.Pos})
	}
}

// nestedTargets notes what the nodes of a nested workflow read and write.
func (c *compiler) nestedTargets(n *Node, inner *Plan) {
	for _, t := range inner.outputs {
		if n.Decl.ForEach != nil && !t.Adds {
			c.ds.Errorf(core.CodeOverwrite, n.Decl.Pos, "node %s: every item would replace %s, which its workflow writes (%s)", n.ID, t, t.Pos).
				WithHint("let the workflow take the name as an input, and make it depend on the item")
			continue
		}
		c.p.outputs = append(c.p.outputs, Target{Target: t.Target, Node: n.Index, Nested: true, Pos: n.Decl.Pos})
	}
	for _, t := range inner.inputs {
		c.p.inputs = append(c.p.inputs, Target{Target: t.Target, Node: n.Index, Nested: true, Pos: n.Decl.Pos})
	}
}
