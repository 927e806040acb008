package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// plainNode is the execution of a plain node.
type plainNode struct {
	f *frame
	v int32
}

func (w plainNode) frame() *frame   { return w.f }
func (w plainNode) vertex() *vertex { return &w.f.v[w.v] }
func (w plainNode) def() *plan.Node { return &w.f.p.Nodes[w.f.p.Vertices[w.v].Node] }
func (w plainNode) id() ID          { return w.f.plainID(w.v) }
func (w plainNode) group() *group   { return &w.f.group }
func (w plainNode) path() string    { return w.f.name(w.def().ID) }
func (w plainNode) givenUp() bool   { return w.vertex().Phase == beingCancelled }
func (w plainNode) mayPlace() bool  { return true }
func (w plainNode) afterAnswer()    { w.f.refresh(w.v) }

func (w plainNode) load() attempt {
	x := w.vertex()
	a := attempt{Phase: x.Phase, Number: x.Attempts, attemptDetail: w.f.Details[w.v]}
	if x.Phase == beingCancelled { // its handler is awaited, or the placement of its result
		switch {
		case w.f.pausing(w.v):
			a.Phase = pausing
		case w.f.placing(w.id()):
			a.Phase = placing
		default:
			a.Phase = running
		}
	}
	return a
}

// pausing reports whether a plain node waits for a person in its pause.
func (f *frame) pausing(v int32) bool {
	x := &f.v[v]
	return x.Phase == pausing || x.Phase == beingCancelled && (x.Attempts == 0 || f.Details[v].Held != nil)
}

// withdraw ends a node that lost a race. Otherwise a node that was never reached gets no status.
func (w plainNode) withdraw() {
	if w.givenUp() {
		w.f.endCancelled(w.v)
	}
}

func (w plainNode) store(a attempt) {
	x := w.vertex()
	if x.Attempts = a.Number; x.Phase != beingCancelled {
		x.Phase = a.Phase
	}
	w.f.Details = setDetail(w.f.Details, w.v, a.attemptDetail)
}

func (w plainNode) begun(first bool) {
	if first {
		w.vertex().Started = w.f.m.now
	}
	w.f.emitAttempt(w.def(), w.id())
}

func (w plainNode) capture() (*Call, *core.Failure) {
	call := w.f.call(w.def(), nil)
	return call, w.f.unreadable(w.def(), call, nil)
}

func (w plainNode) run(call *Call) {
	w.f.runOrAsk(w.def(), w.id(), call.after(w.f.Details[w.v].LastError), &w.f.group)
}

func (w plainNode) handlerEnded(e *Event) {
	w.f.ranOrAsked(w.def(), &w.f.group)
	if x := w.vertex(); x.Attempts == 1 && x.Phase != beingCancelled {
		x.Started = e.Started
	}
}

func (w plainNode) adopt(child *frame) {
	f := w.f
	if child == nil {
		f.ready.remove(f.rank(w.v))
		f.hasSlot.remove(f.rank(w.v))
		f.tasks[w.v] = nil
		return
	}
	t := &nested{plainNode: w, child: child}
	child.group.parent, child.group.holder = &f.group, t
	f.setTask(w.v, t)
}

func (w plainNode) retryDue() {
	switch {
	case w.f.Stopped:
	case w.vertex().Attempts == 0: // after its pause; it has been ready before
		w.vertex().Phase = startable
		w.f.addStartable(w.v)
	default:
		w.f.makeStartable(w.v)
	}
}

func (w plainNode) ended(o *Outcome, at int64) {
	w.f.Details = setDetail(w.f.Details, w.v, attemptDetail{})
	if w.givenUp() {
		w.f.endCancelled(w.v)
		return
	}
	w.f.conclude(w.v, o, at)
}

// startPlain starts a vertex that just got its slot, and reports whether a handler was started. A
// fan-out, unit or nested run becomes a task, whose parts are started one by one.
func (f *frame) startPlain(v int32) bool {
	pv, x := &f.p.Vertices[v], &f.v[v]
	x.Phase = running
	if f.fastPath && x.Attempts == 0 && f.Outputs == nil && f.startFast(pv, x) {
		return true
	}
	switch pv.Shape {
	case plan.FanOut:
		f.startFanOut(v)
		return false
	case plan.Pipeline, plan.Loop:
		f.startUnit(v)
		return false
	}
	return begin(plainNode{f, v})
}

// startFast is begin for the first attempt of a node that gets only fields, in a frame without
// outputs. It does nothing and returns false for other nodes, and if a value cannot be
// read.
func (f *frame) startFast(pv *plan.Vertex, x *vertex) bool {
	if !pv.FieldsOnly {
		return false
	}
	n, c := &f.p.Nodes[pv.Node], f.empty
	if pv.HasReads {
		if c = f.fieldsCall(n); slices.ContainsFunc(c.Values, isFailedMerge) {
			return false
		}
	}
	x.Attempts, x.Started = 1, f.m.now
	id := ID{Frame: f.ID, Node: pv.Node, Attempt: 1}
	f.emitAttempt(n, id)
	f.run(n, id, c, &f.group)
	return true
}

// answerFast handles the success of a node that gets only fields and does nothing but write. It has
// the effect of answer, and returns false for all other answers.
func (f *frame) answerFast(e *Event) bool {
	n := &f.p.Nodes[e.ID.Node]
	v := n.Vertex
	x, pv := &f.v[v], &f.p.Vertices[v]
	if !n.FieldsOnly || pv.MayReject || x.Phase != running || x.Attempts != e.ID.Attempt || f.Stopped || !e.Outcome.OnlyWrites() {
		return false
	}
	f.handlerEnded(&f.group)
	if x.Attempts == 1 {
		x.Started = e.Started
	}
	x.Ended = e.Ended
	f.write(v, e.Outcome.Writes)
	f.emitEnd(n, core.Success, e.Outcome.Writes)
	f.resolve(v, core.Success)
	return true
}

// conclude handles the outcome of the last attempt of a plain node. It commits the outcome of the
// visit, now or when its turn at a field that can reject writes comes.
func (f *frame) conclude(v int32, o *Outcome, at int64) {
	x := &f.v[v]
	x.Ended = at
	if f.Stopped {
		o = &Outcome{Failure: cancelled()}
	}
	o = f.visitOutcome(&f.p.Nodes[f.p.Vertices[v].Node], x.Attempts, o)
	if o.Failure != nil {
		f.voidClaims(f.plainID(v))
		f.fail(v, o.Failure)
		return
	}
	if f.p.Vertices[v].MayReject && !f.mayCommit(v, o.Writes) {
		x.Phase = committing
		if f.Uncommitted == nil {
			f.Uncommitted = map[int32]*Outcome{}
		}
		kept := *o
		kept.Writes = slices.Clone(o.Writes)
		f.Uncommitted[v] = &kept
		return
	}
	f.commit(v, o)
}

// mayCommit reports whether all earlier writers are resolved of those fields among writes that
// can reject writes.
func (f *frame) mayCommit(v int32, writes []plan.Write) bool {
	for _, w := range writes {
		if f.p.Schema.Fields[w.Field].MayReject && f.ledger.Column(int(w.Field)).Cursor() < int(f.slot(v, w.Field)) {
			return false
		}
	}
	return true
}

// slot returns the position of a vertex among the writers of a field.
func (f *frame) slot(v, field int32) int32 {
	for _, s := range f.p.Vertices[v].Writes {
		if s.Field == field {
			return s.Slot
		}
	}
	return -1
}

// tryCommit is called when the cursor of a field that can reject writes has reached v.
func (f *frame) tryCommit(v int32) {
	if f.v[v].Phase != committing || f.Stopped {
		return
	}
	if t := f.task(v); t != nil {
		t.commit()
		return
	}
	o := f.Uncommitted[v]
	if !f.mayCommit(v, o.Writes) {
		return
	}
	delete(f.Uncommitted, v)
	f.commit(v, o)
}

// commit stores all writes of a plain node, or none if a field rejects one.
func (f *frame) commit(v int32, o *Outcome) {
	n := &f.p.Nodes[f.p.Vertices[v].Node]
	if f.p.Vertices[v].MayReject {
		for _, w := range o.Writes {
			if err := f.rejection(w); err != nil {
				f.fail(v, &core.Failure{Class: core.ClassMerge, Message: err.Error(), Permanent: true, Cause: err})
				return
			}
		}
	}
	f.write(v, o.Writes)
	if o.HasOutput {
		f.setOutput(n.Index, o.Output)
	}
	f.setNote(n.Index, o.Note)
	f.setChange(n.Index, o.Why)
	status := core.Success
	if o.Status == core.PartialSuccess {
		status = o.Status
	}
	f.emitEnd(n, status, o.Writes)
	f.resolve(v, status)
}

// write stores the writes of a plain node.
func (f *frame) write(v int32, writes []plan.Write) {
	if len(f.p.Vertices[v].Writes) == 0 {
		return
	}
	f.contribute(v, func(field int32) (any, []any) {
		for i := range writes {
			if writes[i].Field == field {
				return writes[i].Value, nil
			}
		}
		return value.Missing, nil
	})
}

// rejection returns the error of a write that its field rejects, nil if the field accepts it.
func (f *frame) rejection(w plan.Write) error {
	if !f.p.Schema.Fields[w.Field].MayReject {
		return nil
	}
	return f.ledger.Column(int(w.Field)).Try(w.Value)
}

func (f *frame) setNote(node int32, text string) {
	if text == "" {
		return
	}
	if f.Notes == nil {
		f.Notes = map[int32]string{}
	}
	f.Notes[node] = text
}

// setChange stores which setting changed the status of a node after its last attempt.
func (f *frame) setChange(node int32, why string) {
	if why == "" {
		return
	}
	if f.Changes == nil {
		f.Changes = map[int32]string{}
	}
	f.Changes[node] = why
}

// fail ends a vertex with a failure and applies its policy.
func (f *frame) fail(v int32, fail *core.Failure) {
	f.setFailure(v, fail)
	f.setStopping(v, fail)
	f.contribute(v, nothing)
	f.emitFailed(v, fail)
	f.endFailed(v)
}

// endFailed resolves a failed vertex whose writes are in the ledger.
func (f *frame) endFailed(v int32) {
	if f.policy(v) == plan.PolicySkip && !f.endReason(v).Failure.FailsRun {
		f.emitHandled(v, -1)
	}
	f.resolve(v, core.Fail)
	if f.stopping = false; f.stopsFrame(v, f.endReason(v).Failure) && !f.Stopped {
		f.FailedRun = true
		f.stop()
	}
}

// stopsFrame reports whether a failure of a vertex stops the frame.
func (f *frame) stopsFrame(v int32, fail *core.Failure) bool {
	return f.policy(v) == plan.PolicyFailRun || fail.FailsRun
}

// setStopping is called before a vertex ends. If its failure stops the frame, readers of its
// writes do not become startable.
func (f *frame) setStopping(v int32, fail *core.Failure) {
	f.stopping = fail != nil && f.stopsFrame(v, fail)
}

// policy returns the policy for the failure of a vertex. Failures of members follow the policies
// of the members: a member with fail_run has stopped the frame itself.
func (f *frame) policy(v int32) plan.Policy {
	if u := f.p.Vertices[v].Unit; u != nil {
		if t, ok := f.task(v).(*unit); ok && t.Failed > 0 {
			if t.Tolerated {
				return plan.PolicySkip
			}
			return plan.PolicyDefault
		}
		return u.Policy // for failures of the unit itself
	}
	return f.p.Nodes[f.p.Vertices[v].Node].Policy
}
