package lint

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// nodeWarnings reports the warnings of kinds about their nodes. Nodes with the same code and
// message get one warning, at the position of the first.
func (c *checker) nodeWarnings() {
	warnings := slices.DeleteFunc(slices.Clone(c.f.Warnings()), func(w plan.NodeWarning) bool { return w.Unseen && c.mayBeSeen(w.Node) })
	for i, w := range warnings {
		same := func(o plan.NodeWarning) bool { return o.Code == w.Code && o.Message == w.Message }
		if slices.ContainsFunc(warnings[:i], same) {
			continue
		}
		var nodes []string
		for _, o := range warnings[i:] {
			if same(o) && !slices.Contains(nodes, o.Node) {
				nodes = append(nodes, o.Node)
			}
		}
		c.ds.Warnf(w.Code, w.Pos, "%s: %s", plural(len(nodes), "node ", "nodes ")+source.Named(nodes), w.Message).WithHint("%s", w.Hint)
	}
}

// mayBeSeen reports whether something in the graph may depend on the result of a node. Edge inputs
// are read by handlers in Go, and by templates with the id of the node.
func (c *checker) mayBeSeen(id string) bool {
	n, ok := c.p.Node(id)
	if x := c.f.Invalid(); !ok || x.Nodes || x.References || x.Edges || x.Members {
		return true
	}
	if len(n.Decl.Writes) > 0 || c.p.Vertices[n.Vertex].Unit != nil || c.f.MayReadInput(id) {
		return true
	}
	for e := range c.p.Edges {
		refs, conditional := c.f.Condition(int32(e))
		if conditional && (c.p.Edges[e].From == n.Vertex || slices.Contains(refs.Nodes, n.Index)) {
			return true
		}
	}
	for v := range c.p.Vertices {
		items, until := c.f.Unit(int32(v))
		if slices.Contains(items.Nodes, n.Index) || slices.Contains(until.Nodes, n.Index) {
			return true
		}
	}
	for i := range c.p.Nodes {
		if slices.Contains(c.f.Node(int32(i)).Nodes, n.Index) {
			return true
		}
	}
	return false
}
