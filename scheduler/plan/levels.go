package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// maxCycles limits the number of cycles that are reported, maxNames the number of nodes of a cycle
// that are printed.
const (
	maxCycles = 10
	maxNames  = 100
)

// levels finds cycles and sets the level of each vertex: the length of the longest path to it from
// a root. Vertices on a cycle or after one have no level. The edges that lead to them are removed
// once they have been reported.
func (c *compiler) levels() {
	edges := c.p.Edges
	out, start := group(len(c.decl), len(edges), func(i int) int32 { return edges[i].From }, func(i int) int32 { return edges[i].To })
	pending := make([]int32, len(c.decl))
	for i := range edges {
		pending[edges[i].To]++
	}
	queue := make([]int32, 0, len(c.decl))
	for i := range c.decl {
		v := &c.decl[i]
		v.last = v.unit != nil && pending[i] == 0 && start[i] == start[i+1]
		if pending[i] == 0 {
			queue = append(queue, int32(i))
		}
	}
	queue = c.advance(queue, pending, out, start)
	if len(queue) < len(c.decl) {
		c.cycles(pending, out, start)
	}
	c.lastUnits()
}

// cycles reports cycles among the vertices without a level, and removes the edges to these
// vertices.
func (c *compiler) cycles(pending, out, start []int32) {
	left := slices.Clone(pending)
	for range maxCycles {
		at := slices.IndexFunc(pending, func(n int32) bool { return n > 0 })
		if at < 0 {
			break
		}
		// Remove a vertex of the cycle, so that the next cycle can be found.
		v := c.reportCycle(int32(at), pending)
		pending[v] = 0
		c.advance([]int32{v}, pending, out, start)
	}
	kept := 0
	for i := range c.p.Edges {
		if left[c.p.Edges[i].To] == 0 {
			c.p.Edges[kept], c.p.edgeDecls[kept], c.edgeUse[kept] = c.p.Edges[i], c.p.edgeDecls[i], c.edgeUse[i]
			kept++
		} else {
			e := c.p.Edges[i]
			c.cut = append(c.cut, EdgeFact{&e, c.p.edgeDecls[i]})
		}
	}
	c.p.Edges, c.p.edgeDecls, c.edgeUse = c.p.Edges[:kept], c.p.edgeDecls[:kept], c.edgeUse[:kept]
	for v := range left {
		if left[v] > 0 {
			c.decl[v].level = 0
			c.invalidVertex(int32(v))
		}
	}
}

// advance sets the levels of the vertices whose predecessors all have one, beginning with those in
// the queue.
func (c *compiler) advance(queue, pending, out, start []int32) []int32 {
	for next := 0; next < len(queue); next++ {
		v := queue[next]
		level := c.decl[v].level + 1
		for _, s := range out[start[v]:start[v+1]] {
			c.decl[s].level = max(c.decl[s].level, level)
			if pending[s]--; pending[s] == 0 {
				queue = append(queue, s)
			}
		}
	}
	return queue
}

// lastUnits puts the units without edges after the whole main graph: first pipelines, then loops,
// in declared order, each on a level of its own.
func (c *compiler) lastUnits() {
	level := int32(-1)
	for i := range c.decl {
		if v := &c.decl[i]; !v.last {
			level = max(level, v.level)
		}
	}
	for i := range c.decl {
		if c.decl[i].last {
			level++
			c.decl[i].level = level
		}
	}
}

// reportCycle reports one cycle among the vertices without a level, of which start is one, and
// returns a vertex of the cycle. Every vertex without a level has a predecessor without a level, so
// a path backwards ends in a cycle.
func (c *compiler) reportCycle(start int32, pending []int32) int32 {
	edges := c.p.Edges
	in, first := group(len(c.decl), len(edges), func(i int) int32 { return edges[i].To }, func(i int) int32 { return int32(i) })
	seen := make([]int32, len(c.decl)) // index in path plus 1
	var path []int32                   // edges, backwards
	v := start
	for seen[v] == 0 {
		seen[v] = int32(len(path)) + 1
		for _, e := range in[first[v]:first[v+1]] {
			if pending[edges[e].From] > 0 {
				path = append(path, e)
				v = edges[e].From
				break
			}
		}
	}
	path = path[seen[v]-1:]
	slices.Reverse(path)
	least := slices.Index(path, slices.MinFunc(path, func(a, b int32) int { return cmp.Compare(edges[a].From, edges[b].From) }))
	path = append(path[least:], path[:least]...)
	c.cycleFinding(path)
	return edges[path[0]].From
}

// cycleFinding reports a cycle with the nodes at the ends of its edges, so that a path through a
// unit shows the members by which it enters and leaves.
func (c *compiler) cycleFinding(path []int32) {
	names, units := []string{}, []string{}
	for _, i := range path {
		e := &c.p.Edges[i]
		from, to := c.p.Nodes[e.FromNode].ID, c.p.Nodes[e.ToNode].ID
		if len(names) == 0 || names[len(names)-1] != from {
			names = append(names, from)
		}
		names = append(names, to)
		if v := &c.decl[e.From]; v.unit != nil {
			units = append(units, v.id)
		}
	}
	if names[len(names)-1] != names[0] { // two members of the unit in which the path began
		names = append(names, names[0])
	}
	pos, text := c.p.edgeDecls[path[0]].Pos, message.Arrows(names, maxNames)
	hint := "a pipeline or loop runs as one: no node can lie between two of its members"
	switch len(units) {
	case 0:
		c.ds.Errorf(source.CodeCycle, pos, "the graph has a cycle: %s", text).WithHint("repeat work with a loop; edges must not lead back")
	case 1:
		c.ds.Errorf(source.CodeUnitCycle, pos, "a way leads out of %s and back into it: %s", units[0], text).WithHint("%s", hint)
	default:
		c.ds.Errorf(source.CodeUnitCycle, pos, "%s wait for one another: %s", strings.Join(units, " and "), text).WithHint("%s", hint)
	}
}
