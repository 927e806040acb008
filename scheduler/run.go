package scheduler

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	spread "math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// DefaultGrace is how long cancelled handlers may take to return. Those of the kinds
// that run programs need five seconds, the time a program has between SIGTERM and
// SIGKILL.
const DefaultGrace = 10 * time.Second

// Options are the settings of one run. The zero value takes what the plan says.
type Options struct {
	// Run is the run's id; "" makes a random one.
	Run string
	// Concurrency is how many nodes may be in flight; 0 takes the plan's, and 1
	// where the plan leaves it open.
	Concurrency int
	// MaxInFlight caps user code in flight over nodes, items, stages and nested
	// workflows; 0 takes the plan's.
	MaxInFlight int
	// Barrier finishes each level before the next one starts. Results are the
	// same; it exists for comparison.
	Barrier bool
	// FailFast ends a walk that a model routes, nested ones too, at the first visit that
	// fails; without it the walk goes on, and the run fails at its end.
	FailFast bool
	// MaxVisits is how many visits the run may make if it is a walk that a model routes; 0
	// takes the plan's.
	MaxVisits int
	// Backpressure begins nothing new while the listener is some 16,000 events behind,
	// unless it takes no event for a second or the run was cancelled. Without it the events of a run without end
	// wait in memory.
	Backpressure bool
	// Listener receives the events of the run, in order, one at a time, on a
	// goroutine of its own. It never holds the run back; one that panics gets
	// no further events. While it is some 16,000 events behind, log records are
	// left out and counted, and of the progress of an attempt it gets the last.
	// Run waits at its end until all are delivered, at most Grace, and after ctx has
	// ended at most as long as is left of it (a tenth of Grace at least); then the error
	// is a core.StrayError, and the listener gets the rest when it takes it.
	// The values of secrets that the plan refers to are hidden in the events; the
	// report has them as they are.
	Listener func(core.Event)
	// Interviewer answers what human gates ask; nil means that nobody is there. It is
	// called on goroutines of the run, by several gates at a time.
	Interviewer core.Interviewer
	// Router picks the edges of walks that leave that to a model; nil means that such a
	// decision fails the run. It is called on goroutines of the run.
	Router core.Router
	// Budget bounds what the calls to models may take that nodes and decisions make.
	Budget core.Budget
	// Strict makes a warning of a node's logger the failure of the attempt: what it wrote
	// does not reach the state, and kinds that put something in place outside of the run
	// do not.
	Strict bool
	// Tracer is told of the run and of each attempt; nil for none. Secrets are hidden in
	// what it is told, but not in the inputs of the attempts.
	Tracer core.Tracer
	// Grace is how long handlers may take to return after their context ended
	// before the run goes on without them; 0 means DefaultGrace.
	Grace time.Duration
}

// errNoContext is the error of a run that is given none.
var errNoContext = errors.New("the context is nil; use context.Background if there is none")

// Run executes a plan and returns when everything has ended: no handler runs
// and no goroutine of the run is alive afterwards. The one exception is a
// handler that ignores its cancelled context for longer than Options.Grace, or a
// listener that takes as long at the end; it is left behind and the error, a
// core.StrayError, names it. So is a reducer, or other code that a Go type of a
// field or a starting value brings along, that has not returned for so long after ctx has
// ended; until then the run stands still.
//
// The report is complete whenever the run began; the error is its Err. There is none if
// the inputs do not fit the plan or their code has not returned, and none with
// plan.Plan.Refused; what is wrong is told as source.Diagnostics. Run may be
// called any number of times at once for the same plan.
func Run(ctx context.Context, p *plan.Plan, inputs map[string]any, o Options) (*core.Report, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if o.Run == "" {
		o.Run = rand.Text()
	}
	r := newRun(ctx, p, o)
	r.guard.run = r
	var err error
	r.m, err = machine.New(p, objectOf(inputs), machine.Options{Run: o.Run, Concurrency: o.Concurrency, MaxInFlight: o.MaxInFlight,
		Barrier: o.Barrier, FailFast: o.FailFast, MaxVisits: o.MaxVisits, Events: o.Listener != nil, Seed: spread.Uint64(), Guard: r.guard.call})
	if err == nil {
		err = refused(p, &o, inputs[core.InputDryRun] == true)
	}
	if err != nil {
		r.guard.close()
		if code := r.guard.stuck; len(code) > 0 {
			err = &core.StrayError{Code: code, Err: &core.CancelError{Cause: context.Cause(ctx)}}
		}
		return nil, err
	}
	var ended func(*core.Report)
	r.parent, ended = r.trace.run(ctx, o.Run, p.Name)
	rep, err := r.drive()
	ended(rep)
	return rep, err
}

// newRun returns what Run and Execute have in common: what the commands of a run are given.
func newRun(ctx context.Context, p *plan.Plan, o Options) *run {
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	o.Listener = masked(p.Secrets, o.Listener)
	r := &run{opts: o, trace: newTracing(o.Tracer, p.Secrets), parent: ctx, ctx: ctx, started: time.Now(), bare: core.Shared{Run: o.Run, Dir: p.Workflow.Dir}}
	r.bare.Logs = &core.Logs{Handler: func(in core.Input) slog.Handler { return r.handler(in, nil) }}
	r.wake.L, r.left.L = &r.mu, &r.mu
	return r
}

// refused is why a plan cannot be run with the options, nil if it can; dry tells that models
// pick no edges.
func refused(p *plan.Plan, o *Options, dry bool) error {
	if len(p.Refused) > 0 {
		return p.Refused.Sorted()
	}
	if o.Budget.Cost > 0 {
		return unpriced(p, o.Router, dry).Err(false)
	}
	return nil
}

func objectOf(inputs map[string]any) *value.Object {
	keys := make([]string, 0, len(inputs))
	for k := range inputs {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	o := value.NewObject(len(keys))
	for _, k := range keys {
		o.Set(k, inputs[k])
	}
	return o
}

// run is one run under way. The machine and all fields below mu belong to
// whoever holds it.
type run struct {
	opts    Options
	bare    core.Shared // what a node that is given nothing gets
	parent  context.Context
	ctx     context.Context
	started time.Time
	events  *delivery
	trace   tracing
	warned  warnings
	spent   spending

	mu         sync.Mutex
	wake       sync.Cond // workers wait here: a command is queued, or the run is over
	left       sync.Cond // the caller waits here: the run is over, or a worker left
	m          *machine.Machine
	queue      []machine.Command
	head       int
	workers    []*worker
	alive      int // goroutines inside work
	idle       int
	waking     bool // a worker has been woken or spawned and has not looked yet
	over       bool
	remote     bool // there is no machine
	throttled  bool // nothing begins while the listener is far behind
	again      bool // the machine has more commands after the ones at hand
	report     *core.Report
	stray      []string
	unheard    int64     // events that the listener did not take in time
	cancelled  time.Time // when the caller's context ended
	took       time.Duration
	frames     map[int64]*frameContext
	timers     map[timerKey]*time.Timer
	guard      guard
	placements map[machine.ID]*core.Placement // prepared, and waiting for their turn
	sources    map[sourceKey]*rowSource       // of pipelines over streams, between two rows
	calls      sync.WaitGroup                 // timer and cancel callbacks
	watched    atomic.Bool                    // a walk wants to know of signs of life
	sign       atomic.Int64                   // the last one: a handler logged, or told of its progress
	cancel     context.CancelFunc
}

// worker is a goroutine that runs handlers, and what it is doing.
type worker struct {
	cmd       machine.Command
	event     machine.Event // the answer, kept here so that it is not allocated
	stamp     int64         // end of its last execution, if it has not waited since
	began     int64         // when it took its command
	items     cursor        // of a range
	full      bool          // event holds more than the next short answer overwrites
	busy      bool
	frame     *frameContext   // of the command; nil in the run's own graph
	ctx       context.Context // of a range that may be given up; nil for others
	cancel    context.CancelFunc
	upserted  []upserted  // by its command
	watch     *time.Timer // over an attempt with a timeout; nil when there is none
	abandoned bool        // its handler ignored the end of its context; it was answered for
}

// frameContext is the context of a nested frame's handlers in flight.
type frameContext struct {
	ctx    context.Context
	cancel context.CancelFunc
	users  int
}

// drive runs the machine to its end. Handlers run on workers, of which there
// are as many as there is work for; the caller only waits, so that it can leave
// a handler behind that never returns.
func (r *run) drive() (*core.Report, error) {
	r.ctx, r.cancel = context.WithCancel(r.parent)
	defer r.cancel()
	if r.opts.Listener != nil {
		r.events, r.throttled = deliver(r.opts.Listener), r.opts.Backpressure
	}
	stop := r.watchParent()
	r.runWorkers()
	stop()
	r.discardAll()
	r.closeSources()
	r.calls.Wait()
	r.guard.close()
	if r.events != nil {
		r.unheard = r.events.close(r.patience())
	}
	return r.finish()
}

// patience is how long the listener may take for the rest of the events: the grace period,
// and of a run that was cancelled what is left of it, or a tenth of it if handlers have
// used it up.
func (r *run) patience() time.Duration {
	grace := r.opts.Grace
	if r.cancelled.IsZero() {
		return grace
	}
	return max(grace-time.Since(r.cancelled), grace/10)
}

// runWorkers starts the first worker and returns when the run is over and all
// workers have left, except those whose handlers have ignored the end of their
// contexts for the grace period: they are named.
func (r *run) runWorkers() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parent.Err() != nil {
		r.cancelRun()
	}
	r.collect(nil)
	r.nudge()
	for !r.over || r.alive > len(r.strays()) {
		r.left.Wait()
	}
	r.took = time.Since(r.started)
	r.stray = r.strays()
	r.stopTimers()
}

// watchParent tells the machine when the caller's context ends. The function it
// returns ends the watch.
func (r *run) watchParent() (stop func()) {
	if r.parent.Done() == nil {
		return func() {}
	}
	r.calls.Add(1)
	release := context.AfterFunc(r.parent, func() {
		defer r.calls.Done()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.cancelRun()
		r.nudge()
	})
	return func() {
		if release() {
			r.calls.Done()
		}
	}
}

// cancelRun tells the machine that the caller's context ended; once is enough.
func (r *run) cancelRun() {
	if r.cancelled.IsZero() {
		r.cancelled = time.Now()
		if r.events != nil {
			r.events.release()
		}
	}
	if !r.over {
		r.apply(&machine.Event{Kind: machine.Cancel, Ended: r.now()})
	}
}

func (r *run) now() int64 { return int64(time.Since(r.started)) }

// finish completes the report.
func (r *run) finish() (*core.Report, error) {
	rep := r.report
	rep.Started, rep.Duration = r.started, r.took
	for _, w := range r.m.UpsertedTwice() {
		r.warned.add(w.Node, w.Text)
		if r.opts.Strict && rep.Err == nil { // a handler that does not ask Storing
			rep.Status, rep.Err = core.RunFailed, &core.NodeError{Node: w.Node, Failure: strictly(w.Text)}
		}
	}
	rep.Warnings, rep.Warned = r.warned.report()
	if c, ok := rep.Err.(*core.CancelError); ok {
		c.Cause = context.Cause(r.parent)
	}
	if code := r.guard.stuck; len(r.stray) > 0 || len(code) > 0 || r.unheard > 0 {
		rep.Err = &core.StrayError{Nodes: slices.Compact(r.stray), Code: code, Listener: r.unheard > 0, Unheard: r.unheard, Err: rep.Err}
		if (len(r.stray) > 0 || len(code) > 0) && (rep.Status == core.RunSuccess || rep.Status == core.RunPartial) {
			rep.Status = core.RunFailed
		}
	}
	return rep, rep.Err
}

// apply tells the machine what happened and collects what is to be done.
func (r *run) apply(e *machine.Event) {
	r.m.Apply(e)
	r.collect(nil)
}

// collect takes the machine's commands: handlers go to the queue, the rest is
// done at once. What would be first in the queue is handed to w if that is not nil:
// it has just ended a command and would take it anyway.
func (r *run) collect(w *worker) {
	r.again = true
	for r.again { // again if commands were answered on the spot
		r.again = false
		commands := r.m.Next()
		for i := range commands {
			switch c := &commands[i]; {
			case c.Op != machine.OpRun && c.Op != machine.OpPlace:
				r.do(c)
			case w != nil && !w.busy && r.head == len(r.queue) && !r.behind():
				r.hand(w, c)
			default:
				r.enqueue(c)
			}
		}
	}
}

// behind reports whether nothing is to begin because the listener is far behind.
func (r *run) behind() bool { return r.throttled && r.events.behind() }

// enqueue adds a command behind the others. Room that was taken is used again
// before the queue grows.
func (r *run) enqueue(c *machine.Command) {
	if r.head > 0 && len(r.queue) == cap(r.queue) {
		n := copy(r.queue, r.queue[r.head:])
		r.queue, r.head = r.queue[:n], 0
	}
	r.queue = append(r.queue, *c)
}

// do carries out a command that runs no handler.
func (r *run) do(c *machine.Command) {
	switch c.Op {
	case machine.OpTimer:
		r.setTimer(machine.TimerFired, c.ID, c.Delay)
	case machine.OpDeadline:
		r.setTimer(machine.Expired, c.ID, c.Delay)
	case machine.OpMet:
		r.dropTimer(timerKey{kind: machine.Expired, id: c.ID})
	case machine.OpEmit:
		c.Event.Time = time.Now()
		r.events.add(*c.Event)
	case machine.OpCancel:
		r.cancelFrame(c.ID.Frame)
	case machine.OpYield:
		r.yield(c.ID)
	case machine.OpGiveUp:
		r.giveUp(c.ID)
	case machine.OpDiscard:
		r.discard(r.prepared(c.ID), c.Keep)
	case machine.OpFinish:
		r.report, r.over = c.Report, true
		r.wake.Broadcast()
		r.left.Broadcast()
	}
}
