package verify

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// routed is the additional state for a walk whose edges are chosen by a model. The choice itself
// cannot be checked, only that the model was asked where required and that its answer was followed.
type routed struct {
	followed []int         // by pair of nodes: how often an edge between them was followed
	status   []core.Status // of the last visit, by node
	visits   int           // of all nodes
	end      int32         // the node where the walk ends according to the log, or -1 if there is none
	aborted  bool          // a failure ended the walk at once
}

func newRouted(p *plan.Plan) *routed {
	return &routed{followed: make([]int, p.Walk.Pairs), status: make([]core.Status, len(p.Nodes)), end: -1}
}

// maxVisits returns the maximum number of visits of the walk. The limit given by the
// caller applies only to the run itself, not to nested runs.
func (t *walk) maxVisits() int {
	if l := t.f.c.limits; t.f == t.f.c.root && l != nil && l.MaxVisits > 0 {
		return l.MaxVisits
	}
	return t.w.MaxSteps
}

// followable returns the edges out of a node that may still be followed.
func (t *walk) followable(node int32) []int32 {
	return slices.DeleteFunc(slices.Clone(t.w.Nodes[node].Out), func(i int32) bool {
		e := &t.w.Edges[i]
		return e.MaxFollows > 0 && t.routed.followed[e.Pair] >= e.MaxFollows
	})
}

// hasCondition reports whether an edge has a condition, which a model evaluates.
func (t *walk) hasCondition(e int32) bool { return t.w.Edges[e].Condition != "" }

// checkRoute checks the edge chosen after a visit.
func (t *walk) checkRoute(n *plan.Node) {
	c := t.f.c
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
	open := t.followable(n.Index)
	asked := len(open) > 1 || len(open) == 1 && t.hasCondition(open[0])
	switch c.e.Step {
	case core.StepUnconditional:
		if len(open) != 1 || asked {
			c.breaks(Routes, "continues without a question, but there is something to decide")
		}
	case core.StepModel, core.StepFallback, core.StepNone:
		if !asked {
			c.breaks(Routes, "a model was asked, and there is nothing to decide")
		}
		t.checkChoices(open)
	case core.StepFailFast:
		if t.pending.status != core.Fail {
			c.breaks(Routes, "ends because the node failed, and it ended %s", t.pending.status)
		}
	case core.StepDryRun:
		if !t.dryRun() || !slices.ContainsFunc(t.w.Nodes[n.Index].Out, t.hasCondition) {
			c.breaks(Routes, "ends as a dry run, but the run is not a dry run or there is nothing to decide")
		}
	default:
		c.breaks(Routes, "continues by an unknown step %q", c.e.Step)
	}
	if c.e.To == core.End {
		t.checkEnd(n, open)
		return
	}
	t.follow(open)
}

// dryRun reports whether the walk may end before its first decision. For nested runs it
// returns true, because their inputs are not in the log.
func (t *walk) dryRun() bool {
	on, _ := t.f.c.inputs.Get(core.InputDryRun)
	return on == true || t.f != t.f.c.root
}

// checkChoices compares the choices in the log with the edges that could be followed.
func (t *walk) checkChoices(open []int32) {
	if hasSecret(t.f.c.e.Values) {
		return
	}
	v, _ := t.f.c.e.Values.Get("choices")
	list, _ := v.([]any)
	same := len(list) == len(open)
	for i := range min(len(list), len(open)) {
		choice, _ := list[i].(*value.Object)
		to, _ := choice.Get("to")
		when, _ := choice.Get("when")
		same = same && to == t.id(t.f.p.Edges[open[i]].ToNode) && when == t.w.Edges[open[i]].Condition
	}
	if !same {
		t.f.c.breaks(Routes, "the model was offered other edges than those that can be followed")
	}
}

// checkEnd checks that the walk may end without a decision.
func (t *walk) checkEnd(n *plan.Node, open []int32) {
	c := t.f.c
	fallback := slices.ContainsFunc(open, func(e int32) bool { return !t.hasCondition(e) })
	switch c.e.Step {
	case core.StepNone:
		if fallback {
			c.breaks(Routes, "the walk ends, and there is an edge for what no condition fits")
		}
	case core.StepDryRun, core.StepFailFast:
	default:
		c.breaks(Routes, "the walk ends by the step %s", c.e.Step)
	}
	t.pending, t.next, t.routed.end = nil, -1, n.Index
}

// follow follows one of the given edges.
func (t *walk) follow(open []int32) {
	c := t.f.c
	t.pending, t.next = nil, -1
	to, ok := t.f.p.Node(c.e.To)
	if !ok {
		c.breaks(Routes, "the way leads to %q, which is not a node%s", c.e.To, near(c.e.To, t.names()))
		return
	}
	t.next = to.Index
	i := slices.IndexFunc(open, func(e int32) bool {
		return t.f.p.Edges[e].ToNode == to.Index && sameText(c.e.When, t.w.Edges[e].Condition)
	})
	if i < 0 {
		c.breaks(Routes, "there is no edge to %s with that condition, or it is spent", c.e.To)
		return
	}
	t.routed.followed[t.w.Edges[open[i]].Pair]++
	if c.e.Step == core.StepModel != t.hasCondition(open[i]) {
		c.breaks(Routes, "goes to %s by the step %s, which does not belong to the edge", c.e.To, c.e.Step)
	}
}

// noteRouted records what the end of such a walk depends on.
func (t *walk) noteRouted(v *visit) {
	t.routed.status[v.node] = v.status
	if fail := t.f.c.e.Error; fail != nil && fail.FailsRun {
		t.routed.aborted = true
	}
}

// endRouted checks that the walk may end in its current state.
func (t *walk) endRouted() {
	limit := t.maxVisits()
	switch {
	case t.routed.aborted:
	case t.next >= 0 && t.routed.visits < limit:
		t.f.faultOf(t.f.name(t.id(t.next)), Routes, "the walk was on its way there when it ended")
	case t.pending != nil && len(t.followable(t.pending.node)) > 0 && !t.unanswered():
		t.f.faultOf(t.f.name(t.id(t.pending.node)), Routes, "the walk ended there although it has an edge to follow")
	case t.pending == nil && t.next < 0 && t.routed.end < 0:
		t.f.faultOf(t.f.name(t.id(t.w.Start)), Routes, "the walk ended before it began")
	}
}

// unanswered reports whether the run failed because a question was not answered.
func (t *walk) unanswered() bool { return strings.Contains(t.f.c.e.Reason, ": the next node: ") }

// routedStatus returns the expected status of the walk.
func (t *walk) routedStatus() core.RunStatus {
	failed := t.routed.aborted || t.next >= 0 || t.pending != nil && t.unanswered() || slices.Contains(t.routed.status, core.Fail)
	if failed {
		return core.RunFailed
	}
	return core.RunSuccess
}
