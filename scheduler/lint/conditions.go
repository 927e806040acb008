package lint

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// checkConditions reports conditions that have no effect.
func (c *checker) checkConditions() {
	hasElse := make([]bool, len(c.p.Vertices))
	for i := range c.f.NumEdges() {
		if e := c.f.Edge(i).Edge; e.Else {
			hasElse[e.From] = true
		}
	}
	for i := range c.f.NumEdges() {
		x := c.f.Edge(i)
		e, d := x.Edge, x.Decl
		if e.When == nil && !e.Else && e.On == plan.OnSuccess {
			continue
		}
		if e.When != nil {
			c.checkConstant(e, d)
		}
		if e.On == plan.OnFail && c.endsRun(e.From) {
			c.ds.Warnf(source.CodeIgnored, d.On.Pos, "%s: on: fail never holds, because a failure of %s ends the run", message.Edge(d), d.From.Value).
				WithHint("leave out the policy fail_run to continue after the failure")
		}
		// The condition of an edge that handles still determines whether the failure is handled. A
		// condition next to an else edge determines whether the else edge holds.
		if c.p.Vertices[e.To].AllDone && !e.Handles && !d.Lost.Has("handles") && !d.Lost.Has("on") && (e.Else || e.When != nil && !hasElse[e.From]) {
			pos := d.Pos
			if d.When != nil {
				pos = d.When.Pos
			}
			c.ds.Warnf(source.CodeIgnored, pos, "%s: when: has no effect, because %s runs in any case (join: all_done)", message.Edge(d), d.To.Value)
		}
	}
}

// checkHandles reports, once, that a failure fails the run although an on: fail edge continues
// after it, in a document that never says whether it should.
func (c *checker) checkHandles() {
	if !c.w.Document {
		return
	}
	var first *core.Edge
	for i := range c.f.NumEdges() {
		x := c.f.Edge(i)
		d := x.Decl
		if d.Handles != nil || d.Lost.Has("handles") {
			return
		}
		if first == nil && x.Edge.On == plan.OnFail && c.failureCounts(x.Edge.From) {
			first = d
		}
	}
	if first != nil {
		c.ds.Hintf(source.CodeUnhandled, first.On.Pos, "%s: on: fail: the run is failed if %s fails, although %s runs", message.Edge(first), first.From.Value, first.To.Value).
			WithHint("handles: true on the edge makes it partial_success; handles: false says that it is meant")
	}
}

// idleHandles warns of handles on edges whose source tolerates its failures anyway.
func (c *checker) idleHandles() {
	for i := range c.f.NumEdges() {
		x := c.f.Edge(i)
		e, d := x.Edge, x.Decl
		if e.On != plan.OnFail || d.Handles == nil || c.p.Vertices[e.From].Unit != nil || c.p.Nodes[e.FromNode].Policy != plan.PolicySkip {
			continue
		}
		c.ds.Warnf(source.CodeIgnored, d.Handles.Pos, "%s: handles has no effect: node %s has on_error: {policy: skip}, so its failure is tolerated anyway", message.Edge(d), d.From.Value).
			WithHint("leave out handles, or the policy if the edge is to decide")
	}
}

// failureCounts reports whether a failure of a vertex may fail the run at its end: it neither ends
// the run immediately nor is tolerated.
func (c *checker) failureCounts(v int32) bool {
	u := c.p.Vertices[v].Unit
	return u != nil && u.Policy == plan.PolicyDefault || slices.ContainsFunc(c.nodesOf(v), func(n int32) bool { return c.p.Nodes[n].Policy == plan.PolicyDefault })
}

// checkConstant reports a condition that is always true or always false.
func (c *checker) checkConstant(e *plan.Edge, d *core.Edge) {
	found := e.When.ConstantFindings()
	if _, fixed := e.When.Constant(); fixed && len(found) > 0 && found[0].Hint == "" && !e.When.Test(nil) && !c.tolerant(e.To) {
		found[0].WithHint("%s never runs", d.To.Value)
	}
	c.ds = append(c.ds, found...)
}

// tolerant reports whether a vertex may run although one of its edges does not hold.
func (c *checker) tolerant(v int32) bool {
	return c.p.Vertices[v].AllDone || c.p.Vertices[v].Join >= 0
}

// endsRun reports whether every failure of a vertex ends the run.
func (c *checker) endsRun(v int32) bool {
	if u := c.p.Vertices[v].Unit; u != nil && u.Policy != plan.PolicyFailRun {
		return false
	}
	return !slices.ContainsFunc(c.nodesOf(v), func(n int32) bool { return c.p.Nodes[n].Policy != plan.PolicyFailRun })
}

// checkUntils reports loops whose rounds cannot make their end condition true.
func (c *checker) checkUntils() {
	for v := range int32(len(c.p.Vertices)) {
		u := c.p.Vertices[v].Unit
		if u == nil || u.Until == nil {
			continue
		}
		found := u.Until.ConstantFindings()
		c.ds = append(c.ds, found...)
		_, until := c.f.Unit(v)
		if len(found) > 0 || c.mayWrite(v) || slices.ContainsFunc(until.Fields, func(f int32) bool { return u.FieldIndex(f) >= 0 }) {
			continue
		}
		d := c.ds.Warnf(source.CodeLoopBound, c.f.Until(v).Pos, "loop %s: until: nothing in the body can change it", u.ID)
		if len(until.Fields) > 0 {
			d.WithHint("no node of the body writes %s", c.p.Schema.Fields[until.Fields[0]].Name)
		}
	}
}

// mayWrite reports whether the body of a loop may write fields that are not known.
func (c *checker) mayWrite(v int32) bool {
	return !c.f.MembersValid(v) || slices.ContainsFunc(c.nodesOf(v), func(n int32) bool { return !c.f.WritesValid(n) })
}
