package machine

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// streamReader reads a stream for a pipeline or fan-out. For a pipeline it holds the rows that
// the driver has read, one at a time, until a pass takes them. It reads one row more than passes
// are live, so that reading and processing overlap and memory stays constant.
type streamReader struct {
	Rows  int    `json:"rows,omitempty"`  // rows read so far
	Taken int    `json:"taken,omitempty"` // elements of the stream in these rows
	Ahead values `json:"ahead,omitempty"` // rows that no pass has taken; for a fan-out, all items in memory
	Open  bool   `json:"open,omitempty"`  // a read is in flight
	Ended bool   `json:"ended,omitempty"` // the stream has ended, or failed
	Read  writes `json:"read,omitempty"`

	// The following fields are used by fan-outs.
	Batch   int           `json:"batch,omitempty"` // number of items of the latest read
	Partial bool          `json:"partial,omitempty"`
	Failure *core.Failure `json:"failure,omitempty"`
}

// take removes and returns the next row.
func (p *streamReader) take() any {
	item := p.Ahead[0]
	p.Ahead[0] = nil
	p.Ahead = p.Ahead[1:]
	return item
}

// written returns the value that reading the stream wrote to a field, Missing if the end was not
// reached.
func (p *streamReader) written(field int32) any {
	for _, w := range p.Read {
		if w.Field == field {
			return w.Value
		}
	}
	return value.Missing
}

// mayPull reports whether another row should be read.
func (t *unit) mayPull() bool {
	return t.u.Puller != nil && !t.Pull.Ended && !t.Pull.Open && !t.Ended && !t.f.Stopped &&
		len(t.Live)+len(t.Pull.Ahead) <= t.u.Concurrency
}

func (t *unit) pullID() ID {
	return ID{Frame: t.f.ID, Node: t.u.Members[0], From: int32(t.Pull.Rows), To: int32(t.Pull.Rows + 1)}
}

// pullRow issues the command to read the next row, and reports whether it did. Like any handler,
// the read holds a slot.
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
	call = call.own()
	call.Taken = t.Pull.Taken
	t.f.run(t.u.Puller, t.pullID(), call, &t.group)
}

// pullFailed ends the rows after a failed read. Rows that were read are processed, and then the
// pipeline fails.
func (t *unit) pullFailed(failure *core.Failure) {
	t.Pull.Ended = true
	t.Failure, t.FailAt, t.Tolerated = failure, [2]int{t.Pull.Rows, 0}, false
	t.Reason = "failed"
}

// pulledRow handles a row, the end of the stream, or a failed read.
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
