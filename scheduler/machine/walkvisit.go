package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// This file is the life of a visit: attempts, end, record. Which edge follows is in
// route.go and modelroute.go, what a visit writes in walkstate.go.

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
	via     int32     // the edge by which the walk came, -1 for none
	fork    *fork     // of a parallel node that has begun
	lost    bool      // given up: what it comes to does not count
	asked   *question // where to go on after it, of one whose phase is itemRouting
}

// enter begins a visit.
func (t *walk) enter(node int32, parent *visit, place int, via int32) *visit {
	r := &t.nodes[node]
	r.Visits++
	v := &visit{n: t.next, node: node, count: r.Visits, parent: parent, place: place, via: via}
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
		if failure := t.f.nestNumbered(n, id, call, v.count, &t.group, t, &v.child); failure != nil {
			t.over(v, &Outcome{Failure: failure})
		}
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
	if n.Briefed {
		c.Briefing = t.briefing(v)
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
	if !v.lost && t.f.again(n, v.attempt, &e.Outcome) {
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
	case v.lost:
		o = &Outcome{Failure: givenUp(v)}
	default:
		o = t.f.verdict(n, v.attempt, o)
	}
	if v.fork != nil && !t.f.stopped {
		t.skipBranches(v)
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
		t.tell(v, o)
		t.follow(v, o)
	}
}

// drop takes a visit from those that are under way.
func (t *walk) drop(v *visit) {
	t.live = slices.DeleteFunc(t.live, func(u *visit) bool { return u == v })
}

// record notes how a visit ended and tells it.
func (t *walk) record(v *visit, o *Outcome) {
	r := &t.nodes[v.node]
	r.Status, r.Failure, r.Why = statusOf(o), o.Failure, o.Why
	r.Last = r.Status
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
