package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// remotePlan compiles a document whose tools are make, which sends its list on, and sum, which
// writes what it gets of an order.
func remotePlan(t testing.TB, doc string, orders []any) *plan.Plan {
	t.Helper()
	e := wavefold.NewEngine()
	tools := map[string]core.HandlerFunc{
		"make": func(context.Context, core.Input) (core.Result, error) {
			return core.Result{EdgeOutput: value.ObjectOf("orders", orders), HasEdgeOutput: true}, nil
		},
		"sum": func(_ context.Context, in core.Input) (core.Result, error) {
			item, _ := in.Item()
			amount, _ := item.(*value.Object).Get("amount")
			rate, _ := in.Get("rate")
			all, _ := in.Get("orders")
			list, _ := all.([]any)
			factor, _ := in.Arg("factor")
			return core.Write("total", amount.(float64)*rate.(float64)+factor.(float64)+float64(len(list))), nil
		},
	}
	for name, h := range tools {
		if err := e.AddTool(name, h); err != nil {
			t.Fatal(err)
		}
	}
	w, ds := e.Parse("t.yaml", []byte(doc))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	p, ds := e.Compile(w, false)
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// elsewhere executes a command as another process would, from its JSON form and the inputs.
func elsewhere(t testing.TB, p *plan.Plan, c *machine.Command, inputs *value.Object) (*machine.Event, int) {
	t.Helper()
	data, err := machine.EncodeCommand(c)
	if err != nil {
		t.Fatal(err)
	}
	back, err := machine.DecodeCommand(p, inputs, data)
	if err != nil {
		t.Fatal(err)
	}
	e, err := scheduler.Execute(t.Context(), &back, scheduler.Options{Run: "r"})
	if err != nil {
		t.Fatal(err)
	}
	return e, len(data)
}

// runElsewhere executes a run in other processes, and returns the size of all commands and of the
// largest one, in bytes.
func runElsewhere(t testing.TB, p *plan.Plan, inputs *value.Object, o machine.Options) (r *core.Report, total, largest int) {
	t.Helper()
	m, err := machine.New(p, inputs, o)
	if err != nil {
		t.Fatal(err)
	}
	for !m.Done() {
		for _, c := range slices.Clone(m.Next()) {
			switch c.Op {
			case machine.OpFinish:
				r = c.Report
			case machine.OpTimer:
				m.Apply(&machine.Event{Kind: machine.TimerFired, ID: c.ID})
			case machine.OpRun:
				e, n := elsewhere(t, p, &c, inputs)
				total, largest = total+n, max(largest, n)
				m.Apply(e)
			}
		}
	}
	return r, total, largest
}

const remoteDoc = `
name: t
inputs:
  orders: {type: array}
  rate: {type: number}
state:
  schema:
    total: {type: number, merge: sum}
graph:
  nodes:
    - {id: make, kind: tool, impl: make}
    - {id: pause, kind: wait, duration: 1ns}
    - id: sum
      kind: tool
      impl: sum
      for_each: {source: "%s", concurrency: 4}
      reads: %s
      args: {factor: $.rate}
      writes: [total]
  edges:
    - {from: make, to: pause}
    - {from: pause, to: sum}
`

// Each command of a fan-out contained the whole list of items and the inputs of the run: the
// commands for 4,000 orders had 824 MB.
func TestCommandsCarryTheirItemsOnly(t *testing.T) {
	const n = 4000
	orders := make([]any, n)
	for i := range orders {
		orders[i] = value.ObjectOf("id", int64(i), "amount", 12.5)
	}
	inputs := value.ObjectOf("orders", orders, "rate", 2.0)
	for _, source := range []string{"$.orders", "$input.orders", "$nodes.make.output.orders", "$.orders[?(@.amount > 0)]"} {
		t.Run(source, func(t *testing.T) {
			p := remotePlan(t, fmt.Sprintf(remoteDoc, source, "[rate]"), orders)
			r, total, largest := runElsewhere(t, p, inputs, machine.Options{Run: "r", Concurrency: 4, SingleItems: true})
			if r.Status != core.RunSuccess {
				t.Fatal(r.Err)
			}
			if got, _ := r.State.Get("total"); got != n*27.0 {
				t.Errorf("the total is %v, want %v", got, n*27.0)
			}
			if largest > 500 || total > n*500 {
				t.Errorf("the largest command has %d bytes and all have %d, want at most 500 for each of %d items", largest, total, n)
			}
		})
	}
}

// A list that the items read as a whole is part of the commands although the items come from it.
func TestCommandsCarryDeclaredReads(t *testing.T) {
	orders := []any{value.ObjectOf("amount", 1.0), value.ObjectOf("amount", 2.0)}
	inputs := value.ObjectOf("orders", orders, "rate", 10.0)
	p := remotePlan(t, fmt.Sprintf(remoteDoc, "$.orders", "[orders, rate]"), orders)
	r, _, _ := runElsewhere(t, p, inputs, machine.Options{Run: "r"})
	if got, _ := r.State.Get("total"); got != 54.0 {
		t.Errorf("the total is %v, want 54", got)
	}
}

// firstRun returns the first command of a run that calls a handler or asks the router.
func firstRun(t *testing.T, p *plan.Plan, m *machine.Machine, is func(c *machine.Command) bool) *machine.Command {
	t.Helper()
	for !m.Done() {
		for _, c := range slices.Clone(m.Next()) {
			switch {
			case c.Op == machine.OpRun && is(&c):
				return &c
			case c.Op == machine.OpRun:
				m.Apply(&machine.Event{ID: c.ID})
			}
		}
	}
	t.Fatal("there is no such command")
	return nil
}

func newMachine(t *testing.T, p *plan.Plan) *machine.Machine {
	t.Helper()
	m, err := machine.New(p, nil, machine.Options{Run: "r"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func anyRun(*machine.Command) bool { return true }

// Execute knew only the id of the run: a decision for a model failed, no person was asked, no
// budget was applied and no event was delivered.
func TestExecuteAsksTheRouter(t *testing.T) {
	p := decision(t)
	c := firstRun(t, p, newMachine(t, p), func(c *machine.Command) bool { return c.Call != nil && c.Call.Route != nil })
	router := core.RouterFunc(func(_ context.Context, q core.RouteQuestion) (core.RouteAnswer, error) {
		return core.RouteAnswer{Raw: "asked about " + q.Node}, nil
	})
	e, err := scheduler.Execute(t.Context(), c, scheduler.Options{Run: "r", Router: router})
	if err != nil || e.Outcome.Route == nil || e.Outcome.Route.Answer.Raw != "asked about a" {
		t.Errorf("the outcome is %+v, the error %v", e.Outcome, err)
	}
	if e, err = scheduler.Execute(t.Context(), c, scheduler.Options{Run: "r"}); err != nil || !errors.Is(e.Outcome.Failure.Cause, scheduler.ErrNoRouter) {
		t.Errorf("without a router the outcome is %+v, the error %v", e.Outcome, err)
	}
}

func TestExecuteAsksThePerson(t *testing.T) {
	gate := func(ctx context.Context, in core.Input) (core.Result, error) {
		ask := in.Shared().Ask
		if ask == nil {
			return core.Result{}, errors.New("nobody is there")
		}
		a, err := ask(ctx, core.Question{Text: "go on?"})
		return core.Result{Note: a.Text}, err
	}
	p := besides(t, gate, noop)
	c := firstRun(t, p, newMachine(t, p), func(c *machine.Command) bool { return c.Node.ID == "gate" })
	person := core.InterviewerFunc(func(context.Context, core.Question) (core.Answer, error) { return core.Answer{Text: "yes"}, nil })
	var events []string
	e, err := scheduler.Execute(t.Context(), c, scheduler.Options{Run: "r", Interviewer: person, Listener: func(e core.Event) { events = append(events, string(e.Type)+" "+e.Node) }})
	if err != nil || e.Outcome.Note != "yes" || strings.Join(events, ", ") != "node.asked gate, node.answered gate" {
		t.Errorf("the outcome is %+v, the error %v, the events %v", e.Outcome, err, events)
	}
}

func TestExecuteKeepsTheBudget(t *testing.T) {
	p := callers(t, 2, nil)
	c := firstRun(t, p, newMachine(t, p), anyRun)
	var events []string
	listener := func(e core.Event) { events = append(events, fmt.Sprint(e.Seq, " ", e.Type)) }
	e, err := scheduler.Execute(t.Context(), c, scheduler.Options{Run: "r", Budget: core.Budget{Calls: 1}, Listener: listener})
	if err != nil || e.Outcome.Failure == nil || !errors.Is(e.Outcome.Failure.Cause, scheduler.ErrBudget) || e.Outcome.Usage.Calls != 1 {
		t.Errorf("the outcome is %+v, the error %v", e.Outcome, err)
	}
	if got := strings.Join(events, ", "); got != "1 model.asked, 1 log, 2 model.answered, 3 tool.called" {
		t.Errorf("the events are %s", got)
	}
	if e, err = scheduler.Execute(t.Context(), c, scheduler.Options{Run: "r", Budget: core.Budget{Calls: 2}}); err != nil || e.Outcome.Failure != nil {
		t.Errorf("within the budget the outcome is %+v, the error %v", e.Outcome, err)
	}
}

func TestExecuteTellsTheListenerAndTheTracer(t *testing.T) {
	p := compile(t, one(func(_ context.Context, in core.Input) (core.Result, error) {
		in.Logger().Info("the token is s3cret-token")
		in.Progress(1, 2)
		in.Logger().Warn("careful")
		return core.Result{}, nil
	}))
	p.Secrets = []core.Secret{{Name: text("TOKEN"), Read: func() (string, bool) { return "s3cret-token", true }}}
	c := firstRun(t, p, newMachine(t, p), anyRun)
	var events []string
	tracer := &told{}
	o := scheduler.Options{Run: "r", Tracer: tracer, Listener: func(e core.Event) { events = append(events, fmt.Sprint(e.Type, " ", e.Log, " ", e.Done)) }}
	e, err := scheduler.Execute(t.Context(), c, o)
	if err != nil || e.Outcome.Failure != nil {
		t.Errorf("the outcome is %+v, the error %v", e.Outcome, err)
	}
	if got := strings.Join(events, ", "); strings.Contains(got, "s3cret") || !strings.Contains(got, "log the token is") || !strings.Contains(got, "progress  1") {
		t.Errorf("the events are %s", got)
	}
	if got := strings.Join(tracer.lines, ", "); got != "n!1 in <nil>, n!1 ends: success <nil>" {
		t.Errorf("the tracer is told %s", got)
	}
	o.Strict = true
	e, err = scheduler.Execute(t.Context(), c, o)
	if err != nil || e.Outcome.Failure == nil || !strings.Contains(e.Outcome.Failure.Message, "careful") {
		t.Errorf("of a strict run the outcome is %+v, the error %v", e.Outcome, err)
	}
}

// A handler that ended its goroutine ended the caller's.
func TestExecuteSurvivesItsHandler(t *testing.T) {
	p := compile(t, one(func(context.Context, core.Input) (core.Result, error) { runtime.Goexit(); return core.Result{}, nil }))
	e, err := scheduler.Execute(t.Context(), firstRun(t, p, newMachine(t, p), anyRun), scheduler.Options{Run: "r"})
	if err != nil || e.Outcome.Failure == nil || e.Outcome.Failure.Class != core.ClassPanic {
		t.Errorf("the outcome is %+v, the error %v", e.Outcome, err)
	}
}

// Execute ignored settings that have no effect on a single command, and did not check the settings
// with which Run fails.
func TestExecuteRefuses(t *testing.T) {
	p := callers(t, 1, nil)
	c := firstRun(t, p, newMachine(t, p), anyRun)
	closed := callers(t, 1, nil)
	closed.Refused.Errorf(source.CodeNoHandler, source.Position{}, "node a: nobody does it")
	for _, tt := range []struct {
		name, want string
		c          machine.Command
		o          scheduler.Options
	}{
		{"no run", "the option Run is empty: Execute needs the id of the run", *c, scheduler.Options{}},
		{"a timer", "the command 0/0!1 is timer: Execute carries out run", machine.Command{Op: machine.OpTimer, ID: c.ID}, scheduler.Options{Run: "r"}},
		{"concurrency", "the option Concurrency has no effect on one command", *c, scheduler.Options{Run: "r", Concurrency: 1}},
		{"in flight", "the option MaxInFlight has no effect", *c, scheduler.Options{Run: "r", MaxInFlight: 1}},
		{"barrier", "the option Barrier has no effect", *c, scheduler.Options{Run: "r", Barrier: true}},
		{"fail fast", "the option FailFast has no effect", *c, scheduler.Options{Run: "r", FailFast: true}},
		{"visits", "the option MaxVisits has no effect", *c, scheduler.Options{Run: "r", MaxVisits: 1}},
		{"backpressure", "the option Backpressure has no effect", *c, scheduler.Options{Run: "r", Backpressure: true}},
		{"no handler", "node a: nobody does it", machine.Command{Op: machine.OpRun, Plan: closed, Node: &closed.Nodes[0]}, scheduler.Options{Run: "r"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := scheduler.Execute(t.Context(), &tt.c, tt.o)
			if e != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the answer is %v, the error %v, want %q", e, err, tt.want)
			}
		})
	}
	var none context.Context
	if _, err := scheduler.Execute(none, c, scheduler.Options{Run: "r"}); err == nil {
		t.Error("there is no error for a context that is nil")
	}
}
