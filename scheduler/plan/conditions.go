package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// checkConditions reports conditions that decide nothing.
func (c *compiler) checkConditions() {
	hasElse := make([]bool, len(c.decl))
	for i := range c.p.Edges {
		if e := &c.p.Edges[i]; e.Else {
			hasElse[e.From] = true
		}
	}
	for i := range c.p.Edges {
		e, d := &c.p.Edges[i], c.p.edgeDecls[i]
		if e.When == nil && !e.Else && e.On == OnSuccess {
			continue
		}
		if e.When != nil {
			c.checkConstant(e, d)
		}
		if e.On == OnFail && c.endsRun(e.From) {
			c.ds.Warnf(core.CodeIgnored, d.On.Pos, "%s: on: fail never holds, because a failure of %s ends the run", edgePlace(d), d.From.Value).
				WithHint("leave the policy fail_run out to go on after the failure")
		}
		// The condition of an edge that handles still decides whether the failure is
		// handled, and one next to an else edge whether that one holds.
		if c.anyAllDone(e.To) && !e.Handles && !d.Lost.Has("handles") && !d.Lost.Has("on") && (e.Else || e.When != nil && !hasElse[e.From]) {
			pos := d.Pos
			if d.When != nil {
				pos = d.When.Pos
			}
			c.ds.Warnf(core.CodeIgnored, pos, "%s: when: has no effect, because %s runs in any case (join: all_done)", edgePlace(d), d.To.Value)
		}
	}
}

// checkHandles mentions, once, that a failure fails the run although an on: fail edge
// leads somewhere, in a document that never says whether it should.
func (c *compiler) checkHandles() {
	var first *core.Edge
	for i, d := range c.p.edgeDecls {
		if d.Handles != nil || d.Lost.Has("handles") {
			return
		}
		if first == nil && c.p.Edges[i].On == OnFail && c.failureCounts(c.p.Edges[i].From) {
			first = d
		}
	}
	if first != nil && c.w.Document {
		c.ds.Hintf(core.CodeUnhandled, first.On.Pos, "%s: on: fail: the run is failed if %s fails, although %s runs", edgePlace(first), first.From.Value, first.To.Value).
			WithHint("handles: true on the edge makes it partial_success; handles: false says that it is meant")
	}
}

// idleHandles warns of handles on edges out of what tolerates its failures anyway.
func (c *compiler) idleHandles() {
	for i, d := range c.p.edgeDecls {
		e := &c.p.Edges[i]
		if d.Handles == nil || e.On != OnFail || c.decl[e.From].unit != nil || c.p.Nodes[e.FromNode].Policy != PolicySkip {
			continue
		}
		c.ds.Warnf(core.CodeIgnored, d.Handles.Pos, "%s: handles has no effect: node %s has on_error: {policy: skip}, so its failure is tolerated anyway", edgePlace(d), d.From.Value).
			WithHint("leave out handles, or the policy if the edge is to decide")
	}
}

// failureCounts reports whether a failure of a declared vertex may fail the run at its end:
// it neither ends the run at once nor is tolerated.
func (c *compiler) failureCounts(decl int32) bool {
	u := c.decl[decl].unit
	return u != nil && u.Policy == PolicyDefault || slices.ContainsFunc(c.nodesOf(decl), func(n int32) bool { return c.p.Nodes[n].Policy == PolicyDefault })
}

// checkConstant reports a condition that is always true or always false.
func (c *compiler) checkConstant(e *Edge, d *core.Edge) {
	found := e.When.ConstantFindings()
	if _, fixed := e.When.Constant(); fixed && len(found) > 0 && found[0].Hint == "" && !e.When.Test(nil) && !c.tolerant(e.To) {
		found[0].WithHint("%s never runs", d.To.Value)
	}
	c.ds = append(c.ds, found...)
}

// nodesOf returns the nodes of a declared vertex.
func (c *compiler) nodesOf(decl int32) []int32 {
	if d := &c.decl[decl]; d.unit == nil {
		return []int32{d.node}
	}
	return c.decl[decl].unit.Members
}

// anyAllDone reports whether a declared vertex runs whatever happened before it.
func (c *compiler) anyAllDone(decl int32) bool {
	return slices.ContainsFunc(c.nodesOf(decl), func(n int32) bool { return c.w.Nodes[n].Join.Word() == core.JoinAllDone })
}

// endsRun reports whether every failure of a declared vertex ends the run.
func (c *compiler) endsRun(decl int32) bool {
	if u := c.decl[decl].unit; u != nil && u.Policy != PolicyFailRun {
		return false
	}
	return !slices.ContainsFunc(c.nodesOf(decl), func(n int32) bool { return c.p.Nodes[n].Policy != PolicyFailRun })
}

// checkUntils reports loops whose end no round can bring about.
func (c *compiler) checkUntils() {
	for i := range c.decl {
		d := &c.decl[i]
		if d.unit == nil || d.unit.Until == nil {
			continue
		}
		until, text := d.unit.Until, d.use.loop.Until
		found := until.ConstantFindings()
		c.ds = append(c.ds, found...)
		if len(found) == 0 && !c.mayWrite(d) && !slices.ContainsFunc(d.use.until.fields, func(f int32) bool { return d.unit.OwnIndex(f) >= 0 }) {
			c.ds.Warnf(core.CodeLoopBound, text.Pos, "loop %s: until: nothing in the body can change it", d.id).WithHint("%s", c.untilHint(d))
		}
	}
}

// mayWrite reports whether the body of a loop may write further fields than are known.
func (c *compiler) mayWrite(d *vertexDecl) bool {
	return d.broken || slices.ContainsFunc(d.unit.Members, func(m int32) bool { return c.lostWrites[m] })
}

// untilHint says what the body of a loop would have to write.
func (c *compiler) untilHint(d *vertexDecl) string {
	if len(d.use.until.fields) == 0 {
		return ""
	}
	return "no node of the body writes " + c.p.Schema.Fields[d.use.until.fields[0]].Name
}
