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

// execute runs the handler of a worker's command, once or for each item of its range, and stores
// the answer in w.event. It is called without mu.
func (r *run) execute(w *worker) {
	c := &w.cmd
	if c.Node.FieldsOnly && c.ID.Frame == 0 && c.Op == machine.OpRun && r.trace.tracer == nil && !r.opts.Strict && r.generations == nil && r.opts.Mock == nil {
		if view, ok := c.Call.View(); ok {
			r.executeBare(w, view)
			return
		}
	}
	r.executeAny(w)
}

// executeAny is execute for all commands.
func (r *run) executeAny(w *worker) {
	c, e := &w.cmd, &w.event
	*e = machine.Event{Kind: machine.Finished, ID: c.ID, Started: w.stamp}
	w.full = true
	x := executor{run: r, w: w, p: c.Plan, ctx: r.contextOf(w), c: c, alarm: r.newAlarm(c)}
	if r.opts.Mock != nil {
		x.mocked(e)
	} else if c.Op == machine.OpPlace {
		x.place(e)
	} else if c.Node.Pull {
		x.pull(e)
		e.Ended = r.now()
	} else if c.Call != nil && c.Call.Route != nil {
		x.route(&e.Outcome)
		e.Ended = r.now()
	} else if c.Call != nil && c.Call.Functions != nil {
		x.functions(&e.Outcome)
		e.Ended = r.now()
	} else if c.Node.Source == nil {
		x.one(-1, &e.Outcome)
		e.Ended = r.now()
	} else {
		x.items(e)
	}
	w.stamp = e.Ended
}

// executeBare is a shortcut for nodes of the outermost graph whose input is only fields. It needs
// neither an executor nor an input that is captured for this node, and sets only those parts of the
// answer that are used. It has the same effect as executor.one.
//
// Code that few of these nodes need is in separate functions, so that the others need little stack.
// A goroutine begins with a stack of 2 KB, and the move to a larger one takes as long as several
// such nodes.
func (r *run) executeBare(w *worker, view *core.View) {
	c, e := &w.cmd, &w.event
	if w.full {
		*e = machine.Event{}
		w.full = false
	}
	e.Kind, e.ID, e.Started = machine.Finished, c.ID, w.stamp
	r.callBare(w, view)
	e.Ended = r.now()
	w.stamp = e.Ended
}

// callBare calls the handler. It stores a non-empty result itself, because returning the result
// would copy it several times, which takes longer than most of these nodes.
func (r *run) callBare(w *worker, view *core.View) {
	w.reports(nil)
	defer func() {
		if p := recover(); p != nil {
			r.keepBare(w, &core.Result{}, panicked(p))
		}
	}()
	n := w.cmd.Node
	in := core.InputOf(n.ID, int(w.cmd.ID.Attempt), w.base)
	if view != nil {
		in = in.WithView(view)
	}
	if n.Value != nil {
		v, ok, err := n.Value.HandleValue(r.ctx, in)
		if ok || err != nil {
			r.keepValue(w, v, err)
		}
		w.unused = w.cmd.Call
		return
	}
	res, err := n.Handler.Handle(r.ctx, in)
	if err != nil || !res.Empty() {
		r.keepBare(w, &res, err)
	}
}

// keepValue stores the value of the only write of a bare node, or the error of its handler.
func (r *run) keepValue(w *worker, v any, err error) {
	if err != nil {
		r.keepBare(w, &core.Result{}, err)
		return
	}
	w.full = true
	o := &w.event.Outcome
	if w.write[0], o.Failure = w.cmd.Plan.AcceptValue(w.cmd.Node, v); o.Failure == nil {
		o.Writes = w.write[:]
	}
}

// keepBare stores a result of a bare node that is not empty, or the error of its handler.
func (r *run) keepBare(w *worker, res *core.Result, err error) {
	w.full = true
	c, o := &w.cmd, &w.event.Outcome
	if err == nil && res.Placement == nil && res.Upserted == nil {
		o.Writes = w.write[:0]
		o.Accept(c.Plan, c.Node, res)
		return
	}
	x := executor{run: r, w: w, p: c.Plan, ctx: r.ctx, c: c}
	x.outcome(r.ctx, res, err, o)
}

// executor runs one command.
type executor struct {
	run *run
	w   *worker
	p   *plan.Plan
	ctx context.Context
	c   *machine.Command
	// shared is the input of all items of a range, without the item.
	shared *core.Input
	// streams are the streams that the node reads, nil if it reads none.
	streams *streams
	// alarm turns warnings of the attempt into its failure, nil unless the run is strict.
	alarm *alarm
	// item is the index of the current item of a fan-out, or -1 if there is none.
	item int
	// final is the outcome of the attempt, nil until its handler has returned.
	final *machine.Outcome
	// answered reports that the command was answered for this worker, so that what its handler
	// returns is dropped.
	answered bool
}

// slowRange limits the time that a range may run before the rest of it is handed back, after the
// item in progress: its items take longer than the ones before them, and the finished ones should be
// reported, because a crash repeats all items of a range that was not answered.
const slowRange = time.Millisecond

// items runs the range of a fan-out, item by item, until no item is left that has not been taken
// away.
func (x *executor) items(e *machine.Event) {
	var o machine.Outcome
	results := x.results()
	if n := x.c.Node; results.values == nil && x.run.opts.Mock == nil && n.Args == nil && !n.Asks && len(n.Streams()) == 0 && x.alarm == nil {
		in, _ := x.input(x.ctx, -1) // only args can fail, and there are none
		x.shared = &in              // nothing but the item differs
	}
	if n := x.c.ID.To - x.c.ID.From; n > 1 {
		x.run.watchRange(x.w)
		defer x.run.unwatchRange(x.w)
		if x.run.events != nil {
			e.Ends = make([]int64, 0, n)
		}
	}
	e.Writes, o.Writes = results.writes, results.buffer
	for {
		i, ok := x.next(results, e.Ends != nil, &o)
		if !ok { // items may have ended since the last one that next returned
			e.ID.To = x.w.items.end()
			break
		}
		well := o.Empty()
		if !well {
			x.keep(results, e, i, &o)
		}
		e.ID.To = i + 1
		if e.Ends != nil {
			e.Ends = append(e.Ends, x.run.now())
		}
		if x.answered || x.mayEnd(&o) {
			break
		}
		if !well {
			o = machine.Outcome{Writes: results.buffer}
		}
	}
	e.Ended = x.run.now()
}

// next runs the next item of a range, or unless single is set all items that end well and need
// nothing but their value, up to one that does not. ok is false if no item is left. o is the
// outcome of the last item.
func (x *executor) next(results *rangeResults, single bool, o *machine.Outcome) (i int32, ok bool) {
	switch {
	case results.values == nil:
		if i, ok = x.w.items.claim(); ok {
			x.alarm = x.run.newAlarm(x.c)
			x.one(int(i), o)
		}
		return i, ok
	case x.c.Node.Timeout > 0:
		ctx, release := x.limit(x.ctx)
		defer release()
		return results.handle(ctx, x, true, o)
	}
	return results.handle(x.ctx, x, single, o)
}

// keep stores the outcome of an item of a range.
func (x *executor) keep(results *rangeResults, e *machine.Event, i int32, o *machine.Outcome) {
	if i > x.c.ID.From && results.makesRoom(x.c.Node, e, o) { // another goroutine that answers for this worker may be reading
		x.run.mu.Lock()
		defer x.run.mu.Unlock()
	}
	results.keep(x, e, i, o)
}

// mayEnd reports whether no further item may start before the machine knows the outcome of this
// one, because the outcome may end the fan-out or the run or lead to another attempt, or because
// the run has been stopped. The rest of the range is then handed back to the machine, which
// decides.
func (x *executor) mayEnd(o *machine.Outcome) bool {
	n := x.c.Node
	unwell := o.Failure != nil || o.Status == core.Retry
	return unwell && (n.Policy == plan.PolicyFailRun || n.MaxFailures >= 0 || n.Retry.Attempts > 1 || o.Failure != nil && o.Failure.FailsRun) || x.ctx.Err() != nil
}

// one runs an attempt, or takes its result from an earlier run; place is the index of the item of a
// fan-out, or -1 if there is none.
func (x *executor) one(place int, o *machine.Outcome) {
	if x.run.opts.Mock != nil {
		x.mockOne(place, o)
		return
	}
	if x.run.cache != nil && x.c.Node.Cache() != nil {
		x.cached(place, o)
		return
	}
	x.attempt(place, o)
}

// attempt runs an attempt.
func (x *executor) attempt(place int, o *machine.Outcome) {
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
		x.w.reports(nil)
		in = x.shared.ForItem(x.c.Call.Items.At(place), core.Nth(place))
	} else {
		in, err = x.input(ctx, place)
	}
	if x.run.trace.tracer != nil && err == nil && x.c.ID.Attempt > 0 {
		var ended func(*machine.Outcome)
		ctx, ended = x.run.trace.attempt(ctx, n, in)
		x.final = nil
		defer func() { ended(x.final) }()
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
		x.final = o
		return
	}
	if err == nil {
		res, err = call(ctx, n, in)
		if err == nil {
			err = x.lateError(ctx)
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
	x.final = o
}

// value is the last part of one for a handler that returns the value of the node's only write.
func (x *executor) value(ctx context.Context, in core.Input, o *machine.Outcome) {
	v, ok, err := callValue(ctx, x.c.Node, in)
	if err == nil {
		err = x.lateError(ctx)
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

// write makes a value the only write of an outcome.
func (x *executor) write(v any, o *machine.Outcome) {
	w, fault := x.p.AcceptValue(x.c.Node, v)
	if o.Failure = fault; fault == nil {
		o.Writes = append(o.Writes[:0], w)
	}
}

// outcome converts what a handler returned into the outcome of the attempt.
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
		if x.p.Conventions.Steps && !res.Empty() { // what a failed visit sends counts there
			o.Accept(x.p, x.c.Node, res)
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

// upserted are the keys that an attempt has upserted.
type upserted struct {
	id   machine.ID
	keys *core.Upserted
}

// storing returns the function that an attempt of a strict run calls before it commits upserted
// rows.
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

// call, callValue, guarded, callRouter and rangeResults.handle, and holds and hooked, are the places where code of users is
// called. A panic becomes the failure of the node.
func call(ctx context.Context, n *plan.Node, in core.Input) (res core.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return n.Handler.Handle(ctx, in)
}

// callValue is call for a handler that returns the value of the node's only write.
func callValue(ctx context.Context, n *plan.Node, in core.Input) (v any, ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return n.Value.HandleValue(ctx, in)
}

// handle calls the handler for the next items of the range and stores their values. It returns when
// an item has failed, when the run is stopped, or after one item if single is set. i is the last item
// and o its outcome; ok is false if no item is left.
func (r *rangeResults) handle(ctx context.Context, x *executor, single bool, o *machine.Outcome) (i int32, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			o.Failure = x.failure(ctx, panicked(p))
		}
	}()
	for {
		if i, ok = x.w.items.claim(); !ok {
			return i, false
		}
		at := int(i - x.c.ID.From)
		written, err := r.values.Handle(ctx, int(i)-r.first, at)
		if err == nil {
			err = x.lateError(ctx)
		}
		switch {
		case err != nil:
			o.Failure = x.failure(ctx, err)
			return i, true
		case written:
			if fault := x.p.AcceptItem(x.c.Node, r.writes[0], at); fault != nil {
				o.Failure = fault
				return i, true
			}
		}
		if single || x.ctx.Err() != nil {
			return i, true
		}
	}
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

// callRouter calls the router of a run.
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

// exited returns the failure of a handler that did not return to its caller.
func exited() *core.Failure {
	return &core.Failure{Class: core.ClassPanic, Permanent: true, Message: "the handler ended its goroutine with runtime.Goexit"}
}

// panicked returns the failure for a panic of user code, with its stack.
func panicked(p any) *core.Failure { return core.Panicked("panic", p, debug.Stack()) }

// failure converts the error of a handler into a failure, depending on how its context ended.
// Examining the error calls user code, too: a nil pointer of an error type panics when its Error
// method is called.
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

// timedOut reports whether the timeout of an attempt has passed; ctx is the context of the attempt.
// A handler that keeps all processors busy may return before its context ends.
func (x *executor) timedOut(ctx context.Context) bool {
	if ctx.Err() != nil {
		return context.Cause(ctx) == errTimeout
	}
	own, ok := ctx.Deadline()
	around, bound := x.ctx.Deadline()
	return ok && (!bound || own.Before(around)) && time.Now().After(own)
}

// lateError returns the error of an attempt that succeeded after its timeout, nil if it was in time. A
// human gate applies its timeout itself: it has an answer for the case that no person answers.
func (x *executor) lateError(ctx context.Context) error {
	if x.c.Node.Timeout > 0 && !x.c.Node.Asks && x.ctx.Err() == nil && x.timedOut(ctx) {
		return errLate
	}
	return nil
}

// limit applies the node's timeout to an attempt, and checks that the handler returns after it.
func (x *executor) limit(ctx context.Context) (context.Context, func()) {
	r, n, w := x.run, x.c.Node, x.w
	ctx, cancel := context.WithTimeoutCause(ctx, n.Timeout, errTimeout)
	r.mu.Lock()
	defer r.mu.Unlock()
	var watch *time.Timer
	watch = r.after(n.Timeout+r.opts.Grace, func() {
		if w.watch == watch { // otherwise the handler has just returned
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

// input builds the input of the handler. Following a path in args may be too much work or take
// longer than ctx.
func (x *executor) input(ctx context.Context, place int) (core.Input, error) {
	n, c := x.c.Node, x.c.Call
	if len(n.Streams()) > 0 {
		x.streams = &streams{x: *x}
	}
	x.w.reports(x.streams)
	s, err := x.captured(ctx, n, c, place)
	if err != nil {
		return core.Input{}, err
	}
	s.Open = x.streams.opener(n, c)
	return core.NewInput(x.run.opts.Run, c.Name(n), x.c.ID.AttemptNumber(), s), nil
}

// captured returns what a node gets of the values that were captured for it.
func (x *executor) captured(ctx context.Context, n *plan.Node, c *machine.Call, place int) (core.Shared, error) {
	var stop func() bool // only args are much work
	if n.Args != nil {
		stop = func() bool { return ctx.Err() != nil }
	}
	s, err := machine.Shared(x.p, n, c, place, stop)
	if err != nil {
		return s, err
	}
	if c != nil && n.Asks {
		s.Ask = x.ask()
	}
	s.Durability = x.run.baseInput.Durability
	if x.run.generations != nil {
		s.Generation = x.run.generations[plan.PartPath(c.Name(n))]
	}
	s.Dir, s.Logs, s.Defer = x.p.Workflow.Dir, x.logs(), n.Claims && !x.run.remote
	s.Keys = n.Upserts && !x.run.remote
	if s.Keys && x.run.opts.Strict {
		s.Storing = x.storing(x.id())
	}
	if x.w.reporter != nil {
		s.Reports = &x.w.reporter.Reports
	} else if x.run.watched.Load() {
		s.Reports = x.run.livelyReports()
	}
	return s, nil
}
