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
const mostOpen = 16_384

// settled is the sum of items that ended and will not be looked at again.
type settled struct {
	attempts int
	failed   int
	first    int           // the first that failed, if there is one
	failure  *core.Failure // of the first
	partial  bool
	changes  changes
	deltas   map[int32][]any // by field, in item order
	sent     []any           // by item, nil until one sends something
}

// keep adds what an item that ended well wrote and sent.
func (s *settled) keep(i int, o *Outcome) {
	s.partial = s.partial || o.Status == core.PartialSuccess
	s.changes.add(i, o.Why)
	for _, w := range o.Writes {
		if s.deltas == nil {
			s.deltas = map[int32][]any{}
		}
		s.deltas[w.Field] = append(s.deltas[w.Field], w.Value)
	}
	if o.HasOutput {
		for len(s.sent) < i {
			s.sent = append(s.sent, nil)
		}
		s.sent = append(s.sent, o.Output)
	}
}

// settle sums up the items in front that have ended. A merge that can refuse an
// item needs to see all of them, and those of an array are there anyway.
func (t *fanOut) settle() {
	if t.n.Puller == nil || t.f.stopped || t.f.p.Vertices[t.v].Refuses {
		return
	}
	// The failure that was one too many stays: it marks the end.
	for n := t.end(); len(t.phases) > 0 && t.base < n-1; t.shift() {
		switch t.phases[0] {
		case succeeded:
			if o := t.outcome(t.base); o != nil {
				t.settled.keep(t.base, o)
				t.tellWrites(t.base, o)
			}
		case failed:
			s := &t.settled
			if s.failed++; s.failed == 1 {
				s.first, s.failure = t.base, t.outcome(t.base).Failure
			}
			t.failed = t.failed[1:]
		default:
			return
		}
	}
}

// outcome returns what an item left, nil for nothing.
func (t *fanOut) outcome(i int) *Outcome {
	if t.outcomes == nil {
		return nil
	}
	return &t.outcomes[i-t.base]
}

// shift forgets the item in front.
func (t *fanOut) shift() {
	t.settled.attempts += int(t.attempts[0])
	t.base++
	t.phases, t.attempts = t.phases[1:], t.attempts[1:]
	if t.outcomes != nil {
		t.outcomes = t.outcomes[1:]
	}
	t.hold(t.items.list[1:])
}

// failures is how many items failed.
func (t *fanOut) failures() int { return t.settled.failed + len(t.failed) }

// firstFailed is the first item that failed.
func (t *fanOut) firstFailed() int {
	if i := t.fatal(); i >= 0 {
		return i
	}
	if t.settled.failed > 0 {
		return t.settled.first
	}
	return t.failed[0]
}

// firstFailure is why the node failed, nil if it did not: the rows cannot be read, or an
// item failed.
func (t *fanOut) firstFailure() *core.Failure {
	switch {
	case t.pull.failure != nil:
		return t.pull.failure
	case t.fatal() >= 0:
		return t.outcome(t.fatal()).Failure
	case t.settled.failed > 0:
		return t.settled.failure
	case len(t.failed) == 0:
		return t.fault
	}
	return t.outcome(t.failed[0]).Failure
}

// fatal is the first item that ended the run, -1 for none: the others may have been
// cancelled by that.
func (t *fanOut) fatal() int {
	if !t.f.failedRun {
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
func (t *fanOut) counted() int {
	if t.n.Puller != nil {
		return t.cut()
	}
	return t.known()
}

// mayPull reports whether more items are wanted: about as many as one pull brings
// wait while others run.
func (t *fanOut) mayPull() bool {
	p := &t.pull
	if t.n.Puller == nil || p.open || p.ended || t.f.stopped || t.f.v[t.v].phase != running || t.end() < math.MaxInt {
		return false
	}
	waiting := t.known() - t.next + len(t.due)
	full := len(t.phases) >= mostOpen && !t.f.p.Vertices[t.v].Refuses
	return !full && waiting < max(p.batch, t.n.Concurrency)
}

func (t *fanOut) pullID() ID {
	return ID{Frame: t.f.id, Node: t.n.Index, From: int32(t.known()), To: int32(t.known() + 1)}
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
	t.pull.open = true
	t.group.limit++
	t.f.run(t.n.Puller, t.pullID(), call, &t.group)
}

// pullFailed ends the items: those that were read go their way, and the node fails in
// the end.
func (t *fanOut) pullFailed(failure *core.Failure) {
	t.pull.ended, t.pull.failure = true, failure
	if (t.n.Policy == plan.PolicyFailRun || failure.FailsRun) && !t.f.stopped {
		t.f.failedRun = true
		t.f.stop()
	}
}

// pulledItems takes in items, the end of the stream, or a failure.
func (t *fanOut) pulledItems(e *Event) bool {
	if !t.pull.open || e.Kind != Finished || e.ID != t.pullID() {
		return false
	}
	t.f.landed(&t.group)
	t.pull.open = false
	t.group.limit--
	o := &e.Outcome
	list, _ := o.Output.([]any)
	switch {
	case t.f.stopped || t.f.v[t.v].phase == losing || t.end() < math.MaxInt: // nobody wants them any more
	case o.Failure != nil:
		t.pullFailed(o.Failure)
	case len(list) > 0:
		t.pull.batch = len(list)
		t.grow(list)
	default:
		t.pull.ended, t.pull.read, t.pull.partial = true, o.Writes, o.Status == core.PartialSuccess
	}
	t.check()
	return true
}

// grow adds items.
func (t *fanOut) grow(list []any) {
	n := len(list)
	t.hold(append(t.items.list, list...))
	t.phases = append(t.phases, make([]phase, n)...)
	t.attempts = append(t.attempts, make([]uint8, n)...)
	if t.outcomes != nil {
		t.outcomes = append(t.outcomes, make([]Outcome, n)...)
	}
}

// dropAhead forgets items of a stream that were read ahead and never began: they are no
// items of a run that was stopped.
func (t *fanOut) dropAhead() {
	n := t.next - t.base
	if t.n.Puller == nil || n >= len(t.phases) {
		return
	}
	t.phases, t.attempts = t.phases[:n], t.attempts[:n]
	if t.outcomes != nil {
		t.outcomes = t.outcomes[:n]
	}
	t.hold(t.items.list[:n])
}

// hold sets the items that are here.
func (t *fanOut) hold(list []any) { t.items = Items{list: list, n: len(list), base: t.base} }

// callFor is what the handler of a range is given: of a stream with the items of the
// range alone, since the others come and go.
func (t *fanOut) callFor(s chunk.Span) *Call {
	if t.n.Puller == nil {
		return t.call
	}
	call := *t.call
	from, to := int(s.From)-t.base, int(s.To)-t.base
	call.Items = Items{list: t.items.list[from:to:to], n: to - from, base: int(s.From)}
	return &call
}
