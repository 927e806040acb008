package machine

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// arrival is a token at a node: the execution of the node for it.
type arrival struct {
	t     *flow
	N     int32 `json:"n"` // number of the arrival in the run, from 0
	Node  int32 `json:"node"`
	Count int   `json:"count"` // number of the arrival at the node, from 1
	attempt
	Started int64   `json:"started,omitempty"`
	Input   anyJSON `json:"input"`
	// Trunk reports whether the result is the previous_output of the context. It is until the token
	// has been followed by several.
	Trunk bool `json:"trunk,omitempty"`
}

func (a *arrival) frame() *frame                   { return a.t.f }
func (a *arrival) def() *plan.Node                 { return &a.t.f.p.Nodes[a.Node] }
func (a *arrival) load() attempt                   { return a.attempt }
func (a *arrival) store(x attempt)                 { a.attempt = x }
func (a *arrival) group() *group                   { return &a.t.group }
func (a *arrival) path() string                    { return a.t.f.elementPath(a.t.id(a.Node), a.Count) }
func (a *arrival) retryDue()                       {}
func (a *arrival) handlerEnded(*Event)             { a.t.f.ranOrAsked(a.def(), &a.t.group) }
func (a *arrival) givenUp() bool                   { return a.t.Failure != nil }
func (a *arrival) afterAnswer()                    { a.t.f.refresh(0) }
func (a *arrival) mayPlace() bool                  { return true }
func (a *arrival) capture() (*Call, *core.Failure) { return a.t.call(a), nil }

// id returns the ID of the latest attempt.
func (a *arrival) id() ID {
	return ID{Frame: a.t.f.ID, Node: a.Node, From: a.N, To: a.N + 1, Attempt: a.number()}
}

func (a *arrival) begun(first bool) {
	t := a.t
	if first {
		a.Started = t.f.m.now
		t.assignFirst(a)
		t.emitStarted(a)
		t.log(a, core.LogStepStart, t.describe(a.Node))
		if t.f.m.opts.Events {
			t.log(a, core.LogStartPrompt, t.prompt(a))
		}
	} else {
		t.emitStarted(a)
	}
	t.Nodes[a.Node].Attempts++
}

func (a *arrival) run(call *Call) {
	a.t.f.runOrAsk(a.def(), a.id(), call.after(a.LastError), &a.t.group)
}

func (a *arrival) adopt(child *frame) {
	a.child = child
	if child != nil {
		child.group.parent, child.group.holder = &a.t.group, a.t
	}
}

// withdraw removes a token that has not begun.
func (a *arrival) withdraw() {
	t := a.t
	t.drop(a)
	t.Nodes[a.Node].Visits--
	t.settle()
}

// ended handles the outcome of the last attempt.
func (a *arrival) ended(o *Outcome, _ int64) {
	t := a.t
	if a == t.Asked {
		t.answered(o)
		return
	}
	t.drop(a)
	o = t.f.visitOutcome(a.def(), a.Number, o)
	if fail := t.rejection(o.Writes); o.Failure == nil && fail != nil {
		o = &Outcome{Failure: fail}
	}
	switch {
	case t.f.Stopped:
		t.recordEnd(a, &Outcome{Failure: cancelled()})
	case o.Failure != nil:
		entry := core.LogError
		if t.p.Nodes[a.Node].Agent != nil {
			entry = core.LogLLMError
		}
		t.recordEnd(a, o)
		t.fail(a.Node, entry, o.Failure)
	case t.Failure != nil: // its result is dropped
		t.log(a, core.LogLLMResponse, core.FlowText(o.edgeOutput()))
		t.recordEnd(a, &Outcome{Status: o.Status})
	default:
		t.log(a, core.LogLLMResponse, core.FlowText(o.edgeOutput()))
		t.stepEnded(a, o)
	}
	t.settle()
}

// stepEnded stores the result of a step and moves the token on.
func (t *flow) stepEnded(a *arrival, o *Outcome) {
	v := o.edgeOutput()
	if value.IsMissing(v) {
		v = nil
	}
	for _, w := range o.Writes {
		t.write(a, w)
	}
	t.emitWrites(a, o.Writes)
	t.set(a, t.id(a.Node), v)
	if a.Trunk {
		t.set(a, core.FlowPrevious, v)
	}
	t.recordEnd(a, o)
	t.follow(a, &t.p.Nodes[a.Node].Ways[0], v, a.Trunk)
}

// answered handles the answer to the approval that is asked. The flow continues only if the answer
// is a decision.
func (t *flow) answered(o *Outcome) {
	a := t.Asked
	switch {
	case t.f.Stopped, t.Failure != nil:
		t.Asked, t.Decision = nil, nil
		t.recordEnd(a, &Outcome{Failure: cancelled()})
	case o.Failure != nil || o.Route == nil || o.Route.Label != core.HandleApprove && o.Route.Label != core.HandleReject:
		if o.Failure == nil {
			o = &Outcome{Failure: &core.Failure{Class: core.ClassError, Message: "the answer is not a decision", Permanent: true}}
		}
		t.Asked = nil
		t.recordEnd(a, o)
		t.fail(a.Node, core.LogError, o.Failure)
	default:
		held := *o
		t.Decision = &held
	}
	t.settle()
}

// drop removes a token from the admitted ones.
func (t *flow) drop(a *arrival) {
	t.Admitted = slices.DeleteFunc(t.Admitted, func(b *arrival) bool { return a == b })
}

// call captures the input of a node.
func (t *flow) call(a *arrival) *Call {
	n := a.def()
	c := newCall(CallContext{Path: t.f.Path, Inputs: t.f.Inputs, Visit: a.Count, Edges: value.ObjectOf(plan.FlowInput, a.Input.v)})
	c.Values = make([]any, len(n.Reads))
	for i, r := range n.Reads {
		c.Values[i] = readable(t.Fields[r.Field].Last())
	}
	for _, ref := range n.NodeRefs() {
		c.Nodes = append(c.Nodes, NodeValue{t.Nodes[ref].Status, t.f.output(ref)})
	}
	return c
}

// recordEnd stores how the execution of a node ended and emits the event.
func (t *flow) recordEnd(a *arrival, o *Outcome) {
	r := &t.Nodes[a.Node]
	r.Status, r.Failure, r.Why = statusOf(o), o.Failure, o.Why
	r.Last = r.Status
	if o.isCached() {
		r.Attempts--
	}
	r.Started, r.Ended = a.Started, t.f.m.now
	if o.HasOutput {
		t.f.setOutput(a.Node, o.Output)
	}
	delete(t.f.Notes, a.Node) // from an earlier arrival
	t.f.setNote(a.Node, o.Note)
	t.emitEnded(a, o)
}

func (t *flow) slotChanged()    { t.f.refresh(0) }
func (t *flow) holdsSlot() bool { return t.group.active > 0 }
func (t *flow) commit()         { invariant(false, "a flow waits for a commit") }
func (t *flow) canStart() bool  { return slices.ContainsFunc(t.Admitted, t.ready) }

// ready reports whether a token can start something now.
func (t *flow) ready(a *arrival) bool {
	if a.child != nil {
		return a.child.canStart() && a.child.group.freeBelow(&t.f.group)
	}
	return a.Phase == waiting
}

func (t *flow) startOne() bool {
	for t.f.v[0].Phase == running {
		i := slices.IndexFunc(t.Admitted, t.ready)
		if i < 0 {
			return false
		}
		a := t.Admitted[i]
		if a.child == nil {
			if t.startStep(a) {
				return true
			}
			continue
		}
		child := a.child
		if child.startOrEnd() {
			return true
		}
		if !child.ended() && child.canStart() {
			return false
		}
	}
	return false
}

// startStep starts an attempt of a step and reports whether a handler was started.
func (t *flow) startStep(a *arrival) bool {
	countAttempt(a)
	if x := t.f.assumption(t.id(a.Node)); x != nil {
		o := &Outcome{}
		if x.Status == core.Fail {
			o.Failure = x.failure()
		}
		finish(a, o, t.f.m.now)
		return false
	}
	return launch(a)
}

func (t *flow) find(id ID) work {
	if a := t.arrival(id); a != nil {
		return a
	}
	return nil
}

// arrival returns the arrival in progress with the given ID, or nil if there is none.
func (t *flow) arrival(id ID) *arrival {
	for _, a := range t.Admitted {
		if a.N == id.From && a.id() == id {
			return a
		}
	}
	if t.Asked != nil && t.Decision == nil && t.Asked.id() == id {
		return t.Asked
	}
	return nil
}

func (t *flow) answer(e *Event) bool {
	a := t.arrival(e.ID)
	return a != nil && answer(a, e)
}

// stop ends the tokens that have no handler in flight.
func (t *flow) stop() {
	t.Queue, t.Waiting = nil, nil
	for _, a := range slices.Clone(t.Admitted) {
		halt(a)
	}
	t.dropDecision()
	t.settle()
}
