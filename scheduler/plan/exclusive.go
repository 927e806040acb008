package plan

import "slices"

// exclusive reports whether of two vertices at most one can run, as far as else
// and fail edges tell: one needs a condition out of a source to hold, the other the
// else edge of that source, or one its success, the other its failure. Two nodes on both sides of a choice often write one
// field, and nothing is wrong with that.
func (c *compiler) exclusive(a, b int32) bool {
	if len(c.p.Judges) == 0 && !c.failEdges {
		return false
	}
	needs := c.needs(b)
	return slices.ContainsFunc(c.needs(a), func(x int32) bool {
		return slices.ContainsFunc(needs, func(y int32) bool {
			e, f := &c.p.Edges[x], &c.p.Edges[y]
			return e.From == f.From && (e.Judged && f.Judged && e.Else != f.Else || e.On != f.On && e.On != OnDone && f.On != OnDone)
		})
	})
}

// maxNeeds bounds how many conditions are kept for a vertex. Fewer than there
// are mean that a pair is reported that need not be.
const maxNeeds = 16

// needs returns judged edges, and those that ask for success or failure where both
// matter, without which a vertex does not run: its own incoming edges, or, when it has none, those that all of its
// predecessors need.
func (c *compiler) needs(v int32) []int32 {
	if known, ok := c.needed[v]; ok {
		return known
	}
	if c.needed == nil {
		c.needed = map[int32][]int32{}
	}
	c.needed[v] = nil // ends the recursion; the graph has no cycle
	var own []int32
	conditional := false
	for _, e := range c.p.InEdges(v) {
		edge := &c.p.Edges[e]
		conditional = conditional || edge.When != nil || edge.On != OnSuccess
		status := edge.On != OnDone && c.p.Vertices[edge.From].HasFailEdge
		if (edge.Judged || status) && len(own) < maxNeeds {
			own = append(own, e)
		}
	}
	if c.p.Vertices[v].AllDone || c.p.Vertices[v].Join >= 0 {
		return nil
	}
	if !conditional {
		own = append(own, c.shared(v)...)
	}
	c.needed[v] = own[:min(len(own), maxNeeds)]
	return c.needed[v]
}

// shared returns what all predecessors of a vertex need.
func (c *compiler) shared(v int32) []int32 {
	var out []int32
	for i, e := range c.p.InEdges(v) {
		needs := c.needs(c.p.Edges[e].From)
		if i == 0 {
			out = slices.Clone(needs)
			continue
		}
		out = slices.DeleteFunc(out, func(x int32) bool { return !slices.Contains(needs, x) })
	}
	return out
}
