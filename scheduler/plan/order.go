package plan

import (
	"cmp"
	"slices"

	"github.com/wavefold/wavefold/core"
)

// order numbers the vertices canonically and adds them to the plan. Within a level, the
// declarations are in canonical order already (nodes, then pipelines, then loops, each in declared
// order), so it is enough to group them by level.
func (c *compiler) order() {
	levels := int32(0)
	for i := range c.decl {
		levels = max(levels, c.decl[i].level+1)
	}
	sorted, start := group(int(levels), len(c.decl), func(i int) int32 { return c.decl[i].level }, func(i int) int32 { return int32(i) })
	c.p.Levels = start
	c.at, c.declAt = make([]int32, len(c.decl)), sorted
	c.p.Vertices = make([]Vertex, len(c.decl))
	for canonical, d := range sorted {
		v := &c.decl[d]
		c.at[d] = int32(canonical)
		c.p.Vertices[canonical] = Vertex{ID: v.id, Shape: v.shape, Level: v.level, Node: v.node, Unit: v.unit, ElseGroup: -1, Join: -1, Last: v.last}
	}
	for i := range c.p.Nodes {
		c.p.Nodes[i].Vertex = c.at[c.p.Nodes[i].Vertex]
	}
	for i := range c.p.Edges {
		e := &c.p.Edges[i]
		e.From, e.To = c.at[e.From], c.at[e.To]
	}
	for _, x := range c.cut {
		x.Edge.From, x.Edge.To = c.at[x.Edge.From], c.at[x.Edge.To]
	}
	for i, d := range c.w.Nodes {
		if d.Join.Word() == core.JoinAllDone {
			c.p.Vertices[c.p.Nodes[i].Vertex].AllDone = true
		}
	}
	if declared := c.invalid.vertices; declared != nil {
		c.invalid.vertices = make([]bool, len(declared))
		for v, d := range c.declAt {
			c.invalid.vertices[v] = declared[d]
		}
	}
	c.joins()
	c.rank()
}

// rank orders vertices by priority, if any node has one. The priority of a unit is the highest
// priority of its members.
func (c *compiler) rank() {
	if !slices.ContainsFunc(c.w.Nodes, func(d *core.Node) bool { return d.Priority.Value != 0 }) {
		return
	}
	priority := make([]int, len(c.p.Vertices))
	for i := range c.p.Vertices {
		v := &c.p.Vertices[i]
		if v.Unit == nil {
			priority[i] = c.w.Nodes[v.Node].Priority.Value
			continue
		}
		for place, m := range v.Unit.Members {
			p := c.w.Nodes[m].Priority.Value
			if place == 0 || p > priority[i] {
				priority[i] = p
			}
		}
	}
	c.p.ByRank = make([]int32, len(priority))
	for i := range c.p.ByRank {
		c.p.ByRank[i] = int32(i)
	}
	slices.SortStableFunc(c.p.ByRank, func(a, b int32) int { return cmp.Compare(priority[b], priority[a]) })
	c.p.Rank = make([]int32, len(priority))
	for r, v := range c.p.ByRank {
		c.p.Rank[v] = int32(r)
	}
}
