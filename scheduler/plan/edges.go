package plan

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// edges resolves the edges between the declared vertices. Edges between two
// members of one unit are checked and dropped: the order of the members says
// what they say.
func (c *compiler) edges() {
	c.p.Edges = make([]Edge, 0, len(c.w.Edges))
	c.p.edgeDecls = make([]*core.Edge, 0, len(c.w.Edges))
	c.edgeUse = make([]*uses, 0, len(c.w.Edges))
	for _, e := range c.w.Edges {
		at := edgePlace(e)
		from, ok1 := c.nodeRef(e.From, at)
		to, ok2 := c.nodeRef(e.To, at)
		on := c.on(e, at)
		var use *uses
		when := c.when(e, at, &use)
		if !ok1 || !ok2 {
			continue
		}
		a, b := &c.p.Nodes[from], &c.p.Nodes[to]
		if from == to {
			c.ds.Errorf(core.CodeCycle, e.Pos, "%s: leads from a node to itself", at).WithHint("repeat work with a loop")
			continue
		}
		if a.Vertex == b.Vertex {
			c.insideUnit(e, a, b, at)
			continue
		}
		c.p.Edges = append(c.p.Edges, Edge{From: a.Vertex, To: b.Vertex, FromNode: from, ToNode: to, Else: e.Else, On: on, When: when})
		c.p.edgeDecls = append(c.p.edgeDecls, e)
		c.edgeUse = append(c.edgeUse, use)
	}
	c.elseEdges()
}

// when compiles the condition of an edge.
func (c *compiler) when(e *core.Edge, at place, use **uses) *expressions.Program {
	if e.When == nil || e.Else {
		return nil
	}
	p, ds := expressions.Compile(*e.When, c.scope(graphRoots), at.at("when").String())
	c.ds = append(c.ds, ds...)
	if p != nil {
		*use = &uses{}
		c.refer(*use, p)
	}
	return p
}

func (c *compiler) on(e *core.Edge, at place) On {
	switch e.On.Value {
	case "", "success":
		return OnSuccess
	case "fail":
		return OnFail
	case "done":
		return OnDone
	}
	c.ds.Errorf(core.CodeBadValue, e.On.Pos, "%s: on: unknown word %q", at, e.On.Value).
		WithHint("%s", near(e.On.Value, []string{"success", "fail", "done"}))
	return OnSuccess
}

func (c *compiler) insideUnit(e *core.Edge, a, b *Node, at place) {
	unit := c.decl[a.Vertex].id
	switch {
	case a.Member > b.Member:
		c.ds.Errorf(core.CodeUnitEdge, e.Pos, "%s: runs against the order of the members of %s", at, unit)
	case e.When != nil || e.Else || e.On.Value != "":
		c.ds.Errorf(core.CodeUnitEdge, e.Pos, "%s: an edge inside %s cannot have a condition", at, unit)
	}
}

// elseEdges checks that an else edge has a condition it is the opposite of.
// Several else edges out of one source are fine: they hold or fail together.
func (c *compiler) elseEdges() {
	conditional := make([]bool, len(c.decl))
	for i := range c.p.Edges {
		if e := &c.p.Edges[i]; !e.Else && c.p.edgeDecls[i].When != nil {
			conditional[e.From] = true
		}
	}
	for i := range c.p.Edges {
		if e := &c.p.Edges[i]; e.Else && !conditional[e.From] {
			d := c.p.edgeDecls[i]
			c.ds.Errorf(core.CodeElse, d.Pos, "%s: when: else, but no other edge out of %s has a condition", edgePlace(d), d.From.Value).
				WithHint("leave the condition out, or give another edge one")
		}
	}
}
