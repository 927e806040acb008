package plan

import "github.com/wavefold/wavefold/core"

// checkDuplicateEdges reports edges between two nodes that have one already.
// They are legal: the target runs once, and all their conditions count.
func (c *compiler) checkDuplicateEdges() {
	edges := c.p.Edges
	out, start := group(len(c.p.Nodes), len(edges), func(i int) int32 { return edges[i].FromNode }, func(i int) int32 { return int32(i) })
	first := make([]int32, len(c.p.Nodes)) // by target: its first edge, +1
	for n := range c.p.Nodes {
		mine := out[start[n]:start[n+1]]
		if len(mine) < 2 {
			continue
		}
		for _, e := range mine {
			if at := &first[edges[e].ToNode]; *at == 0 {
				*at = e + 1
			} else {
				c.duplicateEdge(*at-1, e)
			}
		}
		for _, e := range mine {
			first[edges[e].ToNode] = 0
		}
	}
}

func (c *compiler) duplicateEdge(first, second int32) {
	a, b := c.p.edgeDecls[first], c.p.edgeDecls[second]
	if len(a.Lost)+len(b.Lost) > 0 || c.w.Nodes[c.p.Edges[second].ToNode].Lost.Has("join") {
		return // what they ask for is not known
	}
	x, y := c.p.Edges[first].On, c.p.Edges[second].On
	at := edgePlace(b)
	switch {
	case x == y && a.Else == b.Else && textOf(a.When) == textOf(b.When):
		pointTo(c.ds.Warnf(core.CodeDuplicateEdge, b.Pos, "%s: the edge stands twice", at), "first", a.Pos)
	case c.tolerant(c.p.Edges[second].To): // its edges need not hold
	case x != y && x != OnDone && y != OnDone:
		pointTo(c.ds.Warnf(core.CodeDuplicateEdge, b.Pos, "%s: one edge asks that %s succeeds and another that it fails, so %s never runs", at, a.From.Value, a.To.Value),
			"on: done holds in both cases; the other edge is", a.Pos)
	default:
		pointTo(c.ds.Warnf(core.CodeDuplicateEdge, b.Pos, "%s: there is another edge between the two, and both must hold", at),
			"one edge with one condition says the same; the other edge is", a.Pos)
	}
}

func textOf(t *core.Text) string {
	if t == nil {
		return ""
	}
	return t.Value
}
