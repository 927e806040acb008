package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// defaultMaxIters caps a loop that has an until and no max_iters.
const defaultMaxIters = 100

// units compiles pipelines and loops and declares all vertices: nodes that are
// in no unit, then pipelines, then loops.
func (c *compiler) units() {
	var units []vertexDecl
	for i, d := range c.w.Pipelines {
		u := &Unit{ID: d.ID.Value, Phase: d.Phase.Value, Concurrency: 1}
		subject := "pipeline " + u.ID
		c.unitID(d.ID, "pipeline", len(units))
		c.members(u, d.Stages, subject, "stages")
		if d.Concurrency != nil {
			u.Concurrency = c.atLeastOne(*d.Concurrency, subject+": concurrency")
		}
		u.Policy = c.unitPolicy(d.OnError, subject)
		v := vertexDecl{id: u.ID, shape: Pipeline, node: -1, unit: u, decl: i, pos: d.Pos}
		var use uses
		u.Items = c.compileSource(d.Items, c.scope(expressions.RootState|expressions.RootNodes|expressions.RootInput), subject+": items", &use)
		if u.Items != nil {
			if t := u.Items.Type(); t != core.AnyType && t != core.ArrayType {
				c.ds.Errorf(core.CodeExprType, d.Items.Pos, "%s: items is of type %s, want array", subject, t)
			}
		}
		v.reads, v.nodeRef = use.fields, use.nodes
		units = append(units, v)
	}
	for i, d := range c.w.Loops {
		units = append(units, c.loop(i, d, len(units)))
	}
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		if n.Member >= 0 {
			continue
		}
		shape := Plain
		if n.Source != nil {
			shape = FanOut
		}
		use := &c.nodeUse[i]
		v := vertexDecl{id: n.ID, shape: shape, node: int32(i), decl: i, pos: n.Decl.Pos, writes: dedupe(n.WriteFields)}
		v.reads = use.all()
		v.nodeRef = append(slices.Clone(use.args.nodes), use.nodes...)
		c.decl = append(c.decl, v)
	}
	base := int32(len(c.decl))
	for _, v := range units {
		c.ownFields(&v)
		c.decl = append(c.decl, v)
	}
	for id, i := range c.p.unitIndex { // every entry is shifted alike
		c.p.unitIndex[id] = base + i
	}
	c.assignVertices()
}

// assignVertices notes for each node the declaration of its vertex.
func (c *compiler) assignVertices() {
	for i := range c.decl {
		v := &c.decl[i]
		if v.unit == nil {
			c.p.Nodes[v.node].Vertex = int32(i)
			continue
		}
		for _, m := range v.unit.Members {
			c.p.Nodes[m].Vertex = int32(i)
		}
	}
}

// all lists every field the node sees, declared reads first.
func (u *nodeUse) all() []int32 {
	return dedupe(append(append(slices.Clone(u.view), u.args.fields...), u.extra...))
}

func dedupe(list []int32) []int32 {
	var out []int32
	for _, f := range list {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

func (c *compiler) unitID(id core.Text, what string, at int) {
	if !isID(id.Value) {
		c.badID(what, id)
	}
	_, isNode := c.p.nodeIndex[id.Value]
	_, isUnit := c.p.unitIndex[id.Value]
	if isNode || isUnit {
		c.ds.Errorf(core.CodeDuplicateID, id.Pos, "%s %q: the name is taken", what, id.Value)
		return
	}
	c.p.unitIndex[id.Value] = int32(at)
}

// members resolves the nodes of a unit.
func (c *compiler) members(u *Unit, list []core.Text, subject, what string) {
	if len(list) == 0 {
		c.ds.Errorf(core.CodeMissingKey, c.w.Pos, "%s: %s is empty", subject, what)
	}
	for _, t := range list {
		i, ok := c.nodeRef(t, subject+": "+what)
		if !ok {
			continue
		}
		n := &c.p.Nodes[i]
		if n.Member >= 0 {
			c.ds.Errorf(core.CodeUnitOverlap, t.Pos, "%s: node %q belongs to a pipeline or loop already", subject, n.ID).
				WithHint("a node belongs to at most one")
			continue
		}
		if n.Decl.ForEach != nil {
			c.ds.Errorf(core.CodeUnitForEach, n.Decl.ForEach.Pos, "%s: node %q is a member and cannot have for_each", subject, n.ID)
		}
		n.Member = int32(len(u.Members))
		u.Members = append(u.Members, i)
	}
}

func (c *compiler) unitPolicy(e *core.OnError, subject string) Policy {
	if e == nil {
		return PolicyDefault
	}
	return c.policy(e.Policy, subject+": on_error.policy", false)
}

func (c *compiler) loop(i int, d *core.Loop, at int) vertexDecl {
	u := &Unit{ID: d.ID.Value, Phase: d.Phase.Value, IsLoop: true, Concurrency: 1, MaxIters: defaultMaxIters}
	subject := "loop " + u.ID
	c.unitID(d.ID, "loop", at)
	c.members(u, d.Body, subject, "body")
	u.Policy = c.unitPolicy(d.OnError, subject)
	v := vertexDecl{id: u.ID, shape: Loop, node: -1, unit: u, decl: i, pos: d.Pos}
	var use uses
	if d.Until != nil {
		p, ds := expressions.Compile(*d.Until, c.scope(expressions.RootState|expressions.RootNodes|expressions.RootInput), subject+": until")
		c.ds = append(c.ds, ds...)
		if !ds.Failed(false) {
			u.Until = p
			use.program(p)
		}
	}
	switch {
	case d.MaxIters != nil:
		u.MaxIters = c.atLeastOne(*d.MaxIters, subject+": max_iters")
	case d.Until == nil:
		c.ds.Errorf(core.CodeLoopBound, d.Pos, "%s: needs until or max_iters", subject)
	}
	switch d.OnExhausted.Value {
	case "", "continue":
	case "fail":
		u.FailExhausted = true
	default:
		c.ds.Errorf(core.CodeBadValue, d.OnExhausted.Pos, "%s: on_exhausted: unknown word %q", subject, d.OnExhausted.Value).
			WithHint("continue or fail")
	}
	v.reads, v.nodeRef = use.fields, use.nodes
	return v
}

// ownFields collects what the members of a unit read and write.
func (c *compiler) ownFields(v *vertexDecl) {
	u := v.unit
	for place, m := range u.Members {
		use := &c.nodeUse[m]
		v.reads = append(v.reads, use.all()...)
		v.nodeRef = append(append(v.nodeRef, use.args.nodes...), use.nodes...)
		for _, f := range dedupe(c.p.Nodes[m].WriteFields) {
			at := u.OwnIndex(f)
			if at < 0 {
				at = len(u.Own)
				u.Own = append(u.Own, OwnField{Field: f, Refuses: c.p.Schema.Fields[f].Refuses})
				v.writes = append(v.writes, f)
			}
			u.Own[at].Members = append(u.Own[at].Members, int32(place))
		}
	}
	v.reads, v.nodeRef = dedupe(v.reads), dedupe(v.nodeRef)
}
