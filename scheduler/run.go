package scheduler

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	spread "math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// DefaultGrace is the default of Options.Grace. Handlers of the kinds that run programs need five
// seconds of it, the time that a program has between SIGTERM and SIGKILL.
const DefaultGrace = 10 * time.Second

// Options are the settings of a run. With the zero value, the settings of the plan apply.
type Options struct {
	// Run is the id of the run; if it is "", a random id is made.
	Run string
	// Concurrency limits the nodes in flight. If it is 0, the limit of the plan applies, or 1 if
	// the plan has none.
	Concurrency int
	// MaxInFlight limits the handlers in flight across nodes, items, stages and nested workflows.
	// If it is 0, the limit of the plan applies.
	MaxInFlight int
	// Barrier finishes each level before the next one starts. The results are the same; it exists
	// for comparison.
	Barrier bool
	// FailFast ends a walk whose edges a model picks at the first visit that fails, including
	// nested walks. Without it, the walk continues and the run fails at its end.
	FailFast bool
	// MaxVisits limits the visits of a walk whose edges a model picks. If it is 0, the limit of the
	// plan applies.
	MaxVisits int
	// Backpressure begins no further work while the listener is about 16,000 events behind, unless
	// it has taken no event for a second or the run was cancelled. Without it, the events of an
	// endless run accumulate in memory.
	Backpressure bool
	// Listener receives the events of the run in order, one at a time, on a separate goroutine. It
	// never delays the run. After a panic it gets no further events. While it is about 16,000
	// events behind, log records are left out and counted, and only the last progress event of each
	// attempt is kept. At its end, Run waits until all events are delivered, for at most Grace; if
	// ctx has ended, for at most the rest of Grace or a tenth of it, whichever is longer. If that
	// is not enough, the error is a core.StrayError, and the listener still gets the remaining
	// events when it takes them. Values of secrets are masked in the events, but not in the report.
	Listener func(core.Event)
	// Drained is called on the listener's goroutine when the listener has been given all events that
	// waited. A listener that collects events, for example to write several at once, handles them
	// then. It may be nil.
	Drained func()
	// Interviewer answers the questions of human gates; nil means that no person is available. It
	// is called on goroutines of the run, by several gates at a time.
	Interviewer core.Interviewer
	// Router picks the edges of walks that leave the choice to a model. If it is nil, such a choice
	// fails the run. It is called on goroutines of the run.
	Router core.Router
	// Budget limits the usage of models by nodes and by decisions about edges.
	Budget core.Budget
	// Strict turns a warning of a node's logger into the failure of the attempt. The writes of the
	// attempt do not reach the state, and kinds that change something outside the run do not put it
	// in place.
	Strict bool
	// Tracer is notified of the run and of each attempt; it may be nil. Secrets are masked for it,
	// except in the inputs of the attempts.
	Tracer core.Tracer
	// Replayed is given the events of the earlier processes before a stored run is resumed, in order,
	// except records of logs and progress. It may be nil.
	Replayed func(core.Event)
	// Recording stores the run, so that it can be resumed after a crash and answered from other
	// processes; nil if it is not stored.
	Recording *Recording
	// NoCache makes nodes with a cache run as if they had none. Refresh are the paths of nodes with a cache
	// that run and whose results replace earlier ones.
	NoCache bool
	Refresh []string
	// Mock gives the answers of a replay in place of handlers, so that it has no effects; nil calls the handlers.
	// Replays alone have it, and cannot be resumed.
	Mock Mock
	// Grace limits the time that handlers may take to return after their context ended, before the
	// run continues without them; 0 means DefaultGrace.
	Grace time.Duration
}

// errNoContext is the error of a run with a nil context.
var errNoContext = errors.New("the context is nil; use context.Background if there is none")

// Run executes a plan and returns when everything has ended: no handler of the run and none of its
// goroutines is alive afterwards, with one exception. A handler that ignores its cancelled context
// for longer than Options.Grace, or a listener that takes as long at the end, is abandoned, and the
// error, a core.StrayError, names it. The same applies to a reducer, and to other code of the Go
// type of a field or of a starting value, if it has not returned within that time after ctx has
// ended. The run makes no progress until then.
//
// If the run began, the report is complete and the error is its Err. There is no report if the
// inputs are not valid for the plan, if their code has not returned, or if plan.Plan.Refused is
// not empty; the error is then of type source.Diagnostics where findings describe it. Run may be
// called any number of times concurrently for the same plan.
func Run(ctx context.Context, p *plan.Plan, inputs map[string]any, o Options) (*core.Report, error) {
	r, err := begin(ctx, p, inputs, o)
	if err != nil {
		return nil, err
	}
	return r.finishRun()
}

// begin returns a run that is ready to be executed. If the run is stored, its journal has begun.
func begin(ctx context.Context, p *plan.Plan, inputs map[string]any, o Options) (*run, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	if o.Run == "" {
		o.Run = rand.Text() // it is in idempotency keys, so two copies of a virtual machine must not make the same
	}
	r := newRun(ctx, p, o)
	r.guard.run = r
	settings := machine.Options{Run: o.Run, Concurrency: o.Concurrency, MaxInFlight: o.MaxInFlight, Barrier: o.Barrier, FailFast: o.FailFast,
		MaxVisits: o.MaxVisits, AddedKinds: p.AddedKinds(), Events: o.Listener != nil, Seed: spread.Uint64(), Guard: r.guard.call}
	var err error
	r.m, err = machine.New(p, objectOf(inputs), settings)
	if err == nil {
		err = refused(p, &o, inputs[core.InputDryRun] == true)
	}
	if err == nil && o.Recording != nil {
		err = r.beginJournal(p, settings)
	}
	if err != nil {
		r.guard.close()
		if code := r.guard.stuck; len(code) > 0 {
			err = &core.StrayError{Code: code, Err: &core.CancelError{Cause: context.Cause(ctx)}}
		}
		return nil, err
	}
	r.workflow, r.baseInput.Inputs = p.Name, r.m.Inputs()
	model := ""
	if o.Recording != nil {
		model = o.Recording.Head.Options.Model
	}
	r.startCache(p, model)
	return r, nil
}

// finishRun executes a run to its end.
func (r *run) finishRun() (*core.Report, error) {
	var ended func(*core.Report)
	r.parent, ended = r.trace.run(r.parent, r.opts.Run, r.workflow)
	rep, err := r.drive()
	if ended != nil {
		ended(rep)
	}
	return rep, err
}

// newRun returns the part of a run that Run and Execute have in common: what commands need.
func newRun(ctx context.Context, p *plan.Plan, o Options) *run {
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	o.Listener = masked(p.Secrets, o.Listener)
	r := &run{opts: o, trace: newTracing(o.Tracer, p.Secrets), parent: ctx, ctx: ctx, started: time.Now(), origin: time.Now().Round(0), baseInput: core.Shared{Run: o.Run, Dir: p.Workflow.Dir}}
	r.baseLogs.Handler = func(in core.Input) slog.Handler { return r.handler(in, nil) }
	r.baseInput.Logs, r.workers, r.queue = &r.baseLogs, r.firstWorkers[:0], r.firstQueue[:0]
	r.wake.L, r.left.L = &r.mu, &r.mu
	r.poolSize.procs = runtime.GOMAXPROCS(0)
	return r
}

// refused returns the reason why a plan cannot be run with the options, nil if it can. dry reports
// that no model picks edges.
func refused(p *plan.Plan, o *Options, dry bool) error {
	if len(p.Refused) > 0 && o.Mock == nil {
		return p.Refused.Sorted()
	}
	if o.Budget.Cost > 0 {
		if err := unpriced(p, o.Router, dry).Err(false); err != nil {
			return err
		}
	}
	return unrefreshable(p, o)
}

// objectOf returns the inputs in the order of their names, or nil if there are none.
func objectOf(inputs map[string]any) *value.Object {
	if len(inputs) == 0 {
		return nil
	}
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

// run is a run in progress. mu guards the machine and all fields below mu.
type run struct {
	opts      Options
	baseInput core.Shared // the shared input of nodes that are given nothing but fields
	baseLogs  core.Logs   // its Logs
	parent    context.Context
	ctx       context.Context
	started   time.Time
	skipped   atomic.Int64 // the delays of timers that have ended at once, see Options.Mock
	origin    time.Time    // when the run started, by the clock; a resumed run has started in another process
	workflow  string       // name
	events    *delivery
	trace     tracing
	rec       *recording // nil if the run is not stored
	logs      *logFile   // nil if the store of the run keeps no log
	cache     *caching   // nil if no results of earlier runs are used
	warned    warnings
	spent     spending

	mu      sync.Mutex
	wake    sync.Cond // workers wait here: a command is queued, or the run is over
	left    sync.Cond // the caller waits here: the run is over, or a worker left
	m       *machine.Machine
	queue   []machine.Command
	head    int
	workers []*worker
	// first is the space for the first worker, firstWorkers the space for workers and firstQueue
	// the space for queue. A chain needs no more.
	first        worker
	firstWorkers [1]*worker
	firstQueue   [1]machine.Command
	alive        int // goroutines in work
	idle         int
	waking       bool // a worker has been woken or started and has not checked the queue yet
	held         int  // workers whose handlers take longer than those before them
	poolSize     poolSize
	queueWatch   *time.Timer // checks that the queue does not wait for a slow handler; nil if it is not set
	over         bool
	paused       bool              // over, although the machine has not ended: only people can continue the run
	pausing      bool              // the inbox is being read before the run is paused
	unattended   int               // number of gates that wait for an answer from outside the process
	gates        map[string]*gate  // questions of a stored run, by their names
	memo         *journal.Memo     // the kept answers of an earlier part of the journal, or nil if there are none
	generations  map[string]int    // of nodes that run again, by path; nil if there are none
	rebuilt      *rebuilding       // of a resumed run or replay that has not begun, nil for others
	past         machine.Emissions // of a replay that has not begun: what it shares with another run
	seqBefore    int64             // number of the last event of earlier processes
	resumed      time.Time         // when this process has begun to execute the run
	remote       bool              // there is no machine
	throttled    bool              // nothing begins while the listener is far behind
	again        bool              // the machine has further commands after the current ones
	unasked      bool              // the machine may have further commands, and the queue is not empty; see ask
	report       *core.Report
	stray        []string
	undelivered  int64     // number of events that the listener did not take in time
	cancelled    time.Time // time at which the caller's context ended
	cancelledBy  string    // who has cancelled the stored run from outside the process
	took         time.Duration
	frames       map[int64]*frameContext
	timers       map[timerKey]*time.Timer
	guard        guard
	placements   map[machine.ID]*core.Placement // prepared results that wait for their turn
	sources      map[sourceKey]*rowSource       // streams of pipelines, between two rows
	calls        sync.WaitGroup                 // timer and cancel callbacks
	watched      atomic.Bool                    // a walk needs to know the last sign of life
	lively       sync.Once
	livelyRoom   core.Reports // see livelyReports; set by lively
	sign         atomic.Int64 // time of the last sign of life: a handler logged or reported its progress
	cancel       context.CancelFunc
}

// worker is a goroutine that runs handlers, with its current command.
type worker struct {
	cmd       machine.Command
	event     machine.Event   // the answer, kept here so that it is not allocated
	stamp     int64           // end of its last execution, 0 if it has waited since
	began     int64           // time at which it took its command
	items     cursor          // of a range
	write     [1]plan.Write   // of the answer to its command
	encoded   journal.Encoded // the answer as the journal of a stored run contains it
	unused    *machine.Call   // of a handler that has returned, to be used again
	full      bool            // event has more fields set than the next short answer overwrites
	busy      bool
	givenUp   bool            // the machine has given its command up, and its context has ended
	held      bool            // its handler takes longer than those before it
	commands  int             // number of commands that it has begun
	frame     *frameContext   // of the command; nil in the run's own graph
	ctx       context.Context // of a range that may be cancelled, nil for others
	cancel    context.CancelFunc
	base      *core.Shared       // the input of nodes that are given nothing
	reporter  *reporter          // nil if progress is not reported
	upserted  []upserted         // by its current command
	kept      []store.CacheEntry // the results of its current command that later runs may use
	results   *rangeResults      // of its latest range, nil for others
	slow      *time.Timer        // see watchRange; nil before its first range
	watch     *time.Timer        // timer for an attempt with a timeout, or nil if there is none
	abandoned bool               // its handler ignored the end of its context, and another goroutine has answered for it
}

// frameContext is the context of the handlers in flight in a nested frame.
type frameContext struct {
	ctx    context.Context
	cancel context.CancelFunc
	users  int
}

// drive runs the machine until the run is over. Handlers run on workers, which are started as there
// is work. The caller only waits, so that it can leave a handler behind that never returns.
func (r *run) drive() (*core.Report, error) {
	r.ctx, r.cancel = context.WithCancel(r.parent)
	defer r.cancel()
	if r.opts.Listener != nil {
		r.events, r.throttled = deliver(r.opts.Run, r.seqBefore, r.opts.Listener, r.opts.Drained), r.opts.Backpressure
	}
	stop := r.watchParent()
	if r.rec != nil {
		go r.rec.loop()
	}
	stopInbox := r.rec.watchInbox()
	r.runWorkers()
	stop()
	stopInbox()
	r.discardAll()
	r.closeSources()
	r.calls.Wait()
	r.guard.close()
	r.rec.settle()
	if r.events != nil {
		r.undelivered = r.events.close(r.patience())
	}
	rep, err := r.finish()
	return r.rec.end(rep, err)
}

// patience returns the time that the listener may take for the remaining events: the grace period,
// or, if the run was cancelled, the rest of it, but at least a tenth.
func (r *run) patience() time.Duration {
	grace := r.opts.Grace
	r.mu.Lock() // the writer of the journal may still fail
	defer r.mu.Unlock()
	if r.cancelled.IsZero() {
		return grace
	}
	return max(grace-time.Since(r.cancelled), grace/10)
}

// runWorkers starts the first worker. It returns when the run is over and all workers have left,
// except workers whose handlers have ignored the end of their contexts for the grace period. These
// are reported by name.
func (r *run) runWorkers() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parent.Err() != nil {
		r.cancelRun()
	}
	if r.rebuilt != nil {
		r.continueOpen(r.rebuilt)
		r.rebuilt = nil
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

// watchParent reports the end of the caller's context to the machine, until the returned function
// is called.
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

// cancelRun reports to the machine that the caller's context ended. Further calls have no effect.
func (r *run) cancelRun() {
	if !r.cancelled.IsZero() {
		return
	}
	r.cancelled = time.Now()
	if r.events != nil {
		r.events.release()
	}
	if !r.over {
		r.apply(nil, &machine.Event{Kind: machine.Cancel, Ended: r.now()})
	}
}

// now returns the time since the start of the run, in nanoseconds.
func (r *run) now() int64 {
	now := int64(time.Since(r.started))
	if r.opts.Mock != nil {
		now += r.skipped.Load()
	}
	return now
}

// time returns the current time as events contain it: now after the start of the run. It does not
// jump if the clock is set.
func (r *run) time() time.Time { return r.origin.Add(time.Duration(r.now())) }

// finish completes the report.
func (r *run) finish() (*core.Report, error) {
	rep := r.report
	rep.Started, rep.Duration = r.origin, r.took
	for _, w := range r.m.Warnings() {
		r.warned.add(w.Node, w.Text)
		if r.opts.Strict && rep.Err == nil { // a warning of the whole run, or of a handler that does not call Storing
			rep.Status, rep.Err = core.RunFailed, &core.NodeError{Node: w.Node, Failure: strictly(w.Text)}
		}
	}
	rep.Warnings, rep.Warned = r.warned.report()
	if c, ok := rep.Err.(*core.CancelError); ok {
		c.Cause, c.By = context.Cause(r.parent), r.cancelledBy
	}
	if code := r.guard.stuck; len(r.stray) > 0 || len(code) > 0 || r.undelivered > 0 {
		rep.Err = &core.StrayError{Nodes: slices.Compact(r.stray), Code: code, Listener: r.undelivered > 0, Unheard: r.undelivered, Err: rep.Err}
		if (len(r.stray) > 0 || len(code) > 0) && (rep.Status == core.RunSuccess || rep.Status == core.RunPartial) {
			rep.Status = core.RunFailed
		}
	}
	return rep, rep.Err
}

// tell reports an event to the machine. Everything that happens in a run enters here: a stored run
// records it. c is the command that the event answers, nil if the caller has ended the run. encoded
// is the form of the event in the journal, nil if it has not been made yet.
func (r *run) tell(c *machine.Command, e *machine.Event, encoded *journal.Encoded) {
	if r.paused { // the handlers of the gates return because the process ends
		return
	}
	if r.rec != nil {
		r.rec.event(c, e, encoded)
	}
	r.m.Apply(e)
}

// apply reports an event to the machine and collects its commands.
func (r *run) apply(c *machine.Command, e *machine.Event) {
	r.tell(c, e, nil)
	r.collect(nil)
}

// collect takes the commands of the machine. It queues those that run handlers and executes the
// others immediately. If w is not nil, it has just ended a command and gets the command that would
// be first in the queue.
func (r *run) collect(w *worker) {
	r.again = true
	for r.again { // repeat if commands were answered immediately
		r.again, r.unasked = false, false
		commands := r.m.Next()
		if r.rec != nil {
			r.rec.next(commands)
		}
		for i := range commands {
			if r.rec != nil {
				r.issueStored(&commands[i], w)
			} else {
				r.issue(&commands[i], w)
			}
		}
	}
	r.recordQueue()
	r.pauseIfWaiting()
}

// issueStored is issue for a command of a stored run, which may be answered by the journal or have
// to wait for it.
func (r *run) issueStored(c *machine.Command, w *worker) {
	if !r.answerKept(c) && !r.rec.postpones(c) {
		r.issue(c, w)
	}
}

// ask collects the commands that the answer of a worker has led to. While commands are queued, it
// leaves those that only need a free slot for later: they would be queued after the others anyway.
// The machine then starts several nodes at once and in the order of the plan. In the order in which
// they become ready, the nodes of a large graph are rarely in the cache: a graph of 100 layers of
// 100 nodes that do nothing takes twice as long.
func (r *run) ask(w *worker) {
	if r.unasked = true; r.head == len(r.queue) || r.rec != nil || r.m.Urgent() { // a journal is written without delay
		r.collect(w)
	}
}

// issue begins a command. Every command of the machine passes through it.
func (r *run) issue(c *machine.Command, w *worker) {
	switch {
	case c.Op != machine.OpRun && c.Op != machine.OpPlace:
		r.do(c)
	case w != nil && !w.busy && r.head == len(r.queue) && !r.behind():
		r.hand(w, c)
	default:
		r.enqueue(c)
	}
}

// behind reports whether nothing may begin because the listener is far behind.
func (r *run) behind() bool { return r.throttled && r.events.behind() }

// enqueue appends a command to the queue. It reuses the space of commands that were taken if that is
// at least half of the queue, so that a command is moved once on average.
func (r *run) enqueue(c *machine.Command) {
	if len(r.queue) == cap(r.queue) && r.head > len(r.queue)/2 {
		n := copy(r.queue, r.queue[r.head:])
		r.queue, r.head = r.queue[:n], 0
	}
	r.queue = append(r.queue, *c)
}

// do executes a command that runs no handler.
func (r *run) do(c *machine.Command) {
	switch c.Op {
	case machine.OpTimer:
		r.setTimer(machine.TimerFired, c, c.Delay)
	case machine.OpDeadline:
		r.setTimer(machine.Expired, c, c.Delay)
	case machine.OpMet:
		r.dropTimer(timerKey{kind: machine.Expired, id: c.ID})
	case machine.OpEmit:
		if r.events != nil { // else only the events of earlier processes were wanted
			r.events.addEmissions(c.Events, r.origin.UnixNano())
		}
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
