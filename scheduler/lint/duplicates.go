package lint

import (
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// checkDuplicateEdges reports edges between two nodes that already have an edge. Such edges are
// valid: the target runs once, and all of their conditions count.
func (c *checker) checkDuplicateEdges() {
	// The edges out of each node form a linked list in declared order. Indexes of edges are stored
	// plus 1, so that 0 means no edge.
	head, next := make([]int32, len(c.p.Nodes)), make([]int32, c.f.NumEdges())
	for i := len(next) - 1; i >= 0; i-- {
		from := c.f.Edge(i).Edge.FromNode
		next[i], head[from] = head[from], int32(i)+1
	}
	first := make([]int32, len(c.p.Nodes)) // by target: the first edge to it plus 1
	for _, h := range head {
		if h == 0 || next[h-1] == 0 {
			continue
		}
		for i := h; i != 0; i = next[i-1] {
			e := c.f.Edge(int(i) - 1)
			if at := &first[e.Edge.ToNode]; *at == 0 {
				*at = i
			} else {
				c.duplicateEdge(c.f.Edge(int(*at)-1), e)
			}
		}
		for i := h; i != 0; i = next[i-1] {
			first[c.f.Edge(int(i)-1).Edge.ToNode] = 0
		}
	}
}

func (c *checker) duplicateEdge(first, second plan.EdgeFact) {
	a, b := first.Decl, second.Decl
	if len(a.Lost)+len(b.Lost) > 0 || c.w.Nodes[second.Edge.ToNode].Lost.Has("join") {
		return // their conditions are not known
	}
	x, y := first.Edge.On, second.Edge.On
	at := message.Edge(b)
	switch {
	case x == y && a.Else == b.Else && textOf(a.When) == textOf(b.When):
		message.PointTo(c.ds.Warnf(source.CodeDuplicateEdge, b.Pos, "%s: the edge appears twice", at), "first", a.Pos)
	case c.tolerant(second.Edge.To): // its edges need not hold
	case x != y && x != plan.OnDone && y != plan.OnDone:
		message.PointTo(c.ds.Warnf(source.CodeDuplicateEdge, b.Pos, "%s: one edge asks that %s succeeds and another that it fails, so %s never runs", at, a.From.Value, a.To.Value),
			"on: done holds in both cases; the other edge is", a.Pos)
	default:
		message.PointTo(c.ds.Warnf(source.CodeDuplicateEdge, b.Pos, "%s: there is another edge between the two, and both must hold", at),
			"one edge with one condition says the same; the other edge is", a.Pos)
	}
}

func textOf(t *source.Text) string {
	if t == nil {
		return ""
	}
	return t.Value
}
