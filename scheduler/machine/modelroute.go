package machine

import (
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
	t.last = stage{Node: v.node, Status: statusOf(o), Failure: o.Failure}
	t.remember(v, o)
	n := &t.w.Nodes[v.node]
	open := t.open(n)
	switch {
	case t.f.m.opts.FailFast && t.last.Status == core.Fail:
		t.f.emitEnd(t, v, core.StepFailFast, t.last.Failure.Message, nil)
		t.finishRouted()
	case t.dryRun() && t.conditional(n.Out):
		t.f.emitEnd(t, v, core.StepDryRun, dryRunEnd, nil)
		t.finishRouted()
	case len(open) == 0:
		t.finishRouted()
	case len(open) == 1 && t.w.Edges[open[0]].Says == "":
		t.take(v, open[0], core.StepUnconditional, nil)
	default:
		v.phase, v.attempt = itemRouting, 0
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
	t.set(t.w.Context, core.ObjectOf(t.id(v.node), sent))
	delete(t.evals, v.node)
	if o.Route != nil && o.Route.Evals != nil {
		if t.evals == nil {
			t.evals = map[int32]*core.Object{}
		}
		t.evals[v.node] = o.Route.Evals
	}
}

// dryRun reports whether the walk is to end before its first decision.
func (t *walk) dryRun() bool {
	on, _ := inputNamed(t.f.inputs, core.InputDryRun).(bool)
	return on
}

// conditional reports whether one of the edges has a condition.
func (t *walk) conditional(edges []int32) bool {
	for _, e := range edges {
		if t.w.Edges[e].Says != "" {
			return true
		}
	}
	return false
}

// open returns the edges out of a node that are not spent.
func (t *walk) open(n *plan.WalkNode) []int32 {
	for i, e := range n.Out {
		if !t.spent(e) {
			continue
		}
		left := append([]int32(nil), n.Out[:i]...)
		for _, e := range n.Out[i+1:] {
			if !t.spent(e) {
				left = append(left, e)
			}
		}
		return left
	}
	return n.Out
}

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
	t.arrive(t.f.p.Edges[e].ToNode)
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
	t.f.m.command(Command{Op: OpRun, ID: t.visitID(v), Plan: t.f.p, Node: &t.f.p.Nodes[v.node],
		Call: &Call{Path: t.f.path, Visit: v.count, Route: q.asked}})
}

// question words what there is to decide after a visit, but for what the router sees.
func (t *walk) question(v *visit) *question {
	edges := t.open(&t.w.Nodes[v.node])
	asked := &core.RouteQuestion{Run: t.f.m.opts.Run, Node: t.f.name(t.id(v.node)), Visit: v.count, Model: t.w.Model, Inputs: t.f.inputs, Fallback: core.NoRoute}
	asked.Choices = make([]core.RouteChoice, 0, len(edges))
	for i, e := range edges {
		to := t.f.p.Edges[e].ToNode
		c := core.RouteChoice{Target: t.id(to), Name: t.f.p.Nodes[to].Decl.Label.Value, When: t.w.Edges[e].Says}
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
		node, ok := t.node(key)
		if !ok || t.nodes[node].Visits == 0 {
			continue
		}
		view.Set(key, t.shown(node, sent))
		if t.nodes[node].Shown == core.Fail {
			failed = append(failed, key)
		}
	}
	return view, failed
}

// node returns the node of that id.
func (t *walk) node(id string) (int32, bool) {
	n, ok := t.f.p.Node(id)
	if !ok {
		return 0, false
	}
	return n.Index, true
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
	out := core.NewObject(len(names) + 1)
	for _, name := range names {
		v, ok := whole.Get(name)
		if !ok {
			v = nil
		}
		out.Set(name, v)
	}
	if evals != nil {
		out.Set(core.EvalsKey, evals)
	}
	return out
}

// routed takes in the answer of the router.
func (t *walk) routed(v *visit, e *Event) {
	t.f.flying--
	t.drop(v)
	if t.f.stopped {
		t.check()
		return
	}
	if e.Outcome.Failure != nil {
		t.abort(v.node, &core.Failure{Class: e.Outcome.Failure.Class, Category: e.Outcome.Failure.Category, Permanent: true, FailsRun: true,
			Message: "where to go on: " + e.Outcome.Failure.Message, Cause: e.Outcome.Failure})
		return
	}
	q := v.asked
	if r := e.Outcome.Route; r != nil && r.Answer != nil {
		q.answer = r.Answer
	} else {
		q.answer = &core.RouteAnswer{Choice: core.NoRoute, Unusable: true}
	}
	choice := q.answer.Choice
	if choice < 0 || choice >= len(q.edges) {
		choice = q.asked.Fallback
	}
	switch {
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
		if r := &t.nodes[node]; r.Shown == core.Fail {
			t.failure, t.failAt = r.Failure, node
			break
		}
	}
	t.finish()
}

// abort ends the walk at once, branches and all: the failure leaves nothing to go on with.
func (t *walk) abort(node int32, fail *core.Failure) {
	t.failure, t.failAt = fail, node
	t.f.failedRun = true
	t.f.stop()
}

// emitRouted tells which edge the walk follows.
func (f *frame) emitRouted(t *walk, v *visit, edge int32, step string, q *question) {
	if !f.m.opts.Events {
		return
	}
	e := f.routeEvent(t, v, step, q)
	e.To, e.Label, e.When, e.Reason = t.id(f.p.Edges[edge].ToNode), t.w.Edges[edge].Label, t.w.Edges[edge].Says, onlyPath
	if e.When != "" {
		e.Reason = e.When
	}
	f.m.emit(e)
}

// emitEnd tells that the walk ends for want of a decision.
func (f *frame) emitEnd(t *walk, v *visit, step, reason string, q *question) {
	if !f.m.opts.Events {
		return
	}
	e := f.routeEvent(t, v, step, q)
	e.To, e.Reason = core.End, reason
	f.m.emit(e)
}

func (f *frame) routeEvent(t *walk, v *visit, step string, q *question) core.Event {
	e := f.visitEvent(core.EdgeChosen, t, v)
	e.Kind, e.Phase = "", ""
	e.From, e.Step, e.Status = t.id(v.node), step, t.nodes[v.node].Shown.String()
	if q == nil {
		return e
	}
	choices := make([]any, len(q.asked.Choices))
	for i, c := range q.asked.Choices {
		choices[i] = core.ObjectOf("to", c.Target, "when", c.When)
	}
	e.Values = core.ObjectOf("choices", choices, "view", q.answer.View, "answer", q.answer.Raw)
	if q.unusable() {
		e.Values.Set("unusable", true)
	}
	return e
}

// failsRun reports whether an outcome is a failure after which the run must not go on.
func failsRun(o *Outcome) bool { return o.Failure != nil && o.Failure.FailsRun }
