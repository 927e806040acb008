package verify

import (
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// conditionEvaluated handles the event that a condition was evaluated.
func (f *frame) conditionEvaluated(n *plan.Node) {
	e := f.c.e
	if e.Result == nil {
		f.c.breaks(Skips, "an evaluated condition without a result")
		return
	}
	found := false
	for _, i := range f.p.InEdges(n.Vertex) {
		edge := &f.p.Edges[i]
		if f.p.Nodes[edge.FromNode].ID != e.From || f.p.Nodes[edge.ToNode].ID != e.To || !sameText(e.When, whenText(edge)) {
			continue
		}
		if !found {
			f.checkEvaluation(i)
			f.checkValues(edge)
		}
		found = true
		f.verdicts[i] = isFalse
		if *e.Result {
			f.verdicts[i] = isTrue
		}
		if edge.Else {
			f.checkElse(i)
		}
	}
	if !found {
		f.c.breaks(Skips, "the workflow has no edge %s -> %s with the condition %s", e.From, e.To, e.When)
	}
}

// checkValues checks the values that the condition of an edge read. It does nothing if
// Go types with user code are involved, because their code may have failed.
func (f *frame) checkValues(edge *plan.Edge) {
	if edge.When == nil || f.p.RunsUserCode || hasSecret(f.c.e.Values) {
		return
	}
	level := f.p.Vertices[edge.To].Level
	if edge.InElseGroup {
		level = f.p.ElseGroups[f.p.Vertices[edge.From].ElseGroup].Level
	}
	f.checkRead(edge, level)
	f.reevaluate(edge)
}

// reevaluate evaluates a condition again on the values it read.
func (f *frame) reevaluate(edge *plan.Edge) {
	e := f.c.e
	switch result, known, can := f.c.replay(edge); {
	case !can:
	case !known:
		f.c.unchecked(Skips, "the condition on %s -> %s: the values in the log leave open what it says", e.From, e.To)
	case result != *e.Result:
		f.c.breaks(Skips, "the condition %s is %t in the log, and %t on what it read: %s", e.When, *e.Result, result, brief(e.Values))
	}
}

// replay evaluates the condition of an edge on the values in the current event. can is
// false if the condition cannot be evaluated outside its run.
func (c *Checker) replay(edge *plan.Edge) (result, known, can bool) {
	return c.replayOn(edge, c.e.Values)
}

// replayOn is replay for other values.
func (c *Checker) replayOn(edge *plan.Edge, values *value.Object) (result, known, can bool) {
	r, ok := c.replays[edge.When]
	if !ok {
		r, _ = edge.When.Replay()
		c.replays[edge.When] = r
	}
	if r == nil {
		return false, false, false
	}
	result, known = r.Test(values)
	return result, known, true
}

// checkEvaluation checks that a condition is evaluated only when everything it depends
// on is available.
func (f *frame) checkEvaluation(i int32) {
	edge := &f.p.Edges[i]
	const what = "its condition is evaluated"
	forOthers := edge.InElseGroup && (edge.JoinBranch > 0 || f.v[edge.To].skip == byRace) // evaluated for other edges that depend on it
	if f.v[edge.To].decided && !forOthers {
		f.c.breaks(Skips, "the condition on %s -> %s is evaluated after it was decided that %s %s",
			f.c.e.From, f.c.e.To, f.c.e.To, f.outcome(edge.To))
		return
	}
	if edge.InElseGroup {
		j := &f.p.ElseGroups[f.p.Vertices[edge.From].ElseGroup]
		if f.v[edge.From].phase != resolved {
			f.c.breaks(Order, "%s before %s is resolved", what, f.c.e.From)
		}
		if edge.When != nil {
			f.condition(edge.When, edge, j.Level, what)
		}
		return
	}
	if edge.JoinBranch > 0 {
		f.checkBranchEvaluation(edge, what)
		return
	}
	if !f.predecessors(edge.To, what) && edge.When != nil {
		f.condition(edge.When, edge, f.p.Vertices[edge.To].Level, what)
	}
}

// checkBranchEvaluation does the checks of checkEvaluation for an edge into a join,
// which does not wait for the other edges.
func (f *frame) checkBranchEvaluation(edge *plan.Edge, what string) {
	switch {
	case f.v[edge.To].joinDecided:
		f.c.breaks(Skips, "%s after the join is decided", what)
	case f.v[edge.From].phase != resolved:
		f.c.breaks(Order, "%s before its predecessor %s is resolved", what, f.c.e.From)
	case edge.When != nil:
		f.condition(edge.When, edge, f.p.Vertices[edge.To].Level, what)
	}
}

func (f *frame) outcome(i int32) string {
	if f.v[i].status == core.Skipped {
		return "is skipped"
	}
	return "runs"
}

// checkElse compares the result of an else edge with the other edges out of its source.
func (f *frame) checkElse(e int32) {
	anyLive := false
	for _, other := range f.p.ElseGroups[f.p.Vertices[f.p.Edges[e].From].ElseGroup].Edges {
		if f.p.Edges[other].Else {
			continue
		}
		switch f.effectOf(other) {
		case unevaluated:
			f.conditionMissing(f.p.Edges[e].To, other)
			return
		case live:
			anyLive = true
		}
	}
	if (f.verdicts[e] == isTrue) == anyLive {
		f.c.breaks(Skips, "the else edge %s -> %s is %t, and of the other edges out of %s one %s", f.c.e.From, f.c.e.To,
			*f.c.e.Result, f.c.e.From, map[bool]string{true: "is live", false: "must be live"}[anyLive])
	}
}

func whenText(e *plan.Edge) string {
	switch {
	case e.Else:
		return "else"
	case e.When != nil:
		return e.When.Source()
	}
	return ""
}

// mask replaces secrets in a log.
const mask = "***"

// sameText reports whether a string in the log equals one of the workflow, or has a
// masked secret in it.
func sameText(got, want string) bool { return got == want || strings.Contains(got, mask) }
