package scheduler

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
)

// masked is a listener to whose events no secret gets. It masks where the listener
// runs, so that the run does not wait for it.
func masked(refs []core.Secret, listener func(core.Event)) func(core.Event) {
	if listener == nil || len(refs) == 0 {
		return listener
	}
	m := secret.MaskerOf(refs)
	return func(e core.Event) { listener(m.Event(e)) }
}

// delivery hands events to a listener on a goroutine of its own, so that a slow
// listener holds nothing back and a panicking one breaks nothing.
//
// What handlers say may be without end, and so may be the items of a stream. Once many
// events wait, log records are only counted, of the progress of an attempt the last is
// kept, and a run with backpressure begins nothing new: a log of a million items is
// written at the pace of the disk, not kept in memory. A listener that takes nothing for
// a while is not waited for, until it takes the next events.
type delivery struct {
	mu       sync.Mutex
	wake     sync.Cond    // something is queued, or closed
	room     sync.Cond    // the queue is short, or nobody is waited for
	taken    atomic.Int64 // events the listener was given
	watch    *time.Timer  // while somebody waits for the listener
	stuck    bool         // it has taken none for as long as patience
	queue    []core.Event
	progress map[progressKey]int // place in a long queue
	dropped  int                 // log records
	closed   bool
	hurry    bool          // nobody waits any more: the run was cancelled
	added    int64         // events that were queued
	ended    bool          // nobody takes events any more: none is kept
	done     chan struct{} // closed when the goroutine has ended
}

const (
	// longQueue is how many events wait before handlers are not heard in full and the
	// run waits.
	longQueue = 1 << 14
	// patience is how long the run waits for a listener that takes no event.
	patience = time.Second
)

// progressKey names an attempt that tells how far it is.
type progressKey struct {
	node    string
	item    core.Ordinal
	attempt int
}

// deliver starts the delivery to a listener; close ends it.
func deliver(listener func(core.Event)) *delivery {
	d := &delivery{done: make(chan struct{})}
	d.wake.L, d.room.L = &d.mu, &d.mu
	go d.loop(listener)
	return d
}

// add queues an event.
func (d *delivery) add(e core.Event) {
	d.mu.Lock()
	if !d.ended && !d.spare(&e) {
		d.queue = append(d.queue, e)
		d.added++
	}
	d.mu.Unlock()
	d.wake.Signal()
}

// behind reports whether the run is to wait for the listener.
func (d *delivery) behind() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.late()
}

// late is behind with mu held.
func (d *delivery) late() bool {
	return len(d.queue) >= longQueue && !d.stuck && !d.ended && !d.hurry
}

// release lets the run go on without the listener for good.
func (d *delivery) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hurry = true
	d.room.Broadcast()
}

// catchUp waits for the listener as long as it is behind and at work.
func (d *delivery) catchUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.late() && d.watch == nil {
		d.expect(d.taken.Load())
	}
	for d.late() {
		d.room.Wait()
	}
}

// expect gives the listener its time to take an event after the first so many.
func (d *delivery) expect(taken int64) {
	d.watch = time.AfterFunc(patience, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.watch = nil
		switch now := d.taken.Load(); {
		case !d.late():
		case now != taken:
			d.expect(now)
		default:
			d.stuck = true
			d.room.Broadcast()
		}
	})
}

// spare reports whether an event need not be queued, because many are.
func (d *delivery) spare(e *core.Event) bool {
	if len(d.queue) < longQueue {
		return false
	}
	switch e.Type {
	case core.LogLine:
		d.dropped++
		return true
	case core.Progress:
		key := progressKey{cmp.Or(e.Node, e.Unit), e.Item, e.Attempt}
		at, ok := d.progress[key]
		if ok {
			d.queue[at] = *e
			return true
		}
		if d.progress == nil {
			d.progress = map[progressKey]int{}
		}
		d.progress[key] = len(d.queue)
	}
	return false
}

// loop hands out what is queued. Events are numbered here: log lines and progress come
// from handlers and stand between the events of the machine, and some are never
// queued.
func (d *delivery) loop(listener func(core.Event)) {
	defer close(d.done)
	defer func() {
		// A listener is user code at the edge of the run, as a handler is: its
		// panic ends its deliveries and nothing else.
		_ = recover()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ended, d.queue, d.progress = true, nil, nil
		d.room.Broadcast()
	}()
	seq := int64(0)
	for {
		batch := d.take()
		if len(batch) == 0 {
			return
		}
		for _, e := range batch {
			seq++
			e.Seq = seq
			d.taken.Add(1)
			listener(e)
		}
	}
}

// take waits for events and takes them all; none is left after close.
func (d *delivery) take() []core.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) == 0 && !d.closed {
		d.wake.Wait()
	}
	d.stuck = false
	d.room.Broadcast()
	batch := d.queue
	if d.dropped > 0 {
		last := batch[len(batch)-1]
		notice := core.Event{V: core.EventVersion, Type: core.LogLine, Run: last.Run, Time: last.Time, Severity: slog.LevelWarn.String(),
			Log: fmt.Sprintf("%d log records are missing here: the listener of the events is too slow", d.dropped)}
		// The end of the run stays the last event.
		batch = slices.Insert(batch, len(batch)-1, notice)
		d.added++
	}
	d.queue, d.progress, d.dropped = nil, nil, 0
	return batch
}

// close waits until everything is delivered, at most for so long, and reports how many
// events were not. They are delivered when the listener takes them.
func (d *delivery) close(grace time.Duration) (left int64) {
	d.mu.Lock()
	d.closed = true
	if d.watch != nil {
		d.watch.Stop()
	}
	d.mu.Unlock()
	d.wake.Signal()
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-d.done:
		return 0
	case <-t.C:
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.added - d.taken.Load() + 1 // the last one that it was given is not done
}
