package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// byModel is the router that asks a model. It drops the edges that were followed as often as they
// may be, decides what is then certain itself, and asks the model otherwise.
type byModel struct {
	*walk
	plainRouter
	modelMemory
	question *question // in flight, or nil if there is none
}

// modelMemory is what snapshots contain of byModel.
type modelMemory struct {
	Followed []int32                 `json:"followed,omitempty"` // by pair of nodes: how often an edge between them was followed; nil until one was
	Evals    map[int32]*value.Object `json:"evals,omitempty"`    // by node: the checks of its latest output
}

// Reasons of ends, and of edges without a condition. Traces of routed walks contain these texts.
const (
	onlyPath       = "only path"
	dryRunEnd      = "dry run"
	noneFits       = "no condition fits"
	unusableAnswer = "invalid route target"
)

// begin puts the inputs into the context.
func (t *byModel) begin() {
	given := t.f.Inputs
	if given == nil {
		given = value.NewObject(0)
	}
	t.set(nil, t.w.Context, value.ObjectOf(core.InputsKey, given))
}

func (t *byModel) memory() any              { return &t.modelMemory }
func (t *byModel) admits(int32) bool        { return true }
func (t *byModel) noteEnd(*visit)           {}
func (t *byModel) noRoute(*visit, *Outcome) { t.end() }

// maxVisits returns the limit of the plan. An option overrides it for the graph of the run.
func (t *byModel) maxVisits() int { return t.optionVisits(t.w.MaxSteps) }

func (t *byModel) chain() []routeStep {
	return []routeStep{t.byFailure, t.byDryRun, t.byOnlyPath, t.byQuestion}
}

// left puts the output of a visit into the context.
func (t *byModel) left(v *visit, o *Outcome) bool {
	t.Last = stage{Node: v.Node, Status: statusOf(o), Failure: o.Failure}
	t.addToContext(v, o)
	return true
}

// byFailure ends a walk with FailFast after the first visit that fails.
func (t *byModel) byFailure(*visit, *Outcome) (route, stepResult) {
	if !t.f.m.opts.FailFast || t.Last.Status != core.Fail {
		return route{}, notFound
	}
	return route{edge: -1, to: nowhere, step: core.StepFailFast, reason: t.Last.Failure.Message}, found
}

// byDryRun ends a dry run before its first decision.
func (t *byModel) byDryRun(v *visit, _ *Outcome) (route, stepResult) {
	if !t.dryRun() || !slices.ContainsFunc(t.w.Nodes[v.Node].Out, t.hasCondition) {
		return route{}, notFound
	}
	return route{edge: -1, to: nowhere, step: core.StepDryRun, reason: dryRunEnd}, found
}

// byOnlyPath follows the only open edge if it has no condition.
func (t *byModel) byOnlyPath(v *visit, _ *Outcome) (route, stepResult) {
	open := t.openEdges(&t.w.Nodes[v.Node])
	if len(open) != 1 || t.hasCondition(open[0]) {
		return route{}, notFound
	}
	return t.along(open[0], core.StepUnconditional, onlyPath), found
}

// byQuestion asks the model.
func (t *byModel) byQuestion(v *visit, _ *Outcome) (route, stepResult) {
	if len(t.openEdges(&t.w.Nodes[v.Node])) == 0 {
		return route{}, notFound
	}
	return route{}, mustAsk
}

// addToContext puts the output of a visit into the context, for later nodes and for the router.
func (t *byModel) addToContext(v *visit, o *Outcome) {
	sent := o.edgeOutput()
	if value.IsMissing(sent) {
		sent = value.NewObject(0)
	}
	delete(t.Evals, v.Node)
	if o.Route != nil && o.Route.Evals != nil {
		if t.Evals == nil {
			t.Evals = map[int32]*value.Object{}
		}
		t.Evals[v.Node] = o.Route.Evals
		sent = withEvals(sent, o.Route.Evals)
	}
	t.set(v, t.w.Context, value.ObjectOf(t.id(v.Node), sent))
}

// withEvals adds the checks of a result to its output, unless the output has a member of that
// name already.
func withEvals(sent any, evals *value.Object) any {
	whole, ok := sent.(*value.Object)
	if _, taken := whole.Get(core.EvalsKey); !ok || taken {
		return sent
	}
	out := whole.Copy(1)
	out.Set(core.EvalsKey, evals)
	return out
}

// dryRun reports whether the walk is to end before its first decision.
func (t *byModel) dryRun() bool {
	on, _ := inputNamed(t.f.Inputs, core.InputDryRun).(bool)
	return on
}

// openEdges returns the edges out of a node that may still be followed.
func (t *byModel) openEdges(n *plan.WalkNode) []int32 {
	if !slices.ContainsFunc(n.Out, t.exhausted) {
		return n.Out
	}
	return slices.DeleteFunc(slices.Clone(n.Out), t.exhausted)
}

// hasCondition reports whether an edge has a condition, which a model evaluates.
func (t *byModel) hasCondition(e int32) bool { return t.w.Edges[e].Condition != "" }

// exhausted reports whether an edge has been followed as often as it may be. Edges between the
// same two nodes are counted together.
func (t *byModel) exhausted(e int32) bool {
	edge := &t.w.Edges[e]
	return edge.MaxFollows > 0 && t.Followed != nil && int(t.Followed[edge.Pair]) >= edge.MaxFollows
}

func (t *byModel) take(v *visit, r route) { t.follow(v, r, nil) }

// follow follows a route, or ends the walk. q is the question that led to the route, or nil if
// there was none.
func (t *byModel) follow(v *visit, r route, q *question) {
	if r.to == nowhere {
		t.emitEnd(v, r.step, r.reason, q)
		t.end()
		return
	}
	if t.Followed == nil {
		t.Followed = make([]int32, t.w.Pairs)
	}
	t.Followed[t.w.Edges[r.edge].Pair]++
	t.emitRouted(v, r.edge, r.step, q)
	t.arrive(r.to, r.edge)
}

// question is a question to the router and its answer.
type question struct {
	edges  []int32
	query  *core.RouteQuestion
	answer *core.RouteAnswer
}

// ask issues the command to ask the router, which takes no slot.
func (t *byModel) ask(v *visit) {
	q := t.newQuestion(v)
	q.query.View, q.query.Failed = t.view()
	t.question = q
	t.f.inFlight++
	t.f.m.command(Command{Op: OpRun, ID: v.id(), Plan: t.f.p, Node: &t.f.p.Nodes[v.Node],
		Call: newCall(CallContext{Path: t.f.Path, Visit: v.Count, Route: q.query})})
}

// newQuestion returns the question after a visit, without the view.
func (t *byModel) newQuestion(v *visit) *question {
	edges := t.openEdges(&t.w.Nodes[v.Node])
	asked := &core.RouteQuestion{Run: t.f.m.opts.Run, Node: t.f.name(t.id(v.Node)), Visit: v.Count, Model: t.w.Model, Inputs: t.f.Inputs, Fallback: core.NoRoute}
	asked.Choices = make([]core.RouteChoice, 0, len(edges))
	for i, e := range edges {
		to := t.f.p.Edges[e].ToNode
		c := core.RouteChoice{Target: t.id(to), Name: t.f.p.Nodes[to].Decl.Label.Value, When: t.w.Edges[e].Condition}
		if c.When == "" && asked.Fallback == core.NoRoute {
			asked.Fallback = i
		}
		asked.Choices = append(asked.Choices, c)
	}
	return &question{edges: edges, query: asked}
}

// view returns what the router sees of the nodes that have ended, and which of them failed.
func (t *byModel) view() (view *value.Object, failed []string) {
	context, _ := t.Fields[t.w.Context].Last().(*value.Object)
	view = value.NewObject(context.Len())
	for key, sent := range context.All() {
		n, ok := t.f.p.Node(key)
		if !ok || t.Nodes[n.Index].Visits == 0 {
			continue
		}
		view.Set(key, t.routerView(n.Index, sent))
		if t.Nodes[n.Index].Last == core.Fail {
			failed = append(failed, key)
		}
	}
	return view, failed
}

// routerView returns what the router sees of a node's output: the ViewMembers of the node in
// declared order, null if a member is missing, or all members if the node declares none.
func (t *byModel) routerView(node int32, sent any) any {
	evals := t.Evals[node]
	whole, isObject := sent.(*value.Object)
	names := t.w.Nodes[node].ViewMembers
	switch {
	case names == nil && evals == nil:
		return sent
	case names == nil && isObject:
		names = whole.Keys()
	case names == nil:
		return value.ObjectOf("output", sent, core.EvalsKey, evals)
	}
	out := core.ViewOf(sent, names)
	if evals != nil {
		out.Set(core.EvalsKey, evals)
	}
	return out
}

// answered handles the answer of the router.
func (t *byModel) answered(v *visit, e *Event) {
	q := t.question
	t.question = nil
	t.f.inFlight--
	t.drop(v)
	if t.f.Stopped {
		t.check()
		return
	}
	if fail := e.Outcome.Failure; fail != nil {
		t.endAtOnce(v.Node, &core.Failure{Class: fail.Class, Category: fail.Category, Permanent: true, FailsRun: true,
			Message: "the next node: " + fail.Message, Cause: fail})
		return
	}
	if r := e.Outcome.Route; r != nil && r.Answer != nil {
		q.answer = r.Answer
	} else {
		q.answer = &core.RouteAnswer{Choice: core.NoRoute, Unusable: true}
	}
	switch choice := q.query.Chosen(*q.answer); {
	case choice == core.NoRoute:
		reason := noneFits
		if q.unusable() {
			reason = unusableAnswer
		}
		t.follow(v, route{edge: -1, to: nowhere, step: core.StepNone, reason: reason}, q)
	case choice == q.query.Fallback:
		t.follow(v, t.along(q.edges[choice], core.StepFallback, ""), q)
	default:
		t.follow(v, t.along(q.edges[choice], core.StepModel, ""), q)
	}
}

// emitRouted emits the edge that a walk routed by a model follows. q is the question, nil if none
// was asked.
func (t *byModel) emitRouted(v *visit, edge int32, step string, q *question) {
	if !t.f.m.opts.Events {
		return
	}
	e := t.f.routeEvent(t.walk, v, step)
	q.addTo(&e)
	e.To, e.Label, e.When, e.Reason = t.id(t.f.p.Edges[edge].ToNode), t.w.Edges[edge].Label, t.w.Edges[edge].Condition, onlyPath
	if e.When != "" {
		e.Reason = e.When
	}
	t.f.m.emit(e)
}

// emitEnd emits the end of a walk routed by a model.
func (t *byModel) emitEnd(v *visit, step, reason string, q *question) {
	if !t.f.m.opts.Events {
		return
	}
	e := t.f.routeEvent(t.walk, v, step)
	q.addTo(&e)
	e.To, e.Reason = core.End, reason
	t.f.m.emit(e)
}

// addTo adds the question and its answer to an event. It does nothing if q is nil.
func (q *question) addTo(e *core.Event) {
	if q == nil {
		return
	}
	choices := make([]any, len(q.query.Choices))
	for i, c := range q.query.Choices {
		choices[i] = value.ObjectOf("to", c.Target, "when", c.When)
	}
	e.Values = value.ObjectOf("choices", choices, "view", q.answer.ViewHash, "answer", q.answer.Raw)
	if q.unusable() {
		e.Values.Set("unusable", true)
	}
}

// unusable reports whether the answer is neither a choice nor an explicit none.
func (q *question) unusable() bool {
	c := q.answer.Choice
	return q.answer.Unusable || c != core.NoRoute && (c < 0 || c >= len(q.edges))
}

// end ends a walk that has no edge to follow. The walk has failed if the last visit of any node
// failed.
func (t *byModel) end() {
	for _, node := range t.Path {
		if r := &t.Nodes[node]; r.Last == core.Fail {
			t.Failure, t.FailAt = r.Failure, node
			break
		}
	}
	t.finish()
}
