package scheduler

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// execute runs the handler of a worker's command, once or for each item of its
// range, and words the answer in w.event. It is called without mu.
func (r *run) execute(w *worker) {
	c, e := &w.cmd, &w.event
	if c.Call == nil && c.Node.Bare && r.events == nil && r.trace.tracer == nil && !r.opts.Strict {
		r.executeBare(w)
		return
	}
	*e = machine.Event{Kind: machine.Finished, ID: c.ID, Started: w.stamp}
	w.full = true
	x := executor{run: r, w: w, p: c.Plan, ctx: r.contextOf(w), c: c, alarm: r.newAlarm(c)}
	if c.Op == machine.OpPlace {
		x.place(e)
	} else if c.Node.Pull {
		x.pull(&e.Outcome)
		e.Ended = r.now()
	} else if c.Call != nil && c.Call.Route != nil {
		x.route(&e.Outcome)
		e.Ended = r.now()
	} else if c.Node.Source == nil {
		x.one(-1, &e.Outcome)
		e.Ended = r.now()
	} else {
		x.items(e)
	}
	w.stamp = e.Ended
}

// executeBare is the short way for a node of the run's own graph that is given
// nothing: no executor, no copy of an input, and an answer that is only filled in
// if the node has something to say. It does what one does.
func (r *run) executeBare(w *worker) {
	c, e := &w.cmd, &w.event
	if w.full {
		*e, w.full = machine.Event{}, false
	}
	e.Kind, e.ID, e.Started = machine.Finished, c.ID, w.stamp
	if err := r.callBare(w); err != nil {
		w.full = true
		x := executor{run: r, w: w, p: c.Plan, ctx: r.ctx, c: c}
		x.outcome(r.ctx, &core.Result{}, err, &e.Outcome)
	}
	e.Ended = r.now()
	w.stamp = e.Ended
}

// callBare calls the handler of a bare node. A result that says something is worded
// here: handing it on, a copy at a time, would cost more than most such nodes do.
func (r *run) callBare(w *worker) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	c := &w.cmd
	if c.Node.Value != nil {
		v, ok, err := c.Node.Value.HandleValue(r.ctx, core.InputOf(c.Node.ID, int(c.ID.Attempt), &r.bare))
		if err == nil && ok {
			w.full = true
			x := executor{p: c.Plan, c: c}
			x.write(v, &w.event.Outcome)
		}
		return err
	}
	res, err := c.Node.Handler.Handle(r.ctx, core.InputOf(c.Node.ID, int(c.ID.Attempt), &r.bare))
	if err == nil && !res.Empty() {
		w.full = true
		x := executor{run: r, w: w, p: c.Plan, ctx: r.ctx, c: c}
		x.outcome(r.ctx, &res, nil, &w.event.Outcome)
	}
	return err
}

// executor runs one command.
type executor struct {
	run *run
	w   *worker
	p   *plan.Plan
	ctx context.Context
	c   *machine.Command
	// shared is the input of all items of a range, but for the item.
	shared *core.Input
	// streams are those the node reads, nil when it reads none.
	streams *streams
	// alarm makes the warnings of the attempt its failure, nil unless the run is strict.
	alarm *alarm
	// writes are those of the values that a range has made.
	writes []plan.Write
	// item is the item of a fan-out at work, -1 for none.
	item int
	// worded is the outcome of the attempt, nil as long as its handler has not returned.
	worded *machine.Outcome
	// answered tells that the command was answered without this worker: what its
	// handler returns is dropped.
	answered bool
}

const (
	// slowRange is how long a range may run before the rest is handed back: its
	// items are not as quick as those before them, and what is done should be told.
	slowRange = int64(time.Millisecond)
	// lookEvery is after how many items the clock is looked at.
	lookEvery = 8
)

// items runs the range of a fan-out, item after item, until none is left that has
// not been taken away.
func (x *executor) items(e *machine.Event) {
	var o machine.Outcome
	if x.c.Node.Args == nil && x.run.events == nil && x.alarm == nil {
		in, _ := x.input(x.ctx, -1) // only args can fail
		x.shared = &in              // nothing but the item differs
	}
	for {
		i, ok := x.w.items.claim()
		if !ok {
			break
		}
		o = machine.Outcome{}
		x.alarm = x.run.newAlarm(x.c)
		x.one(int(i), &o)
		x.keep(e, i, &o)
		e.ID.To = i + 1
		slow := (i+1-e.ID.From)%lookEvery == 0 && x.run.now()-e.Started > slowRange
		if slow || x.answered || x.mayEnd(&o) {
			break
		}
	}
	e.Ended = x.run.now()
}

// keep notes the outcome of an item of a range.
func (x *executor) keep(e *machine.Event, i int32, o *machine.Outcome) {
	from, to := x.c.ID.From, x.c.ID.To
	if e.Items == nil {
		if o.Empty() {
			return
		}
		if i > from { // whoever answers for this worker may be reading
			x.run.mu.Lock()
			defer x.run.mu.Unlock()
		}
		e.Items = make([]machine.Outcome, to-from)
	}
	e.Items[i-from] = *o
}

// mayEnd reports whether nothing behind an item may start before the machine has
// heard of it: it may fail and so end the fan-out or the run, it may be tried again, or
// the run has been stopped meanwhile. Then the rest of the range goes back to the
// machine, which decides.
func (x *executor) mayEnd(o *machine.Outcome) bool {
	n := x.c.Node
	unwell := o.Failure != nil || o.Status == core.Retry
	return unwell && (n.Policy == plan.PolicyFailRun || n.MaxFailures >= 0 || n.Retry.Attempts > 1 || o.Failure != nil && o.Failure.FailsRun) || x.ctx.Err() != nil
}

// one runs one attempt; place is the item of a fan-out, -1 for none.
func (x *executor) one(place int, o *machine.Outcome) {
	n := x.c.Node
	x.item = place
	ctx := x.ctx
	if n.Timeout > 0 {
		var release func()
		ctx, release = x.limit(ctx)
		defer release()
	}
	var (
		in  core.Input
		res core.Result
		err error
	)
	if x.shared != nil {
		in = x.shared.ForItem(x.c.Call.Items.At(place), core.Nth(place))
	} else {
		in, err = x.input(ctx, place)
	}
	if x.run.trace.tracer != nil && err == nil {
		var ended func(*machine.Outcome)
		ctx, ended = x.run.trace.attempt(ctx, n, in)
		x.worded = nil
		defer func() { ended(x.worded) }()
	}
	if n.Models {
		place := core.Ordinal(0)
		if x.c.ID.To > 0 {
			_, place = in.Element()
		}
		var m *meter
		ctx, m = x.metered(ctx, place)
		defer func() { o.Usage = m.usage() }()
	}
	if err == nil && n.Value != nil && x.streams == nil {
		x.value(ctx, in, o)
		x.worded = o
		return
	}
	if err == nil {
		res, err = call(ctx, n, in)
		if err == nil {
			err = x.late(ctx)
		}
	}
	if err == nil {
		err = x.alarm.err()
	}
	if x.streams != nil {
		if err == nil {
			x.streams.report(&res)
		} else {
			err = x.streams.blame(err)
		}
	}
	x.outcome(ctx, &res, err, o)
	x.worded = o
}

// value is the rest of one for a handler that makes the node's only write.
func (x *executor) value(ctx context.Context, in core.Input, o *machine.Outcome) {
	v, ok, err := callValue(ctx, x.c.Node, in)
	if err == nil {
		err = x.late(ctx)
	}
	if err == nil {
		err = x.alarm.err()
	}
	switch {
	case err != nil:
		o.Failure = x.failure(ctx, err)
	case ok:
		x.write(v, o)
	}
}

// write makes a value the only write of an outcome. The writes of a range lie in one
// array.
func (x *executor) write(v any, o *machine.Outcome) {
	w, fault := x.p.AcceptValue(x.c.Node, v)
	if o.Failure = fault; fault != nil {
		return
	}
	if x.writes == nil {
		x.writes = make([]plan.Write, 0, max(1, x.c.ID.To-x.c.ID.From))
	}
	n := len(x.writes)
	x.writes = append(x.writes, w)
	o.Writes = x.writes[n : n+1 : n+1]
}

// outcome words what a handler returned.
func (x *executor) outcome(ctx context.Context, res *core.Result, err error, o *machine.Outcome) {
	if err != nil {
		fail := x.failure(ctx, err)
		switch p := res.Placement; {
		case p == nil:
		case p.Always:
			x.prepared(ctx, &core.Result{Placement: preparedFor(p, fail)}, o)
			return
		default:
			drop(p)
		}
		o.Failure = fail
		return
	}
	if res.Placement != nil {
		x.prepared(ctx, res, o)
		return
	}
	o.Accept(x.p, x.c.Node, res)
	if res.Upserted != nil && !x.run.remote {
		x.w.upserted = append(x.w.upserted, upserted{x.id(), res.Upserted})
	}
}

// upserted are the keys that an attempt has stored.
type upserted struct {
	id   machine.ID
	keys *core.Upserted
}

// storing returns what an attempt of a strict run asks before it commits rows that it stores
// by key.
func (x *executor) storing(id machine.ID) func(*core.Upserted) error {
	return func(u *core.Upserted) error {
		x.run.mu.Lock()
		defer x.run.mu.Unlock()
		if text := x.run.m.StoredBefore(id, u); text != "" {
			return strictly(text)
		}
		x.run.m.Upserted(id, u)
		return nil
	}
}

// call, callValue, guarded and callRouter are the places where code of users runs. A panic
// becomes the node's failure.
func call(ctx context.Context, n *plan.Node, in core.Input) (res core.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return n.Handler.Handle(ctx, in)
}

// callValue is call for a handler that makes the node's only write.
func callValue(ctx context.Context, n *plan.Node, in core.Input) (v any, ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return n.Value.HandleValue(ctx, in)
}

// guarded is call for the code of a stream.
func guarded(f func() (any, error)) (row any, err error) {
	defer func() {
		if p := recover(); p != nil {
			row, err = nil, panicked(p)
		}
	}()
	return f()
}

// callRouter asks the router of a run.
func callRouter(ctx context.Context, r core.Router, q core.RouteQuestion) (a core.RouteAnswer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	if r == nil {
		return a, ErrNoRouter
	}
	return r.Route(ctx, q)
}

// exited words that a handler did not return to its caller.
func exited() *core.Failure {
	return &core.Failure{Class: core.ClassPanic, Permanent: true, Message: "the handler ended its goroutine with runtime.Goexit"}
}

// panicked words a panic of user code, with its stack.
func panicked(p any) *core.Failure { return core.Panicked("panic", p, debug.Stack()) }

// failure words the error of a handler, taking the end of its context into
// account. Looking at an error is user code too: a nil pointer in an error's type
// panics when it is asked for its text.
func (x *executor) failure(ctx context.Context, err error) (f *core.Failure) {
	defer func() {
		if p := recover(); p != nil {
			f = panicked(p)
		}
	}()
	f = core.FailureOf(err)
	switch {
	case f.Class == core.ClassPanic:
	case x.ctx.Err() != nil:
		f.Class, f.Permanent, f.Category = core.ClassCanceled, true, ""
	case x.timedOut(ctx):
		f.Class = core.ClassTimeout
		f.Message = fmt.Sprintf("timed out after %s: %s", x.c.Node.Timeout, f.Message)
	}
	return f
}

var (
	errTimeout = errors.New("the attempt's timeout expired")
	errLate    = errors.New("what the handler returned came too late and is dropped")
)

// timedOut reports whether the timeout of an attempt is over; ctx is that of the attempt. A
// handler that keeps the processors busy may return before its context ends.
func (x *executor) timedOut(ctx context.Context) bool {
	if ctx.Err() != nil {
		return context.Cause(ctx) == errTimeout
	}
	own, ok := ctx.Deadline()
	around, bound := x.ctx.Deadline()
	return ok && (!bound || own.Before(around)) && time.Now().After(own)
}

// late is the error of an attempt that ended well, but after its timeout; nil for one in
// time. A gate is in time by its own rules: it has an answer for when nobody gives one.
func (x *executor) late(ctx context.Context) error {
	if x.c.Node.Timeout > 0 && !x.c.Node.Asks && x.ctx.Err() == nil && x.timedOut(ctx) {
		return errLate
	}
	return nil
}

// limit bounds an attempt by the node's timeout, and watches that the handler
// returns after it.
func (x *executor) limit(ctx context.Context) (context.Context, func()) {
	r, n, w := x.run, x.c.Node, x.w
	ctx, cancel := context.WithTimeoutCause(ctx, n.Timeout, errTimeout)
	r.mu.Lock()
	defer r.mu.Unlock()
	var watch *time.Timer
	watch = r.after(n.Timeout+r.opts.Grace, func() {
		if w.watch == watch { // else the handler returned just now
			r.abandon(w)
		}
	})
	w.watch = watch
	return ctx, func() {
		cancel()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.endWatch(w)
		x.answered = w.abandoned
	}
}

// input builds what the handler is given. Following a path in args may be too
// much work or outlast ctx.
func (x *executor) input(ctx context.Context, place int) (core.Input, error) {
	n, c := x.c.Node, x.c.Call
	if len(n.Streams()) > 0 {
		x.streams = &streams{x: *x}
	}
	s, err := x.captured(ctx, n, c, place)
	if err != nil {
		return core.Input{}, err
	}
	s.Open = x.streams.opener(n, c)
	return core.NewInput(x.run.opts.Run, c.Name(n), int(x.c.ID.Attempt), s), nil
}

// captured is what a node is given of what was captured for it.
func (x *executor) captured(ctx context.Context, n *plan.Node, c *machine.Call, place int) (core.Shared, error) {
	s, err := machine.Shared(x.p, n, c, place, func() bool { return ctx.Err() != nil })
	if err != nil {
		return s, err
	}
	if c != nil && n.Asks {
		s.Ask = x.ask()
	}
	s.Dir, s.Logs, s.Defer = x.p.Workflow.Dir, x.logs(), n.Claims && !x.run.remote
	s.Keys = n.Upserts && !x.run.remote
	if s.Keys && x.run.opts.Strict {
		s.Storing = x.storing(x.id())
	}
	if x.run.events != nil {
		name := c.Name(n)
		t := &progress{run: x.run, events: x.run.events, streams: x.streams, event: core.Event{V: core.EventVersion, Type: core.Progress,
			Run: x.run.opts.Run, Node: name, Item: s.Index, Attempt: int(x.c.ID.Attempt)}}
		s.Report, s.Measure = t.report, t.measure
	} else if x.run.watched.Load() {
		s.Report = func(int64, int64) { x.run.signOfLife() }
	}
	return s, nil
}
