package lint

import (
	"slices"

	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// exclusive reports whether at most one of two vertices can run, as far as that follows from their
// conditions and their else and fail edges. Two nodes on different sides of a choice often write
// the same field, which is correct.
func (c *checker) exclusive(a, b int32) bool {
	if len(c.p.ElseGroups) == 0 && !c.failEdges && !c.conditions {
		return false
	}
	alternatives := c.needs(b)
	for _, x := range c.needs(a) {
		for _, y := range alternatives {
			if !c.contradict(x, y) {
				return false
			}
		}
	}
	return true
}

// mayBothRun reports whether both of two vertices that no path connects may run, in no particular order,
// and everything that matters for that is known.
func (c *checker) mayBothRun(a, b int32) bool {
	return c.f.Placed(a) && c.f.Placed(b) && !c.unclear(a) && !c.unclear(b)
}

// unclear reports whether an invalid condition may determine whether a vertex runs.
func (c *checker) unclear(v int32) bool {
	if c.choice == nil {
		c.choice = make([]bool, len(c.p.Vertices))
		for i, e := range c.p.Edges {
			if c.f.Decl(int32(i)).Lost.Has("when") {
				c.choice[e.From] = true
			}
		}
		for v := range int32(len(c.choice)) {
			for _, e := range c.p.InEdges(v) {
				c.choice[v] = c.choice[v] || c.choice[c.p.Edges[e].From]
			}
		}
	}
	return c.choice[v]
}

// contradict reports whether two edges, one of each list, never hold together.
func (c *checker) contradict(a, b []int32) bool {
	return slices.ContainsFunc(a, func(x int32) bool {
		return slices.ContainsFunc(b, func(y int32) bool { return c.opposite(x, y) })
	})
}

// opposite reports whether two edges never hold together: they are a condition and an else edge of
// one source, require success and failure of one source, or have conditions that exclude each other
// and are evaluated on the same values.
func (c *checker) opposite(x, y int32) bool {
	e, f := &c.p.Edges[x], &c.p.Edges[y]
	if e.From == f.From && (e.InElseGroup && f.InElseGroup && e.Else != f.Else || e.On != f.On && e.On != plan.OnDone && f.On != plan.OnDone) {
		return true
	}
	if e.When == nil || f.When == nil || e.On == plan.OnFail || f.On == plan.OnFail || !c.sameValues(x, y) {
		return false
	}
	return expressions.Disjoint(e.When, f.When)
}

// sameValues reports whether the conditions of two edges are evaluated on the same values of the
// state fields that both read.
func (c *checker) sameValues(x, y int32) bool {
	a, b := c.evaluatedAt(x), c.evaluatedAt(y)
	first, ok1 := c.f.Condition(x)
	second, ok2 := c.f.Condition(y)
	if a == b || !ok1 || !ok2 {
		return true
	}
	return !slices.ContainsFunc(first.Fields, func(f int32) bool {
		return slices.Contains(second.Fields, f) && c.p.Threshold(f, a) != c.p.Threshold(f, b)
	})
}

// evaluatedAt returns the level on whose state the condition of an edge is evaluated.
func (c *checker) evaluatedAt(edge int32) int32 {
	e := &c.p.Edges[edge]
	if e.InElseGroup {
		return c.p.ElseGroups[c.p.Vertices[e.From].ElseGroup].Level
	}
	return c.p.Vertices[e.To].Level
}

// maxNeeds limits the number of edges and of alternatives that are kept for a vertex. If some are
// dropped, pairs may be reported that are correct.
const maxNeeds = 16

// needs returns sets of edges. A vertex runs only if all edges of one of the sets hold. The edges
// of a set are conditional or, where both matter, require success or failure. They are the vertex's
// own incoming edges and, if none of these has a condition, the needs of one of its predecessors. A
// set may be empty.
func (c *checker) needs(v int32) [][]int32 {
	if known, ok := c.needed[v]; ok {
		return known
	}
	if c.needed == nil {
		c.needed = map[int32][][]int32{}
	}
	nothing := [][]int32{nil}
	c.needed[v] = nothing // would end the recursion in a cycle; a plan has none
	if c.p.Vertices[v].AllDone || c.p.Vertices[v].Join >= 0 {
		return nothing
	}
	var own []int32
	conditional := false
	for _, e := range c.p.InEdges(v) {
		edge := &c.p.Edges[e]
		conditional = conditional || edge.When != nil || edge.On != plan.OnSuccess
		status := edge.On != plan.OnDone && c.p.Vertices[edge.From].HasFailEdge
		if (edge.InElseGroup || edge.When != nil || status) && len(own) < maxNeeds {
			own = append(own, e)
		}
	}
	alternatives := [][]int32{own}
	if !conditional && len(c.p.InEdges(v)) > 0 {
		alternatives = c.neededThrough(v, own)
	}
	c.needed[v] = alternatives
	return alternatives
}

// neededThrough returns the needs of a vertex that runs when one of its predecessors did.
func (c *checker) neededThrough(v int32, own []int32) [][]int32 {
	var alternatives [][]int32
	for _, e := range c.p.InEdges(v) {
		for _, alternative := range c.needs(c.p.Edges[e].From) {
			alternative = append(slices.Clone(own), alternative...)
			alternative = alternative[:min(len(alternative), maxNeeds)]
			if !slices.ContainsFunc(alternatives, func(known []int32) bool { return slices.Equal(known, alternative) }) {
				alternatives = append(alternatives, alternative)
			}
		}
		if len(alternatives) > maxNeeds {
			return [][]int32{own}
		}
	}
	return alternatives
}
