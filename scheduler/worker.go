package scheduler

import (
	"context"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// work runs queued commands until the run is over. It is called with mu held and returns with it
// held. A worker that finds no command waits, as does one that would only hinder the others. A
// worker that leaves commands in the queue wakes one other if that pays.
func (r *run) work() {
	w := r.newWorker()
	handling := false // a handler runs and mu is not held
	defer func() {
		if handling {
			r.lostWorker(w)
		}
	}()
	for !r.over && !w.abandoned {
		if !w.busy && r.behind() { // mu is not held while waiting, so that the run can be cancelled
			w.stamp = 0
			r.mu.Unlock()
			r.events.catchUp()
			r.mu.Lock()
			if r.over {
				break
			}
		}
		if !w.busy && (r.crowded() || !r.take(w)) {
			w.stamp, w.results = 0, nil
			r.idle++
			r.nudge() // so that a queue that is not empty is watched
			r.wake.Wait()
			r.idle--
			r.waking = false
			continue
		}
		r.nudge()
		measured := r.poolSize.measures(w.commands)
		w.commands++
		r.mu.Unlock()
		if measured {
			w.stamp = r.now()
		}
		from := w.stamp
		handling = true
		r.execute(w)
		handling = false
		encoded, answer := r.rec.answer(w)
		r.mu.Lock()
		r.release(w)
		if measured {
			r.poolSize.add(w.stamp - from)
		}
		r.leaveFrame(w)
		w.end()
		if w.abandoned {
			break
		}
		if r.parent.Err() != nil {
			// The cancellation may not have been reported yet, and a handler that ignored it may
			// have succeeded. No further work must start in that case either.
			r.cancelRun()
		}
		r.noteUpserts(w)
		r.rec.keep(w)
		if answer == nil {
			answer = w.answer()
		}
		r.tell(&w.cmd, answer, encoded)
		if w.write[0].Value != nil {
			w.write[0].Value = nil
		}
		if w.unused != nil {
			r.m.Reuse(w.unused)
			w.unused, w.cmd.Call = nil, nil
		}
		r.ask(w)
	}
	r.leave(w)
}

func (r *run) newWorker() *worker {
	w := r.makeWorker()
	r.workers = append(r.workers, w)
	return w
}

// makeWorker returns a worker that executes commands of the run.
func (r *run) makeWorker() *worker {
	w := &r.first
	if w.base != nil { // it is in use
		w = &worker{}
	}
	w.base = &r.baseInput
	if r.logged() {
		base := r.baseInput
		w.reporter = r.newReporter()
		w.base, base.Reports = &base, &w.reporter.Reports
	}
	return w
}

// reports is called before each call of a handler, with the streams that the handler reads.
func (w *worker) reports(s *streams) {
	if w.reporter != nil {
		w.reporter.begin(s)
	}
}

// take moves the first queued command to a worker; it returns false if there is none. A worker that
// takes the last command asks the machine for further ones, see ask.
func (r *run) take(w *worker) bool {
	if r.head == len(r.queue) {
		return false
	}
	if w.stamp == 0 {
		w.stamp = r.now()
	}
	r.hand(w, &r.queue[r.head])
	r.queue[r.head].Call = nil // so that what a handler was given can be freed
	if r.head++; r.head == len(r.queue) {
		r.queue, r.head = r.queue[:0], 0
		if r.unasked {
			r.collect(nil)
		}
	}
	return true
}

// hand gives a command to a worker. The worker enters the command's frame here, under the same
// lock, so that a cancellation of the frame finds it.
func (r *run) hand(w *worker, c *machine.Command) {
	w.begin(c)
	r.enterFrame(w)
	// Most nodes have no items and take part in no race. In that case the node is not read while mu
	// is held, because it may not be in the CPU cache.
	if n := c.Node; c.ID.To > 0 && (n.Cancellable || n.MaxFailures >= 0 && (n.Source != nil || n.Pull)) || c.Plan.Races && n.Cancellable {
		w.ctx, w.cancel = context.WithCancel(r.contextOf(w))
	}
}

// begin makes a command the current command of the worker.
func (w *worker) begin(c *machine.Command) {
	w.cmd, w.began, w.busy, w.givenUp = *c, w.stamp, true, false
	if c.ID.To > 0 {
		w.items.set(c.ID.From, c.ID.To)
	}
}

// end clears the current command.
func (w *worker) end() {
	w.busy = false
	if w.cancel != nil {
		w.cancel()
		w.ctx, w.cancel = nil, nil
	}
}

// nudge makes sure that some worker looks at a queue that is not empty: it wakes an idle worker or
// starts a new one, unless one has been woken already or the active ones will be faster alone.
func (r *run) nudge() {
	if r.head == len(r.queue) || r.waking {
		return
	}
	if r.active() >= r.maxWorkers() {
		r.watchQueue()
		return
	}
	r.waking = true
	if r.idle > 0 {
		r.wake.Signal()
		return
	}
	r.alive++
	go func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waking = false
		r.work()
	}()
}

// leave removes a worker.
func (r *run) leave(w *worker) {
	r.workers = slices.DeleteFunc(r.workers, func(o *worker) bool { return o == w })
	r.release(w)
	r.alive--
	r.left.Broadcast()
}

// noteUpserts reports the keys that a worker has upserted to the machine, if the machine compares
// them.
func (r *run) noteUpserts(w *worker) {
	for _, u := range w.upserted {
		r.m.Upserted(u.id, u.keys)
	}
	w.upserted = nil
}

// lostWorker is called when a handler ended its goroutine with runtime.Goexit. The node fails as
// after a panic, and another worker takes over.
func (r *run) lostWorker(w *worker) {
	r.mu.Lock()
	r.leaveFrame(w)
	defer w.end()
	if !w.abandoned && w.busy {
		r.apply(&w.cmd, w.cutShort(r.now(), exited()))
	}
	r.leave(w)
	r.waking = false
	r.nudge()
}

// answer returns the worker's own answer to its command. The outcomes are cut to the completed
// items only now, because a goroutine that answers for the worker reads them in place.
func (w *worker) answer() *machine.Event {
	if e := &w.event; e.Items != nil {
		e.Items = e.Items[:e.ID.To-e.ID.From]
	}
	return &w.event
}

// cutShort answers for a worker whose handler has not returned. In a range, the current item fails,
// the items before it keep their outcomes, and the items after it are handed back: which items
// share a range is arbitrary and must not affect the result.
func (w *worker) cutShort(now int64, f *core.Failure) *machine.Event {
	e := failed(w.cmd, now, f)
	e.Started = w.began
	if e.Items != nil {
		at, to := w.items.seal(w.cmd.ID.From + 1)
		at = max(at, w.cmd.ID.From)
		done := at - w.cmd.ID.From
		e.ID.To = min(at+1, to)
		e.Items = e.Items[:e.ID.To-w.cmd.ID.From]
		if done > 0 { // otherwise the worker may be about to write the first outcome
			clear(e.Items[:done])
			copy(e.Items[:done], w.event.Items)
			e.Writes = w.event.Writes
		}
	}
	return e
}

// failed answers a command with the same failure for all its items.
func failed(c machine.Command, now int64, f *core.Failure) *machine.Event {
	e := &machine.Event{Kind: machine.Finished, ID: c.ID, Started: now, Ended: now, Outcome: machine.Outcome{Failure: f}}
	if c.Op == machine.OpPlace {
		e.Kind = machine.Placed
		return e
	}
	if c.Node.Source != nil {
		e.Items = make([]machine.Outcome, c.ID.To-c.ID.From)
		for i := range e.Items {
			e.Items[i].Failure = f
		}
	}
	return e
}

// strays returns the names of the nodes whose handlers were left behind.
func (r *run) strays() []string {
	var names []string
	for _, w := range r.workers {
		if w.busy && w.abandoned {
			names = append(names, w.cmd.Node.ID)
		}
	}
	slices.Sort(names)
	return names
}

// after calls f with mu held after a delay, unless the timer is stopped first.
func (r *run) after(d time.Duration, f func()) *time.Timer {
	r.calls.Add(1)
	return time.AfterFunc(d, func() {
		defer r.calls.Done()
		r.mu.Lock()
		defer r.mu.Unlock()
		f()
	})
}

// stopTimer stops a timer made by after. A callback that has begun calls calls.Done itself.
func (r *run) stopTimer(t *time.Timer) {
	if t.Stop() {
		r.calls.Done()
	}
}
