package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// edges resolves the edges between the declared vertices. Edges between two members of a unit are
// checked and dropped, because the order of the members implies them.
func (c *compiler) edges() {
	c.p.Edges = make([]Edge, 0, len(c.w.Edges))
	c.p.edgeDecls = make([]*core.Edge, 0, len(c.w.Edges))
	c.edgeUse = make([]*References, 0, len(c.w.Edges))
	c.loose()
	for _, e := range c.w.Edges {
		at := edgePlace(e)
		from, ok1 := c.edgeEnd(e.From, e.Lost.Has("from"), at)
		to, ok2 := c.edgeEnd(e.To, e.Lost.Has("to"), at)
		on := c.on(e, at)
		handles := c.edgeHandles(e, on, at)
		var use *References
		when := c.when(e, at, &use)
		if ok1 && ok2 && from == to {
			c.ds.Errorf(source.CodeCycle, e.Pos, "%s: leads from a node to itself", at).WithHint("repeat work with a loop")
			ok2 = false
		}
		if !ok1 || !ok2 {
			c.invalid.edges = c.invalid.edges || !ok1 && (e.Lost.Has("when") || e.When != nil && !e.Else)
			switch {
			case ok1:
				c.invalidVertex(c.p.Nodes[from].Vertex)
			case ok2:
				c.invalidVertex(c.p.Nodes[to].Vertex)
			default:
				for v := range int32(len(c.decl)) {
					c.invalidVertex(v)
				}
			}
			if when != nil {
				c.ds = append(c.ds, when.ConstantFindings()...)
			}
			continue
		}
		a, b := &c.p.Nodes[from], &c.p.Nodes[to]
		if a.Vertex == b.Vertex {
			c.insideUnit(e, a, b, at)
			continue
		}
		c.p.Edges = append(c.p.Edges, Edge{From: a.Vertex, To: b.Vertex, FromNode: from, ToNode: to, Else: e.Else, On: on, Handles: handles, When: when})
		c.p.edgeDecls = append(c.p.edgeDecls, e)
		c.edgeUse = append(c.edgeUse, use)
	}
	c.elseEdges()
}

// edgeEnd finds the node at an end of an edge. ok is false if it is not known which node is meant.
func (c *compiler) edgeEnd(id source.Text, lost bool, at place) (node int32, ok bool) {
	if lost {
		return 0, false
	}
	node, ok = c.nodeRef(id, at)
	return node, ok && !c.invalid.names[name{expressions.RootNodes, id.Value}]
}

// when compiles the condition of an edge.
func (c *compiler) when(e *core.Edge, at place, use **References) *expressions.Program {
	if e.Lost.Has("when") {
		c.invalid.references = true
	}
	if e.When == nil || e.Else {
		return nil
	}
	u := &References{}
	p := c.expression(*e.When, c.scope(graphRoots), at.at("when"), u)
	if p != nil {
		*use = u
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
	c.ds.Errorf(source.CodeBadValue, e.On.Pos, "%s: on: unknown word %q", at, e.On.Value).
		WithHint("%s", message.Near(e.On.Value, []string{"success", "fail", "done"}))
	return OnSuccess
}

// edgeHandles reports whether an on: fail edge handles the failure.
func (c *compiler) edgeHandles(e *core.Edge, on On, at place) bool {
	if e.Handles == nil {
		return false
	}
	if on != OnFail && !e.Lost.Has("on") {
		c.ds.Errorf(source.CodeBadValue, e.Handles.Pos, "%s: handles: belongs to on: fail", at).
			WithHint("add on: fail, or leave handles out: an edge that is taken without a failure handles none")
	}
	return on == OnFail && e.Handles.Value
}

func (c *compiler) insideUnit(e *core.Edge, a, b *Node, at place) {
	unit := c.decl[a.Vertex].id
	switch {
	case a.Member > b.Member:
		c.ds.Errorf(source.CodeUnitEdge, e.Pos, "%s: runs against the order of the members of %s", at, unit)
	case e.When != nil || e.Else || e.On.Value != "":
		c.ds.Errorf(source.CodeUnitEdge, e.Pos, "%s: an edge inside %s cannot have a condition", at, unit)
	}
}

// conditional reports whether an edge has a condition other than else, valid or not.
func (c *compiler) conditional(edge int) bool {
	d := c.p.edgeDecls[edge]
	return !d.Else && d.When != nil || d.Lost.Has("when")
}

// elseEdges checks that each else edge has an edge with a condition next to it. A source may have
// several else edges: either all of them hold or none does.
func (c *compiler) elseEdges() {
	if !slices.ContainsFunc(c.p.Edges, func(e Edge) bool { return e.Else }) {
		return
	}
	conditional := make([]bool, len(c.decl))
	for i := range c.p.Edges {
		if c.conditional(i) {
			conditional[c.p.Edges[i].From] = true
		}
	}
	for i := range c.p.Edges {
		if e := &c.p.Edges[i]; e.Else && !conditional[e.From] && (c.invalid.vertices == nil || !c.invalid.vertices[e.From]) && !c.invalid.edges {
			d := c.p.edgeDecls[i]
			c.ds.Errorf(source.CodeElse, d.Pos, "%s: when: else, but no other edge out of %s has a condition", edgePlace(d), d.From.Value).
				WithHint("leave the condition out, or give another edge one")
		}
	}
}
