package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// visit is one visit of a node, by the token or as a branch.
type visit struct {
	t     *walk
	N     int32 `json:"n"` // number of the visit within the walk, from 0
	Node  int32 `json:"node"`
	Count int   `json:"count"` // number of the visit among the visits of the node, from 1
	attempt
	Started int64 `json:"started,omitempty"`
	Parent  int32 `json:"parent"` // number of the visit of the parallel node, -1 for a visit of the token
	parent  *visit
	Place   int   `json:"place,omitempty"`    // position among the branches
	Via     int32 `json:"via"`                // the edge that led to the node, or -1 if there is none
	Fork    *fork `json:"fork,omitempty"`     // set when a parallel node has begun
	GivenUp bool  `json:"given_up,omitempty"` // its outcome does not count
	Hooked  bool  `json:"hooked,omitempty"`   // the router has done what precedes the first attempt
}

// enter begins a visit.
func (t *walk) enter(node int32, parent *visit, place int, via int32) *visit {
	r := &t.Nodes[node]
	r.Visits++
	v := &visit{t: t, N: t.Next, Node: node, Count: r.Visits, Parent: -1, parent: parent, Place: place, Via: via}
	if parent != nil {
		v.Parent = parent.N
	}
	t.Next++
	t.Live = append(t.Live, v)
	return v
}

func (v *visit) frame() *frame                   { return v.t.f }
func (v *visit) def() *plan.Node                 { return &v.t.f.p.Nodes[v.Node] }
func (v *visit) load() attempt                   { return v.attempt }
func (v *visit) group() *group                   { return &v.t.group }
func (v *visit) path() string                    { return v.t.f.elementPath(v.t.id(v.Node), v.Count) }
func (v *visit) retryDue()                       {}
func (v *visit) handlerEnded(*Event)             { v.t.f.ranOrAsked(v.def(), &v.t.group) }
func (v *visit) givenUp() bool                   { return v.GivenUp }
func (v *visit) afterAnswer()                    { v.t.f.refresh(v.t.v) }
func (v *visit) mayPlace() bool                  { return true }
func (v *visit) ended(o *Outcome, _ int64)       { v.t.visitEnded(v, o) }
func (v *visit) capture() (*Call, *core.Failure) { return v.t.call(v), nil }

// id returns the ID of the latest attempt.
func (v *visit) id() ID {
	return ID{Frame: v.t.f.ID, Node: v.Node, From: v.N, To: v.N + 1, Attempt: v.number()}
}

// store sets the attempt. If a parallel node is retried, its branches begin again.
func (v *visit) store(a attempt) {
	if v.attempt = a; a.Phase == backingOff {
		v.Fork = nil
	}
}

func (v *visit) begun(first bool) {
	if first {
		v.Started = v.t.f.m.now
	}
	v.t.Nodes[v.Node].Attempts++
	v.t.f.emitVisitStarted(v.t, v)
}

func (v *visit) run(call *Call) {
	v.t.f.runOrAsk(v.def(), v.id(), call.after(v.LastError), &v.t.group)
}

func (v *visit) adopt(child *frame) {
	v.child = child
	if child != nil {
		child.group.parent, child.group.holder = &v.t.group, v.t
	}
}

// withdraw removes a visit that has not begun.
func (v *visit) withdraw() {
	t := v.t
	t.drop(v)
	t.Nodes[v.Node].Visits--
	if v.parent != nil {
		t.branchWithdrawn(v)
	}
	t.check()
}

// startVisit starts an attempt, or the pause before the first one, and reports whether a handler
// was started.
func (t *walk) startVisit(v *visit) bool {
	if pausesFirst(v) {
		pause(v, nil)
		return true
	}
	if t.router.holdsFirst(v) {
		return true
	}
	if v.Count == 1 && v.Number == 0 && t.f.m.assigned != nil {
		t.assign(v.Node, v.N)
	}
	countAttempt(v)
	if a := t.f.assumption(t.id(v.Node)); a != nil {
		o := &Outcome{}
		if a.Status == core.Fail {
			o.Failure = a.failure()
		}
		finish(v, o, t.f.m.now)
		return false
	}
	switch t.w.Nodes[v.Node].Role {
	case core.RoleStart, core.RoleExit, core.RoleConditional:
		finish(v, &Outcome{}, t.f.m.now)
		return false
	case core.RoleParallel:
		t.startFork(v)
		return false
	}
	t.Idle = 0
	return launch(v)
}

// call captures the input of an attempt.
func (t *walk) call(v *visit) *Call {
	n := &t.f.p.Nodes[v.Node]
	c := newCall(CallContext{Path: t.f.Path, Inputs: t.f.Inputs, Visit: v.Count})
	c.Values = make([]any, len(n.Reads))
	for i, r := range n.Reads {
		c.Values[i] = readable(t.Fields[r.Field].Last())
	}
	for _, ref := range n.NodeRefs() {
		c.Nodes = append(c.Nodes, NodeValue{t.Nodes[ref].Status, t.f.output(ref)})
	}
	if n.Briefed {
		c.Briefing = t.briefing(v)
	}
	t.router.inform(c)
	from := t.Last.Node
	if v.parent != nil {
		from = v.parent.Node
	}
	if from >= 0 {
		if sent := t.f.output(from); !value.IsMissing(sent) {
			c.Edges = value.ObjectOf(t.id(from), sent)
		}
	}
	return c
}

func (t *walk) find(id ID) work {
	if v := t.visit(id); v != nil {
		return v
	}
	return nil
}

// visit returns the visit with an ID, nil if it has ended.
func (t *walk) visit(id ID) *visit {
	for _, v := range t.Live {
		if v.id() == id {
			return v
		}
	}
	return nil
}

func (t *walk) answer(e *Event) bool {
	v := t.visit(e.ID)
	switch {
	case v == nil:
		return false
	case v.Phase == routing:
		if e.Kind != Finished {
			return false
		}
		t.router.answered(v, e)
		t.f.refresh(t.v)
	case v.Fork != nil && v.Phase != pausing:
		if e.Kind != Expired {
			return false
		}
		t.expireFork(v)
		t.f.refresh(t.v)
	default:
		if !answer(v, e) {
			return false
		}
	}
	t.LastActivity = t.f.m.now
	return true
}

// visitEnded ends a visit with the outcome of its last attempt.
func (t *walk) visitEnded(v *visit, o *Outcome) {
	n := &t.f.p.Nodes[v.Node]
	switch {
	case t.f.Stopped:
		o = &Outcome{Failure: cancelled()}
	case v.GivenUp:
		o = &Outcome{Failure: givenUpFailure(v)}
	default:
		o = t.f.visitOutcome(n, v.Number, o)
	}
	if v.Fork != nil && !t.f.Stopped {
		t.skipBranches(v)
	}
	t.drop(v)
	if v.parent != nil {
		t.recordVisit(v, o)
		if failsRun(o) && !t.f.Stopped {
			t.endAtOnce(v.Node, o.Failure)
		}
		t.branchEnded(v, o)
		return
	}
	if !t.f.Stopped && !failsRun(o) && t.router.intercepts(v, o) {
		return
	}
	t.settle(v, o)
}

// settle stores and records the outcome of a visit of the token, and continues or ends the walk.
func (t *walk) settle(v *visit, o *Outcome) {
	o = t.store(v, o)
	t.recordVisit(v, o)
	switch {
	case t.f.Stopped:
		t.check()
	case failsRun(o):
		t.endAtOnce(v.Node, o.Failure)
	default:
		t.leave(v, o)
	}
}

// drop removes a visit from the visits in progress.
func (t *walk) drop(v *visit) {
	t.Live = slices.DeleteFunc(t.Live, func(u *visit) bool { return u == v })
}

// recordVisit stores how a visit ended and emits the event.
func (t *walk) recordVisit(v *visit, o *Outcome) {
	r := &t.Nodes[v.Node]
	r.Status, r.Failure, r.Why = statusOf(o), o.Failure, o.Why
	r.Last = r.Status
	if o.isCached() {
		r.Attempts--
	}
	r.Started, r.Ended = v.Started, t.f.m.now
	t.router.noteEnd(v)
	if o.HasOutput || t.f.Outputs != nil {
		t.f.setOutput(v.Node, o.edgeOutput())
	}
	delete(t.f.Notes, v.Node) // from an earlier visit
	t.f.setNote(v.Node, o.Note)
	t.f.emitVisitEnded(t, v, o)
}

// edgeOutput returns what an outcome sends along the edges of its node, Missing if nothing.
func (o *Outcome) edgeOutput() any {
	if !o.HasOutput {
		return value.Missing
	}
	return o.Output
}

// statusOf returns the status of a visit with outcome o.
func statusOf(o *Outcome) core.Status {
	switch {
	case o.Failure != nil:
		return core.Fail
	case o.Status == core.StatusNone:
		return core.Success
	}
	return o.Status
}

// givenUpFailure returns the failure of a branch that was cancelled because the join did not
// need it.
func givenUpFailure(v *visit) *core.Failure {
	return &core.Failure{Class: core.ClassCanceled, Message: "given up: " + v.parent.Fork.Reason, Permanent: true}
}
