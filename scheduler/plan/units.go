package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// defaultMaxIters limits the rounds of a loop that has an until and no max_iters.
const defaultMaxIters = 100

// units compiles pipelines and loops and declares all vertices: the nodes outside units, then
// pipelines, then loops.
func (c *compiler) units() {
	c.unitIDs = make(map[string]source.Position, len(c.w.Pipelines)+len(c.w.Loops))
	units := make([]vertexDecl, 0, len(c.w.Pipelines)+len(c.w.Loops))
	for _, d := range c.w.Pipelines {
		units = append(units, c.pipeline(d))
	}
	for _, d := range c.w.Loops {
		units = append(units, c.loop(d))
	}
	c.decl = make([]vertexDecl, 0, len(c.p.Nodes)+len(units))
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		if n.Member >= 0 {
			continue
		}
		shape := Plain
		if n.Source != nil {
			shape = FanOut
		}
		n.Vertex = int32(len(c.decl))
		use, writes := &c.nodeUse[i], n.WriteFields
		if n.Puller != nil {
			writes = slices.Concat(writes, n.Puller.WriteFields)
		}
		c.decl = append(c.decl, vertexDecl{id: n.ID, shape: shape, node: int32(i), writes: writes, reads: use.reads, nodeRef: use.nodes})
	}
	for _, v := range units {
		c.unitFields(&v)
		c.unitStream(&v)
		for _, m := range v.unit.Members {
			c.p.Nodes[m].Vertex = int32(len(c.decl))
		}
		c.decl = append(c.decl, v)
	}
}

func (c *compiler) pipeline(d *core.Pipeline) vertexDecl {
	u := &Unit{ID: d.ID.Value, Phase: d.Phase.Value, Concurrency: 1, LastClaim: -1}
	at := place{what: "pipeline", id: u.ID}
	c.unitID(d.ID, d.Lost, at)
	all := c.members(u, d.Stages, d.Lost.Has("stages"), at.at("stages"), d.Pos)
	if d.Concurrency != nil {
		u.Concurrency = c.atLeastOne(d.Concurrency, at.at("concurrency"))
	}
	if d.Batch != nil {
		u.Batch = c.atLeastOne(d.Batch, at.at("batch"))
	}
	c.flush(u, d, at)
	u.Policy = c.unitPolicy(d.OnError, at)
	use := &unitUse{pipeline: d}
	u.Items = c.source(d.Items, d.Lost.Has("items"), at.at("items"), &use.items)
	return vertexDecl{id: u.ID, shape: Pipeline, node: -1, unit: u, use: use, broken: !all}
}

// flush compiles the time for which elements wait for a full batch.
func (c *compiler) flush(u *Unit, d *core.Pipeline, at place) {
	switch {
	case d.Flush == nil:
	case d.Flush.Value <= 0:
		c.ds.Errorf(source.CodeBadValue, d.Flush.Pos, "%s: flush: want more than 0, got %s", at, d.Flush.Value)
	case d.Batch == nil && !d.Lost.Has("batch"):
		c.ds.Errorf(source.CodeMissingKey, d.Flush.Pos, "%s: flush: there is no batch that could be waited for", at).WithHint("say how many elements make one: batch: 100")
	default:
		u.Flush = d.Flush.Value
	}
}

func (c *compiler) loop(d *core.Loop) vertexDecl {
	u := &Unit{ID: d.ID.Value, Phase: d.Phase.Value, IsLoop: true, Concurrency: 1, MaxIters: defaultMaxIters, LastClaim: -1}
	at := place{what: "loop", id: u.ID}
	c.unitID(d.ID, d.Lost, at)
	all := c.members(u, d.Body, d.Lost.Has("body"), at.at("body"), d.Pos)
	u.Policy = c.unitPolicy(d.OnError, at)
	use := &unitUse{loop: d}
	if d.Until != nil {
		u.Until = c.expression(*d.Until, c.scope(graphRoots), at.at("until"), &use.until)
	}
	if d.Lost.Has("until") {
		c.invalid.references = true
	}
	switch {
	case d.MaxIters != nil:
		u.MaxIters = c.atLeastOne(d.MaxIters, at.at("max_iters"))
	case d.Until == nil && !d.Lost.Any("until", "max_iters"):
		c.ds.Errorf(source.CodeLoopBound, d.Pos, "%s: needs until or max_iters", at)
	}
	switch d.OnExhausted.Value {
	case "", "continue":
	case "fail":
		u.FailExhausted = true
	default:
		c.ds.Errorf(source.CodeBadValue, d.OnExhausted.Pos, "%s: on_exhausted: unknown word %q", at, d.OnExhausted.Value).
			WithHint("%s", message.Near(d.OnExhausted.Value, []string{"continue", "fail"}))
	}
	return vertexDecl{id: u.ID, shape: Loop, node: -1, unit: u, use: use, broken: !all}
}

// unitID checks that the id of a unit is unique among nodes and units.
func (c *compiler) unitID(id source.Text, lost source.Lost, at place) {
	if lost.Has("id") {
		return
	}
	if !isID(id.Value) {
		c.badID(at.what, id)
	}
	first, taken := c.unitIDs[id.Value]
	if i, isNode := c.p.nodeIndex[id.Value]; isNode {
		first, taken = c.w.Nodes[i].ID.Pos, true
	}
	if taken {
		message.PointTo(c.ds.Errorf(source.CodeDuplicateID, id.Pos, "%s %q: the name is taken", at.what, id.Value), "first", first)
		return
	}
	c.unitIDs[id.Value] = id.Pos
}

// members finds the nodes of a unit and reports whether all are known.
func (c *compiler) members(u *Unit, list []source.Text, lost bool, at place, pos source.Position) (all bool) {
	if len(list) == 0 && !lost {
		c.ds.Errorf(source.CodeMissingKey, pos, "%s is empty", at)
	}
	all = len(list) > 0 && !lost
	u.Members = make([]int32, 0, len(list))
	for _, t := range list {
		i, ok := c.nodeRef(t, at)
		if !ok {
			all = false
			continue
		}
		all = all && !c.invalid.names[name{expressions.RootNodes, t.Value}]
		n := &c.p.Nodes[i]
		if n.Member >= 0 {
			all = false
			c.ds.Errorf(source.CodeUnitOverlap, t.Pos, "%s: node %q belongs to a pipeline or loop already", at, n.ID).
				WithHint("a node belongs to at most one, and is listed there once")
			continue
		}
		if n.Decl.ForEach != nil {
			c.ds.Errorf(source.CodeUnitForEach, n.Decl.ForEach.Pos, "%s: node %q is a member and cannot have for_each", at, n.ID)
		}
		n.Member = int32(len(u.Members))
		u.Members = append(u.Members, i)
	}
	return all
}

func (c *compiler) unitPolicy(e *core.OnError, at place) Policy {
	if e == nil || e.Lost.Has("policy") {
		return PolicyDefault
	}
	return c.policy(e.Policy, at.at("on_error.policy"), false)
}

// unitFields collects the reads and writes of a unit and its members.
func (c *compiler) unitFields(v *vertexDecl) {
	u := v.unit
	reads := append(append([]int32(nil), v.use.items.Fields...), v.use.until.Fields...)
	refs := append(append([]int32(nil), v.use.items.Nodes...), v.use.until.Nodes...)
	own := map[int32]int{} // by field: its index in u.Fields
	for place, m := range u.Members {
		use := &c.nodeUse[m]
		reads, refs = append(reads, use.reads...), append(refs, use.nodes...)
		for _, f := range c.p.Nodes[m].WriteFields {
			at, ok := own[f]
			if !ok {
				at = len(u.Fields)
				own[f] = at
				u.Fields = append(u.Fields, UnitField{Field: f, MayReject: c.p.Schema.Fields[f].MayReject})
				v.writes = append(v.writes, f)
			}
			u.Fields[at].Members = append(u.Fields[at].Members, int32(place))
		}
	}
	v.reads = c.distinct(reads, &c.fieldSeen, len(c.p.Schema.Fields))
	v.nodeRef = c.distinct(refs, &c.nodeSeen, len(c.w.Nodes))
	u.NodeRefs = v.nodeRef
}
