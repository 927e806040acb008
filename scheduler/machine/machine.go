package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine/internal/backoff"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// Options are the settings of one run. The zero value uses the settings of the plan.
type Options struct {
	// Run is the ID of the run.
	Run string
	// Concurrency overrides the concurrency of the plan. 0 keeps it, or means 1 if the plan sets
	// none. It applies to the graph of the run, not to nested runs.
	Concurrency int
	// MaxInFlight limits the handlers in flight of the run and its nested runs together; 0 keeps
	// the limit of the plan.
	MaxInFlight int
	// Barrier finishes each level before the next one starts.
	Barrier bool
	// FailFast ends a walk that a model routes at the first visit that fails. It applies to
	// nested walks too.
	FailFast bool `json:",omitempty"`
	// MaxVisits overrides the maximum number of visits of a walk that a model routes; 0 keeps the
	// limit of the plan.
	MaxVisits int `json:",omitempty"`
	// Events makes the machine issue OpEmit commands. It changes nothing else.
	Events bool
	// SingleItems makes the machine issue each item of a fan-out alone, so that the event of its
	// start comes when it starts. Otherwise quick items are issued in ranges.
	SingleItems bool `json:",omitempty"`
	// Seed is the source of the jitter of retry policies. Drivers draw a random seed for each
	// run; 0 disables jitter.
	Seed uint64 `json:",omitempty"`
	// Assume gives nodes, pipelines and loops a status without running them.
	Assume []Assumption `json:",omitempty"`
	// Set gives fields values that replace the written ones.
	Set []Assignment `json:",omitempty"`
	// AddedKinds are the kinds of nodes that walks by steps may add; see plan.Plan.Changed.
	AddedKinds []string `json:",omitempty"`
	// Guard calls user code whose result the machine needs at once: reducers, and methods of Go
	// types that are called to merge their values. If Guard is nil, the code is called directly.
	Guard state.Guard `json:"-"`
	// Wrote, if it is not nil, is called with each write that is merged into a state or will be when
	// the node or unit ends, in the order of the events. It needs Events.
	Wrote func(*Write) `json:"-"`
}

// Machine is one run. See the package comment.
type Machine struct {
	plan         *plan.Plan
	fingerprint  string // of the plan; fingerprint and order are computed on demand
	order        string
	opts         Options
	maxInFlight  int
	inFlight     int
	root         *frame
	own          frame // the space of root
	upserts      upserts
	absent       []core.NodeWarning // of filters that selected nothing; snapshots do not contain them
	frames       []*frame           // frames that have not ended, in order of their start
	nested       map[int64]*frame   // the frames of nested runs, by ID
	out          []Command
	spare        []Command
	first        [2]Command // the first space of out and spare; a chain needs no more
	firstFrame   [1]*frame  // the first space of frames
	calls        []*Call    // to be used again
	now          int64      // the latest time of any event
	instant      int64      // at which what the machine handles has happened, at most now
	seq          int64
	events       Emissions     // of the commands in out
	assigned     []*assignment // see Options.Set
	spareEvents  Emissions
	cancelled    bool
	finished     bool
	endPublished bool // the RunFinished event was emitted before the snapshot was taken
	dropped      int

	asking        []asking            // vertices that are about to ask a person
	queued        []*arrival          // approvals that Queue has not returned yet; snapshots do not contain them
	claims        map[string]claimant // by target: the execution that replaced it last
	pendingFrames []*frame            // frames with results that wait to be placed
}

// New returns a machine at the start of a run. It returns an error if the inputs do not fit the
// plan.
func New(p *plan.Plan, inputs *value.Object, opts Options) (*Machine, error) {
	if err := checkPlanners(p, nil); err != nil {
		return nil, err
	}
	start, given, err := startingValues(p, inputs, opts.Guard)
	if err != nil {
		return nil, err
	}
	m := newMachine(p, opts)
	if m.assigned, err = newAssignments(p, opts.Set); err != nil {
		return nil, err
	}
	m.newFrame(0, p, "", nil, start, given)
	if m.opts.Events {
		m.emit(core.Event{Type: core.RunStarted, Inputs: given, Reason: p.Name, Limits: &core.Limits{
			Concurrency: m.root.group.limit, MaxInFlight: firstPositive(opts.MaxInFlight, p.MaxInFlight), Barrier: m.root.barrier,
			MaxVisits: m.root.mode.maxVisits(), AddedKinds: opts.AddedKinds}})
	}
	m.root.beginAssignments()
	m.emitSources(p)
	m.root.mode.open()
	m.root.propagate()
	return m, nil
}

func newMachine(p *plan.Plan, opts Options) *Machine {
	m := &Machine{plan: p, opts: opts, maxInFlight: firstPositive(opts.MaxInFlight, p.MaxInFlight, math.MaxInt)}
	m.out, m.spare, m.frames = m.first[:0:1], m.first[1:1:2], m.firstFrame[:0]
	return m
}

func firstPositive(values ...int) int {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// Next returns the commands to execute now, in order. It returns none if the machine waits for
// answers. The slice is valid until the next call of Next returns.
func (m *Machine) Next() []Command {
	m.place()
	for started := true; started || len(m.asking) > 0; { // a nested run that begins with a question starts nothing
		m.ask()
		started = m.inFlight < m.maxInFlight && m.root.startOne()
	}
	if !m.finished && m.root.ended() {
		m.finish()
	}
	out := m.out
	m.out, m.spare = m.spare[:0], out
	m.events, m.spareEvents = m.spareEvents[:0], m.events
	return out
}

// Urgent reports whether Apply has issued commands that Next has not returned yet, such as timers
// and cancellations. If it has not, a driver that still has commands to execute may apply further
// answers before it calls Next, which then starts what all of them allow.
func (m *Machine) Urgent() bool { return len(m.out) > 0 }

// Inputs returns the inputs of the run, or nil if there are none.
func (m *Machine) Inputs() *value.Object {
	if m.root.Inputs.Len() == 0 {
		return nil
	}
	return m.root.Inputs
}

// Done reports whether the run is over and OpFinish has been issued.
func (m *Machine) Done() bool { return m.finished }

// State returns the values that the fields have so far, in declared order; fields without a
// value are absent. Each field has the value after the writers that have ended before all writers
// that have not.
func (m *Machine) State() *value.Object { return m.root.finalState(false) }

// Report returns the result of the run so far. Its Status and Err are what they would be if the
// run ended now. Nodes that have not ended have no status.
func (m *Machine) Report() *core.Report { return m.root.report() }

// Dropped returns the number of answers that were dropped because they were duplicates or too
// late.
func (m *Machine) Dropped() int { return m.dropped }

// Apply handles an event. An answer to a command that is not open, or no longer open, is counted
// and dropped. Apply does not keep the event, and keeps the array of Outcome.Writes only of an
// execution that is not a plain node.
func (m *Machine) Apply(e *Event) {
	f := m.frame(e.ID.Frame)
	if f == nil || m.finished {
		m.dropped++
		return
	}
	m.now = max(m.now, e.Ended)
	m.instant = m.now
	if e.Kind == Cancel {
		if !m.cancelled {
			m.cancelled = true
			m.root.stop()
		}
		return
	}
	if int(e.ID.Node) >= len(f.p.Nodes) || !f.answer(e) {
		m.dropped++
		return
	}
	f.addUsageOf(e)
	f.propagate()
	m.notifyParents(f)
}

// frame returns the frame with an ID, nil if it has ended. IDs are not reused, so a late answer
// cannot reach another frame.
func (m *Machine) frame(id int64) *frame {
	if id == 0 {
		return m.root
	}
	return m.nested[id]
}

// frameID returns the ID of the nested run that executes owner, an attempt of node n. It is derived
// from these alone. On the unlikely collision with a run that has not ended, the next free number
// is used.
func (m *Machine) frameID(n *plan.Node, owner ID) int64 {
	id := int64(backoff.Mix(uint64(owner.Frame), nameHash(n.ID), uint32(owner.From), uint32(owner.Attempt)) >> 12)
	for id == 0 || m.nested[id] != nil {
		id++
	}
	return id
}

// end removes a nested run.
func (m *Machine) end(f *frame) {
	delete(m.nested, f.ID)
	at := slices.Index(m.frames, f)
	m.frames = slices.Delete(m.frames, at, at+1)
}

// notifyParents tells the frames around f that f has ended or may have work again.
func (m *Machine) notifyParents(f *frame) {
	for f.parent != nil {
		f.parent.mode.noteActivity()
		if f.ended() {
			f.handOver()
		} else {
			f.parent.refresh(f.vertexInParent())
		}
		f = f.parent
		f.propagate()
	}
}

func (m *Machine) command(c Command) { m.out = append(m.out, c) }

func (m *Machine) finish() {
	m.finished = true
	r := m.root.report()
	if m.opts.Events && !m.endPublished {
		m.emitRunFinished(r)
	}
	m.command(Command{Op: OpFinish, Report: r})
}

func (m *Machine) emitRunFinished(r *core.Report) {
	e := core.Event{Type: core.RunFinished, Status: string(r.Status), State: m.root.finalState(true), Reason: m.root.p.Name}
	if r.Err != nil {
		e.Reason = r.Err.Error()
	}
	if r.Usage != (core.Usage{}) {
		e.Usage = &r.Usage
	}
	m.emit(e)
}

// invariant panics if the machine contradicts itself.
func invariant(ok bool, format string, args ...any) {
	if !ok {
		panic("machine: " + fmt.Sprintf(format, args...))
	}
}
