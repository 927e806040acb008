package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/internal/schedulertest"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// order is an element of a list with a Go type.
type order struct {
	ID   int64     `json:"id"`
	Due  time.Time `json:"due"`
	Tags []string  `json:"tags"`
}

var orders = []order{
	{ID: 1<<53 + 1, Due: time.Date(2024, 1, 31, 8, 0, 0, 0, time.UTC), Tags: []string{"a"}},
	{ID: 2}, {ID: 3, Tags: []string{}}, {ID: 4}, {ID: 5},
}

// ordersWorkflow iterates over a list of Go values in every possible way. Its handlers expect items
// of the Go type.
func ordersWorkflow() (*core.Workflow, core.Kind) {
	list := core.FieldDecl{Name: text("orders"), Default: value.Missing, Go: value.GoTypeFor[[]order]()}
	sum := func(name string) core.FieldDecl {
		return core.FieldDecl{Name: text(name), Merge: text("sum"), Default: value.Missing}
	}
	add := func(id, field string) *core.Node {
		return &core.Node{ID: text(id), Writes: []source.Text{text(field)}, HasWrites: true,
			Handler: core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
				item, _ := in.Item()
				o, ok := item.(order)
				if !ok {
					return core.Result{}, core.Permanent(fmt.Errorf("item %d is a %T", in.Index(), item))
				}
				return core.Write(field, o.ID), nil
			})}
	}
	each := add("each", "inside")
	each.ForEach = &core.ForEach{Source: text("$.orders"), Concurrency: &source.Int{Value: 2}}
	inner := &core.Workflow{Name: text("inner"), Nodes: []*core.Node{each}, Fields: []core.FieldDecl{list, sum("inside")}}

	fan, stage := add("fan", "fanned"), add("stage", "staged")
	fan.ForEach = &core.ForEach{Source: text("$.orders"), Concurrency: &source.Int{Value: 3}}
	call := &core.Node{ID: text("call"), Kind: text("inner"), Args: args("orders", "$.orders"), Writes: []source.Text{text("inside")}, HasWrites: true}
	some := &core.Node{ID: text("some"), Writes: []source.Text{text("batched")}, HasWrites: true,
		Handler: core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			item, _ := in.Item()
			rows, _ := item.([]any)
			sum := int64(0)
			for _, row := range rows {
				o, ok := row.(order)
				if !ok {
					return core.Result{}, core.Permanent(fmt.Errorf("a row of batch %d is a %T", in.Index(), row))
				}
				sum += o.ID
			}
			return core.Write("batched", sum), nil
		})}
	return &core.Workflow{Name: text("outer"), Nodes: []*core.Node{fan, stage, some, call},
		Fields: []core.FieldDecl{list, sum("fanned"), sum("staged"), sum("batched"), sum("inside")},
		Pipelines: []*core.Pipeline{
			{ID: text("p"), Items: text("$.orders"), Stages: []source.Text{text("stage")}, Concurrency: &source.Int{Value: 2}},
			{ID: text("b"), Items: text("$.orders"), Stages: []source.Text{text("some")}, Batch: &source.Int{Value: 2}},
		},
	}, frameKind{"inner", inner}
}

// Items of a list of Go values arrived as plain JSON after the command had been converted to JSON,
// as it is on its way to another machine.
func TestItemsKeepTheirGoType(t *testing.T) {
	w, inner := ordersWorkflow()
	p, ds := plan.Compile(w, core.NewRegistry(inner), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	inputs := map[string]any{"orders": orders}
	want, err := scheduler.Run(t.Context(), p, inputs, scheduler.Options{Concurrency: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := want.State.Get("staged"); got != int64(1<<53+15) {
		t.Fatalf("state %s", value.JSON(want.State))
	}
	for seed := range uint64(60) {
		h := schedulertest.Hostile{Seed: seed, JSON: seed%3 > 0, Reload: seed%3 < 2, Double: seed%2 == 0, Split: true}
		if seed%4 == 3 {
			h = schedulertest.Killed(seed, nil)
		}
		r, _, err := h.Run(p, inputs, machine.Options{Concurrency: 3})
		if err != nil {
			t.Fatalf("%+v: %v", h, err)
		}
		if r.Err != nil || value.JSON(r.State) != value.JSON(want.State) {
			t.Fatalf("%+v: state %s, error %v", h, value.JSON(r.State), r.Err)
		}
	}
}
