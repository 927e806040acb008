package machine

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// puller is the reading of a stream by a pipeline or fan-out. For a pipeline it holds
// the rows between the driver, which fetches them one after the other, and the pass
// that takes them. One row more than there are passes under way is fetched ahead, so
// that reading and working overlap and memory stays flat.
type streamReader struct {
	Rows  int    `json:"rows,omitempty"`  // fetched so far
	Taken int    `json:"taken,omitempty"` // elements of the stream in these rows
	Ahead values `json:"ahead,omitempty"` // rows that no pass has taken; of a fan-out, all items that are here
	Open  bool   `json:"open,omitempty"`  // a row is being fetched
	Ended bool   `json:"ended,omitempty"` // the stream has ended, or failed
	Read  writes `json:"read,omitempty"`

	// Of a fan-out:
	Batch   int           `json:"batch,omitempty"` // items that came last
	Partial bool          `json:"partial,omitempty"`
	Failure *core.Failure `json:"failure,omitempty"`
}

// take returns the next row.
func (p *streamReader) take() any {
	item := p.Ahead[0]
	p.Ahead[0] = nil
	p.Ahead = p.Ahead[1:]
	return item
}

// of returns what is known of a stream that was read to its end.
func (p *streamReader) of(field int32) any {
	for _, w := range p.Read {
		if w.Field == field {
			return w.Value
		}
	}
	return value.Missing
}

// mayPull reports whether a row is to be fetched.
func (t *unit) mayPull() bool {
	return t.u.Puller != nil && !t.Pull.Ended && !t.Pull.Open && !t.Ended && !t.f.Stopped &&
		len(t.Live)+len(t.Pull.Ahead) <= t.u.Concurrency
}

func (t *unit) pullID() ID {
	return ID{Frame: t.f.ID, Node: t.u.Members[0], From: int32(t.Pull.Rows), To: int32(t.Pull.Rows + 1)}
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
	t.Pull.Open = true
	at := *call
	at.Taken = t.Pull.Taken
	t.f.run(t.u.Puller, t.pullID(), &at, &t.group)
}

// pullFailed ends the rows: those before it go their way, and the pipeline fails in
// the end.
func (t *unit) pullFailed(failure *core.Failure) {
	t.Pull.Ended = true
	t.Failure, t.FailAt, t.Tolerated = failure, [2]int{t.Pull.Rows, 0}, false
	t.Reason = "failed"
}

// pulledRow takes in a row, the end of the stream, or a failure.
func (t *unit) pulledRow(e *Event) bool {
	if !t.Pull.Open || e.Kind != Finished || e.ID != t.pullID() {
		return false
	}
	t.f.handlerEnded(&t.group)
	t.Pull.Open = false
	o := &e.Outcome
	switch {
	case t.f.Stopped || t.f.v[t.v].Phase == beingCancelled:
	case o.Failure != nil:
		t.pullFailed(o.Failure)
	case o.HasOutput:
		t.Pull.Rows++
		t.Pull.Taken++
		if list, ok := o.Output.([]any); ok && t.u.Batch > 0 {
			t.Pull.Taken += len(list) - 1
		}
		t.Pull.Ahead = append(t.Pull.Ahead, o.Output)
	default:
		t.Pull.Ended, t.Pull.Read = true, o.Writes
		t.Partial = t.Partial || o.Status == core.PartialSuccess
	}
	t.check()
	t.checkCancelled()
	t.f.refresh(t.v)
	return true
}
