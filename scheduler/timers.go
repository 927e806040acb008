package scheduler

import (
	"context"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// timerKey identifies a timer by the event that it causes: TimerFired, Expired or, for the check
// that cancelled handlers return, Cancel.
type timerKey struct {
	kind machine.EventKind
	id   machine.ID
}

// setTimer answers a timer or deadline command after its delay. The answer contains the last sign
// of life.
func (r *run) setTimer(kind machine.EventKind, c *machine.Command, delay time.Duration) {
	if c.ID.IsWatch() {
		r.watched.Store(true)
	}
	if r.opts.Mock != nil && kind == machine.TimerFired { // waits and delays take no time
		r.skipped.Add(int64(delay))
		delay = 0
	}
	asked, key := *c, timerKey{kind, c.ID}
	r.addTimer(key, r.after(delay, func() {
		delete(r.timers, key)
		if !r.over {
			r.apply(&asked, &machine.Event{Kind: kind, ID: asked.ID, Started: r.sign.Load(), Ended: r.now()})
			r.nudge()
		}
	}))
}

// dropTimer stops a timer if it is set.
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

// stopTimers stops the remaining timers when the run is over.
func (r *run) stopTimers() {
	for key := range r.timers { // one by one
		r.dropTimer(key)
	}
	if r.queueWatch != nil {
		r.stopTimer(r.queueWatch)
	}
}

// enterFrame gives a worker the context of the nested frame of its command, if there is one. The
// context exists while any worker uses it; each worker calls leaveFrame at the end of its command.
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
			r.frames = map[int64]*frameContext{}
		}
		r.frames[frame] = c
	}
	c.users++
	w.frame = c
}

// contextOf returns the context of a worker's command.
func (r *run) contextOf(w *worker) context.Context {
	switch {
	case w.ctx != nil:
		return w.ctx
	case w.frame != nil:
		return w.frame.ctx
	}
	return r.ctx
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

// cancelFrame cancels the contexts of a frame's handlers and checks that they return.
func (r *run) cancelFrame(frame int64) {
	if frame == 0 {
		r.cancel()
	} else if c, ok := r.frames[frame]; ok {
		c.cancel()
	}
	r.drop(func(c *machine.Command) bool { return c.ID.Frame == frame })
	var busy []*worker
	for _, w := range r.workers {
		if w.busy && w.cmd.ID.Frame == frame {
			w.givenUp = true
			busy = append(busy, w)
		}
	}
	r.expect(machine.ID{Frame: frame, Node: -1}, busy)
}

// expect checks that the given workers, whose contexts have ended, have ended their commands after
// the grace period.
func (r *run) expect(id machine.ID, busy []*worker) {
	if len(busy) == 0 {
		return
	}
	commands := make([]machine.ID, len(busy))
	for i, w := range busy {
		commands[i] = w.cmd.ID
	}
	key := timerKey{machine.Cancel, id}
	r.addTimer(key, r.after(r.opts.Grace, func() {
		delete(r.timers, key)
		for i, w := range busy {
			if w.busy && w.cmd.ID == commands[i] {
				r.abandon(w)
			}
		}
	}))
}

// drop answers cancelled commands that no worker has begun.
func (r *run) drop(cancelled func(*machine.Command) bool) {
	kept := r.queue[:r.head]
	var dropped []machine.Command
	for _, c := range r.queue[r.head:] {
		if cancelled(&c) {
			dropped = append(dropped, c)
		} else {
			kept = append(kept, c)
		}
	}
	r.queue = kept
	r.again = r.again || len(dropped) > 0
	for _, c := range dropped {
		r.tell(&c, failed(c, r.now(), &core.Failure{Class: core.ClassCanceled, Message: "cancelled before it started", Permanent: true}), nil)
	}
}

// abandon answers for a handler that did not return within the grace period after its context
// ended. What it returns later is dropped.
func (r *run) abandon(w *worker) {
	if r.over || w.abandoned || !w.busy {
		return
	}
	w.abandoned = true
	f := &core.Failure{Class: core.ClassTimeout, Permanent: true, Message: "ignored the end of its context for " + r.opts.Grace.String()}
	r.endWatch(w)
	r.apply(&w.cmd, w.cutShort(r.now(), f))
	r.nudge()
}

// endWatch stops the timer for a worker's attempt, if there is one. The timer must not outlast an
// abandoned attempt, because the run would wait for it.
func (r *run) endWatch(w *worker) {
	if w.watch != nil {
		r.stopTimer(w.watch)
		w.watch = nil
	}
}
