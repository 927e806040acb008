package lint

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// reachable reports the nodes to which no path leads from the start.
func (c *checker) reachable() {
	start, exit := c.f.Ends()
	if start < 0 || c.f.Invalid().Nodes || c.f.Invalid().Edges {
		return
	}
	for i, ok := range c.p.Visited() {
		switch {
		case ok:
		case int32(i) == exit:
			c.ds.Warnf(source.CodeReachability, c.w.Nodes[i].ID.Pos, "node %s: no way leads to the exit, so no run can succeed", c.p.Nodes[i].ID)
		default:
			c.ds.Warnf(source.CodeReachability, c.w.Nodes[i].ID.Pos, "node %s: no way leads to it from the start", c.p.Nodes[i].ID)
		}
	}
}

// deadEnds warns of nodes at which a walk by outcomes can only fail: nodes without outgoing edges
// that are not the exit, and cycles from which no path leads to the exit.
func (c *checker) deadEnds() {
	start, exit := c.f.Ends()
	if start < 0 || exit < 0 || c.f.Invalid().Nodes || c.f.Invalid().Edges {
		return
	}
	g := make(core.Graph, len(c.p.Nodes))
	for i := range g {
		for _, to := range c.successors(int32(i)) {
			g[i] = append(g[i], core.Arc{To: to, Edge: -1})
		}
		for _, to := range c.f.Visit(int32(i)).Targets { // only after a failure
			g[i] = append(g[i], core.Arc{To: to, Edge: -1})
		}
	}
	visited := g.Reachable(start)
	back := make(core.Graph, len(g)) // to nodes that lead to the exit, or to nodes without outgoing edges
	var ends []int32
	for i := range g {
		for _, a := range g[i] {
			back[a.To] = append(back[a.To], core.Arc{To: int32(i), Edge: -1})
		}
		n := c.f.Visit(int32(i))
		if len(c.successors(int32(i))) > 0 {
			continue
		}
		ends = append(ends, int32(i))
		if visited[i] && n.Role != core.RoleExit && !n.Parallel { // nodes without branches or without a node after them are reported elsewhere
			c.ds.Warnf(source.CodeDeadEnd, c.w.Nodes[i].ID.Pos, "%s: no edge leaves it and it is not the exit, so %s", message.Node(c.p.Nodes[i].ID), c.deadEnd(int32(i))).
				WithHint("add an edge to the node that comes next, or to %s", c.p.Nodes[exit].ID)
		}
	}
	if !visited[exit] {
		return // no path leads to the exit, which is reported for the exit
	}
	left := back.Reachable(append(ends, exit)...)
	var ring []string
	for i := range g {
		if visited[i] && !left[i] {
			ring = append(ring, c.p.Nodes[i].ID)
		}
	}
	if len(ring) > 0 {
		first := slices.IndexFunc(c.w.Nodes, func(n *core.Node) bool { return n.ID.Value == ring[0] })
		c.ds.Warnf(source.CodeDeadEnd, c.w.Nodes[first].ID.Pos, "nodes %s: no way leads from them to the exit, so a run that gets there fails", source.Named(ring)).
			WithHint("add an edge out of the ring")
	}
}

// deadEnd describes what happens at a node without edges: the walk continues at the node's retry
// target, but only after a failure.
func (c *checker) deadEnd(i int32) string {
	n := c.f.Visit(i)
	targets := n.Targets
	if neverFails := c.w.Nodes[i].AutoStatus || n.Role == core.RoleStart || n.Role == core.RoleConditional; neverFails || len(targets) == 0 {
		return "a run that gets here fails"
	}
	return "the run fails when this node succeeds; after a failure it continues at " + c.p.Nodes[targets[0]].ID
}

// successors returns the nodes at which a walk may continue after a node that succeeded.
func (c *checker) successors(i int32) []int32 {
	n := c.f.Visit(i)
	var to []int32
	for _, e := range n.Out {
		to = append(to, c.p.Edges[e].ToNode)
	}
	if n.Meet >= 0 {
		to = append(to, n.Meet)
	}
	return to
}
