package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// This file is the chain of steps that picks an edge where a model decides: edges that
// are spent are left out first; what is then clear is done, and the rest is asked.

// Reasons of ends and of edges that no condition led to, as traces of such walks know them.
const (
	onlyPath       = "only path"
	dryRunEnd      = "dry run"
	noneFits       = "no condition fits"
	unusableAnswer = "invalid route target"
)

// decide sends the token on after a visit, asks which way it goes, or ends the walk.
func (t *walk) decide(v *visit, o *Outcome) {
	t.last = stage{Node: v.Node, Status: statusOf(o), Failure: o.Failure}
	t.remember(v, o)
	n := &t.w.Nodes[v.Node]
	open := t.unspent(n)
	switch {
	case t.f.m.opts.FailFast && t.last.Status == core.Fail:
		t.f.emitEnd(t, v, core.StepFailFast, t.last.Failure.Message, nil)
		t.finishRouted()
	case t.dryRun() && slices.ContainsFunc(n.Out, t.asks):
		t.f.emitEnd(t, v, core.StepDryRun, dryRunEnd, nil)
		t.finishRouted()
	case len(open) == 0:
		t.finishRouted()
	case len(open) == 1 && !t.asks(open[0]):
		t.take(v, open[0], core.StepUnconditional, nil)
	default:
		v.attempt = attempt{Phase: routing}
		t.live = append(t.live, v)
		t.askWay(v)
	}
}

// remember puts what a visit sent into the context, for the nodes behind it and for
// the router.
func (t *walk) remember(v *visit, o *Outcome) {
	sent := o.sent()
	if core.IsMissing(sent) {
		sent = core.NewObject(0)
	}
	delete(t.evals, v.Node)
	if o.Route != nil && o.Route.Evals != nil {
		if t.evals == nil {
			t.evals = map[int32]*core.Object{}
		}
		t.evals[v.Node] = o.Route.Evals
		sent = withEvals(sent, o.Route.Evals)
	}
	t.set(t.w.Context, core.ObjectOf(t.id(v.Node), sent))
}

// withEvals adds the checks of a result to what the nodes behind it see of it. A member of
// that name which the result has itself stays.
func withEvals(sent any, evals *core.Object) any {
	whole, ok := sent.(*core.Object)
	if _, taken := whole.Get(core.EvalsKey); !ok || taken {
		return sent
	}
	out := whole.Copy(1)
	out.Set(core.EvalsKey, evals)
	return out
}

// dryRun reports whether the walk is to end before its first decision.
func (t *walk) dryRun() bool {
	on, _ := inputNamed(t.f.inputs, core.InputDryRun).(bool)
	return on
}

// unspent returns the edges out of a node that are not spent.
func (t *walk) unspent(n *plan.WalkNode) []int32 {
	if !slices.ContainsFunc(n.Out, t.spent) {
		return n.Out
	}
	return slices.DeleteFunc(slices.Clone(n.Out), t.spent)
}

// asks reports whether an edge has a condition, which a model judges.
func (t *walk) asks(e int32) bool { return t.w.Edges[e].Condition != "" }

// spent reports whether an edge has been followed as often as it may; edges between the
// same two nodes count together.
func (t *walk) spent(e int32) bool {
	edge := &t.w.Edges[e]
	return edge.MaxFollows > 0 && t.followed != nil && int(t.followed[edge.Pair]) >= edge.MaxFollows
}

// take follows an edge; q is what was asked about it, nil for nothing.
func (t *walk) take(v *visit, e int32, step string, q *question) {
	edge := &t.w.Edges[e]
	if t.followed == nil {
		t.followed = make([]int32, t.w.Pairs)
	}
	t.followed[edge.Pair]++
	t.f.emitRouted(t, v, e, step, q)
	t.arrive(t.f.p.Edges[e].ToNode, e)
}

// question is a decision that was asked for, and its answer.
type question struct {
	edges  []int32
	asked  *core.RouteQuestion
	answer *core.RouteAnswer
}

// askWay issues the command to ask the router. It holds no slot.
func (t *walk) askWay(v *visit) {
	q := t.question(v)
	q.asked.View, q.asked.Failed = t.view()
	v.asked = q
	t.f.flying++
	t.f.m.command(Command{Op: OpRun, ID: v.id(), Plan: t.f.p, Node: &t.f.p.Nodes[v.Node],
		Call: &Call{Path: t.f.path, Visit: v.Count, Route: q.asked}})
}

// question words what there is to decide after a visit, but for what the router sees.
func (t *walk) question(v *visit) *question {
	edges := t.unspent(&t.w.Nodes[v.Node])
	asked := &core.RouteQuestion{Run: t.f.m.opts.Run, Node: t.f.name(t.id(v.Node)), Visit: v.Count, Model: t.w.Model, Inputs: t.f.inputs, Fallback: core.NoRoute}
	asked.Choices = make([]core.RouteChoice, 0, len(edges))
	for i, e := range edges {
		to := t.f.p.Edges[e].ToNode
		c := core.RouteChoice{Target: t.id(to), Name: t.f.p.Nodes[to].Decl.Label.Value, When: t.w.Edges[e].Condition}
		if c.When == "" && asked.Fallback == core.NoRoute {
			asked.Fallback = i
		}
		asked.Choices = append(asked.Choices, c)
	}
	return &question{edges: edges, asked: asked}
}

// view is what the router sees of the nodes that have ended, and which of them failed.
func (t *walk) view() (view *core.Object, failed []string) {
	context, _ := t.fields[t.w.Context].Last().(*core.Object)
	view = core.NewObject(context.Len())
	for key, sent := range context.All() {
		n, ok := t.f.p.Node(key)
		if !ok || t.nodes[n.Index].Visits == 0 {
			continue
		}
		view.Set(key, t.shown(n.Index, sent))
		if t.nodes[n.Index].Last == core.Fail {
			failed = append(failed, key)
		}
	}
	return view, failed
}

// shown is what the router sees of what a node sent: the members that are meant for it, in
// the order in which they were declared, null for those that are not there.
func (t *walk) shown(node int32, sent any) any {
	evals := t.evals[node]
	whole, isObject := sent.(*core.Object)
	names := t.w.Nodes[node].Shown
	switch {
	case names == nil && evals == nil:
		return sent
	case names == nil && isObject:
		names = whole.Keys()
	case names == nil:
		return core.ObjectOf("output", sent, core.EvalsKey, evals)
	}
	out := core.ShownMembers(sent, names)
	if evals != nil {
		out.Set(core.EvalsKey, evals)
	}
	return out
}

// routeAnswered takes in the answer of the router.
func (t *walk) routeAnswered(v *visit, e *Event) {
	t.f.flying--
	t.drop(v)
	if t.f.stopped {
		t.check()
		return
	}
	if fail := e.Outcome.Failure; fail != nil {
		t.abort(v.Node, &core.Failure{Class: fail.Class, Category: fail.Category, Permanent: true, FailsRun: true,
			Message: "the next node: " + fail.Message, Cause: fail})
		return
	}
	q := v.asked
	if r := e.Outcome.Route; r != nil && r.Answer != nil {
		q.answer = r.Answer
	} else {
		q.answer = &core.RouteAnswer{Choice: core.NoRoute, Unusable: true}
	}
	switch choice := q.asked.Chosen(*q.answer); {
	case choice == core.NoRoute:
		reason := noneFits
		if q.unusable() {
			reason = unusableAnswer
		}
		t.f.emitEnd(t, v, core.StepNone, reason, q)
		t.finishRouted()
	case choice == q.asked.Fallback:
		t.take(v, q.edges[choice], core.StepFallback, q)
	default:
		t.take(v, q.edges[choice], core.StepModel, q)
	}
}

// unusable reports whether the answer names none of the choices and does not say none.
func (q *question) unusable() bool {
	c := q.answer.Choice
	return q.answer.Unusable || c != core.NoRoute && (c < 0 || c >= len(q.edges))
}

// finishRouted ends a walk that has no edge to follow: it failed if the last visit of a
// node did.
func (t *walk) finishRouted() {
	for _, node := range t.path {
		if r := &t.nodes[node]; r.Last == core.Fail {
			t.failure, t.failAt = r.Failure, node
			break
		}
	}
	t.finish()
}
