package machine

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// puller is the reading of a stream by a pipeline or fan-out. For a pipeline it holds
// the rows between the driver, which fetches them one after the other, and the pass
// that takes them. One row more than there are passes under way is fetched ahead, so
// that reading and working overlap and memory stays flat.
type puller struct {
	rows  int // fetched so far
	taken int // elements of the stream in these rows
	ahead []any
	open  bool // a row is being fetched
	ended bool // the stream has ended, or failed
	read  []plan.Write

	// Of a fan-out:
	batch   int // items that came last
	partial bool
	failure *core.Failure
}

// take returns the next row.
func (p *puller) take() any {
	item := p.ahead[0]
	p.ahead[0] = nil
	p.ahead = p.ahead[1:]
	return item
}

// of returns what is known of a stream that was read to its end.
func (p *puller) of(field int32) any {
	for _, w := range p.read {
		if w.Field == field {
			return w.Value
		}
	}
	return core.Missing
}

// mayPull reports whether a row is to be fetched.
func (t *unit) mayPull() bool {
	return t.u.Puller != nil && !t.pull.ended && !t.pull.open && !t.ended && !t.f.stopped &&
		len(t.live)+len(t.pull.ahead) <= t.u.Concurrency
}

func (t *unit) pullID() ID {
	return ID{Frame: t.f.id, Node: t.u.Members[0], From: int32(t.pull.rows), To: int32(t.pull.rows + 1)}
}

// pullRow asks for the next row and reports whether it could. Like any handler,
// reading holds a slot.
func (t *unit) pullRow() bool {
	call := t.f.call(t.u.Puller, nil)
	if failure := t.f.unreadable(t.u.Puller, call, nil); failure != nil {
		t.pullFailed(failure)
		t.check()
		return false
	}
	t.openPull(call)
	return true
}

func (t *unit) openPull(call *Call) {
	t.pull.open = true
	at := *call
	at.Taken = t.pull.taken
	t.f.run(t.u.Puller, t.pullID(), &at, &t.group)
}

// pullFailed ends the rows: those before it go their way, and the pipeline fails in
// the end.
func (t *unit) pullFailed(failure *core.Failure) {
	t.pull.ended = true
	t.failure, t.failAt, t.ranAll = failure, [2]int{t.pull.rows, 0}, false
	t.reason = "failed"
}

// pulledRow takes in a row, the end of the stream, or a failure.
func (t *unit) pulledRow(e *Event) bool {
	if !t.pull.open || e.Kind != Finished || e.ID != t.pullID() {
		return false
	}
	t.f.landed(&t.group)
	t.pull.open = false
	o := &e.Outcome
	switch {
	case t.f.stopped || t.f.v[t.v].phase == losing:
	case o.Failure != nil:
		t.pullFailed(o.Failure)
	case o.HasOutput:
		t.pull.rows++
		t.pull.taken++
		if list, ok := o.Output.([]any); ok && t.u.Batch > 0 {
			t.pull.taken += len(list) - 1
		}
		t.pull.ahead = append(t.pull.ahead, o.Output)
	default:
		t.pull.ended, t.pull.read = true, o.Writes
		t.partial = t.partial || o.Status == core.PartialSuccess
	}
	t.check()
	t.checkLost()
	t.f.refresh(t.v)
	return true
}
