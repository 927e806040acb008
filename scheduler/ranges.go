package scheduler

import (
	"sync/atomic"

	"github.com/wavefold/wavefold/scheduler/machine"
)

// cursor is how far a worker has come with its range: the next item in the low
// half, the end of the range in the high one. The worker claims items without a
// lock; whoever holds the run's lock takes those away that it has not begun.
type cursor struct{ v atomic.Uint64 }

func split(v uint64) (next, to int32) { return int32(v), int32(v >> 32) }

func join(next, to int32) uint64 { return uint64(uint32(next)) | uint64(to)<<32 }

func (c *cursor) set(from, to int32) { c.v.Store(join(from, to)) }

// claim gives the worker its next item; ok is false when there is none.
func (c *cursor) claim() (item int32, ok bool) {
	next, to := split(c.v.Add(1))
	return next - 1, next <= to
}

// yield takes away the items from least on that have not begun. It returns the end
// of what is left.
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

// seal is yield, and tells the item the worker is at: one before the range when it
// has not begun, the end when it has done all of them.
func (c *cursor) seal(least int32) (at, to int32) {
	to = c.yield(least)
	next, _ := split(c.v.Load())
	return next - 1, to
}

// yield takes the items of a range that have not begun away from the worker that
// has it, or from the queue, and tells the machine.
func (r *run) yield(id machine.ID) {
	same := func(c *machine.Command) bool {
		return c.ID.Frame == id.Frame && c.ID.Node == id.Node && c.ID.From == id.From && c.ID.Attempt == id.Attempt
	}
	for _, w := range r.workers {
		if w.busy && !w.abandoned && same(&w.cmd) {
			id.To = w.items.yield(id.From + 1)
			r.yielded(id)
			return
		}
	}
	for i := range r.queue[r.head:] {
		if c := &r.queue[r.head+i]; same(c) {
			c.ID.To = id.From + 1
			r.yielded(c.ID)
			return
		}
	}
}

// yielded tells the machine that a range in flight goes up to id.To only.
func (r *run) yielded(id machine.ID) {
	r.m.Apply(&machine.Event{Kind: machine.Yielded, ID: id, Ended: r.now()})
	r.again = true
}

// giveUp cancels the items of a node from id.From on, or all that runs of one without
// items, and watches that they return. Those that have not begun do not begin any more.
func (r *run) giveUp(id machine.ID) {
	behind := func(c *machine.Command) bool {
		return c.ID.Frame == id.Frame && c.ID.Node == id.Node && (c.ID.To > id.From || c.ID.To == 0)
	}
	var busy []*worker
	for _, w := range r.workers {
		if !w.busy || w.abandoned || !behind(&w.cmd) {
			continue
		}
		if w.cmd.Node.Source == nil { // which is so of one that fetches rows, too
			w.cancel()
			busy = append(busy, w)
			continue
		}
		at, to := w.items.seal(max(id.From, w.cmd.ID.From+1))
		if to < w.cmd.ID.To {
			r.yielded(machine.ID{Frame: id.Frame, Node: id.Node, From: w.cmd.ID.From, To: to, Attempt: w.cmd.ID.Attempt})
		}
		if max(at, w.cmd.ID.From) >= id.From {
			w.cancel()
			busy = append(busy, w)
		}
	}
	r.drop(func(c *machine.Command) bool { return behind(c) && c.ID.From >= id.From })
	for i := range r.queue[r.head:] {
		if c := &r.queue[r.head+i]; behind(c) {
			c.ID.To = id.From
			r.yielded(c.ID)
		}
	}
	r.expect(id, busy)
}
