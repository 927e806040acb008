package scheduler

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// masked returns a listener that masks secrets in the events before it passes them on. It runs
// where the listener runs, so that the run does not wait for it.
func masked(refs []core.Secret, listener func(core.Event)) func(core.Event) {
	if listener == nil || len(refs) == 0 {
		return listener
	}
	m := secret.MaskerOf(refs)
	return func(e core.Event) { listener(m.Event(e)) }
}

// delivery passes events to a listener on a separate goroutine, so that a slow listener does not
// delay the run and a panicking one does not end it.
//
// The number of log records and of the items of a stream is not limited. If many events are
// pending, log records are only counted, and only the last progress event of each attempt is kept.
// A run with backpressure then begins no further work, so that a log of a million items is written
// at the speed of the disk and not kept in memory. If the listener has taken no event for a while,
// the run does not wait for it until it takes one again.
type delivery struct {
	run      string // id
	seq      int64  // number of the last event before the first one
	mu       sync.Mutex
	wake     sync.Cond    // something is queued, or closed
	room     sync.Cond    // the queue is short, or the run does not wait for the listener
	taken    atomic.Int64 // events that the listener has been given
	watch    *time.Timer  // set while the run waits for the listener
	stuck    bool         // the listener has taken no event for the time of patience
	queue    []*queuePart
	waiting  int64                             // number of events in the queue
	progress map[progressKey]*machine.Emission // in a long queue
	dropped  int                               // number of log records left out
	closed   bool
	noWait   bool          // do not wait: the run was cancelled
	added    int64         // events that were queued
	ended    bool          // events are no longer taken, so none is queued
	done     chan struct{} // closed when the goroutine has ended
}

const (
	// longQueue is the number of waiting events from which on log and progress events are left out
	// and the run may wait.
	longQueue = 1 << 14
	// patience is the time for which the run waits for a listener that takes no event.
	patience = time.Second
)

// queuePart is a part of the queue. Parts are reused, by other runs as well: a queue that grows
// and shrinks would otherwise take more time to allocate than to fill.
type queuePart struct {
	list [partSize]machine.Emission
	n    int
}

const partSize = 64

var queueParts = sync.Pool{New: func() any { return new(queuePart) }}

// progressKey identifies an attempt that reports its progress.
type progressKey struct {
	node    string
	item    core.Ordinal
	attempt int
}

// deliver starts the delivery of events to a listener; close ends it.
func deliver(run string, seq int64, listener func(core.Event), drained func()) *delivery {
	d := &delivery{run: run, seq: seq, done: make(chan struct{})}
	d.wake.L, d.room.L = &d.mu, &d.mu
	if drained == nil {
		drained = func() {}
	}
	go d.loop(listener, drained)
	return d
}

// add queues an event.
func (d *delivery) add(e core.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ended && !d.condensed(&e) {
		d.put(machine.EmissionOf(&e))
	}
}

// addEmissions queues events of the machine. start is the time at which the run started, in
// nanoseconds since the Unix epoch.
func (d *delivery) addEmissions(list []machine.Emission, start int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return
	}
	for i := range list {
		e := list[i]
		e.Shift(start)
		d.put(e)
	}
}

// put adds to the queue. The listener waits only while the queue is empty.
func (d *delivery) put(e machine.Emission) *machine.Emission {
	n := len(d.queue)
	if n == 0 || d.queue[n-1].n == partSize {
		if n == 0 {
			d.wake.Signal()
		}
		d.queue = append(d.queue, queueParts.Get().(*queuePart))
		n++
	}
	b := d.queue[n-1]
	b.list[b.n] = e
	b.n++
	d.waiting += e.Len()
	d.added += e.Len()
	return &b.list[b.n-1]
}

// behind reports whether the run should wait for the listener.
func (d *delivery) behind() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.behindLocked()
}

// behindLocked is behind with mu held.
func (d *delivery) behindLocked() bool {
	return d.waiting >= longQueue && !d.stuck && !d.ended && !d.noWait
}

// release makes the run never wait for the listener again.
func (d *delivery) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noWait = true
	d.room.Broadcast()
}

// catchUp waits while the listener is behind and takes events.
func (d *delivery) catchUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.behindLocked() && d.watch == nil {
		d.expect(d.taken.Load())
	}
	for d.behindLocked() {
		d.room.Wait()
	}
}

// expect starts the time within which the listener must take another event; taken is the number of
// events that it has taken.
func (d *delivery) expect(taken int64) {
	d.watch = time.AfterFunc(patience, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.watch = nil
		switch now := d.taken.Load(); {
		case !d.behindLocked():
		case now != taken:
			d.expect(now)
		default:
			d.stuck = true
			d.room.Broadcast()
		}
	})
}

// condensed reports whether it has handled an event that need not be queued itself because many
// events are pending.
func (d *delivery) condensed(e *core.Event) bool {
	if d.waiting < longQueue {
		return false
	}
	switch e.Type {
	case core.LogLine:
		d.dropped++
		return true
	case core.Progress:
		key := progressKey{cmp.Or(e.Node, e.Unit), e.Item, e.Attempt}
		last := d.progress[key]
		if last == nil {
			if d.progress == nil {
				d.progress = map[progressKey]*machine.Emission{}
			}
			d.progress[key] = d.put(machine.EmissionOf(e))
		} else {
			*last = machine.EmissionOf(e)
		}
		return true
	}
	return false
}

// loop passes queued events to the listener. It numbers them, because the events of handlers come in
// between the events of the machine.
func (d *delivery) loop(listener func(core.Event), drained func()) {
	defer close(d.done)
	defer func() {
		// A listener is code of the user outside the run, so a panic of it ends its deliveries and
		// nothing else.
		_ = recover()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ended, d.queue, d.progress = true, nil, nil
		d.room.Broadcast()
	}()
	seq := d.seq
	var x core.Event
	tell := func(e *core.Event) {
		if e.Type.Numbered() {
			seq++
		}
		e.Seq = seq
		d.taken.Add(1)
		listener(*e)
	}
	var queue []*queuePart
	for {
		if queue = d.take(queue); len(queue) == 0 {
			return
		}
		for _, b := range queue {
			for i := range b.list[:b.n] {
				b.list[i].Events(&x, tell)
			}
			clear(b.list[:b.n])
			b.n = 0
			queueParts.Put(b)
		}
		drained()
	}
}

// take waits for events and returns all of them; it returns none after close. It reuses the space
// of the queue before.
func (d *delivery) take(before []*queuePart) []*queuePart {
	clear(before)
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) == 0 && !d.closed {
		d.wake.Wait()
	}
	d.stuck = false
	d.room.Broadcast()
	if d.dropped > 0 { // then the queue is not empty
		// The event for the end of the run stays last.
		b := d.queue[len(d.queue)-1]
		last := b.list[b.n-1]
		b.list[b.n-1] = machine.EmissionOf(&core.Event{V: core.EventVersion, Type: core.LogLine, Run: d.run, Time: time.Now(), Severity: slog.LevelWarn.String(),
			Log: fmt.Sprintf("%d log records are missing here: the listener of the events is too slow", d.dropped)})
		d.put(last)
		d.added += 1 - last.Len()
	}
	queue := d.queue
	d.queue, d.waiting, d.progress, d.dropped = before[:0], 0, nil, 0
	return queue
}

// close waits until all events are delivered, for at most the grace period, and returns the number
// of events that were not. These are delivered if the listener takes them later.
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
	return d.added - d.taken.Load() + 1 // the listener has not returned from the last event that it was given
}
