package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/steps"
)

// bySteps is the router that tries seven steps after each visit, see package steps. The driver calls
// the Go functions among hooks and conditions. bySteps requests these calls in separate commands.
type bySteps struct {
	*walk
	stepMemory
	judged []any // the conditions that step 4 has looked at, for the event; nil without events
}

// stepMemory is what snapshots contain of bySteps.
type stepMemory struct {
	Changes  []core.Mutation `json:"changes,omitempty"`  // of the graph, in order
	Accepted int             `json:"accepted,omitempty"` // number of accepted mutations, jumps included
	Began    int             `json:"began,omitempty"`    // number of the changes before the current visit
	// Talk holds the messages of the conversation that the visit of a node continues.
	Talk values `json:"talk,omitempty"`
	// Finished is what is known of the visit that has ended, as long as the next node is not chosen.
	Finished endedVisit `json:"finished,omitzero"`
}

// endedVisit is the result of a visit as far as it decides where the walk continues.
type endedVisit struct {
	Jump    string        `json:"jump,omitempty"` // target of an accepted jump
	Update  *value.Object `json:"update,omitempty"`
	Result  Visited       `json:"result,omitzero"`
	Output  outputJSON    `json:"output,omitempty"`
	Failed  bool          `json:"failed,omitempty"`
	Answers string        `json:"answers,omitempty"` // of the conditions that are Go functions, see Visited.Answers
}

func (t *bySteps) memory() any { return &t.stepMemory }

// begin puts the inputs into the context.
func (t *bySteps) begin() {
	if t.f.p.Open() && t.f.Inputs.Len() > 0 {
		t.set(nil, t.w.Context, t.f.Inputs)
	}
}

// restored makes the changes of the graph again after a snapshot was read.
func (t *bySteps) restored() error {
	p, err := t.f.p.With(t.Changes[:min(t.Began, len(t.Changes))])
	if err == nil {
		t.visited = p
		p, err = p.With(t.Changes[len(p.Changes()):])
	}
	if err != nil {
		return fmt.Errorf("a change of the graph: %w", err)
	}
	t.use(p)
	t.grow()
	return nil
}

// grow makes room for the visits and outputs of nodes that were added.
func (t *bySteps) grow() {
	for len(t.Nodes) < len(t.f.p.Nodes) {
		t.Nodes = append(t.Nodes, nodeVisits{})
	}
	for t.f.Outputs != nil && len(t.f.Outputs) < len(t.f.p.Nodes) {
		t.f.Outputs = append(t.f.Outputs, value.Missing)
	}
}

// maxVisits returns the limit of the plan. An option overrides it for the graph of the run.
func (t *bySteps) maxVisits() int { return t.optionVisits(t.w.MaxSteps) }

func (t *bySteps) chain() []routeStep { return []routeStep{t.decide} }

func (t *bySteps) noteEnd(*visit) {}

// admits ends a walk that has made all of its visits. Whether the visits of the node are used up was
// decided before, see budgeted.
func (t *bySteps) admits(node int32) bool {
	if limit := t.maxVisits(); limit > 0 && len(t.Path) >= limit {
		t.fail(node, core.ClassMaxIterations, "the walk has made %d visits, as many as it may", limit)
		return false
	}
	t.visited, t.Began = t.f.p, len(t.Changes)
	return true
}

// inform passes the conversation to a visit that continues it.
func (t *bySteps) inform(c *Call) { c.Conversation = slices.Clip([]any(t.Talk)) }

// BeforeAttempt and AfterAttempt are the numbers of the attempts in the IDs of commands that call the
// hooks of a node. The conditions of its edges are called as attempt 0.
const (
	BeforeAttempt = -2
	AfterAttempt  = -3
)

// holdsFirst requests a call of the Before hook of a node.
func (t *bySteps) holdsFirst(v *visit) bool {
	if v.def().Decl.Before == nil || v.Number > 0 || v.Hooked {
		return false
	}
	v.Phase, v.Number = routing, BeforeAttempt
	t.ask(v)
	return true
}

// intercepts makes the changes of the graph that a visit requests, and then requests a call of the
// After hook of the node if there is one.
func (t *bySteps) intercepts(v *visit, o *Outcome) bool {
	t.Finished = endedVisit{}
	if t.step(v).Critical && o.Failure != nil {
		return false
	}
	n := v.def()
	t.mutate(v, o)
	if n.Decl.After == nil {
		return false
	}
	held := *o
	held.Writes = slices.Clone(o.Writes)
	v.attempt = attempt{Phase: routing, Number: AfterAttempt, attemptDetail: attemptDetail{Held: &held}}
	t.Live = append(t.Live, v)
	t.ask(v)
	return true
}

func (t *bySteps) step(v *visit) *plan.StepNode { return t.f.p.StepsOf(v.Node) }

// left keeps what decides where the walk continues. It ends the run after the failure of a critical
// node.
func (t *bySteps) left(v *visit, o *Outcome) bool {
	t.Last = stage{Node: v.Node, Status: statusOf(o), Failure: o.Failure}
	if o.Failure != nil && t.visited.StepsOf(v.Node).Critical {
		t.fail(v.Node, o.Failure.Class, "%s", o.Failure.Message)
		t.Failure = o.Failure
		return false
	}
	e := &t.Finished
	if o.Route != nil && o.Route.Visited != nil {
		e.Result = *o.Route.Visited
	}
	e.Output, e.Failed = o.outputJSON(), o.Failure != nil
	if e.Update != nil {
		t.write(v, t.updates(e.Update))
	}
	return true
}

// decide is the only step of the chain. It requests calls of the conditions that are Go functions,
// and then tries the seven steps.
func (t *bySteps) decide(v *visit, _ *Outcome) (route, stepResult) {
	if len(t.step(v).Calls) > 0 && t.Finished.Answers == "" {
		return route{}, mustAsk
	}
	return t.resolve(v), found
}

// resolve tries the seven steps.
func (t *bySteps) resolve(v *visit) route {
	e := &t.Finished
	r := steps.Result{Jump: e.Jump, ToolCalls: len(e.Result.ToolCalls), ToolLoop: e.Result.ToolLoop, Output: e.output(), Next: e.Result.Next,
		Failed: e.Failed, GuardFailed: len(e.Result.GuardsFailed) > 0}
	n := t.step(v)
	c := steps.Resolve((*stepGraph)(t), &n.Node, &r)
	if c.Step == steps.ToolLoop && n.Removed { // the visit has removed its own node
		c.To, c.Name = steps.Unknown, t.id(v.Node)
	}
	to, budget := c.To, ""
	if c.To >= 0 {
		to, budget = t.budgeted(c.To)
	}
	out := route{edge: c.Edge, to: to, step: c.Step.String(), reason: t.reason(v, &c)}
	if budget != "" {
		out.edge, out.step, out.reason = -1, core.StepBudget, budget
	}
	if c.Step != steps.ToolLoop || to != c.To {
		t.Talk = nil
	} else {
		t.Talk = append(slices.Clip(t.Talk), e.Result.Messages...)
	}
	out.unknown = c.To == steps.Unknown
	out.name = c.Name
	return out
}

func (e *endedVisit) output() any {
	if len(e.Output) == 0 {
		return value.Missing
	}
	return e.Output[0].v
}

// noBudget is the target of a route to a node whose visits are used up if no node handles that.
const noBudget = -3

// budgeted returns the node where a walk continues that is sent to a node. If the visits of a node on
// the way are used up, why says so.
func (t *bySteps) budgeted(to int32) (at int32, why string) {
	for range len(t.Nodes) + 1 {
		n := t.f.p.StepsOf(to)
		if t.Nodes[to].Visits < n.Budget {
			return to, why
		}
		why = fmt.Sprintf("%s was visited %d times, its limit", t.id(to), n.Budget)
		name := n.Exit
		if name == "" {
			name = t.errorTarget(n)
		}
		switch next, ok := t.f.p.Lookup(name); {
		case name == core.EndNode:
			return nowhere, why
		case name == "" || !ok:
			return noBudget, why
		default:
			to = next
		}
	}
	return noBudget, why
}

// errorTarget returns the node at which the walk continues when the visits of a node are used up,
// or "" if there is none.
func (t *bySteps) errorTarget(n *plan.StepNode) string {
	for _, tr := range n.Transitions {
		if tr.Key.Value == core.ErrorKey {
			return tr.To.Value
		}
	}
	if i, ok := t.f.p.Lookup(core.ErrorNode); ok && i != n.Index {
		return core.ErrorNode
	}
	return ""
}

// take follows a route, or ends the walk.
func (t *bySteps) take(v *visit, r route) {
	t.emitStep(v, r)
	t.Finished = endedVisit{}
	switch {
	case r.unknown:
		t.fail(v.Node, core.ClassUnknownNode, "%s leads to %q, and there is no such node", t.id(v.Node), r.name)
	case r.to == noBudget:
		t.fail(v.Node, core.ClassNodeBudget, "%s, and neither a transition %q nor a node %s leads on", r.reason, core.ErrorKey, core.ErrorNode)
	case r.to == nowhere:
		t.end(v)
	default:
		t.arrive(r.to, r.edge)
	}
}

func (t *bySteps) noRoute(v *visit, _ *Outcome) { t.end(v) }

// end ends the walk. It has failed if the last visit has.
func (t *bySteps) end(v *visit) {
	if r := &t.Nodes[v.Node]; r.Last == core.Fail {
		t.Failure, t.FailAt = r.Failure, v.Node
	}
	t.finish()
}

// ask issues the command to call hooks or conditions. It takes no slot.
func (t *bySteps) ask(v *visit) {
	call := &FunctionCall{Visit: core.VisitResult{Node: t.id(v.Node), Visit: v.Count}}
	c, p := CallContext{Path: t.f.Path, Visit: v.Count, Functions: call}, t.f.p
	switch v.Number {
	case BeforeAttempt:
		call.Before = true
		inner := t.call(v)
		inner.CallContext.Functions = call
		t.f.issue(v.def(), v.id(), inner)
		return
	case AfterAttempt:
		call.After = true
		call.Visit = visitResult(call.Visit, v.Held)
		p = t.visited
	default:
		e := &t.Finished
		call.Edges = t.step(v).Calls
		call.Visit.Output, call.Visit.Failure = e.output(), t.Last.Failure
		e.Result.into(&call.Visit)
	}
	if value.IsMissing(call.Visit.Output) {
		call.Visit.Output = nil
	}
	t.f.inFlight++
	t.f.m.command(Command{Op: OpRun, ID: v.id(), Plan: p, Node: &p.Nodes[v.Node], Call: newCall(c)})
}

// visitResult adds an outcome to the result of a visit.
func visitResult(r core.VisitResult, o *Outcome) core.VisitResult {
	if o.HasOutput {
		r.Output = o.Output
	}
	r.Failure = o.Failure
	if o.Route != nil && o.Route.Visited != nil {
		o.Route.Visited.into(&r)
	}
	return r
}

// answered handles the answer of a hook or of conditions.
func (t *bySteps) answered(v *visit, e *Event) {
	t.f.inFlight--
	kind := v.Number
	if kind == BeforeAttempt {
		v.Phase, v.Number, v.Hooked = waiting, 0, true
		if t.f.Stopped {
			v.withdraw()
			return
		}
		t.beforeEnded(v, &e.Outcome)
		return
	}
	held := v.Held
	t.drop(v)
	if t.f.Stopped {
		t.check()
		return
	}
	if kind == AfterAttempt {
		t.settle(v, t.afterEnded(held, &e.Outcome))
		return
	}
	t.Finished.Answers = strings.Repeat(string(AnswerPanicked), len(t.step(v).Calls))
	if r := e.Outcome.Route; r != nil && r.Visited != nil && len(r.Visited.Answers) == len(t.Finished.Answers) {
		t.Finished.Answers = r.Visited.Answers
	}
	t.take(v, t.resolve(v))
}

// beforeEnded writes what a Before hook has changed, unless the state rejects it.
func (t *bySteps) beforeEnded(v *visit, o *Outcome) {
	if o.Failure == nil && t.rejection(o.Writes) == nil {
		t.write(v, o.Writes)
	}
}

// afterEnded returns the outcome of a visit as its After hook has left it.
func (t *bySteps) afterEnded(held, o *Outcome) *Outcome {
	if o.Route == nil || o.Route.Visited == nil { // the hook failed
		return held
	}
	end := *held
	end.Output, end.HasOutput, end.Failure = o.Output, o.HasOutput, o.Failure
	switch {
	case end.Failure != nil:
		end.Status = core.Fail
	case end.Status == core.Fail:
		end.Status = core.StatusNone
	}
	if end.Failure != nil && held.Failure == nil {
		end.Writes = held.Writes
	}
	changed := *o.Route.Visited
	if held.Route != nil && held.Route.Visited != nil {
		changed.ToolLoop, changed.Messages = held.Route.Visited.ToolLoop, held.Route.Visited.Messages
	}
	if changed.End {
		t.Finished.Jump = core.EndNode
	}
	end.Route = &Route{Visited: &changed}
	return &end
}

// stepGraph is the graph of a run for the steps.
type stepGraph bySteps

// Lookup returns the index of a node.
func (g *stepGraph) Lookup(name string) (int32, bool) { return g.walk.f.p.Lookup(name) }

// Holds evaluates an expression, or looks up the answer of a function.
func (g *stepGraph) Holds(edge int32) bool {
	t := (*bySteps)(g)
	if when := t.f.p.Edges[edge].When; when != nil {
		holds := t.f.test(when, t.env())
		t.noteJudged(edge, holds, false)
		return holds
	}
	at := slices.Index(t.f.p.StepsOf(t.Last.Node).Calls, edge)
	if at < 0 || at >= len(t.Finished.Answers) {
		return false
	}
	answer := t.Finished.Answers[at]
	t.noteJudged(edge, answer == AnswerTrue, answer == AnswerPanicked)
	return answer == AnswerTrue
}

func (t *bySteps) env() stepEnv {
	return stepEnv{walkEnv{t.walk, t.Nodes[t.Last.Node].Visits}, &t.Finished}
}

// stepEnv is the environment of conditions after a visit of a walk by steps.
type stepEnv struct {
	walkEnv
	e *endedVisit
}

// Extra returns the values of the visit.
func (e stepEnv) Extra(root expressions.Root) any {
	switch root {
	case expressions.RootOutput:
		return e.e.output()
	case expressions.RootToolCalls:
		return anys(e.e.Result.ToolCalls)
	case expressions.RootGuardsFailed:
		return anys(e.e.Result.GuardsFailed)
	case expressions.RootError:
		if e.t.Last.Failure == nil {
			return ""
		}
	}
	return e.walkEnv.Extra(root)
}

// anys returns strings as a list of values.
func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
