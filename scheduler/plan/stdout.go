package plan

import "github.com/wavefold/wavefold/core"

// stdout sees to it that one node writes to standard output, and does so once:
// there is no order in which two could take turns.
func (c *compiler) stdout() {
	first := ""
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		switch {
		case !n.Stdout:
			continue
		case c.repeated(n):
			c.ds.Errorf(core.CodeBadValue, n.Decl.Pos, "%s: writes to standard output and runs many times", nodePlace(n.ID)).
				WithHint("write to a file whose name depends on the item")
		case first != "":
			c.ds.Errorf(core.CodeBadValue, n.Decl.Pos, "%s: writes to standard output, as node %s does", nodePlace(n.ID), first).
				WithHint("let one of them write to a file")
		}
		first, c.p.Stdout = n.ID, true
	}
}
