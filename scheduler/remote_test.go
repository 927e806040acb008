package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// remotePlan compiles a document whose tools are make, which sends its list on, and sum, which
// writes what it is given of an order.
func remotePlan(t testing.TB, doc string, orders []any) *plan.Plan {
	t.Helper()
	e := wavefold.NewEngine()
	tools := map[string]core.HandlerFunc{
		"make": func(context.Context, core.Input) (core.Result, error) {
			return core.Result{EdgeOutput: core.ObjectOf("orders", orders), HasEdgeOutput: true}, nil
		},
		"sum": func(_ context.Context, in core.Input) (core.Result, error) {
			item, _ := in.Item()
			amount, _ := item.(*core.Object).Get("amount")
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

// elsewhere carries a command out as another process would: of its JSON form and the inputs.
func elsewhere(t testing.TB, p *plan.Plan, c *machine.Command, inputs *core.Object) (*machine.Event, int) {
	t.Helper()
	data, err := machine.EncodeCommand(c)
	if err != nil {
		t.Fatal(err)
	}
	back, err := machine.DecodeCommand(p, inputs, data)
	if err != nil {
		t.Fatal(err)
	}
	return scheduler.Execute(t.Context(), "r", &back), len(data)
}

// runElsewhere carries a run out in other processes, and returns the bytes of its commands and
// of the largest one.
func runElsewhere(t testing.TB, p *plan.Plan, inputs *core.Object, o machine.Options) (r *core.Report, total, largest int) {
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

// Each command of a fan-out carried the whole list that its items are from, and the inputs of
// the run: the commands of 4,000 orders had 824 MB.
func TestCommandsCarryTheirItemsOnly(t *testing.T) {
	const n = 4000
	orders := make([]any, n)
	for i := range orders {
		orders[i] = core.ObjectOf("id", int64(i), "amount", 12.5)
	}
	inputs := core.ObjectOf("orders", orders, "rate", 2.0)
	for _, source := range []string{"$.orders", "$input.orders", "$nodes.make.output.orders", "$.orders[?(@.amount > 0)]"} {
		t.Run(source, func(t *testing.T) {
			p := remotePlan(t, fmt.Sprintf(remoteDoc, source, "[rate]"), orders)
			r, total, largest := runElsewhere(t, p, inputs, machine.Options{Run: "r", Concurrency: 4, Events: true})
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

// A list that the items read as a whole is carried although they are from it.
func TestCommandsCarryDeclaredReads(t *testing.T) {
	orders := []any{core.ObjectOf("amount", 1.0), core.ObjectOf("amount", 2.0)}
	inputs := core.ObjectOf("orders", orders, "rate", 10.0)
	p := remotePlan(t, fmt.Sprintf(remoteDoc, "$.orders", "[orders, rate]"), orders)
	r, _, _ := runElsewhere(t, p, inputs, machine.Options{Run: "r"})
	if got, _ := r.State.Get("total"); got != 54.0 {
		t.Errorf("the total is %v, want 54", got)
	}
}
