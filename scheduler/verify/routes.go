package verify

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// chosen handles the choice of the edge after a visit, or of the jump from the exit
// because of a goal gate.
func (t *walk) chosen(n *plan.Node) {
	if t.routed != nil {
		t.checkRoute(n)
		return
	}
	if t.stepped != nil {
		t.checkStep(n)
		return
	}
	c := t.f.c
	to, ok := t.f.p.Node(c.e.To)
	switch {
	case !ok:
		c.breaks(Routes, "the way leads to %q, which is not a node%s", c.e.To, near(c.e.To, t.names()))
		return
	case c.e.From != n.ID:
		c.breaks(Routes, "the way on from %s begins at %s", n.ID, c.e.From)
	case c.e.Step == core.StepGoalGate:
		t.goalGateJump(n, to.Index)
	case t.pending == nil || t.pending.node != n.Index || t.pending.n != c.e.Visit:
		c.breaks(Order, "the way on is told, and visit %d has not just ended", c.e.Visit)
	default:
		t.follows(n, to.Index)
	}
	t.pending, t.next = nil, to.Index
}

func (t *walk) names() []string {
	var names []string
	for i := range t.f.p.Nodes {
		names = append(names, t.id(int32(i)))
	}
	return names
}

// unsatisfied returns the index of the first goal gate that keeps the walk from ending,
// or -1 if there is none.
func (t *walk) unsatisfied() int {
	return slices.IndexFunc(t.gates, func(g gate) bool { return !g.status.Succeeded() })
}

// goalGateJump checks a jump from the exit because of a goal gate.
func (t *walk) goalGateJump(n *plan.Node, to int32) {
	c := t.f.c
	i := t.unsatisfied()
	switch {
	case n.Index != t.w.Exit || t.next != t.w.Exit:
		c.breaks(Routes, "a goal gate sends the walk back, and it is not at the exit")
		return
	case i < 0:
		c.breaks(Routes, "a goal gate sends the walk back, but all goal gates are satisfied")
		return
	}
	g := t.gates[i].node
	targets := t.w.Nodes[g].Targets
	at := slices.IndexFunc(targets, func(to int32) bool { return to != t.w.Exit })
	t.jumps[g]++
	switch {
	case at < 0:
		c.breaks(Routes, "the goal gate %s sends the walk back to %s and has no target", t.id(g), t.id(to))
	case targets[at] != to:
		c.breaks(Routes, "the goal gate %s sends the walk back to %s, its target is %s", t.id(g), t.id(to), t.id(targets[at]))
	case t.jumps[g] > t.w.MaxJumps:
		c.breaks(Limits, "the goal gate %s sends the walk back %s, %d are allowed", t.id(g), count(t.jumps[g], "time"), t.w.MaxJumps)
	}
}

// follows checks the step from a visit to the next node.
func (t *walk) follows(n *plan.Node, to int32) {
	c := t.f.c
	w, status := &t.w.Nodes[n.Index], t.pending.status
	if c.e.Status != status.String() {
		c.breaks(Statuses, "continues as %s, but visit %d ended %s", c.e.Status, t.pending.n, status)
	}
	switch c.e.Step {
	case core.StepJump:
		if w.Parallel == nil || w.Parallel.Meet != to || !status.Succeeded() {
			c.breaks(Routes, "jumps to %s after it ended %s: its branches do not meet there", c.e.To, status)
		}
	case core.StepRetryTarget:
		if status != core.Fail || len(w.Targets) == 0 || w.Targets[0] != to {
			c.breaks(Routes, "goes to %s after it ended %s, but that is not its retry target", c.e.To, status)
		}
	case core.StepCondition:
		t.byCondition(n, to)
	case core.StepPreferredLabel, core.StepSuggestedNext, core.StepUnconditional, core.StepRandom:
		t.byChoice(n, to)
	default:
		c.breaks(Routes, "continues by an unknown step %q", c.e.Step)
	}
	if c.e.Step != core.StepCondition && t.any(n.Index, func(e *plan.Edge) bool { return e.When != nil }) {
		c.unchecked(Routes, "that no condition was true where another step was taken: the log contains only the edge that was chosen")
	}
}

func (t *walk) any(node int32, fits func(e *plan.Edge) bool) bool {
	return slices.ContainsFunc(t.w.Nodes[node].Out, func(e int32) bool { return fits(&t.f.p.Edges[e]) })
}

// byCondition checks that an edge with a condition may be followed.
func (t *walk) byCondition(n *plan.Node, to int32) {
	c := t.f.c
	for _, i := range t.w.Nodes[n.Index].Out {
		e := &t.f.p.Edges[i]
		if e.ToNode != to || e.When == nil || !sameText(c.e.When, e.When.Source()) || !sameText(c.e.Label, t.w.Edges[i].Label) {
			continue
		}
		t.restarts(i)
		if t.f.p.RunsUserCode || hasSecret(c.e.Values) {
			return
		}
		if v, ok := c.e.Values.Get("outcome"); ok && t.lastStage.status != core.StatusNone && v != t.lastStage.status.String() {
			c.breaks(Routes, "the condition %s saw the outcome %v, and the last stage ended %s", c.e.When, v, t.lastStage.status)
		}
		switch result, known, can := c.replay(e); {
		case !can:
		case !known:
			c.unchecked(Routes, "the condition on %s -> %s: the values in the log leave open what it says", c.e.From, c.e.To)
		case !result:
			c.breaks(Routes, "the condition %s is false on what it read: %s", c.e.When, brief(c.e.Values))
		}
		return
	}
	c.breaks(Routes, "the workflow has no edge %s -> %s with the condition %s", c.e.From, c.e.To, c.e.When)
}

// byChoice checks that an unconditional edge may be followed.
func (t *walk) byChoice(n *plan.Node, to int32) {
	c := t.f.c
	w := &t.w.Nodes[n.Index]
	first := int32(-1) // the first edge allowed by the step
	for _, i := range w.Out {
		e := &t.f.p.Edges[i]
		if e.When != nil || w.Parallel != nil {
			continue
		}
		switch c.e.Step {
		case core.StepPreferredLabel:
			if first < 0 && t.w.Edges[i].Key != "" && sameText(c.e.Label, t.w.Edges[i].Label) {
				first = i
			}
		case core.StepUnconditional:
			if first < 0 || t.better(i, first) {
				first = i
			}
		default:
			if first < 0 && e.ToNode == to {
				first = i
			}
		}
	}
	human := w.Role == core.RoleHuman && t.pending.status == core.Fail
	switch {
	case first < 0:
		c.breaks(Routes, "goes to %s by the step %s, and no edge fits", c.e.To, c.e.Step)
	case t.f.p.Edges[first].ToNode != to:
		c.breaks(Routes, "goes to %s by the step %s, want %s", c.e.To, c.e.Step, t.id(t.f.p.Edges[first].ToNode))
	case human && c.e.Step == core.StepUnconditional:
		c.breaks(Routes, "continues along an edge without a condition, but no person has answered")
	case c.e.Step == core.StepRandom && !w.Random:
		c.breaks(Routes, "continues at random, but the workflow does not say so")
	default:
		t.restarts(first)
	}
}

// better reports whether edge a is preferred to edge b: by weight, then by the name of
// its target.
func (t *walk) better(a, b int32) bool {
	if x, y := t.w.Edges[a].Weight, t.w.Edges[b].Weight; x != y {
		return x > y
	}
	return t.id(t.f.p.Edges[a].ToNode) < t.id(t.f.p.Edges[b].ToNode)
}

// restarts resets the walk if the edge is a loop restart and the last stage allows it.
func (t *walk) restarts(e int32) {
	if !t.w.Edges[e].LoopRestart {
		return
	}
	if t.restartRejected = !t.lastStage.status.Succeeded() && !t.lastStage.transient; t.restartRejected {
		return
	}
	t.gates, t.lastStage = nil, stage{}
}

// mustContinue reports whether an edge must be followed after a visit, regardless of
// conditions. It returns false after a failure, which may have occurred too often.
func (t *walk) mustContinue(v *visit) bool {
	w := &t.w.Nodes[v.node]
	switch {
	case v.status == core.Fail, w.Role == core.RoleHuman: // the person may not have chosen any of the edges
		return false
	case w.Parallel != nil:
		return w.Parallel.Meet >= 0
	}
	return t.any(v.node, func(e *plan.Edge) bool { return e.When == nil })
}
