package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine/internal/backoff"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// Options are the settings of one run. The zero value takes what the plan says.
type Options struct {
	// Run is the id of the run.
	Run string
	// Concurrency overrides the plan's; 0 keeps it, or 1 if the plan leaves it
	// open. It holds for the run's own graph, not for nested ones.
	Concurrency int
	// MaxInFlight caps user code in flight over everything; 0 keeps the plan's.
	MaxInFlight int
	// Barrier finishes each level before the next one starts.
	Barrier bool
	// FailFast ends a walk that a model routes, nested ones too, at the first visit that
	// fails.
	FailFast bool `json:",omitempty"`
	// MaxVisits overrides how many visits the run may make if it is a walk that a model
	// routes; 0 keeps the plan's.
	MaxVisits int `json:",omitempty"`
	// Events makes the machine issue OpEmit commands.
	Events bool
	// Seed spreads the waits of retry policies that ask for jitter; drivers draw
	// one at random for each run. 0 spreads nothing.
	Seed uint64 `json:",omitempty"`
	// Guard calls code of the user's that the machine needs the result of at once:
	// reducers, and what merges values of Go types. nil calls it in place.
	Guard state.Guard `json:"-"`
}

// Machine is one run. See the package comment.
type Machine struct {
	plan         *plan.Plan
	fingerprint  string // of the plan, and its order, once they are needed
	order        string
	opts         Options
	maxInFlight  int
	inFlight     int
	root         *frame
	upserts      upserts
	frames       []*frame         // that have not ended, in the order of their begin
	nested       map[int64]*frame // the nested ones of them, by id
	out          []Command
	spare        []Command
	now          int64 // the latest time any event carried
	seq          int64
	cancelled    bool
	finished     bool
	endPublished bool // the end was published before the snapshot this came from
	dropped      int

	claims        map[string]claimant // what was replaced, and by whom last
	pendingFrames []*frame            // that have results which wait for their turn
}

// New returns a machine at the start of a run. Inputs are checked against the
// plan; what is wrong with them is the error.
func New(p *plan.Plan, inputs *core.Object, opts Options) (*Machine, error) {
	if err := checkPlanners(p, nil); err != nil {
		return nil, err
	}
	start, given, err := startingValues(p, inputs, opts.Guard)
	if err != nil {
		return nil, err
	}
	m := newMachine(p, opts)
	m.newFrame(0, p, "", nil, start, given)
	if m.opts.Events {
		m.emit(core.Event{Type: core.RunStarted, Inputs: given, Reason: p.Name, Limits: &core.Limits{
			Concurrency: m.root.group.limit, MaxInFlight: firstPositive(opts.MaxInFlight, p.MaxInFlight), Barrier: m.root.barrier,
			MaxVisits: m.root.mode.maxVisits()}})
	}
	m.emitSources(p)
	m.root.mode.open()
	m.root.propagate()
	return m, nil
}

func newMachine(p *plan.Plan, opts Options) *Machine {
	return &Machine{plan: p, opts: opts, maxInFlight: firstPositive(opts.MaxInFlight, p.MaxInFlight, math.MaxInt)}
}

func firstPositive(values ...int) int {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// Next returns what is to be done now, in order; none when the machine waits
// for answers. The slice is valid until the call after the next one.
func (m *Machine) Next() []Command {
	m.place()
	for m.inFlight < m.maxInFlight && m.root.startOne() {
		continue
	}
	if !m.finished && m.root.ended() {
		m.finish()
	}
	out := m.out
	m.out, m.spare = m.spare[:0], out
	return out
}

// Done reports whether the run is over and OpFinish has been issued.
func (m *Machine) Done() bool { return m.finished }

// Dropped returns how many answers came twice or too late and were dropped.
func (m *Machine) Dropped() int { return m.dropped }

// Apply takes in what happened. An answer to a command that is not (or no
// longer) open is counted and dropped. The event is read only during the call.
func (m *Machine) Apply(e *Event) {
	m.now = max(m.now, e.Ended)
	if e.Kind == Cancel {
		if !m.cancelled && !m.finished {
			m.cancelled = true
			m.root.stop()
		}
		return
	}
	f := m.frame(e.ID.Frame)
	if f == nil || m.finished {
		m.dropped++
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

// frame returns the frame of an id, nil when it has ended. Ids are not used again: a
// late answer must not meet another frame.
func (m *Machine) frame(id int64) *frame {
	if id == 0 {
		return m.root
	}
	return m.nested[id]
}

// frameID is the id of the nested run that does a piece of work. It follows from the id of
// that work alone. Should a run that has not ended have it by chance, the next free number is
// taken.
func (m *Machine) frameID(owner ID) int64 {
	id := int64(backoff.Mix(uint64(owner.Frame), uint32(owner.Node), uint32(owner.From), uint32(owner.Attempt)) >> 12)
	for id == 0 || m.nested[id] != nil {
		id++
	}
	return id
}

// end forgets a nested run.
func (m *Machine) end(f *frame) {
	delete(m.nested, f.ID)
	at := slices.Index(m.frames, f)
	m.frames = slices.Delete(m.frames, at, at+1)
}

// ripple lets the frames around f notice that it ended or has work again.
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

// emit issues an event. The driver stamps its time.
func (m *Machine) emit(e core.Event) {
	m.seq++
	e.V, e.Seq, e.Run = core.EventVersion, m.seq, m.opts.Run
	m.command(Command{Op: OpEmit, Event: &e})
}

func (m *Machine) finish() {
	m.finished = true
	r := m.root.report()
	if m.opts.Events && !m.endPublished {
		e := core.Event{Type: core.RunFinished, Status: string(r.Status), State: m.root.finalState(true), Reason: m.root.p.Name}
		if r.Err != nil {
			e.Reason = r.Err.Error()
		}
		if r.Usage != (core.Usage{}) {
			e.Usage = &r.Usage
		}
		m.emit(e)
	}
	m.command(Command{Op: OpFinish, Report: r})
}

// invariant stops the program when the machine contradicts itself.
func invariant(ok bool, format string, args ...any) {
	if !ok {
		panic("machine: " + fmt.Sprintf(format, args...))
	}
}
