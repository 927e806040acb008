package machine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/internal/normalize"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// byOutcomes is the router that follows the outcomes of visits: conditions, labels, suggestions
// and weights. Goal gates keep the walk from its exit, a restart begins it again, and a repeated
// failure ends it.
type byOutcomes struct {
	*walk
	plainRouter
	outcomeMemory
}

// outcomeMemory is what snapshots contain of byOutcomes.
type outcomeMemory struct {
	Gates  []goalGate     `json:"gates,omitempty"`  // in order of their first visits
	Jumps  map[int32]int  `json:"jumps,omitempty"`  // by goal gate: how often it has sent the walk back
	Failed map[string]int `json:"failed,omitempty"` // by signature: number of failures
}

// goalGate is the state of a goal gate that the token has visited since the walk began or restarted.
type goalGate struct {
	Node   int32       `json:"node"`
	Status core.Status `json:"status"` // of its latest visit
}

func (t *byOutcomes) memory() any                 { return &t.outcomeMemory }
func (t *byOutcomes) begin()                      {}
func (t *byOutcomes) maxVisits() int              { return t.optionVisits(t.w.MaxSteps) }
func (t *byOutcomes) admits(node int32) bool      { return node != t.w.Exit || t.mayEnd() }
func (t *byOutcomes) ask(*visit)                  { invariant(false, "a walk by outcomes asks for an edge") }
func (t *byOutcomes) answered(v *visit, _ *Event) { t.ask(v) }

func (t *byOutcomes) chain() []routeStep {
	return []routeStep{t.byMeeting, t.byCondition, t.byLabel, t.bySuggestion, t.byWeight, t.byTarget}
}

// noteEnd stores the status of a goal gate.
func (t *byOutcomes) noteEnd(v *visit) {
	if !t.w.Nodes[v.Node].GoalGate || v.parent != nil {
		return
	}
	g := goalGate{v.Node, t.Nodes[v.Node].Status}
	if i := slices.IndexFunc(t.Gates, func(o goalGate) bool { return o.Node == g.Node }); i >= 0 {
		t.Gates[i] = g
		return
	}
	t.Gates = append(t.Gates, g)
}

// left puts the outcome of a visit into the context. It ends the walk at its exit, and when the
// same failure has occurred too often.
func (t *byOutcomes) left(v *visit, o *Outcome) bool {
	n := &t.w.Nodes[v.Node]
	if n.Role == core.RoleExit {
		t.finish()
		return false
	}
	known := value.ObjectOf(core.ContextVisitCount, int64(v.Count))
	// The edges of a conditional see the stage before it. After a restart there is no such stage.
	isStage := n.Role != core.RoleConditional || t.Last.Node < 0
	if isStage {
		t.Last = stage{Node: v.Node, Status: statusOf(o), Failure: o.Failure}
		known.Set(core.ContextFailureClass, categoryOf(o))
		if o.Route != nil && o.Route.Label != "" {
			t.Last.Label = o.Route.Label
			known.Set(core.ContextPreferredLabel, o.Route.Label)
		}
	}
	t.set(v, t.w.Context, known)
	return !isStage || !t.endIfRepeating(v, o)
}

// take follows a route. An edge may restart the walk.
func (t *byOutcomes) take(v *visit, r route) {
	t.f.emitChosen(t.walk, v, r)
	if r.edge >= 0 && t.w.Edges[r.edge].LoopRestart && !t.restart(v) {
		return
	}
	t.arrive(r.to, r.edge)
}

// categoryOf returns the category of the failure of an outcome, or "" if it has none.
func categoryOf(o *Outcome) string {
	if o.Failure == nil {
		return ""
	}
	return string(o.Failure.InCategory())
}

// byMeeting leads from a parallel node that succeeded to the node where its branches meet.
func (t *byOutcomes) byMeeting(v *visit, o *Outcome) (route, stepResult) {
	p := t.w.Nodes[v.Node].Parallel
	if p == nil || !statusOf(o).Succeeded() || p.Meet < 0 {
		return route{}, notFound
	}
	return route{edge: -1, to: p.Meet, step: core.StepJump, reason: "its branches meet there"}, found
}

// byCondition follows the best edge whose condition is true.
func (t *byOutcomes) byCondition(v *visit, _ *Outcome) (route, stepResult) {
	env, n := walkEnv{t.walk, v.Count}, &t.w.Nodes[v.Node]
	best := t.best(n, func(e int32) bool {
		when := t.f.p.Edges[e].When
		return when != nil && t.f.test(when, env)
	})
	if best < 0 {
		return route{}, notFound
	}
	return t.along(best, core.StepCondition, t.f.p.Edges[best].When.Source()+" is true"), found
}

// byLabel follows the first edge with the label that the node prefers.
func (t *byOutcomes) byLabel(v *visit, _ *Outcome) (route, stepResult) {
	key, n := core.NormalLabel(t.Last.Label), &t.w.Nodes[v.Node]
	if key == "" || n.Parallel != nil {
		return route{}, notFound
	}
	for _, e := range n.Out {
		if t.f.p.Edges[e].When == nil && t.w.Edges[e].Key == key {
			return t.along(e, core.StepPreferredLabel, fmt.Sprintf("%s prefers %q", t.id(t.Last.Node), t.Last.Label)), found
		}
	}
	return route{}, notFound
}

// bySuggestion follows the first edge that leads to a node that the result suggests, in order of
// the suggestions.
func (t *byOutcomes) bySuggestion(v *visit, o *Outcome) (route, stepResult) {
	n := &t.w.Nodes[v.Node]
	if o.Route == nil || n.Parallel != nil {
		return route{}, notFound
	}
	for _, id := range o.Route.Next {
		for _, e := range n.Out {
			if edge := &t.f.p.Edges[e]; edge.When == nil && t.id(edge.ToNode) == id {
				return t.along(e, core.StepSuggestedNext, t.id(v.Node)+" suggests it"), found
			}
		}
	}
	return route{}, notFound
}

// byWeight follows the best edge without a condition. It follows none if a person gave no answer,
// even if a setting made that a success, or picked an edge that cannot be followed: the person
// has not agreed to another edge.
func (t *byOutcomes) byWeight(v *visit, o *Outcome) (route, stepResult) {
	n := &t.w.Nodes[v.Node]
	if n.Parallel != nil || n.Role == core.RoleHuman && (o.Failure != nil || o.Why != "" && o.Route == nil || o.picks()) {
		return route{}, notFound
	}
	free := func(e int32) bool { return t.f.p.Edges[e].When == nil }
	if n.Random {
		if e := t.drawEdge(v, n); e >= 0 {
			return t.along(e, core.StepRandom, "drawn by weight"), found
		}
	}
	best := t.best(n, free)
	if best < 0 {
		return route{}, notFound
	}
	return t.along(best, core.StepUnconditional, "the edge has no condition"), found
}

// byTarget leads from a node that failed to its retry target.
func (t *byOutcomes) byTarget(v *visit, o *Outcome) (route, stepResult) {
	n := &t.w.Nodes[v.Node]
	if statusOf(o) != core.Fail || len(n.Targets) == 0 {
		return route{}, notFound
	}
	return route{edge: -1, to: n.Targets[0], step: core.StepRetryTarget, reason: t.id(v.Node) + " failed and has no edge to follow"}, found
}

// picks reports whether the result picks an edge.
func (o *Outcome) picks() bool {
	return o.Route != nil && (o.Route.Label != "" || len(o.Route.Next) > 0)
}

// best returns the edge out of a node with the highest weight among the edges that fit, or -1 if
// none fits. Of equal weights, the target whose name sorts first wins.
func (t *byOutcomes) best(n *plan.WalkNode, fits func(e int32) bool) int32 {
	best := int32(-1)
	for _, e := range n.Out {
		if !fits(e) {
			continue
		}
		if best >= 0 {
			if a, b := t.w.Edges[best].Weight, t.w.Edges[e].Weight; a > b || a == b && t.id(t.f.p.Edges[best].ToNode) <= t.id(t.f.p.Edges[e].ToNode) {
				continue
			}
		}
		best = e
	}
	return best
}

// drawEdge draws an edge by weight, from the seed of the run and the visit.
func (t *byOutcomes) drawEdge(v *visit, n *plan.WalkNode) int32 {
	total := 0
	for _, e := range n.Out {
		total += max(1, t.w.Edges[e].Weight)
	}
	x := int(t.f.m.draw(v.def(), v.id()) * float64(total))
	for _, e := range n.Out {
		if x -= max(1, t.w.Edges[e].Weight); x < 0 {
			return e
		}
	}
	return -1
}

// noRoute ends a walk that has no edge to follow.
func (t *byOutcomes) noRoute(v *visit, o *Outcome) {
	id := t.id(v.Node)
	if o.Failure != nil {
		t.fail(v.Node, core.ClassNoRoute, "%s, and %s has neither an edge to follow nor a retry target", o.Failure.Message, id)
		t.Failure.Cause, t.Failure.Category, t.Failure.Signature = o.Failure, o.Failure.Category, o.Failure.Signature
		if o.Failure.Class == core.ClassTimeout {
			t.Failure.Category = o.Failure.InCategory() // the new class no longer implies it
		}
		return
	}
	if t.w.Nodes[v.Node].Role == core.RoleHuman && o.picks() {
		picked := append([]string{o.Route.Label}, o.Route.Next...)
		t.fail(v.Node, core.ClassNoRoute, "%q was picked at %s, and the condition of its edge is false", cmp.Or(picked...), id)
		return
	}
	t.fail(v.Node, core.ClassNoRoute, "%s ended %s, and it has no edge to follow", id, statusOf(o))
}

// mayEnd reports whether the walk may end. If not, it has sent the token back or failed the walk.
func (t *byOutcomes) mayEnd() bool {
	i := slices.IndexFunc(t.Gates, func(g goalGate) bool { return !g.Status.Succeeded() })
	if i < 0 {
		return true
	}
	gate := t.Gates[i]
	n, id := &t.w.Nodes[gate.Node], t.id(gate.Node)
	at := slices.IndexFunc(n.Targets, func(to int32) bool { return to != t.w.Exit })
	if at < 0 {
		t.fail(gate.Node, core.ClassGoalGate, "the goal gate %s ended %s, and there is nowhere to go back to", id, gate.Status)
		return false
	}
	if t.Jumps == nil {
		t.Jumps = map[int32]int{}
	}
	if t.Jumps[gate.Node]++; t.Jumps[gate.Node] > t.w.MaxJumps {
		t.fail(gate.Node, core.ClassGoalGate, "the goal gate %s ended %s and has sent the walk back %d times, its limit", id, gate.Status, t.w.MaxJumps)
		return false
	}
	t.emitJump(t.w.Exit, n.Targets[at], fmt.Sprintf("the goal gate %s ended %s", id, gate.Status))
	t.arrive(n.Targets[at], -1)
	return false
}

// emitJump emits that a goal gate sends the walk back.
func (t *byOutcomes) emitJump(from, to int32, reason string) {
	if f := t.f; f.m.opts.Events {
		f.m.emit(core.Event{Type: core.EdgeChosen, Node: f.name(t.id(from)), From: t.id(from), To: t.id(to), Step: core.StepGoalGate, Reason: reason})
	}
}

// restart starts the walk again with a new context, unless a failure forbids it. It reports
// whether it did.
func (t *byOutcomes) restart(v *visit) bool {
	if last := &t.Last; !last.Status.Succeeded() && (last.Failure == nil || last.Failure.InCategory() != core.TransientInfra) {
		t.fail(v.Node, core.ClassRestartBlocked, "%s ended %s, which must not be carried over a restart", t.id(last.Node), last.Status)
		return false
	}
	t.Fields[t.w.Context].Column = t.column(int(t.w.Context), t.Start[t.w.Context])
	t.f.wroteIn(v, plan.Write{Field: t.w.Context, Value: value.Missing})
	for i := range t.Nodes {
		t.Nodes[i].Status = core.StatusNone
	}
	t.f.Outputs, t.Gates, t.Last, t.History = nil, nil, stage{Node: -1}, stageHistory{}
	return true
}

// endIfRepeating ends a walk in which the same failure has occurred too often, and reports
// whether it did. Only deterministic and structural failures count.
func (t *byOutcomes) endIfRepeating(v *visit, o *Outcome) bool {
	if o.Failure == nil || t.w.RepeatLimit == 0 {
		return false
	}
	category := o.Failure.InCategory()
	if category != core.Deterministic && category != core.Structural {
		return false
	}
	key := t.id(v.Node) + "|" + string(category) + "|" + normalize.Text(o.Failure.Message)
	if o.Failure.Signature != "" {
		key += "|" + o.Failure.Signature
	}
	if t.Failed == nil {
		t.Failed = map[string]int{}
	}
	if t.Failed[key]++; t.Failed[key] < t.w.RepeatLimit {
		return false
	}
	t.fail(v.Node, core.ClassFailureCycle, "%s failed %d times alike: %s", t.id(v.Node), t.w.RepeatLimit, o.Failure.Message)
	t.Failure.Cause, t.Failure.Signature = o.Failure, o.Failure.Signature
	return true
}

// walkEnv is the environment of conditions after a visit.
type walkEnv struct {
	t     *walk
	count int // number of visits of the node whose edges are evaluated
}

func (e walkEnv) Field(slot int) any { return readable(e.t.Fields[slot].Last()) }
func (e walkEnv) Node(id int) (status, output any) {
	return e.t.Nodes[id].Status.Value(), e.t.f.output(int32(id))
}
func (e walkEnv) Input(name string) any { return inputNamed(e.t.f.Inputs, name) }
func (walkEnv) Item() any               { return value.Missing }
func (walkEnv) Index() any              { return value.Missing }

// Extra returns the values of the last stage.
func (e walkEnv) Extra(root expressions.Root) any {
	last := &e.t.Last
	switch root {
	case expressions.RootVisits:
		return int64(e.count)
	case expressions.RootOutcome:
		return last.Status.String()
	case expressions.RootPreferredLabel:
		return last.Label
	case expressions.RootOutput:
		if last.Node >= 0 {
			return e.t.f.output(last.Node)
		}
	case expressions.RootError:
		if last.Failure != nil {
			return last.Failure.Message
		}
	}
	return value.Missing
}
