package machine

import (
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine/internal/chunk"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// maxOpenItems limits the items in memory of a fan-out over a stream, however long the first of
// them takes.
const maxOpenItems = 16_384

// foldedItems is the sum of the items of a stream that have ended and are no longer in memory. It
// keeps memory from growing with the stream.
type foldedItems struct {
	Attempts int              `json:"attempts,omitempty"`
	Failed   int              `json:"failed,omitempty"`
	First    int              `json:"first,omitempty"`   // the first item that failed, if Failed > 0
	Failure  *core.Failure    `json:"failure,omitempty"` // of First
	Partial  bool             `json:"partial,omitempty"`
	Changes  changes          `json:"changes,omitzero"`
	Deltas   map[int32]values `json:"deltas,omitempty"` // by field, in item order
	Sent     values           `json:"sent,omitempty"`   // by item; nil until an item sends something
}

// addWrites adds the writes of an item that succeeded.
func (s *foldedItems) addWrites(r *itemResults, at int) {
	for k, w := range r.writes {
		if w != nil && w.Wrote(at) {
			if s.Deltas == nil {
				s.Deltas = map[int32]values{}
			}
			field := r.n.WriteFields[k]
			s.Deltas[field] = append(s.Deltas[field], w.At(at))
		}
	}
}

// add adds the rest of the outcome of an item that succeeded.
func (s *foldedItems) add(i int, o *Outcome) {
	s.Partial = s.Partial || o.Status == core.PartialSuccess
	s.Changes.add(i, o.Why)
	if o.isCached() {
		s.Attempts--
	}
	if o.HasOutput {
		for len(s.Sent) < i {
			s.Sent = append(s.Sent, nil)
		}
		s.Sent = append(s.Sent, o.Output)
	}
}

// foldEnded folds the leading items that have ended. It does nothing for arrays, whose items stay
// in memory anyway, and for nodes whose merge may reject items, which needs all of them.
func (t *fanOut) foldEnded() {
	if t.n.Puller == nil || t.f.Stopped || t.f.p.Vertices[t.v].MayReject {
		return
	}
	// The failure that exceeded max_failures stays, because it determines the cutoff.
	for n := t.cutoff(); len(t.Phases) > 0 && t.Base < n-1; t.shift() {
		switch t.Phases[0] {
		case succeeded:
			t.emitItemWrites(t.Base, false)
			t.Folded.add(t.Base, t.outcome(t.Base))
			t.Folded.addWrites(&t.Results, 0)
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

// outcome returns the outcome of an item without its writes.
func (t *fanOut) outcome(i int) *Outcome { return t.Results.outcome(i - t.Base) }

// shift removes the first item in memory.
func (t *fanOut) shift() {
	t.Folded.Attempts += int(t.Attempts[0])
	t.Base++
	t.Phases, t.Attempts = t.Phases[1:], t.Attempts[1:]
	t.Results.resize(1, t.Results.len)
	t.setItems(t.Pull.Ahead[1:])
}

// failures returns the number of failed items.
func (t *fanOut) failures() int { return t.Folded.Failed + len(t.failed) }

// firstFailed returns the item whose failure is reported.
func (t *fanOut) firstFailed() int {
	if i := t.fatalItem(); i >= 0 {
		return i
	}
	if t.Folded.Failed > 0 {
		return t.Folded.First
	}
	return t.failed[0]
}

// firstFailure returns the failure of the node, nil if it did not fail.
func (t *fanOut) firstFailure() *core.Failure {
	switch {
	case t.Pull.Failure != nil:
		return t.Pull.Failure
	case t.fatalItem() >= 0:
		return t.outcome(t.fatalItem()).Failure
	case t.Folded.Failed > 0:
		return t.Folded.Failure
	case len(t.failed) == 0:
		return t.ownFailure
	}
	return t.outcome(t.failed[0]).Failure
}

// fatalItem returns the first item that stopped the run, or -1 if there is none. The failures of
// other items may be cancellations caused by it.
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

// countedItems returns the number of items. If a stream was not read to its end, only the items
// that count are known.
func (t *fanOut) countedItems() int {
	if t.n.Puller != nil {
		return t.firstVoid()
	}
	return t.knownItems()
}

// mayPull reports whether more items should be read: while items run, about as many wait as one
// read returns.
func (t *fanOut) mayPull() bool {
	p := &t.Pull
	if t.n.Puller == nil || p.Open || p.Ended || t.f.Stopped || t.f.v[t.v].Phase != running || t.cutoff() < math.MaxInt {
		return false
	}
	waiting := t.knownItems() - t.Next + len(t.Due)
	full := len(t.Phases) >= maxOpenItems && !t.f.p.Vertices[t.v].MayReject
	return !full && waiting < max(p.Batch, t.n.Concurrency)
}

func (t *fanOut) pullID() ID {
	return ID{Frame: t.f.ID, Node: t.n.Index, From: int32(t.knownItems()), To: int32(t.knownItems() + 1)}
}

// pullItems issues the command to read items, and reports whether it did. The read has a slot in
// addition to the slots of the items.
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

// pullFailed ends the items after a failed read. Items that were read are processed, and then the
// node fails.
func (t *fanOut) pullFailed(failure *core.Failure) {
	t.Pull.Ended, t.Pull.Failure = true, failure
	if (t.n.Policy == plan.PolicyFailRun || failure.FailsRun) && !t.f.Stopped {
		t.f.FailedRun = true
		t.f.stop()
	}
}

// pulledItems handles items, the end of the stream, or a failed read.
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
	case t.f.Stopped || t.f.v[t.v].Phase == beingCancelled || t.cutoff() < math.MaxInt: // the items are no longer needed
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

// grow adds items that were read.
func (t *fanOut) grow(list []any) {
	n := len(list)
	t.setItems(append(t.Pull.Ahead, list...))
	t.Phases = append(t.Phases, make([]phase, n)...)
	t.Attempts = append(t.Attempts, make([]uint8, n)...)
	t.Results.resize(0, len(t.Phases))
}

// dropUnstarted removes items of a stream that were read ahead and never began. They do not count
// as items of a stopped run.
func (t *fanOut) dropUnstarted() {
	n := t.Next - t.Base
	for n > 0 && n <= len(t.Phases) && t.Phases[n-1] == waiting && t.Attempts[n-1] == 0 { // handed back
		n--
	}
	if t.n.Puller == nil || n >= len(t.Phases) {
		return
	}
	t.Phases, t.Attempts = t.Phases[:n], t.Attempts[:n]
	t.Results.resize(0, n)
	t.setItems(t.Pull.Ahead[:n])
}

// setItems sets the items in memory.
func (t *fanOut) setItems(list []any) {
	t.Pull.Ahead, t.items = list, Items{list: list, n: len(list), base: t.Base}
}

// callFor returns the call for a range. For a stream it contains only the items of the range.
func (t *fanOut) callFor(s chunk.Span) *Call {
	if t.n.Puller == nil {
		return t.call
	}
	call := t.call.own()
	from, to := int(s.From)-t.Base, int(s.To)-t.Base
	call.Items = Items{list: t.items.list[from:to:to], n: to - from, base: int(s.From)}
	return call
}
