package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/internal/fault"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// walk is the planner of the mode walk: one token goes from node to node, and after each
// visit one edge is chosen. It is a task, as pipelines and loops are, and its visits have
// attempts, timeouts, nested runs and slots like theirs. This file is the life of a
// visit; which edge follows is in route.go, parallel nodes are in fork.go.
type walk struct {
	f     *frame
	v     int32
	w     *plan.Walk
	group group

	live    []*visit // under way, the token's first, then those of branches in order of their begin
	next    int32    // number of the next visit
	nodes   []visited
	fields  []*state.Column // the live state
	start   []any           // starting values
	spoilt  map[int32]int32 // by field that could not be merged: the node whose write spoilt it
	path    []int32         // nodes in the order of the token's visits
	gates   []goal          // goal gates in order of their first end
	last    stage           // the last stage that was no conditional
	failed  map[string]int  // failures by signature
	idle    int             // nodes in a row that did nothing
	active  int64           // time of the last sign of life
	watched int32           // watches set for a sign of life

	followed []int32                // of a walk that a model routes: how often each pair of nodes was followed; nil until one was
	evals    map[int32]*core.Object // checks of what nodes sent last

	failure *core.Failure // why the walk failed
	failAt  int32         // the node where it did
	ended   bool
}

// visited is what became of a node over its visits.
type visited struct {
	Visits   int           `json:"visits,omitempty"`
	Attempts int           `json:"attempts,omitempty"`
	Status   core.Status   `json:"status,omitempty"` // of the last visit since the walk began anew
	Shown    core.Status   `json:"shown,omitempty"`  // of the last visit
	Failure  *core.Failure `json:"failure,omitempty"`
	Why      string        `json:"why,omitempty"` // the setting that made the status what it is
	Started  int64         `json:"started,omitempty"`
	Ended    int64         `json:"ended,omitempty"`
	Jumps    int           `json:"jumps,omitempty"` // of a goal gate: how often it has sent the walk back
}

// goal is a goal gate that the token has visited since the walk began or began anew.
type goal struct {
	Node   int32       `json:"node"`
	Status core.Status `json:"status"` // of its last visit
}

// stage is how the last stage ended, as conditions see it.
type stage struct {
	Node    int32         `json:"node"` // -1 for none
	Status  core.Status   `json:"status,omitempty"`
	Label   string        `json:"label,omitempty"`
	Failure *core.Failure `json:"failure,omitempty"`
}

// visit is one visit of a node, by the token or as a branch.
type visit struct {
	n       int32 // its number, from 0
	node    int32
	count   int // which visit of that node it is, from 1
	phase   itemPhase
	attempt int32
	started int64
	child   *frame
	parent  *visit    // the parallel node whose branch it is, nil for the token
	place   int       // its place among the branches
	fork    *fork     // of a parallel node that has begun
	lost    bool      // given up: what it comes to does not count
	asked   *question // where to go on after it, of one whose phase is itemRouting
}

// mostIdle is how many nodes in a row may do nothing: more than that, and nothing that
// could stop the walk is going to change.
const mostIdle = 10_000

// startWalk begins the walk of a frame.
func (f *frame) startWalk() {
	t := f.newWalk()
	for i := range f.p.Schema.Fields {
		t.start = append(t.start, f.ledger.Final(i))
		t.fields = append(t.fields, t.column(i))
	}
	f.v[0].phase, f.v[0].started, f.v[0].attempts = running, f.m.now, 1
	f.setTask(0, t)
	if t.w.Routed {
		given := f.inputs
		if given == nil {
			given = core.NewObject(0)
		}
		t.set(t.w.Context, core.ObjectOf(core.InputsKey, given))
	}
	t.watch()
	t.arrive(t.w.Start)
	f.refresh(0)
}

func (f *frame) newWalk() *walk {
	t := &walk{f: f, v: 0, w: f.p.Walk, nodes: make([]visited, len(f.p.Nodes)), failed: map[string]int{}, last: stage{Node: -1}, failAt: -1}
	t.group = group{parent: &f.group, limit: math.MaxInt, holder: t}
	return t
}

// column returns the ledger of a field at the beginning.
func (t *walk) column(field int) *state.Column {
	return state.NewColumn(&t.f.p.Schema.Fields[field], t.start[field], t.f.m.opts.Guard)
}

func (t *walk) slotChanged() { t.f.refresh(t.v) }
func (t *walk) holds() bool  { return t.group.active > 0 }
func (t *walk) commit()      { invariant(false, "a walk waits for a commit") }

func (t *walk) canStart() bool { return slices.ContainsFunc(t.live, t.ready) }

// ready reports whether a visit has something to start now.
func (t *walk) ready(v *visit) bool {
	switch {
	case v.child != nil:
		return v.child.canStart() && v.child.group.freeBelow(&t.f.group)
	case v.fork != nil:
		return v.fork.mayBegin()
	}
	return v.phase == itemWaiting
}

func (t *walk) startOne() bool {
	for t.f.v[t.v].phase == running {
		i := slices.IndexFunc(t.live, t.ready)
		if i < 0 {
			return false
		}
		v := t.live[i]
		switch {
		case v.fork != nil:
			t.beginBranch(v)
		case v.child == nil:
			if t.startVisit(v) {
				return true
			}
		default:
			child := v.child
			if child.startOrEnd() {
				return true
			}
			if !child.ended() && child.canStart() {
				return false
			}
		}
	}
	return false
}

// mostVisits is how many visits the walk of a frame may make, 0 for any number.
func (m *Machine) mostVisits(f *frame) int {
	w := f.p.Walk
	switch {
	case w == nil:
		return 0
	case w.Routed && f == m.root && m.opts.MaxVisits > 0:
		return m.opts.MaxVisits
	}
	return w.MaxSteps
}

// arrive brings the token to a node.
func (t *walk) arrive(node int32) {
	if t.idle++; t.idle > mostIdle {
		t.fail(node, core.ClassVisitLimit, "the walk went through %d nodes in a row of which none does anything", mostIdle)
		return
	}
	if node == t.w.Exit && !t.satisfied() {
		return
	}
	if most := t.f.m.mostVisits(t.f); most > 0 && len(t.path) >= most {
		t.fail(node, core.ClassVisitLimit, "the walk has made %d visits, as many as it may", most)
		return
	}
	if limit := t.w.Nodes[node].MaxVisits; limit > 0 && t.nodes[node].Visits >= limit {
		t.fail(node, core.ClassVisitLimit, "%s was visited %d times, as often as it may be", t.id(node), limit)
		return
	}
	t.path = append(t.path, node)
	t.enter(node, nil, 0)
}

// enter begins a visit.
func (t *walk) enter(node int32, parent *visit, place int) *visit {
	r := &t.nodes[node]
	r.Visits++
	v := &visit{n: t.next, node: node, count: r.Visits, parent: parent, place: place}
	t.next++
	t.live = append(t.live, v)
	return v
}

func (t *walk) id(node int32) string { return t.f.p.Nodes[node].ID }

// visitID names an attempt of a visit.
func (t *walk) visitID(v *visit) ID {
	return ID{Frame: t.f.id, Node: v.node, From: v.n, To: v.n + 1, Attempt: v.attempt}
}

// startVisit starts an attempt and reports whether user code runs.
func (t *walk) startVisit(v *visit) bool {
	n := &t.f.p.Nodes[v.node]
	v.phase = itemRunning
	if v.attempt++; v.attempt == 1 {
		v.started = t.f.m.now
	}
	t.nodes[v.node].Attempts++
	t.f.emitVisitStarted(t, v)
	switch t.w.Nodes[v.node].Role {
	case core.RoleStart, core.RoleExit, core.RoleConditional:
		t.over(v, &Outcome{})
		return false
	case core.RoleParallel:
		t.startFork(v)
		return false
	}
	t.idle = 0
	id := t.visitID(v)
	switch {
	case n.Wait != nil:
		t.f.wait(n, id)
		return false
	case n.Frame == nil && n.Handler == nil:
		t.over(v, &Outcome{Failure: lacking(n)})
		return false
	}
	call := t.call(v)
	if n.Frame != nil {
		t.startNested(v, n, id, call)
		return false
	}
	t.run(n, id, call)
	return true
}

// run issues the command for a handler. One that waits for a person holds no slot.
func (t *walk) run(n *plan.Node, id ID, call *Call) {
	if !n.Asks {
		t.f.run(n, id, call, &t.group)
		return
	}
	t.f.flying++
	t.f.m.command(Command{Op: OpRun, ID: id, Plan: t.f.p, Node: n, Call: t.f.informed(id, call)})
}

// landed counts a handler that ended.
func (t *walk) landed(n *plan.Node) {
	if n.Asks {
		t.f.flying--
		return
	}
	t.f.landed(&t.group)
}

// call captures what an attempt gets.
func (t *walk) call(v *visit) *Call {
	n := &t.f.p.Nodes[v.node]
	c := &Call{Path: t.f.path, Inputs: t.f.inputs, Visit: v.count, Values: make([]any, len(n.Reads))}
	for i, r := range n.Reads {
		c.Values[i] = readable(t.fields[r.Field].Last())
	}
	for _, ref := range n.NodeRefs {
		c.Nodes = append(c.Nodes, NodeValue{t.nodes[ref].Status, t.f.output(ref)})
	}
	from := t.last.Node
	if v.parent != nil {
		from = v.parent.node
	}
	if from >= 0 {
		if sent := t.f.output(from); !core.IsMissing(sent) {
			c.Edges = core.ObjectOf(t.id(from), sent)
		}
	}
	return c
}

func (t *walk) startNested(v *visit, n *plan.Node, id ID, call *Call) {
	child, err := t.f.nest(n, id, call, fmt.Sprintf("%s[%d]", t.f.name(n.ID), v.count), &t.group, t)
	if err != nil {
		t.over(v, &Outcome{Failure: badInputs(err)})
		return
	}
	v.child = child
	if child.ended() {
		child.handOver()
	}
}

func (t *walk) find(id ID) *visit {
	for _, v := range t.live {
		if v.n == id.From && v.node == id.Node && v.attempt == id.Attempt && id.To == id.From+1 {
			return v
		}
	}
	return nil
}

func (t *walk) answer(e *Event) bool {
	v := t.find(e.ID)
	if v == nil {
		return false
	}
	n := &t.f.p.Nodes[v.node]
	switch {
	case v.phase == itemRouting:
		if e.Kind != Finished {
			return false
		}
		t.routeAnswered(v, e)
	case e.Kind == TimerFired && v.phase == itemBackoff:
		v.phase = itemWaiting
	case e.Kind == Expired && v.fork != nil:
		t.expireFork(v)
	case e.Kind.isTimer() && v.phase == itemRunning && n.Wait != nil:
		t.tried(v, waited(n, e))
	case e.Kind == Finished && v.phase == itemRunning && n.Wait == nil && v.child == nil && v.fork == nil:
		t.landed(n)
		t.tried(v, e)
	default:
		return false
	}
	t.active = t.f.m.now
	t.f.refresh(t.v)
	return true
}

// landedNested takes in the end of a nested run.
func (t *walk) landedNested(e *Event) {
	v := t.find(e.ID)
	invariant(v != nil, "nested run %v of no visit", e.ID)
	v.child = nil
	t.tried(v, e)
	t.f.refresh(t.v)
}

// tried decides after an attempt whether another follows.
func (t *walk) tried(v *visit, e *Event) {
	n := &t.f.p.Nodes[v.node]
	spent := v.lost || t.f.planted(fault.LostRetryBudget) && v.count > 1
	if !spent && t.f.again(n, v.attempt, &e.Outcome) {
		v.phase, v.fork = itemBackoff, nil
		t.f.retry(n, e.ID, &e.Outcome)
		return
	}
	t.over(v, &e.Outcome)
}

// over ends a visit with the outcome of its last attempt.
func (t *walk) over(v *visit, o *Outcome) {
	n := &t.f.p.Nodes[v.node]
	switch {
	case t.f.stopped:
		o = &Outcome{Failure: cancelled()}
	case v.lost && t.f.planted(fault.KeptLoserWrites):
		o = &Outcome{Failure: givenUp(v), Writes: o.Writes}
	case v.lost:
		o = &Outcome{Failure: givenUp(v)}
	default:
		o = t.f.verdict(n, v.attempt, o)
	}
	t.drop(v)
	if v.parent != nil {
		t.record(v, o)
		if failsRun(o) && !t.f.stopped {
			t.abort(v.node, o.Failure)
		}
		t.branchOver(v, o)
		return
	}
	o = t.store(v, o)
	t.record(v, o)
	switch {
	case t.f.stopped:
		t.check()
	case failsRun(o):
		t.abort(v.node, o.Failure)
	case t.w.Routed:
		t.decide(v, o)
	default:
		t.follow(v, o)
	}
}

// drop takes a visit from those that are under way.
func (t *walk) drop(v *visit) {
	t.live = slices.DeleteFunc(t.live, func(u *visit) bool { return u == v })
}

// store makes the writes of a visit part of the state, all or none. A field that refuses
// one turns the visit into a failure.
func (t *walk) store(v *visit, o *Outcome) *Outcome {
	if fail := t.refused(o.Writes); fail != nil {
		o = &Outcome{Failure: fail}
	}
	t.write(v, o.Writes)
	return o
}

// refused returns the failure of writes of which the state would refuse one. The
// branches of a parallel node may write the same field: each of them meets what those
// before it have left.
func (t *walk) refused(writes []plan.Write) *core.Failure {
	var before map[int32]*state.Column
	for i, w := range writes {
		field := &t.f.p.Schema.Fields[w.Field]
		if !field.Refuses {
			continue
		}
		c := t.fields[w.Field]
		if b, ok := before[w.Field]; ok {
			c = b
		}
		if err := c.Try(w.Value); err != nil {
			return &core.Failure{Class: core.ClassMerge, Message: err.Error(), Permanent: true, Cause: err}
		}
		if !slices.ContainsFunc(writes[i+1:], func(o plan.Write) bool { return o.Field == w.Field }) {
			continue
		}
		if c == t.fields[w.Field] {
			c = state.NewColumn(field, c.Last(), t.f.m.opts.Guard)
			if before == nil {
				before = map[int32]*state.Column{}
			}
			before[w.Field] = c
		}
		c.Resolve(c.Cursor(), w.Value, nil)
	}
	return nil
}

// write folds writes into the live state.
func (t *walk) write(v *visit, writes []plan.Write) {
	for _, w := range writes {
		t.set(w.Field, w.Value)
		if _, ok := t.fields[w.Field].Last().(*state.Spoiled); ok {
			t.spoils(w.Field, v.node)
		}
	}
	t.f.emitVisitWrites(t, v, writes)
}

// spoils notes the first node whose write a field could not take.
func (t *walk) spoils(field, node int32) {
	if _, ok := t.spoilt[field]; ok {
		return
	}
	if t.spoilt == nil {
		t.spoilt = map[int32]int32{}
	}
	t.spoilt[field] = node
}

func (t *walk) set(field int32, value any) {
	c := t.fields[field]
	c.Resolve(c.Cursor(), value, nil)
	c.Forget(c.Cursor(), false)
}

// record notes how a visit ended and tells it.
func (t *walk) record(v *visit, o *Outcome) {
	r := &t.nodes[v.node]
	r.Status, r.Failure, r.Why = statusOf(o), o.Failure, o.Why
	r.Shown = r.Status
	r.Started, r.Ended = v.started, t.f.m.now
	if t.w.Nodes[v.node].GoalGate && v.parent == nil {
		t.reached(goal{v.node, r.Status})
	}
	if o.HasOutput || t.f.outputs != nil {
		t.f.setOutput(v.node, o.sent())
	}
	delete(t.f.notes, v.node) // of an earlier visit
	t.f.note(v.node, o.Note)
	t.f.emitVisitEnded(t, v, o)
}

// sent is what an outcome sends along its edges, Missing for nothing.
func (o *Outcome) sent() any {
	if !o.HasOutput {
		return core.Missing
	}
	return o.Output
}

// statusOf is the status of a visit with that outcome.
func statusOf(o *Outcome) core.Status {
	switch {
	case o.Failure != nil:
		return core.Fail
	case o.Status == core.StatusNone:
		return core.Success
	}
	return o.Status
}

// givenUp is the failure of a branch that was not needed any more.
func givenUp(v *visit) *core.Failure {
	return &core.Failure{Class: core.ClassCanceled, Message: "given up: " + v.parent.fork.reason, Permanent: true}
}

// fail ends the walk where it cannot go on.
func (t *walk) fail(node int32, class, format string, args ...any) {
	t.failure = &core.Failure{Class: class, Message: fmt.Sprintf(format, args...), Permanent: true}
	t.failAt = node
	t.finish()
}

// abort ends the walk at once, branches and all: the failure leaves nothing to go on with.
func (t *walk) abort(node int32, fail *core.Failure) {
	t.failure, t.failAt = fail, node
	t.f.failedRun = true
	t.f.stop()
}

// finish ends the walk. There is no visit under way any more, unless the run was stopped.
func (t *walk) finish() {
	f := t.f
	t.ended = true
	f.v[t.v].ended = f.m.now
	t.unwatch()
	if t.failure == nil && f.stopped {
		t.failure = cancelled()
	}
	if t.failure != nil {
		f.setFailure(t.v, t.failure)
		f.resolve(t.v, core.Fail)
		return
	}
	f.resolve(t.v, core.Success)
}

// check ends a walk that was stopped once nothing is under way.
func (t *walk) check() {
	if t.f.v[t.v].phase == running && t.f.stopped && len(t.live) == 0 {
		t.finish()
	}
}

// stop ends visits that are neither running nor nested.
func (t *walk) stop() {
	for _, v := range slices.Clone(t.live) {
		t.end(v)
	}
	for _, v := range slices.Clone(t.live) { // parallel nodes whose branches have all ended
		if v.fork != nil && v.fork.live == 0 {
			t.over(v, &Outcome{Failure: cancelled()})
		}
	}
	t.check()
}

// end ends a visit whose handler does not run; that of a nested run is told to stop.
func (t *walk) end(v *visit) {
	switch {
	case v.fork != nil: // ends with its branches
	case v.child != nil:
		v.child.stop()
		t.f.m.handOverStopped(v.child)
	case v.attempt > 0 && (v.phase != itemRunning || t.f.p.Nodes[v.node].Wait != nil):
		t.over(v, &Outcome{Failure: cancelled()})
	case v.phase == itemWaiting:
		t.drop(v)
		t.nodes[v.node].Visits--
		if v.parent != nil {
			t.neverBegun(v)
		}
	}
}
