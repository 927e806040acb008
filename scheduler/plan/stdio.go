package plan

import "github.com/wavefold/wavefold/core/source"

// stdio checks that only one node writes to standard output, and only once, because there is no
// order for several. Standard input is also read by only one node, once, because a second reader
// would find it empty.
func (c *compiler) stdio() {
	if !c.has.stdio {
		return
	}
	c.p.Stdout = c.onlyOne("writes to standard output", "write to a file whose name depends on the item", "let one of them write to a file",
		func(n *Node) bool { return n.Stdout })
	c.p.Stdin = c.onlyOne("reads standard input", "read it into a field first, with a node before", "let one of them read a field the other fills",
		func(n *Node) bool { return n.Stdin })
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		if !n.Stdin {
			continue
		}
		if e := n.Decl.OnError; e != nil && e.Policy.Value == "retry" {
			c.ds.Warnf(source.CodeUnused, e.Policy.Pos, "%s: on_error: a second attempt fails: standard input can be read once, and the first attempt has read it", nodePlace(n.ID)).
				WithHint("leave the retry out, or save the input as a file and read that")
		}
	}
}

// onlyOne reports nodes that do something that only one node of a graph may do, and only once. It
// returns whether any node does it.
func (c *compiler) onlyOne(act, many, two string, does func(*Node) bool) bool {
	first := ""
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		switch {
		case !does(n):
			continue
		case c.repeated(n):
			c.ds.Errorf(source.CodeBadValue, n.Decl.Pos, "%s: %s and runs many times", nodePlace(n.ID), act).WithHint("%s", many)
		case first != "":
			c.ds.Errorf(source.CodeBadValue, n.Decl.Pos, "%s: %s, as node %s does", nodePlace(n.ID), act, first).WithHint("%s", two)
		}
		first = n.ID
	}
	return first != ""
}
