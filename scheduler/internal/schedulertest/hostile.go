package schedulertest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// Hostile drives a bare machine in one goroutine, without a clock. It always answers
// commands in random order, depending on Seed. Its other fields inject the faults of an
// unreliable network and of a killed process; none of them may change the outcome.
type Hostile struct {
	Seed uint64
	// JSON passes every command and every answer through its JSON form.
	JSON bool
	// Reload replaces the machine by the restored snapshot of itself after every answer.
	// The handlers in flight are lost, and the machine must issue their commands again;
	// some of the lost handlers answer nevertheless.
	Reload bool
	// Several answers up to three commands between two calls of Next.
	Several bool
	// Journal records the run, if it is not nil. Replay does so too, and from time to time replaces
	// the machine by the replay of the journal. The handlers in flight are lost, as well as answers that are not in the
	// journal yet, and the commands that are open according to the replay are executed again.
	Journal *Journal
	Replay  bool
	// Memo makes Replay repeat the answers of the journal with a new machine, without some of them.
	Memo bool
	// Uncancel continues a run that was cancelled.
	Uncancel bool
	// Retry executes what has failed in a run again, once.
	Retry bool
	// Double repeats answers, immediately or much later.
	Double bool
	// Split answers only the first items of a range.
	Split bool
	// Yield returns items of ranges in flight, whether or not the machine has asked for
	// them.
	Yield bool
	// Cancel cancels the run after that many answers; 0 means never.
	Cancel int
	// Router makes the decisions of walks that a model routes, and Ask answers the questions to
	// people; nil means that the run has no router or interviewer.
	Router core.Router
	Ask    core.InterviewerFunc
	// Trace is given every command except events, if it is not nil.
	Trace func(machine.Command)
}

// hostileRun is one run in progress.
type hostileRun struct {
	h      Hostile
	rng    *rand.Rand
	p      *plan.Plan
	m      *machine.Machine
	run    string
	open   []machine.Command
	late   []answer // all answers so far
	report *core.Report
	events []core.Event
	event  core.Event
	now    int64
	// answered is the set of commands that have been answered.
	answered map[string]bool
	steps    int
	// ended holds the frames whose handlers were told to end.
	ended map[int64]ending
	// deadlines lists the requested deadlines of nested runs, and due the deadlines that have
	// passed and must be reported. expiring is set while they are being reported.
	deadlines []machine.Command
	due       []machine.Command
	expiring  bool
	// givenUp lists the items that cannot count any more.
	givenUp []machine.ID
	// prepared holds the results that wait to be put in place.
	prepared map[machine.ID]*core.Placement
	journal  *Journal // nil if the run is not recorded
}

// ending is the reason why the handlers of a frame have to end.
type ending uint8

const (
	notEnding ending = iota
	cancelled        // the run was stopped; some handlers finish nevertheless
	expired          // a deadline has passed before any of them began
)

// key identifies a command. The end of a range may change while it is in flight.
func key(c machine.Command) string {
	c.ID.To = min(c.ID.To, c.ID.From+1)
	return c.Op.String() + " " + c.ID.String()
}

// answer is an event with the command it answers.
type answer struct {
	command machine.Command
	event   machine.Event
}

// maxSteps ends a run that makes no progress.
const maxSteps = 1_000_000

// Run runs a plan to its end and returns its report and events. An error reports that the
// machine stalled, lost work or violated an invariant.
func (h Hostile) Run(p *plan.Plan, inputs map[string]any, o machine.Options) (report *core.Report, events []core.Event, err error) {
	r := &hostileRun{h: h, p: p, run: o.Run, answered: map[string]bool{}, ended: map[int64]ending{}, prepared: map[machine.ID]*core.Placement{}, rng: rand.New(rand.NewPCG(h.Seed, 0x686f7374))}
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
		}
	}()
	given := value.NewObject(len(inputs))
	for _, k := range sortedKeys(inputs) {
		given.Set(k, inputs[k])
	}
	o.AddedKinds = p.AddedKinds()
	if r.m, err = machine.New(p, given, o); err != nil {
		return nil, nil, err
	}
	if h.Journal != nil || h.Replay || h.Uncancel || h.Retry {
		if r.journal = h.Journal; r.journal == nil {
			r.journal = &Journal{}
		}
		r.journal.begin(p, given, o)
	}
	for range maxSteps {
		if err = r.next(); err == nil {
			err = r.expire()
		}
		if r.report != nil && err == nil && r.mayGoOn() {
			if err = r.goOn(); err == nil && r.report == nil {
				continue
			}
		}
		if err != nil || r.report != nil {
			return r.report, r.events, err
		}
		if err = r.answerSome(); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, fmt.Errorf("no end after %d steps", maxSteps)
}

// take processes new commands: it stores work until step picks it.
func (r *hostileRun) take(commands []machine.Command) error {
	for _, c := range commands {
		if r.h.Trace != nil && c.Op != machine.OpEmit {
			r.h.Trace(c)
		}
		switch c.Op {
		case machine.OpEmit:
			r.hear(c.Events)
		case machine.OpFinish:
			r.report = c.Report
		case machine.OpCancel:
			why := cancelled
			if r.expiring {
				why = expired
			}
			r.ended[c.ID.Frame] = max(why, r.ended[c.ID.Frame]) // a restored machine issues the command again
		case machine.OpYield: // yielding is optional
		case machine.OpMet:
			r.due = slices.DeleteFunc(r.due, func(d machine.Command) bool { return d.ID == c.ID })
		case machine.OpDeadline:
			if c.ID.Node >= 0 { // the deadline of a wait: nothing else ends it
				r.open = append(r.open, c)
				continue
			}
			r.deadlines = append(r.deadlines, c)
			if expiring(c.Delay, int(c.ID.Attempt)) {
				r.due = append(r.due, c)
			}
		case machine.OpDiscard:
			if c.Keep && r.prepared[c.ID] != nil {
				r.place(c)
				continue
			}
			r.discard(c.ID)
		case machine.OpGiveUp:
			r.givenUp = append(r.givenUp, c.ID)
		default:
			if r.h.JSON && c.Op != machine.OpPlace { // only the driver that has prepared the result receives OpPlace
				data, err := machine.EncodeCommand(&c)
				if err != nil {
					return fmt.Errorf("encode %s: %w", c.ID, err)
				}
				inputs, err := throughJSON(c.Call)
				if err != nil {
					return fmt.Errorf("inputs of %s: %w", c.ID, err)
				}
				if c, err = machine.DecodeCommand(r.p, inputs, data); err != nil {
					return fmt.Errorf("decode %s: %w", data, err)
				}
			}
			r.open = append(r.open, c)
		}
	}
	return nil
}

// throughJSON returns the inputs of a call after a round trip through JSON.
func throughJSON(c *machine.Call) (*value.Object, error) {
	if c == nil || c.Inputs == nil {
		return nil, nil
	}
	data, err := value.AppendJSON(nil, c.Inputs)
	if err != nil {
		return nil, err
	}
	v, err := value.ParseJSON(data)
	o, _ := v.(*value.Object)
	return o, err
}

// expire reports the deadlines that pass at once, before anything else happens.
func (r *hostileRun) expire() error {
	for len(r.due) > 0 && r.report == nil {
		c := r.due[0]
		r.due = r.due[1:]
		if err := r.tell(&c, &machine.Event{Kind: machine.Expired, ID: c.ID, Ended: r.now}); err != nil {
			return err
		}
		r.expiring = true
		if err := r.next(); err != nil {
			return err
		}
		r.expiring = false
	}
	return nil
}

// step answers one command and injects faults around it.
func (r *hostileRun) step() error {
	if r.steps++; r.steps == r.h.Cancel {
		return r.tell(nil, &machine.Event{Kind: machine.Cancel, Ended: r.now})
	}
	if len(r.open) == 0 {
		return fmt.Errorf("stalled: nothing in flight and the run is not over")
	}
	if err := r.yield(); err != nil {
		return err
	}
	if err := r.repeat(); err != nil {
		return err
	}
	i := r.rng.IntN(len(r.open))
	c := r.open[i]
	r.open = slices.Delete(r.open, i, i+1)
	a := r.work(c)
	r.late = append(r.late, a)
	if err := r.apply(a); err != nil {
		return err
	}
	if r.h.Double && r.chance(30) {
		if err := r.apply(a); err != nil {
			return err
		}
	}
	if r.h.Reload {
		return r.reload()
	}
	return nil
}

// repeat repeats an old answer, preferably a recent one: its command may have been followed
// by another attempt since.
func (r *hostileRun) repeat() error {
	if !r.h.Double || len(r.late) == 0 || r.chance(50) {
		return nil
	}
	back := 4
	if r.chance(20) {
		back = len(r.late)
	}
	return r.apply(r.late[len(r.late)-1-r.rng.IntN(min(back, len(r.late)))])
}

// yield returns all but a part of a range in flight.
func (r *hostileRun) yield() error {
	c := &r.open[r.rng.IntN(len(r.open))]
	size := c.ID.To - c.ID.From
	if !r.h.Yield || c.Op != machine.OpRun || c.Node.Source == nil || size < 2 || r.chance(50) {
		return nil
	}
	c.ID.To -= 1 + int32(r.rng.IntN(int(size-1)))
	a := answer{*c, machine.Event{Kind: machine.Yielded, ID: c.ID, Ended: r.now}}
	r.late = append(r.late, a)
	return r.apply(a)
}

func (r *hostileRun) chance(percent int) bool { return r.rng.IntN(100) < percent }

// work executes a command.
func (r *hostileRun) work(c machine.Command) answer {
	r.answered[key(c)] = true
	e := machine.Event{Kind: machine.Finished, ID: c.ID, Started: r.now}
	r.now += int64(r.rng.IntN(3))
	switch {
	case c.Op == machine.OpTimer:
		e.Kind = machine.TimerFired
	case c.Op == machine.OpDeadline:
		e.Kind = machine.Expired
	case c.Op == machine.OpPlace:
		e.Kind, e.Outcome = r.place(c)
	case c.Node.Source == nil: // not a fan-out
		e.Outcome = r.attempt(c, -1)
	default:
		if r.h.Split && e.ID.To-e.ID.From > 1 && r.chance(50) {
			e.ID.To = e.ID.From + 1 + int32(r.rng.IntN(int(e.ID.To-e.ID.From)))
		}
		for i := e.ID.From; i < e.ID.To; i++ {
			e.Items = append(e.Items, r.attempt(c, int(i)))
			if c.ID.From%2 == 0 { // they are optional
				e.Ends = append(e.Ends, r.now)
			}
		}
		if r.h.Split && r.chance(50) {
			byField(&e, &c)
		}
	}
	e.Ended = r.now
	return answer{c, e}
}

// byField moves the writes of the items that have nothing else from e.Items to e.Writes.
func byField(e *machine.Event, c *machine.Command) {
	n := len(e.Items)
	e.Items, e.Writes = slices.Clone(e.Items), make([]*state.ItemWrites, len(c.Node.WriteFields))
	for i := range e.Items {
		o := &e.Items[i]
		if !o.OnlyWrites() {
			continue
		}
		for _, w := range o.Writes {
			k := slices.Index(c.Node.WriteFields, w.Field)
			if e.Writes[k] == nil {
				e.Writes[k] = state.NewItemWrites(&c.Plan.Schema.Fields[w.Field], n)
			}
			e.Writes[k].Set(i, w.Value)
		}
		*o = machine.Outcome{}
	}
	if !slices.ContainsFunc(e.Items, func(o machine.Outcome) bool { return !o.Empty() }) {
		e.Items = nil
	}
}

// attempt calls the handler as a driver must, for an item or, with -1, for a plain node.
func (r *hostileRun) attempt(c machine.Command, index int) machine.Outcome {
	if e := r.endingOf(c.ID, index); e == expired || e == cancelled && r.chance(50) { // a handler whose context has ended
		return machine.Outcome{Failure: &core.Failure{Class: core.ClassCanceled, Message: "cancelled", Permanent: true}}
	}
	if c.ID.Attempt == machine.PauseAttempt { // the person lets it continue
		return machine.Outcome{}
	}
	if c.Call != nil && c.Call.Route != nil {
		a, err := r.h.Router.Route(context.Background(), *c.Call.Route)
		if err != nil {
			return machine.Outcome{Failure: core.FailureOf(err)}
		}
		return machine.Outcome{Route: &machine.Route{Answer: &a}}
	}
	if len(c.Node.Streams()) > 0 || c.Node.Pull || c.Plan.Conventions.Steps { // the driver opens streams and calls conditions itself
		e, err := scheduler.Execute(context.Background(), &c, scheduler.Options{Run: cmp.Or(r.run, "r")})
		if err != nil {
			return machine.Outcome{Failure: core.FailureOf(err)}
		}
		return e.Outcome
	}
	res, failure := call(c.Node.Handler, inputOf(r.run, c, index, r.h.Ask))
	if failure != nil && res.Status != core.Fail {
		return machine.Outcome{Failure: failure}
	}
	var o machine.Outcome
	if p := res.Placement; p != nil {
		id := c.ID
		if index >= 0 {
			id.From, id.To = int32(index), int32(index)+1
		}
		r.discard(id)
		r.prepared[id] = p
		o.Claim = machine.ClaimOf(p)
		return o
	}
	o.Accept(c.Plan, c.Node, &res)
	return o
}

// place puts a result in place.
func (r *hostileRun) place(c machine.Command) (machine.EventKind, machine.Outcome) {
	p := r.prepared[c.ID]
	delete(r.prepared, c.ID)
	if p == nil { // it was put in place before the machine was lost
		return machine.Gone, machine.Outcome{}
	}
	var o machine.Outcome
	res, err := p.Place(context.Background())
	if err != nil {
		p.Discard()
		return machine.Placed, machine.Outcome{Failure: core.FailureOf(err)}
	}
	o.Accept(c.Plan, c.Node, &res)
	return machine.Placed, o
}

// discard drops a prepared result.
func (r *hostileRun) discard(id machine.ID) {
	if p := r.prepared[id]; p != nil {
		delete(r.prepared, id)
		p.Discard()
	}
}

// endingOf returns whether and why the context of a handler has ended.
func (r *hostileRun) endingOf(id machine.ID, index int) ending {
	void := func(g machine.ID) bool {
		return g.Frame == id.Frame && g.Node == id.Node && (int(g.From) <= index || index < 0 && g.From == id.From)
	}
	if e := r.ended[id.Frame]; e != notEnding || !slices.ContainsFunc(r.givenUp, void) {
		return e
	}
	return cancelled
}

// inputOf builds the input of an execution from its command alone.
func inputOf(run string, c machine.Command, index int, ask core.InterviewerFunc) core.Input {
	var s core.Shared
	if c.Node.Asks {
		s.Ask = ask
	}
	name := c.Node.ID
	if call := c.Call; call != nil {
		if call.Path != "" {
			name = call.Path + "/" + name
		}
		s.View = core.NewView(c.Node.View, call.Values[:len(c.Node.View)])
		s.Edges, s.Inputs = call.Edges, call.Inputs
		s.Args, _ = c.Node.Args.Resolve(machine.Captured{For: c.Node, Call: call, Place: index}, nil)
		s.Item, s.Index = call.Item, call.Row
		if index >= 0 {
			s.Item, s.Index = call.Items.At(index), core.Nth(index)
		}
		s.Defer = c.Node.Claims
		s.Visit, s.Previous, s.Briefing = call.Visit, call.Previous, call.Briefing
		if s.Loop = call.Loop; s.Loop != "" {
			s.Round, _ = call.Round.Get()
		}
	}
	return core.NewInput(run, name, int(c.ID.Attempt), s)
}

// apply passes an answer to the machine.
func (r *hostileRun) apply(a answer) error {
	if !r.h.JSON {
		e := a.event
		e.Items = slices.Clone(e.Items) // it may be applied twice
		return r.tell(&a.command, &e)
	}
	codec, x := journal.Codec{Plan: r.p, PlanAt: r.m.PlanAt, Rows: true}, journal.Encoded{}
	if err := codec.AppendEvent(&x, &a.command, &a.event); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	e, err := codec.DecodeEvent(x.JSON)
	if late, ok := errors.AsType[*journal.UnknownNodeError](err); ok && r.m.Over(late.Frame) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("decode %s: %w", x.JSON, err)
	}
	return r.tell(&a.command, e)
}

// reload replaces the machine by its snapshot and checks that it issues all open work
// again. Occasionally a lost handler answers nevertheless, at once or later.
func (r *hostileRun) reload() error {
	data, err := r.m.Snapshot()
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	m, err := machine.Restore(r.p, data)
	if err != nil {
		return fmt.Errorf("restore: %w\n%s", err, data)
	}
	// If a handler answered although its command was lost, the machine may have issued the
	// command again. The command is then open, but it has been answered already.
	lost := slices.DeleteFunc(r.open, func(c machine.Command) bool { return r.answered[key(c)] })
	deadlines := r.deadlines
	before := r.m
	r.open, r.m, r.deadlines = nil, m, nil
	if err := r.unchanged(data); err != nil {
		return err
	}
	if err := r.next(); err != nil {
		return err
	}
	if err := r.watched(deadlines, data); err != nil {
		return err
	}
	for _, c := range lost {
		// A timer of an execution that was cancelled need not be set again.
		_, awaited := before.Timer(c.ID)
		void := c.Op == machine.OpTimer && !awaited
		at := slices.IndexFunc(r.open, func(o machine.Command) bool { return key(o) == key(c) })
		if r.report == nil && !void && at < 0 {
			return fmt.Errorf("%s %s was in flight and is not asked for again\n%s", c.Op, c.ID, data)
		}
		if at >= 0 && r.open[at].Delay > c.Delay {
			return fmt.Errorf("%s %s had %s left and has %s after a restore\n%s", c.Op, c.ID, c.Delay, r.open[at].Delay, data)
		}
		switch r.rng.IntN(5) {
		case 0:
			if err := r.apply(r.work(c)); err != nil {
				return err
			}
		case 1:
			r.late = append(r.late, r.work(c)) // repeat may deliver it
		}
	}
	return nil
}

// watched checks that the deadlines of nested runs that are still in progress were
// requested again.
func (r *hostileRun) watched(deadlines []machine.Command, snapshot []byte) error {
	var s struct {
		Frames []struct {
			ID      int64
			Stopped bool
			Planner struct{ Ended bool }
		}
	}
	if err := json.Unmarshal(snapshot, &s); err != nil {
		return err
	}
	for _, d := range deadlines {
		again := slices.ContainsFunc(r.deadlines, func(c machine.Command) bool { return c.ID == d.ID })
		for _, f := range s.Frames {
			if f.ID == d.ID.Frame && !f.Stopped && !f.Planner.Ended && !again {
				return fmt.Errorf("the deadline %s is not asked for again\n%s", d.ID, snapshot)
			}
		}
	}
	return nil
}

// unchanged checks that another snapshot of the restored machine is the same.
func (r *hostileRun) unchanged(data []byte) error {
	again, err := r.m.Snapshot()
	if err != nil {
		return fmt.Errorf("second snapshot: %w", err)
	}
	if !bytes.Equal(data, again) {
		return fmt.Errorf("a restored machine differs:\n%s\n%s", data, again)
	}
	return nil
}
