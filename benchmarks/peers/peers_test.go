// Package peers compares wavefold with a published engine in the same process. It is a
// module of its own, so that users of wavefold do not download the other engine.
//
//	make figures
package peers

import (
	"context"
	"os"
	"testing"

	gotaskflow "github.com/noneback/go-taskflow"

	"github.com/wavefold/wavefold/benchmarks"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

const limit = 8

func wavefold(tb testing.TB, s *benchmarks.Shape) func() {
	w := &core.Workflow{Name: source.Text{Value: s.Name}}
	for i := range s.Len() {
		w.Nodes = append(w.Nodes, &core.Node{ID: source.Text{Value: benchmarks.NodeName(i)}, HasWrites: true,
			Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })})
		for _, to := range s.Succ[i] {
			w.Edges = append(w.Edges, &core.Edge{From: source.Text{Value: benchmarks.NodeName(i)}, To: source.Text{Value: benchmarks.NodeName(int(to))}})
		}
	}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		tb.Fatal(ds)
	}
	return func() {
		if _, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: limit}); err != nil {
			tb.Fatal(err)
		}
	}
}

func taskflow(s *benchmarks.Shape) func() {
	executor := gotaskflow.NewExecutor(limit)
	flow := gotaskflow.NewTaskFlow(s.Name)
	tasks := make([]*gotaskflow.Task, s.Len())
	for i := range tasks {
		tasks[i] = flow.NewTask(benchmarks.NodeName(i), func() {})
	}
	for i, succ := range s.Succ {
		for _, to := range succ {
			tasks[i].Precede(tasks[to])
		}
	}
	return func() { executor.Run(flow).Wait() }
}

func table() benchmarks.Table {
	t := benchmarks.Table{ID: "peers", Unit: "node"}
	for _, s := range []*benchmarks.Shape{benchmarks.Chain(1000), benchmarks.Wide(1000), benchmarks.Layered(100, 10), benchmarks.Tree(1023), benchmarks.Diamonds(333)} {
		t.Figures = append(t.Figures, benchmarks.Figure{Name: s.Name + ", 1,000 nodes",
			Subject:   benchmarks.Case{Name: "wavefold", Units: s.Len(), Start: func(tb testing.TB) func() { return wavefold(tb, s) }},
			Reference: benchmarks.Case{Name: "go-taskflow", Units: s.Len(), Start: func(testing.TB) func() { return taskflow(s) }}})
	}
	return t
}

// TestFigures measures the table peers of docs/performance.md, and writes it there with
// UPDATE=1.
func TestFigures(t *testing.T) {
	if os.Getenv("UPDATE") == "" {
		t.Skip("set UPDATE=1")
	}
	if err := benchmarks.Update("../../docs/performance.md", t, table()); err != nil {
		t.Fatal(err)
	}
}
