package scheduler

import (
	"sync/atomic"
	"time"

	"github.com/wavefold/wavefold/scheduler/machine"
)

// cursor is the position of a worker in its range: the next item in the low half, the end of the
// range in the high half. The worker claims items without a lock. Other goroutines that hold the
// run's lock may take away items that it has not begun.
type cursor struct{ v atomic.Uint64 }

func split(v uint64) (next, to int32) { return int32(v), int32(v >> 32) }

func join(next, to int32) uint64 { return uint64(uint32(next)) | uint64(to)<<32 }

func (c *cursor) set(from, to int32) { c.v.Store(join(from, to)) }

// claim returns the next item of the worker; ok is false if there is none.
func (c *cursor) claim() (item int32, ok bool) {
	next, to := split(c.v.Add(1))
	return next - 1, next <= to
}

// end returns the end of the range. It does not change once claim has found no item.
func (c *cursor) end() int32 {
	_, to := split(c.v.Load())
	return to
}

// yield takes away the items from least on that have not begun. It returns the end of the remaining
// range.
func (c *cursor) yield(least int32) int32 {
	for {
		v := c.v.Load()
		next, to := split(v)
		end := max(next, least)
		if end >= to {
			return to
		}
		if c.v.CompareAndSwap(v, join(next, end)) {
			return end
		}
	}
}

// seal is yield that also returns the item at which the worker is: one before the range if it has
// not begun, the end if all are done.
func (c *cursor) seal(least int32) (at, to int32) {
	to = c.yield(least)
	next, _ := split(c.v.Load())
	return next - 1, to
}

// watchRange takes away the items of a worker's range that have not begun after slowRange, so that
// the worker answers for the others. The clock is not read for each item, because that can take longer
// than the item. unwatchRange ends the watch.
func (r *run) watchRange(w *worker) {
	r.calls.Add(1)
	if w.slow != nil {
		w.slow.Reset(slowRange)
		return
	}
	w.slow = time.AfterFunc(slowRange, func() {
		defer r.calls.Done()
		r.mu.Lock()
		defer r.mu.Unlock()
		if w.busy && w.cmd.ID.To > 0 { // if the worker has just begun another range, that one is cut, which does no harm
			w.items.yield(w.cmd.ID.From + 1)
		}
	})
}

func (r *run) unwatchRange(w *worker) {
	if w.slow.Stop() {
		r.calls.Done()
	}
}

// yield takes the items of a range that have not begun away from its worker, or from the queue, and
// reports that to the machine.
func (r *run) yield(id machine.ID) {
	same := func(c *machine.Command) bool {
		return c.ID.Frame == id.Frame && c.ID.Node == id.Node && c.ID.From == id.From && c.ID.Attempt == id.Attempt
	}
	for _, w := range r.workers {
		if w.busy && !w.abandoned && same(&w.cmd) {
			id.To = w.items.yield(id.From + 1)
			r.yielded(&w.cmd, id)
			return
		}
	}
	for i := range r.queue[r.head:] {
		if c := &r.queue[r.head+i]; same(c) {
			c.ID.To = id.From + 1
			r.yielded(c, c.ID)
			return
		}
	}
}

// yielded reports to the machine that the range of a command has become shorter and ends at id.To.
func (r *run) yielded(c *machine.Command, id machine.ID) {
	r.tell(c, &machine.Event{Kind: machine.Yielded, ID: id, Ended: r.now()}, nil)
	r.again = true
}

// giveUp cancels the items of a node from id.From on, or all executions of a node without items,
// and checks that their handlers return. Items that have not begun are never begun.
func (r *run) giveUp(id machine.ID) {
	behind := func(c *machine.Command) bool {
		return c.ID.Frame == id.Frame && c.ID.Node == id.Node && (c.ID.To > id.From || c.ID.To == 0)
	}
	var busy []*worker
	for _, w := range r.workers {
		if !w.busy || w.abandoned || !behind(&w.cmd) {
			continue
		}
		if w.cmd.Node.Source == nil { // which includes nodes that fetch rows
			w.cancel()
			w.givenUp = true
			busy = append(busy, w)
			continue
		}
		at, to := w.items.seal(max(id.From, w.cmd.ID.From+1))
		if to < w.cmd.ID.To {
			r.yielded(&w.cmd, machine.ID{Frame: id.Frame, Node: id.Node, From: w.cmd.ID.From, To: to, Attempt: w.cmd.ID.Attempt})
		}
		if max(at, w.cmd.ID.From) >= id.From {
			w.cancel()
			w.givenUp = true
			busy = append(busy, w)
		}
	}
	r.drop(func(c *machine.Command) bool { return behind(c) && c.ID.From >= id.From })
	for i := range r.queue[r.head:] {
		if c := &r.queue[r.head+i]; behind(c) {
			c.ID.To = id.From
			r.yielded(c, c.ID)
		}
	}
	r.expect(id, busy)
}
