package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// finish is called when all items have ended. It merges their results, now or when its turn at a
// field that can reject writes comes.
func (t *fanOut) finish() {
	f := t.f
	f.v[t.v].Ended = f.m.now
	if f.p.Vertices[t.v].MayReject && !t.mayCommit() {
		f.v[t.v].Phase = committing
		return
	}
	t.merge()
}

// mayCommit reports whether the node is next in canonical order at every field that it writes and
// that can reject writes.
func (t *fanOut) mayCommit() bool {
	if t.n.Collect >= 0 && !t.f.mayCommit(t.v, []plan.Write{{Field: t.n.Collect}}) {
		return false
	}
	for k, w := range t.Results.writes {
		if w != nil && !t.f.mayCommit(t.v, []plan.Write{{Field: t.n.WriteFields[k]}}) {
			return false
		}
	}
	return true
}

func (t *fanOut) commit() {
	if t.mayCommit() {
		t.merge()
	}
}

// merge commits the items in item order, each in its own transaction.
func (t *fanOut) merge() {
	f := t.f
	x := &f.v[t.v]
	x.Phase = running
	sum := &t.Folded // contains the folded items of a stream; empty for an array
	tried := t.rejections()
	n := t.Results.len
	if t.mergesAtOnce(tried) {
		n = 0
	}
	for at := range n {
		i := t.Base + at
		if i >= t.firstVoid() { // a rejected item has failed, which may move the cutoff
			break
		}
		if t.Results.outcome(at).Failure != nil {
			continue
		}
		open := t.endOpen(i)
		if err := tried.rejected[i]; err != nil {
			t.Results.fail(at, &core.Failure{Class: core.ClassMerge, Message: err.Error(), Permanent: true, Cause: err})
			t.Phases[at] = failed
			at, _ := slices.BinarySearch(t.failed, i)
			t.failed = slices.Insert(t.failed, at, i)
		}
		o := t.Results.outcome(at)
		if o.Failure != nil {
			if open {
				t.emitItemEnd(i, o)
			}
			continue
		}
		sum.add(i, o)
		t.emitItemWrites(i, open)
		if t.n.Puller != nil {
			sum.addWrites(&t.Results, at)
		}
	}
	cut := t.firstVoid()
	for i := cut; i < t.knownItems(); i++ {
		t.emitVoidEnd(i, voidFailure())
	}
	t.dropVoidFailures()
	t.Details = nil
	tried.expect(f, t.v)
	if t.cutoff() < math.MaxInt { // how far the stream was read depends on timing
		t.Pull.Read, t.Pull.Partial, t.Pull.Failure = nil, false, nil
	}
	list := t.collectedWrite(cut)
	f.readWritten(t.n.Index, &t.Pull, func(field int32) bool { return slices.Contains(t.n.WriteFields, field) })
	f.setStopping(t.v, t.firstFailure())
	f.contribute(t.v, func(field int32) (any, []any) {
		if field == t.n.Collect {
			return list, nil
		}
		if one, many := t.writesOf(field, cut); many != nil || !value.IsMissing(one) {
			return one, many
		}
		return t.Pull.written(field), nil
	})
	t.Results.writes = nil // the ledger has them
	t.sendOutputs(cut)
	t.conclude(sum.Partial || t.Pull.Partial)
	sum.Deltas, sum.Sent = nil, nil // they are in the frame by now
	if t.n.Puller != nil {
		t.Pull.Read = nil
		t.setItems(nil)
	}
}

// mergesAtOnce reports whether nothing has to be done for single items.
func (t *fanOut) mergesAtOnce(tried *trial) bool {
	return t.Results.rest == nil && t.n.Puller == nil && len(tried.columns) == 0 && !t.f.m.opts.Events
}

// writesOf returns what the items before a cutoff have written to a field, as Column.Resolve takes
// it.
func (t *fanOut) writesOf(field int32, cut int) (one any, many []any) {
	if t.n.Puller != nil {
		return value.Missing, t.Folded.Deltas[field]
	}
	return t.Results.take(field, cut)
}

// collectedWrite returns the list of the results of the items before a cutoff as one write, Missing
// if it cannot be written.
func (t *fanOut) collectedWrite(cut int) any {
	f, at := t.f, t.n.Collect
	if at < 0 || t.ownFailure != nil {
		return value.Missing
	}
	_, results := t.writesOf(at, cut)
	write := plan.Write{Field: at, Value: f.p.Schema.Fields[at].Collect(results)}
	if err := f.rejection(write); err != nil {
		t.ownFailure = &core.Failure{Class: core.ClassMerge, Message: err.Error(), Permanent: true, Cause: err}
		return value.Missing
	}
	f.emitWrites(f.nodeNote(0, t.n), []plan.Write{write})
	f.wrote(ID{Frame: f.ID, Node: t.n.Index}, []plan.Write{write})
	return write.Value
}

// emitItemWrites emits the events of the writes of an item, after the event of its end if end is
// set. The collected list is a write of the node and has a separate event.
func (t *fanOut) emitItemWrites(i int, end bool) {
	if !t.f.m.opts.Events {
		return
	}
	e := t.f.nodeNote(0, t.n)
	e.item, e.attempt = core.Nth(i), t.attempt(i)
	if o := t.outcome(i); end && plainSuccess(o) {
		e.what, e.status = itemFinished, core.Success
	} else if end {
		t.emitItemEnd(i, o)
	}
	writes := t.Results.appendWrites(nil, i-t.Base)
	t.f.wrote(item{t, i}.id(), writes)
	t.f.emitWrites(e, slices.DeleteFunc(writes, func(w plan.Write) bool { return w.Field == t.n.Collect }))
}

// emitVoidEnd emits the end of an item that began and does not count, because listeners wait for
// it: the item is at a wait, between two attempts, or waits for the merge.
func (t *fanOut) emitVoidEnd(i int, why *core.Failure) {
	p := t.Phases[i-t.Base]
	if p == running || p == backingOff || p == waiting && t.attempt(i) > 0 || p == succeeded && t.endOpen(i) {
		t.emitItemEnd(i, &Outcome{Failure: why})
	}
}

func voidFailure() *core.Failure {
	return &core.Failure{Class: core.ClassCanceled, Message: "given up, because too many items before it failed", Permanent: true}
}

// dropVoidFailures removes the failures of items that do not count.
func (t *fanOut) dropVoidFailures() {
	cut := t.firstVoid()
	t.failed = slices.DeleteFunc(t.failed, func(i int) bool { return i >= cut })
}

// sendOutputs makes the list of the outputs of the items the output of the node.
func (t *fanOut) sendOutputs(cut int) {
	if sent := t.Folded.Sent; len(sent) > 0 {
		list := make([]any, cut)
		copy(list, sent)
		t.f.setOutput(t.n.Index, list)
	}
}

// conclude resolves the vertex.
func (t *fanOut) conclude(partial bool) {
	f := t.f
	first := t.firstFailure()
	if first == nil {
		status := core.Success
		if partial {
			status = core.PartialSuccess
		}
		f.setChange(t.n.Index, t.Folded.Changes.text("item"))
		f.emitFinished(t.v, status)
		f.resolve(t.v, status)
		return
	}
	fail := *first
	fail.Message, fail.Cause = t.failureText(first), first
	f.setFailure(t.v, &fail)
	f.emitFailed(t.v, &fail)
	f.endFailed(t.v)
}

// failureText returns the message of the failure of the node. The failure of a nested run already
// contains the item, in the path of its node.
func (t *fanOut) failureText(first *core.Failure) string {
	n := t.failures()
	some := fmt.Sprintf("%d of %d items failed", n, t.knownItems())
	if t.n.Puller != nil && t.cutoff() < math.MaxInt { // the total is unknown
		some = fmt.Sprintf("%d items failed", n)
	}
	if t.ownFailure != nil && t.ownFailure.Class == core.ClassMerge {
		some += ", and " + t.ownFailure.Message
	}
	if t.unstartedAtStop > 0 {
		some += fmt.Sprintf(", %d did not begin", t.unstartedAtStop)
	}
	switch {
	case first == t.ownFailure && t.unstartedAtStop > 0:
		return fmt.Sprintf("%s (%d of %d items did not begin)", first.Message, t.unstartedAtStop, t.knownItems())
	case first == t.ownFailure:
		return first.Message
	case first == t.Pull.Failure && n > 0 && !t.f.Stopped: // when stopped, most items were cancelled
		return fmt.Sprintf("%s (%s before)", first.Message, some)
	case first == t.Pull.Failure, first.Node != "" && n == 1:
		return first.Message
	case first.Node != "":
		return fmt.Sprintf("%s (%s)", first.Message, some)
	case n > 1 || t.unstartedAtStop > 0 || t.ownFailure != nil:
		return fmt.Sprintf("%s, first item %d: %s", some, t.firstFailed(), first.Message)
	}
	return fmt.Sprintf("item %d: %s", t.firstFailed(), first.Message)
}
