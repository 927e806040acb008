package lint

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// goalGates reports goal gates without a node to go back to.
func (c *checker) goalGates() {
	for i, d := range c.w.Nodes {
		if n := c.f.Visit(int32(i)); n.GoalGate && len(n.Targets) == 0 {
			c.ds.Warnf(source.CodeGoalGateHasRetry, d.ID.Pos, "%s: is a goal gate, and there is nowhere to go back to when it is not satisfied", message.Node(d.ID.Value)).
				WithHint("add retry_target")
		}
	}
}

// branches reports parallel nodes without branches, or without a node after them.
func (c *checker) branches() {
	for i, d := range c.w.Nodes {
		switch n := c.f.Visit(int32(i)); {
		case !n.Parallel:
		case len(n.Branches) == 0:
			c.ds.Warnf(source.CodeJoin, d.ID.Pos, "%s: has no branches, so it always fails", message.Node(d.ID.Value)).WithHint("edges without a condition lead to branches")
		case n.Meet < 0:
			c.ds.Warnf(source.CodeJoin, d.ID.Pos, "%s: no node comes after every branch, so there is no next node", message.Node(d.ID.Value))
		}
	}
}

// gatesOfBranches warns of goal gates that only branches visit, and never the walk itself.
func (c *checker) gatesOfBranches() {
	visited := make([]bool, len(c.p.Nodes))
	for i := range c.p.Nodes {
		n := c.f.Visit(int32(i))
		for _, e := range n.Out {
			visited[c.p.Edges[e].ToNode] = true
		}
		for _, to := range n.Targets {
			visited[to] = true
		}
		if n.Meet >= 0 {
			visited[n.Meet] = true
		}
	}
	for i := range c.p.Nodes {
		for _, b := range c.f.Visit(int32(i)).Branches {
			if d := c.w.Nodes[b]; d.GoalGate && !visited[b] {
				visited[b] = true
				c.ds.Warnf(source.CodeGoalGateHasRetry, d.ID.Pos, "%s: is a goal gate and only ever a branch, and of branches no gate is looked at", message.Node(d.ID.Value)).
					WithHint("let %s, or a node after it, be the gate", c.p.Nodes[i].ID)
			}
		}
	}
}

// allConditional warns of nodes whose outgoing edges all have a condition. Graphs repeat the same
// pattern many times, so there is one warning for all nodes.
func (c *checker) allConditional() {
	var ids []source.Text
	for i, d := range c.w.Nodes {
		n := c.f.Visit(int32(i))
		free := func(e int32) bool { return c.f.Decl(e).When == nil }
		if len(n.Out) > 0 && !slices.ContainsFunc(n.Out, free) && n.Role != core.RoleParallel && !c.oneHolds(n.Out) {
			ids = append(ids, d.ID)
		}
	}
	switch len(ids) {
	case 0:
	case 1:
		c.ds.Warnf(source.CodeAllConditionalEdges, ids[0].Pos, "%s: every edge out of it has a condition; where none holds, the run fails", message.Node(ids[0].Value)).
			WithHint("add an edge without a condition")
	default:
		c.ds.Warnf(source.CodeAllConditionalEdges, ids[0].Pos, "nodes %s: every edge out of them has a condition; where none holds, the run fails", source.Named(source.Strings(ids))).
			WithHint("add edges without a condition")
	}
}

// oneHolds reports whether at least one of the conditions on edges always holds.
func (c *checker) oneHolds(edges []int32) bool {
	list := make([]*expressions.Program, len(edges))
	for i, e := range edges {
		if list[i] = c.p.Edges[e].When; list[i] == nil {
			return false // the condition could not be read
		}
	}
	return expressions.OneHolds(list)
}
