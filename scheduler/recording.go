package scheduler

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/leftover"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/store"
)

const (
	// flushEvery limits the time that a record waits in memory or in the cache of the operating
	// system before it is flushed, if the durability is core.DurabilityBatch.
	flushEvery = 10 * time.Millisecond
	// flushSize limits the bytes that wait.
	flushSize = 1 << 20
)

// recording writes the journal of a run. The run passes it every event of the machine (event) and
// every list of commands (next), and asks it which commands have to wait until the records before
// them are flushed (holds). A separate goroutine passes the records to the store.
//
// Held commands are released in order. So commands never overtake each other, and with full
// durability no listener sees an event that a crash could undo.
type recording struct {
	run   *run
	store store.Store
	own   *tenure // of the run
	claim *tenure // of its concurrency key, or nil if it has none
	mode  core.DurabilityMode
	codec *journal.Codec

	// The fields below are guarded by run.mu.

	batch       uint64          // number of the last batch
	events      journal.Encoded // the events since the last call of Next, separated by commas
	effects     bool            // one of the records is the answer of a node with effects
	issuer      journal.Issuer
	held        []heldCommand
	flushed     uint64                   // the last record that is flushed
	waits       uint64                   // the commands of the current batch wait until this record is flushed, 0 if they need not
	checkpoints map[string]*value.Object // of earlier processes, by idempotency key; it does not change
	failure     error                    // the store has failed; no more records are written
	results     []store.CacheEntry       // of the events since the last call of Next

	blobs atomic.Pointer[error] // the error of a blob that could not be stored, or nil if there was none

	mu      sync.Mutex // guards the fields below; it may be locked while run.mu is held
	wake    sync.Cond
	seq     uint64 // of the last record
	pending []store.Record
	kept    []keptResult // entries that wait until a record is flushed, in the order of the records
	size    int          // bytes in pending and written since the last flush
	urgent  bool         // flush without delay
	oldest  time.Time    // when the oldest record that is not flushed was made; zero if there is none
	closed  bool
	done    chan struct{} // closed when the goroutine has ended
}

// heldCommand is a command, or an event of the driver, that waits until a record is flushed.
type heldCommand struct {
	after   uint64 // the record
	command machine.Command
	event   *core.Event   // if it is an event of the driver
	flushed chan struct{} // closed when the record is flushed, nil if nothing waits for it
}

// event records an event before it is passed to the machine. c is the command that it answers, or
// nil if the caller has ended the run. encoded is its form in the journal, or nil if it is not
// encoded yet.
func (rec *recording) event(c *machine.Command, e *machine.Event, encoded *journal.Encoded) {
	if rec.mode == core.DurabilityOff || rec.failure != nil {
		return
	}
	if len(rec.events.JSON) > 0 {
		rec.events.JSON = append(rec.events.JSON, ',')
	}
	if encoded == nil {
		rec.encode(&rec.events, c, e)
	} else {
		rec.events.JSON = append(rec.events.JSON, encoded.JSON...)
		rec.events.Blobs = append(rec.events.Blobs, encoded.Blobs...)
	}
	if err := rec.blobs.Load(); err != nil {
		rec.fail(*err)
	}
	if c != nil && (e.Kind == machine.Finished || e.Kind == machine.Placed) && c.Node.Effects {
		rec.effects = true
	}
}

// next records the events since the last call of Next and what Next has returned, and decides
// whether the commands have to wait.
func (rec *recording) next(commands []machine.Command) {
	rec.waits = 0
	if rec.mode == core.DurabilityOff || rec.failure != nil {
		return
	}
	issued, effects := false, false
	for i := range commands {
		c := &commands[i]
		issued = issued || c.Op != machine.OpEmit
		effects = effects || (c.Op == machine.OpRun || c.Op == machine.OpPlace) && c.Node.Effects
	}
	if len(rec.events.JSON) > 0 || issued {
		rec.batch++
		b := journal.Batch{N: rec.batch, At: rec.run.m.Now(), Events: rec.events.JSON, Issued: rec.issuer.Issued(commands), Blobs: rec.events.Blobs}
		seq := rec.add(store.Batch, b.AppendJSON(make([]byte, 0, len(rec.events.JSON)+64)), effects || rec.effects)
		if len(rec.results) > 0 {
			rec.keepAfter(seq)
		}
		rec.events.JSON, rec.events.Blobs, rec.effects = rec.events.JSON[:0], rec.events.Blobs[:0], false
	}
	rec.mu.Lock()
	last := rec.seq
	rec.mu.Unlock()
	switch n := len(rec.held); {
	case last > rec.flushed && (rec.mode == core.DurabilityFull || effects):
		rec.waits = last
	case n > 0:
		rec.waits = rec.held[n-1].after
	}
}

// postpones reports whether a command of the current batch has to wait, and keeps it if so. After a failure
// of the store it drops events: a listener sees none that the journal does not have.
func (rec *recording) postpones(c *machine.Command) bool {
	if rec.failure != nil && c.Op == machine.OpEmit {
		return true
	}
	if rec.waits == 0 {
		return false
	}
	h := heldCommand{after: rec.waits, command: *c}
	h.command.Events = slices.Clone(c.Events) // the machine uses the list again
	rec.held = append(rec.held, h)
	return true
}

// emit records an event of the driver and passes it to the listener, in the order of the records.
// It is called without run.mu.
func (rec *recording) emit(e *core.Event) {
	r := rec.run
	r.mu.Lock()
	defer r.mu.Unlock()
	rec.emitLocked(e)
}

func (rec *recording) emitLocked(e *core.Event) {
	e.Time = rec.run.time()
	seq := uint64(0)
	if rec.mode != core.DurabilityOff && rec.failure == nil {
		side := journal.Side{After: rec.batch, Event: *e}
		if data, err := rec.codec.AppendSide(nil, &side); err != nil {
			rec.fail(err)
		} else {
			seq = rec.add(store.Side, data, false)
		}
	}
	switch n := len(rec.held); {
	case rec.run.events == nil || rec.failure != nil:
	case seq > 0 && rec.mode == core.DurabilityFull:
		rec.held = append(rec.held, heldCommand{after: seq, event: e})
	case n > 0:
		rec.held = append(rec.held, heldCommand{after: rec.held[n-1].after, event: e})
	default:
		rec.run.events.add(*e)
	}
}

// mark records a mark. It is flushed without delay. data is the rest of its content, or nil if there
// is none.
func (rec *recording) mark(kind string, data any) error {
	m := rec.newMark(kind)
	if data != nil {
		text, err := json.Marshal(data)
		if err != nil {
			return err
		}
		v, err := value.ParseJSON(text)
		if err != nil {
			return err
		}
		m.Data, _ = v.(*value.Object)
	}
	return rec.addMark(m)
}

func (rec *recording) newMark(kind string) *journal.Mark {
	return &journal.Mark{Kind: kind, At: rec.run.now(), Wall: time.Now(), Host: rec.own.lease.Host, PID: rec.own.lease.PID}
}

func (rec *recording) addMark(m *journal.Mark) error {
	line, err := rec.codec.AppendMark(nil, m)
	if err == nil {
		rec.add(store.Mark, line, true)
	}
	return err
}

// add appends a record to the records that the goroutine passes to the store, and returns its
// number.
func (rec *recording) add(t store.Type, data []byte, urgent bool) uint64 {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.seq++
	rec.pending = append(rec.pending, store.Record{Seq: rec.seq, Token: rec.own.lease.Token, Type: t, Data: data})
	rec.size += len(data)
	rec.urgent = rec.urgent || urgent
	if rec.oldest.IsZero() {
		rec.oldest = time.Now()
	}
	rec.wake.Signal()
	return rec.seq
}

// flushFirst passes the first records of a process to the store, before anything runs and before loop.
func (rec *recording) flushFirst(ctx context.Context) error {
	if err := rec.store.Append(ctx, rec.run.opts.Run, rec.own.lease.Token, rec.pending, true); err != nil {
		return storeError(err)
	}
	rec.flushed, rec.pending, rec.urgent, rec.size, rec.oldest = rec.seq, nil, false, 0, time.Time{}
	return nil
}

// encode appends the form of an event in the journal. An outcome that has no form in JSON becomes
// a failure, both in the journal and in e; ok is false then. It is safe for concurrent use.
func (rec *recording) encode(to *journal.Encoded, c *machine.Command, e *machine.Event) (ok bool) {
	err := rec.codec.AppendEvent(to, c, e)
	if err == nil {
		return true
	}
	f := &core.Failure{Class: core.ClassWrite, Permanent: true, Message: "the result cannot be stored: " + err.Error(), Cause: err}
	failure := failed(*c, e.Ended, f)
	failure.ID, failure.Started = e.ID, e.Started
	if failure.Items != nil {
		failure.Items = failure.Items[:e.ID.To-e.ID.From]
	}
	*e = *failure
	if err := rec.codec.AppendEvent(to, c, e); err != nil {
		panic("scheduler: a failure cannot be encoded: " + err.Error())
	}
	return false
}

// answer returns the form of a worker's answer in the journal, or nil if it is not needed. If the
// answer has no such form, failure replaces the answer. It is called without run.mu, so that workers
// encode their answers at the same time. The form is valid until the next call for the worker.
func (rec *recording) answer(w *worker) (encoded *journal.Encoded, failure *machine.Event) {
	if rec == nil || rec.mode == core.DurabilityOff {
		return nil, nil
	}
	e := w.event // a copy, because another goroutine may be answering for the worker
	if e.Items != nil {
		e.Items = e.Items[:e.ID.To-e.ID.From]
	}
	w.encoded.JSON, w.encoded.Blobs = w.encoded.JSON[:0], w.encoded.Blobs[:0]
	if !rec.encode(&w.encoded, &w.cmd, &e) {
		failure = &e
	}
	return &w.encoded, failure
}

// loop passes records to the store until the recording is closed or the store fails.
func (rec *recording) loop() {
	defer close(rec.done)
	due := time.AfterFunc(time.Hour, func() {
		rec.mu.Lock() // so that the signal does not come between a check and the wait after it
		defer rec.mu.Unlock()
		rec.wake.Signal()
	})
	defer due.Stop()
	var spare []store.Record
	written := uint64(0) // the last record
	for {
		list, flush, ok := rec.take(spare, due)
		if !ok {
			return
		}
		err := rec.store.Append(context.Background(), rec.run.opts.Run, rec.own.lease.Token, list, flush)
		if err != nil {
			rec.run.mu.Lock()
			rec.fail(err)
			rec.run.mu.Unlock()
			return
		}
		if len(list) > 0 {
			written = list[len(list)-1].Seq
		}
		if flush {
			rec.run.mu.Lock()
			rec.releaseUpTo(written)
			rec.run.mu.Unlock()
			if rec.run.cache != nil {
				rec.putKept(written)
			}
		}
		clear(list)
		spare = list[:0]
	}
}

// take waits for records to write, or for the time to flush those that were written. flush reports
// whether they are to be flushed; ok is false when the recording is closed and everything is
// flushed.
func (rec *recording) take(spare []store.Record, due *time.Timer) (list []store.Record, flush, ok bool) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for len(rec.pending) == 0 && !rec.mustFlush() {
		if rec.closed && rec.oldest.IsZero() {
			return nil, false, false
		}
		rec.wake.Wait()
	}
	list, rec.pending = rec.pending, spare
	if flush = rec.mustFlush(); flush {
		rec.urgent, rec.size, rec.oldest = false, 0, time.Time{}
	} else {
		due.Reset(time.Until(rec.oldest.Add(flushEvery)))
	}
	return list, flush, true
}

// mustFlush reports whether the records that were added are to be flushed now.
func (rec *recording) mustFlush() bool {
	if rec.oldest.IsZero() {
		return false
	}
	return rec.urgent || rec.closed || rec.mode == core.DurabilityFull || rec.size >= flushSize || time.Since(rec.oldest) >= flushEvery
}

// releaseUpTo begins the commands that waited for a record, which is flushed now.
func (rec *recording) releaseUpTo(seq uint64) {
	r := rec.run
	rec.flushed = max(rec.flushed, seq)
	n := 0
	for n < len(rec.held) && rec.held[n].after <= seq {
		n++
	}
	if n == 0 {
		return
	}
	list := rec.held[:n]
	if rec.held = rec.held[n:]; len(rec.held) == 0 {
		rec.held = nil
	}
	r.again = false
	for i := range list {
		switch h := &list[i]; {
		case h.flushed != nil:
			close(h.flushed)
		case h.event == nil:
			r.issue(&h.command, nil)
		case r.events != nil:
			r.events.add(*h.event)
		}
	}
	if r.again {
		r.collect(nil)
	}
	r.pauseIfWaiting()
	r.nudge()
}

// fail ends the run because the store has failed: nothing may happen that is not recorded. The
// handlers in flight are cancelled. It is called with run.mu held.
func (rec *recording) fail(err error) {
	r := rec.run
	if rec.failure != nil {
		return
	}
	rec.failure = err
	held := rec.held
	rec.held, rec.events = nil, journal.Encoded{}
	for i := range held {
		switch h := &held[i]; {
		case h.flushed != nil:
			close(h.flushed)
		case h.event == nil && h.command.Op != machine.OpEmit:
			r.issue(&h.command, nil) // no worker takes it before the run is cancelled
		}
	}
	r.cancelRun()
	r.nudge()
}

// settle waits until no command is held, so that the listener has received all events. It is called
// when the run has ended.
func (rec *recording) settle() {
	if rec == nil {
		return
	}
	rec.run.mu.Lock()
	if len(rec.held) == 0 || rec.failure != nil {
		rec.run.mu.Unlock()
		return
	}
	flushed := make(chan struct{})
	rec.held = append(rec.held, heldCommand{after: rec.held[len(rec.held)-1].after, flushed: flushed})
	rec.run.mu.Unlock()
	rec.mu.Lock()
	rec.urgent = true
	rec.wake.Signal()
	rec.mu.Unlock()
	<-flushed
}

// end records how the run ended and waits until everything is flushed. It also releases the lease. It
// is called when no work of the run is left. rep and err are the result of the run. Without a store,
// end returns them unchanged.
func (rec *recording) end(rep *core.Report, err error) (*core.Report, error) {
	if rec == nil {
		return rep, err
	}
	r := rec.run
	r.mu.Lock()
	if rec.failure == nil && !r.paused {
		e := journal.End{Status: string(rep.Status), At: r.now(), Usage: rep.Usage, Counts: journal.CountsOf(r.rec.codec.Plan, rep, false)}
		if rep.Err != nil {
			e.Reason = value.CutText(rep.Err.Error())
		}
		if data, err := rec.codec.AppendEnd(nil, &e); err != nil {
			rec.failure = err
		} else {
			rec.add(store.End, data, true)
		}
	}
	r.mu.Unlock()
	rec.mu.Lock()
	rec.closed = true
	rec.wake.Signal()
	rec.mu.Unlock()
	<-rec.done
	if r.cache != nil {
		r.cache.keeping.Wait()
	}
	r.logs.close()
	err = errors.Join(rec.own.release(), rec.claim.release())
	if rec.failure == nil { // the goroutines that set it have ended
		rec.failure = err
	}
	if rec.failure != nil {
		rep.Status, rep.Err = core.RunFailed, &core.StoreError{Err: rec.failure}
	} else if d := r.baseInput.Durability; d != nil && d.Folder != "" && (rep.Status == core.RunSuccess || rep.Status == core.RunPartial) {
		_ = leftover.Remove(d.Folder, nil) // pruning the run tries again
	}
	return rep, rep.Err
}

// resumable reports whether the run is stored so that it can be resumed.
func (rec *recording) resumable() bool { return rec != nil && rec.mode != core.DurabilityOff }
