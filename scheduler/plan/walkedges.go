package plan

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
)

// walkRoots are the roots that conditions on the edges of a walk can use.
const walkRoots = graphRoots | expressions.RootOutcome | expressions.RootPreferredLabel | expressions.RootOutput |
	expressions.RootError | expressions.RootVisits

func (c *compiler) walkEdges() {
	w := c.p.Walk
	for _, e := range c.w.Edges {
		at := edgePlace(e)
		from, ok1 := c.edgeEnd(e.From, e.Lost.Has("from"), at)
		to, ok2 := c.edgeEnd(e.To, e.Lost.Has("to"), at)
		if e.On.Value != "" || e.Else || e.Handles != nil {
			c.ds.Errorf(source.CodeBadValue, e.Pos, "%s: on:, handles: and when: else exist in dags only", at).WithHint("a walk tests outcome in when")
		}
		when := c.walkWhen(e, at)
		if !ok1 || !ok2 {
			c.invalid.edges = true
			continue
		}
		i := int32(len(c.p.Edges))
		c.p.Edges = append(c.p.Edges, Edge{FromNode: from, ToNode: to, When: when})
		c.p.edgeDecls = append(c.p.edgeDecls, e)
		w.Edges = append(w.Edges, WalkEdge{Label: e.Label.Value, Key: core.NormalLabel(e.Label.Value), Weight: e.Weight.Value,
			LoopRestart: e.LoopRestart, Freeform: e.Freeform, Fidelity: core.FidelityOf(e.Fidelity.Value)})
		n := &w.Nodes[from]
		if n.Role == core.RoleParallel && e.When == nil {
			n.Parallel.Branches, n.Parallel.Edges = append(n.Parallel.Branches, to), append(n.Parallel.Edges, i)
			continue
		}
		n.Out = append(n.Out, i)
	}
}

// walkWhen compiles the condition of an edge.
func (c *compiler) walkWhen(e *core.Edge, at place) *expressions.Program {
	if e.When == nil || e.Lost.Has("when") {
		return nil
	}
	var (
		u References
		p *expressions.Program
	)
	if tree, ok := e.Parsed.(*expressions.Tree); ok {
		p = c.expressionTree(tree, *e.When, c.scope(walkRoots), at.at("when"), &u)
	} else {
		p = c.expression(*e.When, c.scope(walkRoots), at.at("when"), &u)
	}
	if p != nil {
		c.ds = append(c.ds, p.ConstantFindings()...)
	}
	return p
}

// walkOut checks all edges out of a node together.
func (c *compiler) walkOut(n *WalkNode, d *core.Node, at place) {
	conditions, freeform := 0, 0
	for _, e := range n.Out {
		if c.p.edgeDecls[e].When != nil {
			conditions++
		}
		if c.p.Walk.Edges[e].Freeform {
			freeform++
		}
	}
	if freeform > 1 {
		c.ds.Errorf(source.CodeFreeformEdgeCount, d.ID.Pos, "%s: has %d freeform edges, but an answer can take only one", at, freeform)
	}
	if n.Random && conditions > 0 {
		c.ds.Errorf(source.CodeRandomSelection, d.ID.Pos, "%s: picks its edge at random, so its edges cannot have conditions", at)
	}
}
