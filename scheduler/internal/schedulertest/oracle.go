package schedulertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Oracle runs a dag workflow in the obvious way: level by level, and within a level one
// node after the other in canonical order, where every node of a level sees the state after
// all lower levels. It runs handlers in the calling goroutine and ignores limits. It treats
// the policy fail_run as a plain failure: how far a run gets before it stops depends on
// timing.
//
// It supports the conditions that evaluate supports, and sources and arguments of the form
// $.field and $item, which is all that generated graphs use.
func Oracle(w *core.Workflow, reg *core.Registry, inputs map[string]any) *Outcome {
	o := newOracle(w, inputs)
	o.reg = reg
	o.runAll()
	return o.outcome()
}

func (o *oracle) runAll() {
	for level := 0; len(o.pending) > 0; level++ {
		o.below = append(o.below, o.state.clone())
		for _, u := range o.due(level) {
			o.visit(u)
		}
	}
}

// unit is an end of an edge: a node, a pipeline or a loop.
type unit struct {
	id       string
	rank     int // 0 node, 1 pipeline, 2 loop
	members  []*core.Node
	pipeline *core.Pipeline
	loop     *core.Loop
	in       []*core.Edge // from other units, in edge order
	out      []*core.Edge
	level    int

	status      core.Status
	skip        Skip
	cause       string // where its skip began, "" if here
	failedFirst string // where its own failure began
	class       string // of that failure
	reason      string
	rows        int
	tolerated   bool // its own faults are tolerated
	handled     bool
	took        []*core.Edge // the edges that its join took
}

// member is the record of one node.
type member struct {
	NodeOutcome
	unit      *unit
	tolerated bool
}

type oracle struct {
	w       *core.Workflow
	reg     *core.Registry
	path    string // "" or the path of the nested run, ending in a slash
	fields  map[string]core.FieldDecl
	nodes   map[string]*core.Node
	units   []*unit // in declared order: nodes, pipelines, loops
	of      map[string]*unit
	records map[string]*member
	pending []*unit
	state   values          // all writes accepted so far
	below   []values        // below[L] is the state that level L sees
	void    map[string]bool // paths of items after a cut, such as outer[3]
	choices Choices         // of a run with races
	// truth evaluates the condition of an edge on the state of a level.
	truth func(e *core.Edge, level int) bool
}

func newOracle(w *core.Workflow, inputs map[string]any) *oracle {
	o := &oracle{w: w, fields: map[string]core.FieldDecl{}, nodes: map[string]*core.Node{}, of: map[string]*unit{},
		records: map[string]*member{}, state: values{}, void: map[string]bool{}}
	for _, f := range w.Fields {
		o.fields[f.Name.Value] = f
		if !value.IsMissing(f.Default) {
			o.state[f.Name.Value] = f.Default
		}
	}
	for name, v := range inputs {
		o.state[name] = v
	}
	o.truth = func(e *core.Edge, level int) bool { return o.evaluate(e.When.Value, o.below[level]) }
	o.build()
	o.assignLevels()
	o.pending = slices.Clone(o.units)
	return o
}

func (o *oracle) build() {
	var units []*unit
	for _, p := range o.w.Pipelines {
		units = append(units, &unit{id: p.ID.Value, rank: 1, pipeline: p, tolerated: tolerates(p.OnError)})
	}
	for _, l := range o.w.Loops {
		units = append(units, &unit{id: l.ID.Value, rank: 2, loop: l, tolerated: tolerates(l.OnError)})
	}
	for _, n := range o.w.Nodes {
		o.nodes[n.ID.Value] = n
	}
	for _, u := range units {
		names := []source.Text(nil)
		if u.pipeline != nil {
			names = u.pipeline.Stages
		} else {
			names = u.loop.Body
		}
		for _, name := range names {
			u.members = append(u.members, o.nodes[name.Value])
			o.of[name.Value] = u
		}
	}
	for _, n := range o.w.Nodes {
		if o.of[n.ID.Value] == nil {
			u := &unit{id: n.ID.Value, members: []*core.Node{n}}
			o.of[u.id] = u
			o.units = append(o.units, u)
		}
		o.records[n.ID.Value] = &member{unit: o.of[n.ID.Value], tolerated: tolerates(n.OnError),
			NodeOutcome: NodeOutcome{Output: value.Missing}}
	}
	o.units = append(o.units, units...)
	for _, e := range o.w.Edges {
		from, to := o.of[e.From.Value], o.of[e.To.Value]
		if from != to {
			from.out, to.in = append(from.out, e), append(to.in, e)
		}
	}
}

// tolerates reports whether a run can still be partially successful after failures under
// the policy: only an explicit skip allows that.
func tolerates(p *core.OnError) bool {
	return p != nil && (p.Policy.Value == "skip" || p.Policy.Value == "retry" && p.Then.Value == "skip")
}

// assignLevels sets each level to the length of the longest path that leads there. Units
// without any edge come last, each on a separate level.
func (o *oracle) assignLevels() {
	last := 0
	for changed := true; changed; {
		changed = false
		for _, u := range o.units {
			for _, e := range u.in {
				if l := o.of[e.From.Value].level + 1; l > u.level {
					u.level, changed = l, true
				}
			}
			last = max(last, u.level)
		}
		if last > len(o.units) {
			panic("schedulertest: the graph has a cycle")
		}
	}
	for _, u := range o.units {
		if u.rank > 0 && len(u.in) == 0 && len(u.out) == 0 {
			last++
			u.level = last
		}
	}
	if o.alone() {
		for _, u := range o.units {
			u.level--
		}
	}
}

// alone reports whether there are only units without edges, so that no main graph occupies
// level 0.
func (o *oracle) alone() bool {
	return !slices.ContainsFunc(o.units, func(u *unit) bool { return u.level == 0 })
}

// due removes the units of a level from pending and returns them in canonical order.
func (o *oracle) due(level int) []*unit {
	var list []*unit
	o.pending = slices.DeleteFunc(o.pending, func(u *unit) bool {
		if u.level == level {
			list = append(list, u)
		}
		return u.level == level
	})
	return list // list is in declared order with nodes first, like o.units
}

func (o *oracle) visit(u *unit) {
	if skip, cause := o.decide(u); skip != "" {
		o.skipAll(u, skip, cause)
		if skip == SkipLost {
			o.handledBefore(u)
		}
		return
	}
	o.handle(u)
	switch {
	case u.pipeline != nil:
		o.runPipeline(u)
	case u.loop != nil:
		o.runLoop(u)
	case u.members[0].ForEach != nil:
		o.runFanOut(u)
	default:
		o.runPlain(u)
	}
}

func (o *oracle) skipAll(u *unit, skip Skip, cause string) {
	u.status, u.skip, u.cause, u.reason = core.Skipped, skip, cause, string(skip)
	for _, n := range u.members {
		r := o.records[n.ID.Value]
		r.Status, r.Skip, r.Cause = core.Skipped, skip, cause
	}
}

// attempt is one execution of a handler with its retries.
type attempt struct {
	node     *core.Node
	view     values
	edges    *value.Object
	item     any
	index    core.Ordinal
	loop     string
	round    int
	result   core.Result
	failure  *core.Failure
	attempts int
	changed  bool // its status differs from the status of its last attempt
}

// run executes the handler until it succeeds, fails permanently or has used up its
// attempts.
func (o *oracle) run(a *attempt) {
	limit := 1
	if p := a.node.OnError; p != nil && p.Policy.Value == "retry" {
		if limit = presets[p.Preset.Value].attempts; p.Attempts != nil {
			limit = p.Attempts.Value
		}
	}
	var names []string
	var seen []any
	for _, r := range a.node.Reads {
		names, seen = append(names, r.Value), append(seen, a.view.get(r.Value))
	}
	if a.attempts, a.failure = 1, unreadable(a.node, a.view); a.failure != nil {
		return
	}
	for ; ; a.attempts++ {
		in := core.NewInput("oracle", o.path+a.node.ID.Value, a.attempts, core.Shared{View: core.NewView(names, seen),
			Args: arguments(a), Edges: a.edges, Item: a.item, Index: a.index, Loop: a.loop, Round: a.round})
		if h := o.handler(a.node); h != nil {
			a.result, a.failure = call(h, in)
		} else {
			a.result, a.failure = o.nested(a)
		}
		a.result.Delta = a.result.Writes()
		if fault := o.checkWrites(a.node, a.result.Delta); fault != nil && a.failure != nil {
			a.result.Delta = nil
		} else if fault != nil {
			a.result, a.failure = core.Result{}, fault
		}
		if !a.again() || a.attempts >= limit {
			a.end()
			return
		}
	}
}

// handler returns the handler of a node, nil if the node is a nested run.
func (o *oracle) handler(n *core.Node) core.Handler {
	if n.Handler != nil || o.reg == nil {
		return n.Handler
	}
	kind, _ := o.reg.Kind(n.Kind.Value)
	made, _ := kind.Compile(n, core.Env{})
	return made.Handler
}

// again reports whether the attempt is to be retried.
func (a *attempt) again() bool {
	if a.failure != nil {
		return retries(a.node, a.failure)
	}
	return a.result.Status == core.Retry
}

// retries reports whether a node retries a failure, as long as attempts are left.
func retries(n *core.Node, f *core.Failure) bool {
	any := n.OnError == nil || n.OnError.RetryOn.Value != "transient"
	return !f.Permanent && (any || f.InCategory() == core.TransientInfra)
}

// presets lists the retry policies that every workflow has.
var presets = map[string]preset{
	"none": {1, 0, 0}, "standard": {5, 200 * time.Millisecond, 2}, "aggressive": {5, 500 * time.Millisecond, 2},
	"linear": {3, 500 * time.Millisecond, 1}, "patient": {3, 2 * time.Second, 3},
}

type preset struct {
	attempts int
	base     time.Duration
	factor   float64
}

// end applies the settings of the node to its last attempt: allow_partial, then
// auto_status, which does not apply if the state rejects the writes.
func (a *attempt) end() {
	if a.failure == nil && a.result.Status == core.Retry {
		if a.changed = a.node.AllowPartial; a.changed {
			a.result.Status = core.PartialSuccess
		} else {
			a.failure = &core.Failure{Class: core.ClassError, Message: "no attempt is left"}
		}
	}
	refused := a.failure != nil && a.failure.Class == core.ClassMerge && a.failure.Node == ""
	if a.node.AutoStatus && a.status() != core.Success && !refused {
		a.failure, a.result.Status, a.changed = nil, core.Success, true
	}
}

// unreadable returns the failure of a node that reads a lost value, or nil if there is
// none.
func unreadable(n *core.Node, s values) *core.Failure {
	paths := source.Strings(n.Reads)
	if n.ForEach != nil {
		paths = append(paths, strings.TrimPrefix(n.ForEach.Source.Value, "$."))
	}
	for i := 0; n.Args != nil && i < len(n.Args.Values); i++ {
		text, _ := n.Args.Values[i].Scalar.(string)
		paths = append(paths, strings.TrimPrefix(text, "$."))
	}
	for _, p := range paths {
		if isMergeFailed(s.get(p)) {
			return &core.Failure{Class: core.ClassMerge, Message: p, Permanent: true}
		}
	}
	return nil
}

// call turns a panic into a permanent failure.
func call(h core.Handler, in core.Input) (res core.Result, failure *core.Failure) {
	defer func() {
		if p := recover(); p != nil {
			failure = &core.Failure{Class: core.ClassPanic, Message: fmt.Sprintf("panic: %v", p), Permanent: true}
		}
	}()
	res, err := h.Handle(context.Background(), in)
	if err != nil {
		return core.Result{}, core.FailureOf(err)
	}
	if res.Status == core.Fail {
		return res, &core.Failure{Class: core.ClassError, Permanent: true}
	}
	return res, nil
}

// checkWrites is the last step of an attempt: it checks the write set and the types.
func (o *oracle) checkWrites(n *core.Node, delta map[string]any) *core.Failure {
	for name, v := range delta {
		declared := slices.ContainsFunc(n.Writes, func(t source.Text) bool { return t.Value == name })
		if f, ok := o.fields[name]; !ok || !declared || !collects(n, name) && f.Type.Check(v) != nil {
			return &core.Failure{Class: core.ClassWrite, Message: name}
		}
	}
	return nil
}

// commit stores the writes of an execution in every state. If the first state rejects a
// write, it stores none of them and turns the execution into a failure.
func (o *oracle) commit(a *attempt, states ...values) {
	if a.failure != nil {
		return
	}
	if err := rejectReason(o.fields, states[0], a.result.Delta, a.node); err != nil {
		a.failure = &core.Failure{Class: core.ClassMerge, Message: err.Error(), Permanent: true}
		return
	}
	for _, s := range states {
		fold(o.fields, s, a.result.Delta)
	}
}
