package benchmarks

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

const limit = 8

// workflow builds the shape as a graph of Go handlers.
func workflow(s *Shape, work func(int32) error) *core.Workflow {
	w := &core.Workflow{Name: source.Text{Value: s.Name}}
	for i := range s.Len() {
		w.Nodes = append(w.Nodes, &core.Node{ID: source.Text{Value: NodeName(i)}, HasWrites: true,
			Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, work(int32(i)) })})
		for _, t := range s.Succ[i] {
			w.Edges = append(w.Edges, &core.Edge{From: source.Text{Value: NodeName(i)}, To: source.Text{Value: NodeName(int(t))}})
		}
	}
	return w
}

func compile(tb testing.TB, s *Shape, work func(int32) error) *plan.Plan {
	tb.Helper()
	p, ds := plan.Compile(workflow(s, work), nil, plan.Options{})
	if p == nil {
		tb.Fatal(ds)
	}
	return p
}

func noop(int32) error { return nil }

// subject is one way to run a shape.
type subject struct {
	name string
	make func(tb testing.TB, s *Shape, work func(int32) error) func()
}

var subjects = []subject{
	{"wavefold", func(tb testing.TB, s *Shape, work func(int32) error) func() {
		p := compile(tb, s, work)
		return func() {
			if _, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: limit}); err != nil {
				tb.Fatal(err)
			}
		}
	}},
	{"reference", func(tb testing.TB, s *Shape, work func(int32) error) func() {
		r := NewReference(s, limit, work)
		return func() { r.Run(context.Background()) }
	}},
	{"waves", func(tb testing.TB, s *Shape, work func(int32) error) func() {
		levels := s.Levels()
		return func() {
			if err := Waves(context.Background(), levels, limit, work); err != nil {
				tb.Fatal(err)
			}
		}
	}},
}

func shapes() []*Shape {
	return []*Shape{Chain(1000), Wide(1000), Layered(100, 10), Tree(1023), Diamonds(333)}
}

// Every subject does the same work: it runs each node once, after its predecessors.
func TestSubjectsAgree(t *testing.T) {
	for _, s := range shapes() {
		for _, sub := range subjects {
			ran := make([]atomic.Int32, s.Len())
			var early atomic.Int32
			pred := make([][]int32, s.Len())
			for from, list := range s.Succ {
				for _, to := range list {
					pred[to] = append(pred[to], int32(from))
				}
			}
			run := sub.make(t, s, func(i int32) error {
				for _, p := range pred[i] {
					if ran[p].Load() == 0 {
						early.Add(1)
					}
				}
				ran[i].Add(1)
				return nil
			})
			run()
			for i := range ran {
				if n := ran[i].Load(); n != 1 {
					t.Fatalf("%s, %s: node %d ran %d times", s.Name, sub.name, i, n)
				}
			}
			if early.Load() > 0 {
				t.Errorf("%s, %s: %d nodes ran before a predecessor", s.Name, sub.name, early.Load())
			}
		}
	}
}

func perNode(b *testing.B, n int, run func()) {
	var before, after runtime.MemStats
	run()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		run()
	}
	runtime.ReadMemStats(&after)
	nodes := float64(b.N) * float64(n)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/nodes, "ns/node")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/nodes, "B/node")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/nodes, "allocs/node")
}

// BenchmarkRun measures the cost of a no-op node in graphs of about 1,000 nodes.
func BenchmarkRun(b *testing.B) {
	for _, s := range shapes() {
		for _, sub := range subjects {
			b.Run(fmt.Sprintf("shape=%s/subject=%s", s.Name, sub.name), func(b *testing.B) {
				perNode(b, s.Len(), sub.make(b, s, noop))
			})
		}
	}
}

// BenchmarkGrow measures how the cost of a node grows with the graph.
func BenchmarkGrow(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		for _, s := range []*Shape{Chain(n), Wide(n), Layered(n/100, 100)} {
			b.Run(fmt.Sprintf("shape=%s/nodes=%d", s.Name, n), func(b *testing.B) {
				perNode(b, s.Len(), subjects[0].make(b, s, noop))
			})
		}
	}
}

// BenchmarkCompile measures the cost per node of checking and compiling a graph.
func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		for _, s := range []*Shape{Chain(n), Wide(n), Layered(n/10, 10)} {
			w := workflow(s, noop)
			b.Run(fmt.Sprintf("shape=%s/nodes=%d", s.Name, n), func(b *testing.B) {
				perNode(b, s.Len(), func() { plan.Compile(w, nil, plan.Options{}) })
			})
		}
	}
}

// BenchmarkForEach measures the cost of an item of a fan-out.
func BenchmarkForEach(b *testing.B) {
	for _, c := range []struct{ items, limit int }{{10_000, 8}, {1_000_000, 8}, {1_000_000, 64}} {
		n := c.items
		w := &core.Workflow{Name: source.Text{Value: "each"}, Fields: []core.FieldDecl{{Name: source.Text{Value: "list"}, Default: value.Missing}}}
		w.Nodes = []*core.Node{{ID: source.Text{Value: "n"}, HasWrites: true, ForEach: &core.ForEach{Source: source.Text{Value: "$.list"}, Concurrency: &source.Int{Value: c.limit}},
			Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })}}
		p, ds := plan.Compile(w, nil, plan.Options{})
		if p == nil {
			b.Fatal(ds)
		}
		inputs := map[string]any{"list": make([]any, n)}
		b.Run(fmt.Sprintf("items=%d/limit=%d", n, c.limit), func(b *testing.B) {
			perNode(b, n, func() {
				if _, err := scheduler.Run(context.Background(), p, inputs, scheduler.Options{}); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// TestRatios measures the subjects in interleaved rounds and prints the paired ratios to
// the reference; it makes no assertions about time. Run it with WAVEFOLD_RATIOS=1 or -v
// -run Ratios.
func TestRatios(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("prints figures only: run with -v")
	}
	const rounds = 9
	for _, s := range shapes() {
		ratios := map[string][]float64{}
		var runs []func()
		for _, sub := range subjects {
			runs = append(runs, sub.make(t, s, noop))
		}
		for range rounds {
			var took []float64
			for _, run := range runs {
				run()
				begin := time.Now()
				for range 20 {
					run()
				}
				took = append(took, float64(time.Since(begin).Nanoseconds())/float64(20*s.Len()))
			}
			for i, sub := range subjects {
				ratios[sub.name] = append(ratios[sub.name], took[i]/took[1])
				ratios[sub.name+" ns"] = append(ratios[sub.name+" ns"], took[i])
			}
		}
		for _, sub := range subjects {
			r, ns := ratios[sub.name], ratios[sub.name+" ns"]
			slices.Sort(r)
			slices.Sort(ns)
			t.Logf("%-9s %-10s %6.0f ns/node, %5.2f x reference [%.2f..%.2f]", s.Name, sub.name, ns[rounds/2], r[rounds/2], r[0], r[rounds-1])
		}
	}
}
