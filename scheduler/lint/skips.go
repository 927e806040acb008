package lint

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// checkSkips reports conditions that let a node run although the node before it was skipped
// because of another condition: download -> transform (when false) -> publish (when true)
// publishes. It reports nothing if the document shows that the author considered this:
//   - the edge has on: done, or its target has a join;
//   - its condition implies the other one, or tests something that the skipped nodes
//     write or send;
//   - another edge leads to the target, from a node that is not skipped in that case;
//   - the target reads the state, but nothing that the skipped nodes write.
func (c *checker) checkSkips() {
	if !c.conditions {
		return
	}
	for i := range c.p.Edges {
		e := &c.p.Edges[i]
		target := &c.p.Vertices[e.To]
		if e.When == nil || e.On != plan.OnSuccess || target.AllDone || target.Join >= 0 || !c.f.KnowsBefore(e.To) || c.unclear(e.To) {
			continue
		}
		skip, skipped := c.skip(e.From)
		if skip < 0 || c.expectsSkip(int32(i), skip, skipped) {
			continue
		}
		d, why := c.f.Decl(int32(i)), c.f.Decl(skip)
		c.ds.Warnf(source.CodeSkippedSource, d.When.Pos, "%s: when: it lets %s run although %s was skipped, because the condition of %s is false", message.Edge(d), d.To.Value, d.From.Value, message.Edge(why)).
			WithHint(`add "&& $nodes.%s.status == 'success'" to skip %s as well, or on: done if it is to run`, c.firstNode(e.From), d.To.Value)
	}
}

// firstNode returns the id of a vertex, or the id of the last member of a unit.
func (c *checker) firstNode(v int32) string {
	if u := c.p.Vertices[v].Unit; u != nil && len(u.Members) > 0 {
		return c.p.Nodes[u.Members[len(u.Members)-1]].ID
	}
	return c.p.Vertices[v].ID
}

// maxSkipped limits the length of the chains of skipped vertices that are followed.
const maxSkipped = 16

// skip returns an edge whose condition skips a vertex if it is false, and the vertices that are
// skipped, including the vertex itself. The edge is -1 if there is none.
func (c *checker) skip(v int32) (edge int32, skipped []int32) {
	for range maxSkipped {
		skipped = append(skipped, v)
		if c.p.Vertices[v].AllDone || c.p.Vertices[v].Join >= 0 {
			return -1, nil
		}
		in := c.p.InEdges(v)
		for _, i := range in {
			if e := &c.p.Edges[i]; e.When != nil && e.On == plan.OnSuccess {
				return i, skipped
			}
		}
		if len(in) != 1 || c.p.Edges[in[0]].On != plan.OnSuccess || c.p.Edges[in[0]].Else {
			return -1, nil
		}
		v = c.p.Edges[in[0]].From
	}
	return -1, nil
}

// expectsSkip reports whether an edge, or another edge to its target, shows that the author
// considered the skip of its source.
func (c *checker) expectsSkip(edge, skip int32, skipped []int32) bool {
	e := &c.p.Edges[edge]
	for _, i := range c.p.InEdges(e.To) {
		if i != edge && !slices.Contains(skipped, c.p.Edges[i].From) {
			return true
		}
	}
	if c.sameValues(edge, skip) && expressions.Implies(e.When, c.p.Edges[skip].When) {
		return true
	}
	if reads, any := c.readsOf(e.To, skipped); any && !reads {
		return true
	}
	use, _ := c.f.Condition(edge)
	return c.from(use, skipped)
}

// from reports whether any of the fields is written by one of the vertices, or any of the nodes
// belongs to one of them.
func (c *checker) from(refs plan.References, vertices []int32) bool {
	return slices.ContainsFunc(vertices, func(v int32) bool {
		return slices.ContainsFunc(refs.Fields, func(f int32) bool { return slices.Contains(c.p.WriterVertex[f], v) }) ||
			slices.ContainsFunc(refs.Nodes, func(n int32) bool { return c.p.Nodes[n].Vertex == v })
	})
}

// readsOf reports whether a vertex reads what some other vertices write or send, and whether it
// reads the state at all.
func (c *checker) readsOf(v int32, others []int32) (reads, any bool) {
	for _, n := range c.nodesOf(v) {
		use := c.f.Node(n)
		any = any || len(use.Fields) > 0
		reads = reads || c.from(use, others)
	}
	items, _ := c.f.Unit(v)
	any = any || len(items.Fields) > 0
	reads = reads || c.from(items, others)
	return reads, any
}
