package verify

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/steps"
)

// stepped is the additional state for a walk by steps. Each choice is made again, by package
// steps, from what the log says of the visit.
type stepped struct {
	visits   int         // of all nodes
	last     *visit      // that has begun last
	accepted int         // changes of the graph, jumps included
	jump     string      // the jump of the visit that has begun last, or "" if there is none
	updated  bool        // the jump has an update of the state
	status   core.Status // of the last visit
	ended    bool        // the log says that the walk ended
	failed   bool        // it ended with a failure that no edge handles
}

// asBegun returns the node that an event is about: for an event of the latest visit, the node as it was when the
// visit began, because the visit may have replaced it.
func (t *walk) asBegun(n *plan.Node) *plan.Node {
	if t == nil || t.stepped == nil || t.stepped.last == nil {
		return n
	}
	if v := t.stepped.last; v.node == n.Index && v.n == t.f.c.e.Visit {
		return v.def
	}
	return n
}

// checkStep checks where the walk continues after a visit.
func (t *walk) checkStep(n *plan.Node) {
	c, s := t.f.c, t.stepped
	switch {
	case c.e.From != n.ID:
		c.breaks(Routes, "the way on from %s begins at %s", n.ID, c.e.From)
		return
	case t.pending == nil || t.pending.node != n.Index || t.pending.n != c.e.Visit:
		c.breaks(Order, "the way on is told, and visit %d has not just ended", c.e.Visit)
		return
	case c.e.Status != t.pending.status.String():
		c.breaks(Statuses, "continues as %s, but visit %d ended %s", c.e.Status, t.pending.n, t.pending.status)
	}
	if t.f.p.StepsOf(n.Index).Critical && t.pending.status == core.Fail {
		c.breaks(Routes, "the walk goes on, and the critical node %s has failed", n.ID)
	}
	if !hasSecret(c.e.Values) && !t.f.p.RunsUserCode {
		t.decideAgain(n)
	}
	c.unchecked(Routes, "that the output on which a step of a walk decides is what the visit sent")
	t.pending, t.next, s.jump, s.updated = nil, -1, "", false
	if c.e.To == core.End {
		s.ended, s.failed = true, s.status == core.Fail || c.e.Step == core.StepBudget && !t.endsByBudget(n)
		return
	}
	to, ok := t.f.p.Lookup(c.e.To)
	if !ok {
		s.ended, s.failed = true, true // the walk was sent to a node that is not there
		return
	}
	t.next = to
}

// decideAgain compares a choice with the choice of package steps.
func (t *walk) decideAgain(n *plan.Node) {
	c := t.f.c
	r, g := t.visitResult(), &loggedGraph{walk: t, conditions: listIn(c.e.Values, "conditions")}
	t.checkJump(n, r.Jump)
	choice := steps.Resolve(g, &t.f.p.StepsOf(n.Index).Node, &r)
	if choice.Step == steps.ToolLoop && t.f.p.StepsOf(n.Index).Removed {
		choice.To, choice.Name = steps.Unknown, n.ID
	}
	if g.mismatch {
		c.breaks(Routes, "the log has other conditions than step 4 looks at")
		return
	}
	if g.at < len(g.conditions) {
		c.breaks(Routes, "the log has %s that step 4 does not look at", count(len(g.conditions)-g.at, "condition"))
	}
	want, step := t.targetOf(&choice), choice.Step.String()
	if to, used := t.diverted(choice.To); used {
		want, step = to, core.StepBudget
	}
	if c.e.To != want || c.e.Step != step {
		c.breaks(Routes, "goes to %s by the step %s, want %s by the step %s", c.e.To, c.e.Step, want, step)
		return
	}
	if choice.Edge < 0 || step == core.StepBudget {
		return
	}
	if when := t.f.p.CondText(choice.Edge); !sameText(c.e.When, when) {
		c.breaks(Routes, "goes to %s on the condition %q, want %q", c.e.To, c.e.When, when)
	}
}

// visitResult returns what the log says of the visit that has ended.
func (t *walk) visitResult() steps.Result {
	v := t.f.c.e.Values
	get := func(key string) any { x, _ := v.Get(key); return x }
	r := steps.Result{ToolCalls: len(listIn(v, "tool_calls")), ToolLoop: get("tool_loop") == true, Output: get("output"),
		Failed: t.pending.status == core.Fail, GuardFailed: len(listIn(v, "guards_failed")) > 0}
	r.Jump, _ = get("jump").(string)
	r.Next, _ = get("next").(string)
	return r
}

func listIn(o *value.Object, key string) []any {
	v, _ := o.Get(key)
	list, _ := v.([]any)
	return list
}

// checkJump compares the jump of a visit with the change that was accepted.
func (t *walk) checkJump(n *plan.Node, jump string) {
	if jump == t.stepped.jump || jump == core.EndNode && n.Decl.After != nil {
		return
	}
	t.f.c.breaks(Routes, "the visit jumps to %q, and the jump that was accepted leads to %q", jump, t.stepped.jump)
}

func (t *walk) targetOf(c *steps.Choice) string {
	switch {
	case c.To == steps.ToEnd:
		return core.End
	case c.To == steps.Unknown:
		return c.Name
	}
	return t.id(c.To)
}

// diverted returns where the walk goes instead of a node whose visits are used up. used is
// false if they are not.
func (t *walk) diverted(to int32) (target string, used bool) {
	for range len(t.f.p.Nodes) + 1 {
		if to < 0 || t.visits[to] < t.f.p.StepsOf(to).Budget {
			break
		}
		used = true
		if to = t.handler(to); to < 0 {
			return core.End, true
		}
	}
	if to < 0 || used && t.visits[to] >= t.f.p.StepsOf(to).Budget {
		return core.End, used
	}
	return t.id(to), used
}

// Results of handler that are not nodes.
const (
	endHandles = -1
	noHandler  = -2
)

// handler returns the node where a walk continues if the visits of a node are used up.
func (t *walk) handler(node int32) int32 {
	n := t.f.p.StepsOf(node)
	name := n.Exit
	if i := slices.IndexFunc(n.Transitions, func(tr core.Transition) bool { return tr.Key.Value == core.ErrorKey }); name == "" && i >= 0 {
		name = n.Transitions[i].To.Value
	} else if name == "" && t.id(node) != core.ErrorNode {
		name = core.ErrorNode
	}
	if name == core.EndNode {
		return endHandles
	}
	if to, ok := t.f.p.Lookup(name); ok {
		return to
	}
	return noHandler
}

// endsByBudget reports whether a node whose visits are used up leads to the end, and not to
// nothing. The choice is made again, because the log only names the end.
func (t *walk) endsByBudget(n *plan.Node) bool {
	if hasSecret(t.f.c.e.Values) {
		return true
	}
	r, g := t.resultOfEnded(), &loggedGraph{walk: t, conditions: listIn(t.f.c.e.Values, "conditions")}
	to := steps.Resolve(g, &t.f.p.StepsOf(n.Index).Node, &r).To
	for range len(t.f.p.Nodes) + 1 {
		if to < 0 {
			return to == endHandles
		}
		if t.visits[to] < t.f.p.StepsOf(to).Budget {
			return true
		}
		to = t.handler(to)
	}
	return false
}

// resultOfEnded is visitResult after the choice was checked.
func (t *walk) resultOfEnded() steps.Result {
	pending := t.pending
	defer func() { t.pending = pending }()
	t.pending = &visit{status: t.stepped.status}
	return t.visitResult()
}

// loggedGraph is the graph of a run whose conditions hold as the log says.
type loggedGraph struct {
	*walk
	conditions []any
	at         int
	mismatch   bool // the log has other conditions
}

// Lookup returns the index of a node.
func (g *loggedGraph) Lookup(name string) (int32, bool) { return g.f.p.Lookup(name) }

// Holds returns what the log says of the condition of an edge. An expression is evaluated
// again on the values that it read.
func (g *loggedGraph) Holds(edge int32) bool {
	c, p := g.f.c, g.f.p
	if g.at >= len(g.conditions) {
		g.mismatch = true
		return false
	}
	logged, _ := g.conditions[g.at].(*value.Object)
	g.at++
	to, _ := logged.Get("to")
	when, _ := logged.Get("when")
	if to != p.TargetID(edge) || when != p.CondText(edge) {
		g.mismatch = true
	}
	h, _ := logged.Get("holds")
	holds := h == true
	if panicked, _ := logged.Get("panicked"); panicked == true && holds {
		c.breaks(Routes, "the condition on %s -> %v holds, and it panicked", c.e.From, to)
	}
	if p.Edges[edge].When == nil || g.mismatch {
		return holds
	}
	v, _ := logged.Get("values")
	values, _ := v.(*value.Object)
	switch result, known, can := c.replayOn(&p.Edges[edge], values); {
	case !can:
	case !known:
		c.unchecked(Routes, "the condition on %s -> %v: the values in the log leave open what it says", c.e.From, to)
	case result != holds:
		c.breaks(Routes, "the condition %v is %t in the log, and %t on what it read: %s", when, holds, result, brief(values))
	}
	return holds
}

// endStepped checks that the walk may end in its current state.
func (t *walk) endStepped() {
	s := t.stepped
	switch {
	case s.ended, t.next >= 0 && s.visits >= t.maxVisits():
	case t.next >= 0:
		t.f.faultOf(t.f.name(t.id(t.next)), Routes, "the walk was on its way there when it ended")
	case t.pending != nil && !(t.pending.status == core.Fail && t.f.p.StepsOf(t.pending.node).Critical):
		t.f.faultOf(t.f.name(t.id(t.pending.node)), Routes, "the walk ended there and no event says so")
	}
}

// steppedStatus returns the expected status of the walk.
func (t *walk) steppedStatus() core.RunStatus {
	if t.stepped.ended && !t.stepped.failed {
		return core.RunSuccess
	}
	return core.RunFailed
}
