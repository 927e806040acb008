package machine

import (
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine/internal/chunk"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// This file is how a fan-out walks a stream: items are pulled while others run, and
// what has ended is summed up and forgotten, so that memory does not grow with the
// stream.

// mostOpen is how many items a fan-out over a stream holds: those behind the first
// that has not ended, for however long that one takes.
const maxOpenItems = 16_384

// settled is the sum of items that ended and will not be looked at again.
type foldedItems struct {
	Attempts int              `json:"attempts,omitempty"`
	Failed   int              `json:"failed,omitempty"`
	First    int              `json:"first,omitempty"`   // the first that failed, if there is one
	Failure  *core.Failure    `json:"failure,omitempty"` // of the first
	Partial  bool             `json:"partial,omitempty"`
	Changes  changes          `json:"changes,omitzero"`
	Deltas   map[int32]values `json:"deltas,omitempty"` // by field, in item order
	Sent     values           `json:"sent,omitempty"`   // by item, nil until one sends something
}

// keep adds what an item that ended well wrote and sent.
func (s *foldedItems) add(i int, o *Outcome) {
	s.Partial = s.Partial || o.Status == core.PartialSuccess
	s.Changes.add(i, o.Why)
	for _, w := range o.Writes {
		if s.Deltas == nil {
			s.Deltas = map[int32]values{}
		}
		s.Deltas[w.Field] = append(s.Deltas[w.Field], w.Value)
	}
	if o.HasOutput {
		for len(s.Sent) < i {
			s.Sent = append(s.Sent, nil)
		}
		s.Sent = append(s.Sent, o.Output)
	}
}

// settle sums up the items in front that have ended. A merge that can refuse an
// item needs to see all of them, and those of an array are there anyway.
func (t *fanOut) foldEnded() {
	if t.n.Puller == nil || t.f.Stopped || t.f.p.Vertices[t.v].Refuses {
		return
	}
	// The failure that was one too many stays: it marks the end.
	for n := t.cutoff(); len(t.Phases) > 0 && t.Base < n-1; t.shift() {
		switch t.Phases[0] {
		case succeeded:
			if o := t.outcome(t.Base); o != nil {
				t.Folded.add(t.Base, o)
				t.emitItemWrites(t.Base, o)
			}
		case failed:
			s := &t.Folded
			if s.Failed++; s.Failed == 1 {
				s.First, s.Failure = t.Base, t.outcome(t.Base).Failure
			}
			t.failed = t.failed[1:]
		default:
			return
		}
	}
}

// outcome returns what an item left, nil for nothing.
func (t *fanOut) outcome(i int) *Outcome {
	if t.Outcomes == nil {
		return nil
	}
	return &t.Outcomes[i-t.Base]
}

// shift forgets the item in front.
func (t *fanOut) shift() {
	t.Folded.Attempts += int(t.Attempts[0])
	t.Base++
	t.Phases, t.Attempts = t.Phases[1:], t.Attempts[1:]
	if t.Outcomes != nil {
		t.Outcomes = t.Outcomes[1:]
	}
	t.setItems(t.Pull.Ahead[1:])
}

// failures is how many items failed.
func (t *fanOut) failures() int { return t.Folded.Failed + len(t.failed) }

// firstFailed is the first item that failed.
func (t *fanOut) firstFailed() int {
	if i := t.fatalItem(); i >= 0 {
		return i
	}
	if t.Folded.Failed > 0 {
		return t.Folded.First
	}
	return t.failed[0]
}

// firstFailure is why the node failed, nil if it did not: the rows cannot be read, or an
// item failed.
func (t *fanOut) firstFailure() *core.Failure {
	switch {
	case t.Pull.Failure != nil:
		return t.Pull.Failure
	case t.fatalItem() >= 0:
		return t.outcome(t.fatalItem()).Failure
	case t.Folded.Failed > 0:
		return t.Folded.Failure
	case len(t.failed) == 0:
		return t.fault
	}
	return t.outcome(t.failed[0]).Failure
}

// fatal is the first item that ended the run, -1 for none: the others may have been
// cancelled by that.
func (t *fanOut) fatalItem() int {
	if !t.f.FailedRun {
		return -1
	}
	i := slices.IndexFunc(t.failed, func(i int) bool { return failsRun(t.outcome(i)) })
	if i < 0 {
		return -1
	}
	return t.failed[i]
}

// counted is how many items there are. Of a stream that was given up only those that
// count are known.
func (t *fanOut) countedItems() int {
	if t.n.Puller != nil {
		return t.firstVoid()
	}
	return t.knownItems()
}

// mayPull reports whether more items are wanted: about as many as one pull brings
// wait while others run.
func (t *fanOut) mayPull() bool {
	p := &t.Pull
	if t.n.Puller == nil || p.Open || p.Ended || t.f.Stopped || t.f.v[t.v].Phase != running || t.cutoff() < math.MaxInt {
		return false
	}
	waiting := t.knownItems() - t.Next + len(t.Due)
	full := len(t.Phases) >= maxOpenItems && !t.f.p.Vertices[t.v].Refuses
	return !full && waiting < max(p.Batch, t.n.Concurrency)
}

func (t *fanOut) pullID() ID {
	return ID{Frame: t.f.ID, Node: t.n.Index, From: int32(t.knownItems()), To: int32(t.knownItems() + 1)}
}

// pullItems asks for items and reports whether it could. Reading has a slot of its
// own beside those of the items.
func (t *fanOut) pullItems() bool {
	call := t.f.call(t.n.Puller, nil)
	if failure := t.f.unreadable(t.n.Puller, call, nil); failure != nil {
		t.pullFailed(failure)
		t.check()
		return false
	}
	t.openPull(call)
	return true
}

func (t *fanOut) openPull(call *Call) {
	t.Pull.Open = true
	t.group.limit++
	t.f.run(t.n.Puller, t.pullID(), call, &t.group)
}

// pullFailed ends the items: those that were read go their way, and the node fails in
// the end.
func (t *fanOut) pullFailed(failure *core.Failure) {
	t.Pull.Ended, t.Pull.Failure = true, failure
	if (t.n.Policy == plan.PolicyFailRun || failure.FailsRun) && !t.f.Stopped {
		t.f.FailedRun = true
		t.f.stop()
	}
}

// pulledItems takes in items, the end of the stream, or a failure.
func (t *fanOut) pulledItems(e *Event) bool {
	if !t.Pull.Open || e.Kind != Finished || e.ID != t.pullID() {
		return false
	}
	t.f.handlerEnded(&t.group)
	t.Pull.Open = false
	t.group.limit--
	o := &e.Outcome
	list, _ := o.Output.([]any)
	switch {
	case t.f.Stopped || t.f.v[t.v].Phase == beingCancelled || t.cutoff() < math.MaxInt: // nobody wants them any more
	case o.Failure != nil:
		t.pullFailed(o.Failure)
	case len(list) > 0:
		t.Pull.Batch = len(list)
		t.grow(list)
	default:
		t.Pull.Ended, t.Pull.Read, t.Pull.Partial = true, o.Writes, o.Status == core.PartialSuccess
	}
	t.check()
	return true
}

// grow adds items.
func (t *fanOut) grow(list []any) {
	n := len(list)
	t.setItems(append(t.Pull.Ahead, list...))
	t.Phases = append(t.Phases, make([]phase, n)...)
	t.Attempts = append(t.Attempts, make([]uint8, n)...)
	if t.Outcomes != nil {
		t.Outcomes = append(t.Outcomes, make([]Outcome, n)...)
	}
}

// dropAhead forgets items of a stream that were read ahead and never began: they are no
// items of a run that was stopped.
func (t *fanOut) dropUnstarted() {
	n := t.Next - t.Base
	if t.n.Puller == nil || n >= len(t.Phases) {
		return
	}
	t.Phases, t.Attempts = t.Phases[:n], t.Attempts[:n]
	if t.Outcomes != nil {
		t.Outcomes = t.Outcomes[:n]
	}
	t.setItems(t.Pull.Ahead[:n])
}

// hold sets the items that are here.
func (t *fanOut) setItems(list []any) {
	t.Pull.Ahead, t.items = list, Items{list: list, n: len(list), base: t.Base}
}

// callFor is what the handler of a range is given: of a stream with the items of the
// range alone, since the others come and go.
func (t *fanOut) callFor(s chunk.Span) *Call {
	if t.n.Puller == nil {
		return t.call
	}
	call := *t.call
	from, to := int(s.From)-t.Base, int(s.To)-t.Base
	call.Items = Items{list: t.items.list[from:to:to], n: to - from, base: int(s.From)}
	return &call
}
