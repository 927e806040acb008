package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// arc is a vertex and a gate that waits for it.
type arc struct{ vertex, gate int32 }

// adjacency builds the flat adjacency lists: the gates that each vertex opens when it is resolved,
// and the edges into each vertex. If a source has an else edge, its else group evaluates its conditions.
func (c *compiler) adjacency() {
	p := c.p
	n := len(p.Vertices)
	for i := range p.Edges {
		if e := &p.Edges[i]; e.Else && p.Vertices[e.From].ElseGroup < 0 {
			p.Vertices[e.From].ElseGroup = int32(len(p.ElseGroups))
			p.ElseGroups = append(p.ElseGroups, ElseGroup{Source: e.From, Level: p.Vertices[e.From].Level + 1})
		}
	}
	c.joinBranches()
	arcs := make([]arc, 0, len(p.Edges)+len(p.ElseGroups))
	for i := range p.Edges {
		e := &p.Edges[i]
		target := &p.Vertices[e.To]
		if e.JoinBranch == 0 {
			target.Pending++
		}
		if e.When != nil || e.Else || e.On != OnSuccess {
			target.Conditional = true
		}
		if e.On == OnFail {
			p.Vertices[e.From].HasFailEdge = true
		}
		if j := p.Vertices[e.From].ElseGroup; j >= 0 && (e.Else || c.conditional(i)) {
			e.InElseGroup = true
			p.ElseGroups[j].Edges = append(p.ElseGroups[j].Edges, int32(i))
			continue
		}
		arcs = append(arcs, arc{e.From, p.EdgeGate(int32(i))})
	}
	for j := range p.Joins { // the join counts once, instead of its edges
		p.Vertices[p.Joins[j].Vertex].Pending++
		p.Vertices[p.Joins[j].Vertex].Conditional = true
	}
	for j := range p.ElseGroups {
		arcs = c.opens(arcs, p.ElseGroups[j].Source, int32(n+j))
	}
	arcs = c.lastOrdering(arcs)
	arcs = c.nodeOrdering(arcs)
	p.Out, p.OutStart = group(n, len(arcs), func(i int) int32 { return arcs[i].vertex }, func(i int) int32 { return arcs[i].gate })
	p.In, p.InStart = group(n, len(p.Edges), func(i int) int32 { return p.Edges[i].To }, func(i int) int32 { return int32(i) })
	c.losers()
	c.spread()
	c.reportLate()
}

// opens makes a gate wait for a vertex although there is no edge between them.
func (c *compiler) opens(arcs []arc, vertex, gate int32) []arc {
	n, groups := int32(len(c.p.Vertices)), int32(len(c.p.ElseGroups))
	switch {
	case gate < n:
		c.p.Vertices[gate].Pending++
	case gate < n+groups:
		c.p.ElseGroups[gate-n].Pending++
	default:
		c.p.JoinBranches[gate-n-groups].Pending++
	}
	return append(arcs, arc{vertex, gate})
}

// lastOrdering makes the units without edges run one after another, after all other vertices.
func (c *compiler) lastOrdering(arcs []arc) []arc {
	if len(c.w.Pipelines)+len(c.w.Loops) == 0 {
		return arcs
	}
	leads := make([]bool, len(c.p.Vertices))
	for i := range c.p.Edges { // only edges that the target surely waits for
		if e := &c.p.Edges[i]; c.p.Certain(e.To) {
			leads[e.From] = true
		}
	}
	previous := int32(-1)
	for i := range c.decl {
		if !c.decl[i].last {
			continue
		}
		v := c.at[i]
		if previous >= 0 {
			arcs = c.opens(arcs, previous, v)
		} else {
			for j := range c.decl {
				if u := c.at[j]; !c.decl[j].last && !leads[u] {
					arcs = c.opens(arcs, u, v)
				}
			}
		}
		previous = v
	}
	return arcs
}

// nodeOrdering makes everything that refers to $nodes.X wait for X.
func (c *compiler) nodeOrdering(arcs []arc) []arc {
	for i := range c.decl {
		v := c.at[i]
		for _, ref := range c.decl[i].nodeRef {
			if c.p.below(ref, c.p.Vertices[v].Level) {
				arcs = c.opens(arcs, c.p.Nodes[ref].Vertex, v)
			} else if !c.dropOptionalRef(int32(i), ref) {
				c.late = append(c.late, lateRef{ref: ref, reader: v, decl: i, edge: -1})
			}
		}
	}
	for i, use := range c.edgeUse {
		if use == nil {
			continue
		}
		e := &c.p.Edges[i]
		gate, level := c.p.EdgeGate(int32(i)), c.p.Vertices[e.To].Level
		if e.InElseGroup {
			j := c.p.Vertices[e.From].ElseGroup
			gate, level = int32(len(c.p.Vertices))+j, c.p.ElseGroups[j].Level
		}
		for _, ref := range use.Nodes {
			if c.p.below(ref, level) {
				arcs = c.opens(arcs, c.p.Nodes[ref].Vertex, gate)
			} else {
				c.late = append(c.late, lateRef{ref: ref, reader: e.To, edge: i})
			}
		}
	}
	return arcs
}

// dropOptionalRef removes a reference to a node that has not ended yet from those nodes of a declaration
// that can do without it. It reports whether no node that needs the reference is left.
func (c *compiler) dropOptionalRef(decl, ref int32) bool {
	unit := c.decl[decl].use
	dropped, needed := false, unit != nil && (slices.Contains(unit.items.Nodes, ref) || slices.Contains(unit.until.Nodes, ref))
	for _, n := range c.nodesOf(decl) {
		use := &c.nodeUse[n]
		switch {
		case !slices.Contains(use.nodes, ref):
		case slices.Contains(c.optionalRefs[n], ref):
			use.nodes = slices.DeleteFunc(slices.Clone(use.nodes), func(other int32) bool { return other == ref })
			dropped = true
		default:
			needed = true
		}
	}
	return dropped && !needed
}

// below reports whether a node is on a level below the given one.
func (p *Plan) below(node, level int32) bool { return p.Vertices[p.Nodes[node].Vertex].Level < level }

// lateRef is a reference to a node that may not have ended when the reference is evaluated.
type lateRef struct {
	ref, reader int32 // node and vertex
	decl        int   // index of the reader's declaration, if edge is negative
	edge        int
}

// reportLate reports the references to nodes that may not have ended yet. It runs after adjacency,
// because it looks up whether an edge would help.
func (c *compiler) reportLate() {
	for _, l := range c.late {
		id, target := c.p.Nodes[l.ref].ID, c.p.Nodes[l.ref].Vertex
		after := target != l.reader && len(c.late) <= message.MaxHinted && c.p.Follows(target, l.reader)
		// An invalid edge might have put the reader after its target.
		certain := after || target == l.reader
		if !certain && !(c.invalid.placed(target) && c.invalid.knowsBefore(l.reader)) {
			continue
		}
		var s spot
		if l.edge >= 0 {
			s = c.edgeSpot(l.edge, expressions.RootNodes, id)
		} else {
			s = c.vertexSpot(&c.decl[l.decl], expressions.RootNodes, id)
		}
		d := c.ds.Errorf(source.CodeNodeOrder, s.pos, "%s: $nodes.%s is not known yet: %s is not on a lower level", s.at, id, id)
		switch {
		case target == l.reader && c.p.Vertices[target].Unit != nil:
			d.WithHint("a member of a unit finds what the one before it sent among its edge inputs")
		case target == l.reader:
			d.WithHint("no node knows its own end")
		case after:
			d.WithHint("%s comes after it", id)
		default:
			d.WithHint("add an edge from %s", id)
		}
	}
}
