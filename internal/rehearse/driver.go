package rehearse

import (
	"container/heap"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Options configure a rehearsal. The zero value uses the settings of the plan.
type Options struct {
	// Run is the id of the run, for events; "" means "test".
	Run string
	// Concurrency and MaxInFlight override the settings of the plan; 0 keeps them.
	Concurrency int
	MaxInFlight int
	Barrier     bool
}

// Run rehearses a plan that was compiled with Registry and returns a record of the run. The
// error reports inputs that do not match the plan.
func Run(p *plan.Plan, inputs *value.Object, f *mock.File, o Options) (*Record, error) {
	return run(p, inputs, f, o, nil)
}

// run is like Run, but passes the questions for which the file has no answer to an
// interviewer.
func run(p *plan.Plan, inputs *value.Object, f *mock.File, o Options, interviewer core.Interviewer) (*Record, error) {
	if o.Run == "" {
		o.Run = "test"
	}
	m, err := machine.New(p, inputs, machine.Options{
		Run: o.Run, Concurrency: o.Concurrency, MaxInFlight: o.MaxInFlight, Barrier: o.Barrier, Events: true, SingleItems: true, AddedKinds: p.AddedKinds(),
	})
	if err != nil {
		return nil, err
	}
	d := &driver{run: o.Run, m: m, calls: newCalls(f), routes: newDecisions(f), verdicts: newVerdicts(f), rec: newRecord(p, f), interviewer: interviewer}
	d.rec.calls, d.rec.routes = d.calls, d.routes.script
	for !m.Done() {
		d.carryOut()
		if len(d.queue) == 0 {
			if m.Done() {
				break
			}
			panic("rehearse: the machine waits for nothing")
		}
		a := heap.Pop(&d.queue).(*answer)
		d.now = a.at
		if a.node != "" {
			d.rec.ended(a.node)
		}
		m.Apply(&a.event)
		if d.rec.endless != nil && !d.stopped {
			d.stopped = true
			m.Apply(&machine.Event{Kind: machine.Cancel, Ended: d.now})
		}
	}
	d.rec.finish()
	return d.rec, nil
}

// driver answers the machine's commands at their virtual times.
type driver struct {
	run   string // id of the run
	m     *machine.Machine
	calls *script[mock.Answer]
	// routes holds the answers to routing decisions.
	routes      *decisions
	verdicts    *script[mock.Verdict] // of conditions, by name
	rec         *Record
	interviewer core.Interviewer // nil if there is none
	now         int64
	queue       queue
	order       int
	// stopped is set if the run was cancelled because one of its walks does not end.
	stopped bool
}

// answer is an event that is due at a virtual time. Answers due at the same time are in the
// order of their commands.
type answer struct {
	at    int64
	order int
	node  string // node of user code in flight, "" for timers
	event machine.Event
}

func (d *driver) carryOut() {
	for {
		commands := d.m.Next()
		if len(commands) == 0 {
			return
		}
		for i := range commands {
			d.command(&commands[i])
		}
	}
}

func (d *driver) command(c *machine.Command) {
	switch c.Op {
	case machine.OpRun:
		d.start(c)
	case machine.OpTimer:
		d.push("", d.now+int64(c.Delay), machine.Event{Kind: machine.TimerFired, ID: c.ID})
	case machine.OpDeadline:
		d.push("", d.now+int64(c.Delay), machine.Event{Kind: machine.Expired, ID: c.ID})
	case machine.OpMet:
		d.removeDeadline(c.ID)
	case machine.OpEmit:
		var room core.Event
		c.Events.Events(&room, func(e *core.Event) {
			e.Time = time.Unix(0, d.now).UTC()
			d.rec.event(e)
		})
	case machine.OpCancel:
		d.cancel(func(id machine.ID) bool { return id.Frame == c.ID.Frame })
	case machine.OpGiveUp:
		d.cancel(func(id machine.ID) bool {
			return id.Frame == c.ID.Frame && id.Node == c.ID.Node && id.From >= c.ID.From
		})
	case machine.OpFinish:
		d.rec.Report = c.Report
	default:
		panic(fmt.Sprintf("rehearse: unknown operation %s", c.Op))
	}
}

// removeDeadline removes the deadline of a frame.
func (d *driver) removeDeadline(id machine.ID) {
	d.queue = slices.DeleteFunc(d.queue, func(a *answer) bool { return a.event.Kind == machine.Expired && a.event.ID == id })
	heap.Init(&d.queue)
}

func (d *driver) push(node string, at int64, e machine.Event) {
	e.Ended = at
	d.order++
	heap.Push(&d.queue, &answer{at: at, order: d.order, node: node, event: e})
}

// start looks up the answer to one execution. The machine issues the items of a fan-out one by one.
func (d *driver) start(c *machine.Command) {
	node := nodePath(c)
	if c.Call != nil && c.Call.Route != nil {
		d.push("", d.now, machine.Event{Kind: machine.Finished, ID: c.ID, Started: d.now, Outcome: d.route(c, node)})
		return
	}
	if c.Call != nil && c.Call.Functions != nil {
		d.push("", d.now, machine.Event{Kind: machine.Finished, ID: c.ID, Started: d.now, Outcome: d.functions(c)})
		return
	}
	if c.ID.Attempt == machine.PauseAttempt { // a rehearsal continues after every pause
		d.push("", d.now, machine.Event{Kind: machine.Finished, ID: c.ID, Started: d.now})
		return
	}
	d.rec.started(node)
	a := d.calls.next(callOf(c, node))
	e := machine.Event{Kind: machine.Finished, ID: c.ID, Started: d.now}
	delay := a.Sleep.Value
	if c.Node.Asks {
		e.Outcome, delay = d.ask(c, a)
	} else if t := c.Node.Timeout; t > 0 && delay > t {
		delay = t
		e.Outcome.Failure = &core.Failure{Class: core.ClassTimeout, Message: fmt.Sprintf("timed out after %s", t)}
	} else if h, ok := c.Node.Handler.(bookkeeper); ok {
		e.Outcome = d.callBookkeeper(h, c)
	} else {
		e.Outcome = outcome(a, c.Plan, c.Node)
	}
	if c.Node.Source != nil {
		e.Items = []machine.Outcome{e.Outcome}
	}
	d.push(node, d.now+int64(delay), e)
}

// callBookkeeper calls the handler of a bookkeeping node.
func (d *driver) callBookkeeper(h core.Handler, c *machine.Command) machine.Outcome {
	in, err := d.input(c, nil)
	if err != nil {
		return failure(*core.FailureOf(err))
	}
	res, err := h.Handle(context.Background(), in)
	if err != nil {
		return failure(*core.FailureOf(err))
	}
	return accepted(&res, c.Plan, c.Node)
}

// input returns the input of a handler that a rehearsal calls.
func (d *driver) input(c *machine.Command, ask core.InterviewerFunc) (core.Input, error) {
	place := -1
	if c.Node.Source != nil {
		place = int(c.ID.From)
	}
	s, err := machine.Shared(c.Plan, c.Node, c.Call, place, func() bool { return false })
	s.Ask, s.Dir = ask, c.Plan.Workflow.Dir
	return core.NewInput(d.run, c.Call.Name(c.Node), int(c.ID.Attempt), s), err
}

// cancel immediately ends the executions in flight, like handlers that respect their
// contexts. The machine issues a separate command for each frame inside a frame.
func (d *driver) cancel(ended func(machine.ID) bool) {
	for _, a := range d.queue {
		if a.node == "" || !ended(a.event.ID) {
			continue
		}
		o := machine.Outcome{Failure: &core.Failure{Class: core.ClassCanceled, Message: "cancelled", Permanent: true}}
		a.at, a.event.Ended, a.event.Outcome = d.now, d.now, o
		if a.event.Items != nil {
			a.event.Items = []machine.Outcome{o}
		}
	}
	heap.Init(&d.queue)
}

// queue is a heap of answers by time, then by order.
type queue []*answer

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].order < q[j].order
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push adds an answer; package heap calls it.
func (q *queue) Push(x any) { *q = append(*q, x.(*answer)) }

// Pop removes the last answer; package heap calls it.
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}
