package plan

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// modelWalk compiles a walk whose edges a model picks.
func (c *compiler) modelWalk() {
	w, settings := c.p.Walk, c.walkSettings()
	w.Routed = true
	w.Model = settings.Model.Value
	if settings.MaxSteps == nil {
		w.MaxSteps = core.DefaultMaxSteps
	}
	c.routedEdges()
	visits := c.count(settings.MaxVisits, 0, documentPlace("max_node_visits"))
	for i, d := range c.w.Nodes {
		c.routedNode(&w.Nodes[i], d, visits)
	}
	if i, ok := c.p.nodeIndex[settings.Entry.Value]; ok {
		w.Start = i
	}
	c.checkRouted()
}

// routedEdges compiles edges whose conditions are in plain language. Edges between the same two
// nodes share a limit.
func (c *compiler) routedEdges() {
	w, pairs := c.p.Walk, map[[2]int32]int32{}
	for _, e := range c.w.Edges {
		from, ok1 := c.p.nodeIndex[e.From.Value]
		to, ok2 := c.p.nodeIndex[e.To.Value]
		if !ok1 || !ok2 {
			continue // reported by checkRouted
		}
		pair, ok := pairs[[2]int32{from, to}]
		if !ok {
			pair = int32(len(pairs))
			pairs[[2]int32{from, to}] = pair
		}
		edge := WalkEdge{Label: e.Label.Value, Pair: pair}
		if e.When != nil {
			edge.Condition = strings.TrimSpace(e.When.Value)
		}
		if e.MaxIterations != nil {
			edge.MaxFollows = c.atLeastOne(e.MaxIterations, edgePlace(e).at("max_iterations"))
		}
		i := int32(len(c.p.Edges))
		c.p.Edges = append(c.p.Edges, Edge{FromNode: from, ToNode: to})
		c.p.edgeDecls = append(c.p.edgeDecls, e)
		w.Edges = append(w.Edges, edge)
		w.Nodes[from].Out = append(w.Nodes[from].Out, i)
	}
	w.Pairs = len(pairs)
}

// routedNode compiles what a router needs to know of a node. visits is the limit on the visits of
// nodes without a limit of their own, 0 for no limit.
func (c *compiler) routedNode(n *WalkNode, d *core.Node, visits int) {
	at := nodePlace(d.ID.Value)
	if n.MaxVisits = visits; d.MaxVisits != nil {
		n.MaxVisits = c.count(d.MaxVisits, 0, at.at("max_visits"))
	}
	if d.ViewMembers != nil {
		n.ViewMembers = source.Strings(d.ViewMembers)
	}
	if n.Role != core.RoleStage {
		c.ds.Errorf(source.CodeBadValue, d.Kind.Pos, "%s: a %s node has no place in a walk that a model routes", at, n.Role)
	}
	if d.ForEach != nil {
		c.ds.Errorf(source.CodeBadValue, d.ForEach.Pos, "%s: for_each exists in dags only", at)
	}
}
