// Package peers compares wavefold with a published engine in the same process. It is a
// module of its own, so that users of wavefold do not download the other engine.
//
//	cd benchmarks/peers && go test -v -run Ratios
package peers

import (
	"context"
	"slices"
	"testing"
	"time"

	gotaskflow "github.com/noneback/go-taskflow"

	"github.com/wavefold/wavefold/benchmarks"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

const (
	limit  = 8
	rounds = 9
	repeat = 20
)

func wavefold(t *testing.T, s *benchmarks.Shape) func() {
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
		t.Fatal(ds)
	}
	return func() {
		if _, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: limit}); err != nil {
			t.Fatal(err)
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

// TestRatios prints the ratio of the peer's time to wavefold's for the same graph of no-op
// nodes, paired round by round.
func TestRatios(t *testing.T) {
	for _, s := range []*benchmarks.Shape{benchmarks.Chain(1000), benchmarks.Wide(1000), benchmarks.Layered(100, 10), benchmarks.Tree(1023), benchmarks.Diamonds(333)} {
		runs := []func(){wavefold(t, s), taskflow(s)}
		var ratios []float64
		for range rounds {
			var took [2]time.Duration
			for i, run := range runs {
				run()
				begin := time.Now()
				for range repeat {
					run()
				}
				took[i] = time.Since(begin)
			}
			ratios = append(ratios, float64(took[1])/float64(took[0]))
		}
		slices.Sort(ratios)
		t.Logf("%-9s go-taskflow takes %.1f x as long [%.1f..%.1f]", s.Name, ratios[rounds/2], ratios[0], ratios[rounds-1])
	}
}
