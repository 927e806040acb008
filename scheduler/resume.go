package scheduler

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// Stored is a stored run that this process may continue, because it holds the lease of the run.
// Resume or Close ends that.
type Stored struct {
	// Head describes how the run was started. Its Inputs are nil: they are read by Resume.
	Head *journal.Head
	// End describes how the run ended; nil if its process crashed, and if the run is paused.
	End *journal.End
	// Times is the number of times that the run was resumed.
	Times int
	// Then is the plan that the run was started with. Resume needs it if its own plan is another one.
	Then *plan.Plan

	store  store.Store
	run    string
	holder store.Holder
	lease  store.Lease
	head   []byte // the payload of Head
	parts  int    // of the journal; each begins with a head
	from   uint64 // the record of Head
	last   uint64 // the last record
	forked bool   // a replay whose past was copied
	// records are those of the journal, or nil if they must be read again: of a run that is executed here others may
	// follow, and those of a large journal would take much memory.
	records []store.Record
}

// maxKept limits the size of the records that a Stored keeps, in bytes.
const maxKept = 16 << 20

// OpenStored takes the lease of a stored run and reads what its journal says about the run as a
// whole. The error is a store.HeldError if another process executes the run, store.ErrNotFound if
// there is no such run, and a store.DamageError if its journal is damaged.
func OpenStored(ctx context.Context, s store.Store, run string) (*Stored, error) {
	st := &Stored{store: s, run: run, holder: store.NewHolder()}
	var err error
	if st.lease, err = s.Acquire(ctx, run, st.holder, leaseTime); err != nil {
		return nil, err
	}
	if err := st.read(ctx); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st, nil
}

// ReadStored is OpenStored for Replay: it takes no lease, so another process may be executing the run.
func ReadStored(ctx context.Context, s store.Store, run string) (*Stored, error) {
	st := &Stored{store: s, run: run, holder: store.NewHolder()}
	return st, st.read(ctx)
}

// Inputs returns the inputs of the run. p is its plan.
func (st *Stored) Inputs(p *plan.Plan) (*value.Object, error) {
	h, err := codecOf(p, st.store).DecodeHead(st.head)
	if err != nil {
		return nil, err
	}
	return h.Inputs, nil
}

// Close gives the lease back.
func (st *Stored) Close() error {
	if st.lease.Token == 0 { // see ReadStored
		return nil
	}
	_, err := st.store.Acquire(context.Background(), st.run, st.holder, 0)
	return err
}

// read reads the records except the batches.
func (st *Stored) read(ctx context.Context) error {
	var list []store.Record
	size := 0
	for rec, err := range st.store.Read(ctx, st.run, 1) {
		if err == nil {
			if size += len(rec.Data); st.lease.Token == 0 && size <= maxKept { // see ReadStored
				list = append(list, rec)
			}
			switch st.last = rec.Seq; rec.Type {
			case store.Head:
				st.from, st.parts = rec.Seq, st.parts+1
				st.head = rec.Data
				st.Head, err = journal.SealedHead(rec.Data)
			case store.Mark:
				var m journal.Mark
				err = json.Unmarshal(rec.Data, &m)
				switch m.Kind {
				case store.MarkResumed:
					st.End = nil
					st.Times++
				case store.MarkForked:
					st.forked = true
				}
			case store.End:
				st.End = &journal.End{}
				err = json.Unmarshal(rec.Data, st.End)
			}
		}
		if err != nil {
			return err
		}
	}
	if uint64(len(list)) == st.last {
		st.records = list
	}
	return nil
}

// since returns the records of the journal from a number on.
func (st *Stored) since(ctx context.Context, first uint64) iter.Seq2[store.Record, error] {
	if st.records == nil {
		return st.store.Read(ctx, st.run, first)
	}
	return func(yield func(store.Record, error) bool) {
		for _, rec := range st.records[min(first-1, st.last):] {
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// Resume continues a stored run in this process. p is the plan of its workflow. Executions that
// have ended keep their results. Attempts that were in flight run again, with the same number and
// the same idempotency key. Run describes the rest of the behaviour and the results. For the
// options that the machine applies, the run keeps the values with which it was started. A budget
// replaces the earlier limits, but not the usage so far. Resume always releases the lease.
func Resume(ctx context.Context, st *Stored, p *plan.Plan, o Options) (*core.Report, error) {
	r, err := st.begin(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return r.finishRun()
}

// StartAgain is Resume, except that it returns as soon as the run continues.
func StartAgain(ctx context.Context, st *Stored, p *plan.Plan, o Options) (*Running, error) {
	return start(ctx, o, func(ctx context.Context, o Options) (*run, error) { return st.begin(ctx, p, o) })
}

// Ended returns the report of a stored run that has ended, from its journal. p is the plan with which
// it was started; o.Replayed is given its events. Nothing runs. Ended gives the lease back.
func Ended(ctx context.Context, st *Stored, p *plan.Plan, o Options) (*core.Report, error) {
	o.Run, o.Listener, o.Recording = st.run, nil, &Recording{Store: st.store}
	r := newRun(ctx, p, o)
	r.guard.run = r
	defer r.guard.close()
	r.startRecording(p, st.holder, st.lease, core.DurabilityOff, map[string]*value.Object{})
	b := newRebuilding(r, st, p, false)
	err := errors.Join(b.read(ctx), st.Close())
	if err != nil {
		return nil, err
	}
	rep := b.replay.Report()
	if rep == nil {
		return nil, ErrEnded
	}
	rep.Started, rep.Duration = r.origin, time.Duration(st.End.At)
	return rep, nil
}

// begin rebuilds the run from its journal.
func (st *Stored) begin(ctx context.Context, p *plan.Plan, o Options) (r *run, err error) {
	if ctx == nil {
		return nil, errNoContext
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, st.Close())
		}
	}()
	if err := st.check(p, o.Recording); err != nil {
		return nil, err
	}
	if mockOf(st.Head) != "" {
		return nil, ErrMocked
	}
	if err := refused(p, &o, false); err != nil {
		return nil, err
	}
	o.Run = st.run
	recording := Recording{}
	if o.Recording != nil {
		recording = *o.Recording
	}
	recording.Store = st.store
	o.Recording = &recording
	claim, err := st.claim(ctx, p, &recording)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = claim.release() // the first error counts
		}
	}()
	r = newRun(ctx, p, o)
	r.guard.run = r
	mode := core.DurabilityMode(st.Head.Options.Durability)
	if recording.Durability != "" && recording.Durability != core.DurabilityOff {
		mode = recording.Durability
	}
	r.startRecording(p, st.holder, st.lease, mode, map[string]*value.Object{})
	r.rec.claim = claim
	then, foreign := st.before(p)
	newPart := st.End != nil || st.Head.Cut != machine.Cut || recording.Adopt && st.Head.Logic != machine.Logic || recording.Salvage != nil
	newPart = newPart || !st.Head.IsOf(p) || len(recording.RerunFrom) > 0
	b := newRebuilding(r, st, then, newPart)
	b.foreign = foreign
	if err = b.read(ctx); err == nil {
		err = b.keep(recording)
	}
	if err == nil {
		err = b.resume()
	}
	if err == nil {
		err = r.rec.flushFirst(ctx)
	}
	if err != nil {
		r.guard.close()
		return nil, err
	}
	r.workflow, r.baseInput.Inputs = p.Name, r.m.Inputs()
	r.startCache(p, st.Head.Options.Model)
	return r, nil
}

var (
	// ErrOff is the error of Resume for a run whose journal has no progress.
	ErrOff = errors.New("the run was started with durability: off, so there is nothing to resume")
	// ErrEnded is the error of Resume for a run that has ended and of which nothing can run again.
	ErrEnded = errors.New("the run has ended, and nothing of it can run again")
	// ErrNotForked is the error of Resume and Replay for a replay whose process ended before the journal
	// had the past.
	ErrNotForked = errors.New("the process of the replay ended before anything ran: start the replay again")
)

// before returns the plan of the newest part of the journal, or nil if it is not known. foreign reports that
// the part belongs to a graph that was built in Go and has changed. The journal is then read with p.
func (st *Stored) before(p *plan.Plan) (then *plan.Plan, foreign bool) {
	switch {
	case st.Head.IsOf(p):
		return p, false
	case st.Then == nil && st.Head.File == "":
		return p, true
	}
	return st.Then, false
}

// check reports why a run cannot be continued with any plan.
func (st *Stored) check(p *plan.Plan, o *Recording) error {
	h := st.Head
	if h == nil {
		return fmt.Errorf("the journal of run %s has no head", st.run)
	}
	if err := h.Check(); err != nil {
		return err
	}
	if err := st.CheckNames(p, o); err != nil {
		return err
	}
	switch {
	case core.DurabilityMode(h.Options.Durability) == core.DurabilityOff:
		return ErrOff
	case h.Parent != nil && h.Parent.Kind == journal.ParentReplay && !st.forked:
		return ErrNotForked
	case st.Complete(o):
		return ErrEnded
	}
	return nil
}

// Complete reports whether the run has succeeded, and o lets nothing of it run again. o may be nil.
func (st *Stored) Complete(o *Recording) bool {
	again := o != nil && (len(o.RerunFrom) > 0 || o.Failed)
	return !again && st.End != nil && (st.End.Status == string(core.RunSuccess) || st.End.Status == string(core.RunPartial))
}

// CheckNames returns an error for a node of o that neither the workflow has nor had when the run was
// started. o may be nil.
func (st *Stored) CheckNames(p *plan.Plan, o *Recording) error {
	if o == nil {
		return nil
	}
	for _, path := range slices.Concat(o.RerunFrom, o.Keep) {
		if err := st.hasPart(p, path); err != nil {
			return err
		}
	}
	return nil
}

// hasPart returns an error unless the workflow has a node, pipeline or loop at a path, or had it when the
// run was started.
func (st *Stored) hasPart(p *plan.Plan, path string) error {
	if p.HasPart(path) {
		return nil
	}
	then, err := st.Head.Recorded()
	if err != nil {
		return err
	}
	if _, ok := then.Parts[path]; ok {
		return nil
	}
	if whole := plan.PartPath(path); whole != path && p.HasPart(whole) {
		return fmt.Errorf("%q is one item, round or visit: name the node, %q, for all of them", path, whole)
	}
	names := slices.Sorted(maps.Keys(then.Parts))
	for path := range p.Recorded().Parts {
		names = append(names, path)
	}
	slices.Sort(names)
	near := source.DidYouMean(path, names)
	if near == "" {
		near = "it has " + source.Named(slices.Compact(names))
	}
	return fmt.Errorf("the workflow has no node %q: %s", path, near)
}

// ChangedError is the error of Resume if the workflow has changed in a way that matters to the run.
type ChangedError struct {
	Run string
	// Findings are the nodes that have run and have changed, and the fields that hold a value and have
	// changed. They are empty if the workflow that the run was started with is not known.
	Findings source.Diagnostics
	// Nodes are the paths of the nodes, pipelines and loops among the findings. Recording.RerunFrom
	// with all of them would also run After further nodes again.
	Nodes []string
	After int
	// Kept reports whether all of Nodes have results that Recording.Keep can keep.
	Kept bool
}

// Error says that the workflow has changed.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("run %s cannot continue with the changed workflow [RESUME_CHANGED]", e.Run)
}

// LogicError is the error of Resume if another version of the engine has started the run, and this
// version would decide something else than what was recorded.
type LogicError struct {
	Engine string // the version that has started the run
	Err    *journal.DivergedError
}

// Error names the version.
func (e *LogicError) Error() string {
	return fmt.Sprintf("the run was started by wavefold %s, whose rules differ: %v [RESUME_LOGIC]", e.Engine, e.Err)
}

// Unwrap returns the first difference.
func (e *LogicError) Unwrap() error { return e.Err }

// continueOpen begins what was open when the earlier process ended. It is called with mu held.
func (r *run) continueOpen(b *rebuilding) {
	if r.past != nil {
		r.events.addEmissions(r.past, r.origin.UnixNano())
		r.past = nil
	}
	if !b.forked {
		r.rec.emitLocked(&core.Event{V: core.EventVersion, Type: core.RunResumed, Run: r.opts.Run, Reason: r.workflow, Values: b.rerun()})
	}
	if r.m.Done() { // only the end was not recorded
		r.report, r.over = r.m.Report(), true
		return
	}
	now := r.now()
	var overdue []*journal.Open
	open := b.replay.Open()
	for i := range open {
		switch o := &open[i]; {
		case o.Op == machine.OpTimer || o.Op == machine.OpDeadline:
			if o.Due <= now {
				overdue = append(overdue, o)
			} else {
				r.setTimer(endOf(o.Op), &o.Command, time.Duration(o.Due-now))
			}
		case o.Cancelled: // the handler counts as returned
			r.tell(&o.Command, failed(o.Command, now, &core.Failure{Class: core.ClassCanceled, Message: "cancelled before the run was resumed", Permanent: true}), nil)
		default:
			if why := b.repeats(o); why != "" {
				r.rec.emitLocked(repeated(r.opts.Run, &o.Command, why))
			}
			r.enqueue(&o.Command)
		}
	}
	slices.SortStableFunc(overdue, func(a, b *journal.Open) int { return cmp.Compare(a.Due, b.Due) })
	for _, o := range overdue {
		r.tell(&o.Command, &machine.Event{Kind: endOf(o.Op), ID: o.ID, Started: r.sign.Load(), Ended: now}, nil)
	}
}

// endOf returns the event that answers a timer or deadline.
func endOf(op machine.Op) machine.EventKind {
	if op == machine.OpTimer {
		return machine.TimerFired
	}
	return machine.Expired
}

// repeated returns the event for an attempt that begins again.
func repeated(run string, c *machine.Command, why string) *core.Event {
	n := c.Node
	e := &core.Event{V: core.EventVersion, Type: core.NodeRepeated, Run: run, Node: c.Call.Name(n), Kind: n.Kind, Phase: n.Phase,
		Attempt: c.ID.AttemptNumber(), Reason: why}
	if c.Call != nil {
		e.Visit, e.Round = c.Call.Visit, c.Call.Round
	}
	if u := c.Plan.Vertices[n.Vertex].Unit; u != nil && e.Visit == 0 { // the only vertex of a walk or flow is not a unit of the document
		e.Unit = u.ID
	}
	if c.ID.To > 0 && e.Round == 0 && e.Visit == 0 { // in a flow, it is the number of the token
		e.Item = core.Nth(int(c.ID.From))
	}
	return e
}
