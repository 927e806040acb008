package scheduler

import (
	"context"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// timerKey names a timer by the event it ends with: TimerFired, Expired or, for the
// watch over the handlers of a cancelled frame, Cancel.
type timerKey struct {
	kind machine.EventKind
	id   machine.ID
}

// setTimer answers a timer or deadline command after its delay.
func (r *run) setTimer(kind machine.EventKind, id machine.ID, delay time.Duration) {
	key := timerKey{kind, id}
	r.addTimer(key, r.after(delay, func() {
		delete(r.timers, key)
		if !r.over {
			r.apply(&machine.Event{Kind: kind, ID: id, Ended: r.now()})
			r.nudge()
		}
	}))
}

// dropTimer stops a timer that may be set.
func (r *run) dropTimer(key timerKey) {
	if t, ok := r.timers[key]; ok {
		r.stopTimer(t)
		delete(r.timers, key)
	}
}

func (r *run) addTimer(key timerKey, t *time.Timer) {
	if r.timers == nil {
		r.timers = map[timerKey]*time.Timer{}
	}
	r.timers[key] = t
}

// stopTimers stops what is still set when the run is over.
func (r *run) stopTimers() {
	for key := range r.timers { // each on its own
		r.dropTimer(key)
	}
}

// enterFrame gives a worker the context of the nested frame that its command
// belongs to, if any. The context lives as long as one worker uses it; each
// calls leaveFrame at the end of its command.
func (r *run) enterFrame(w *worker) {
	frame := w.cmd.ID.Frame
	if frame == 0 {
		return
	}
	c := r.frames[frame]
	if c == nil {
		c = &frameContext{}
		c.ctx, c.cancel = context.WithCancel(r.ctx)
		if r.frames == nil {
			r.frames = map[int32]*frameContext{}
		}
		r.frames[frame] = c
	}
	c.users++
	w.frame = c
}

func (r *run) leaveFrame(w *worker) {
	if w.frame == nil {
		return
	}
	if w.frame.users--; w.frame.users == 0 {
		w.frame.cancel()
		delete(r.frames, w.cmd.ID.Frame)
	}
	w.frame = nil
}

// cancelFrame ends the contexts of a frame's handlers, and watches that they
// return.
func (r *run) cancelFrame(frame int32) {
	if frame == 0 {
		r.cancel()
	} else if c, ok := r.frames[frame]; ok {
		c.cancel()
	}
	r.dropQueued(frame)
	if r.alive == 0 {
		return
	}
	key := timerKey{machine.Cancel, machine.ID{Frame: frame}}
	r.addTimer(key, r.after(r.opts.Grace, func() {
		delete(r.timers, key)
		for _, w := range r.workers {
			if w.busy && w.cmd.ID.Frame == frame {
				r.abandon(w)
			}
		}
	}))
}

// dropQueued answers commands of a cancelled frame that no worker has begun.
func (r *run) dropQueued(frame int32) {
	kept := r.queue[:r.head]
	var dropped []machine.Command
	for _, c := range r.queue[r.head:] {
		if c.ID.Frame == frame {
			dropped = append(dropped, c)
		} else {
			kept = append(kept, c)
		}
	}
	r.queue = kept
	r.again = r.again || len(dropped) > 0
	for _, c := range dropped {
		r.m.Apply(failed(c, r.now(), &core.Failure{Class: core.ClassCanceled, Message: "cancelled before it started", Permanent: true}))
	}
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

// abandon answers for a handler that did not return within the grace period
// after its context ended. Whatever it returns later is dropped.
func (r *run) abandon(w *worker) {
	if r.over || w.abandoned || !w.busy {
		return
	}
	w.abandoned = true
	f := &core.Failure{Class: core.ClassTimeout, Permanent: true, Message: "ignored the end of its context for " + r.opts.Grace.String()}
	r.endWatch(w)
	r.apply(w.cutShort(r.now(), f))
	r.nudge()
}

// endWatch ends the watch over a worker's attempt, if there is one. The watch
// must not outlive an attempt that was given up: the run would wait for it.
func (r *run) endWatch(w *worker) {
	if w.watch != nil {
		r.stopTimer(w.watch)
		w.watch = nil
	}
}
