// Package peers compares wavefold with published engines in the same process. It is a
// module of its own, so that users of wavefold do not download the other engines.
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

// TestFigures measures the tables peers and durable of docs/performance.md, and writes them there with
// UPDATE=1. The table durable needs the programs of PostgreSQL.
func TestFigures(t *testing.T) {
	if os.Getenv("UPDATE") == "" {
		t.Skip("set UPDATE=1")
	}
	tables := []benchmarks.Table{table()}
	durable, err := durableTable(t)
	if err != nil {
		t.Logf("the table durable is left as it is: %v", err)
	} else {
		tables = append(tables, durable)
	}
	if err := benchmarks.Update("../../docs/performance.md", t, tables...); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkDurable has the rows of the table durable.
func BenchmarkDurable(b *testing.B) {
	durable, err := durableTable(b)
	if err != nil {
		b.Skip(err)
	}
	for _, f := range durable.Figures {
		b.Run(f.Name, func(b *testing.B) { f.Bench(b, durable.Unit) })
	}
}
