package scheduler_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func noop(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }

// graph builds a workflow of Go handlers.
func graph(nodes map[string]core.HandlerFunc, order []string, edges ...[2]string) *core.Workflow {
	w := &core.Workflow{Name: source.Text{Value: "t"}}
	for _, id := range order {
		w.Nodes = append(w.Nodes, &core.Node{ID: source.Text{Value: id}, Handler: nodes[id], HasWrites: true})
	}
	for _, e := range edges {
		w.Edges = append(w.Edges, &core.Edge{From: source.Text{Value: e[0]}, To: source.Text{Value: e[1]}})
	}
	return w
}

func compile(t testing.TB, w *core.Workflow) *plan.Plan {
	t.Helper()
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

func TestDiamondRunsInOrder(t *testing.T) {
	var trace []string
	h := func(id string) core.HandlerFunc {
		return func(context.Context, core.Input) (core.Result, error) {
			trace = append(trace, id)
			return core.Result{}, nil
		}
	}
	w := graph(map[string]core.HandlerFunc{"a": h("a"), "b": h("b"), "c": h("c"), "d": h("d")},
		[]string{"d", "c", "b", "a"}, [2]string{"a", "b"}, [2]string{"a", "c"}, [2]string{"b", "d"}, [2]string{"c", "d"})
	r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Concurrency: 1})
	if err != nil || r.Status != core.RunSuccess {
		t.Fatal(r, err)
	}
	if got := fmt.Sprint(trace); got != "[a c b d]" {
		t.Errorf("order %s", got)
	}
}
