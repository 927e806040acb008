package benchmarks

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

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
	make func(tb testing.TB, s *Shape, limit int, work func(int32) error) func()
}

var subjects = []subject{
	{"wavefold", func(tb testing.TB, s *Shape, limit int, work func(int32) error) func() {
		p := compile(tb, s, work)
		return func() {
			if _, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: limit}); err != nil {
				tb.Fatal(err)
			}
		}
	}},
	{"a hand-written scheduler", func(tb testing.TB, s *Shape, limit int, work func(int32) error) func() {
		r := NewReference(s, limit, work)
		return func() { r.Run(context.Background()) }
	}},
	{"one errgroup a level", func(tb testing.TB, s *Shape, limit int, work func(int32) error) func() {
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

// on returns the case that a subject runs a shape of nodes that do nothing.
func (sub subject) on(s *Shape, limit int) Case {
	return Case{Name: sub.name, Units: s.Len(), Start: func(tb testing.TB) func() { return sub.make(tb, s, limit, noop) }}
}

// shapeTable has the shapes with nodes that do nothing, against the reference and against
// one errgroup for each level.
func shapeTable() Table {
	t := Table{ID: "shapes", Unit: "node"}
	add := func(name string, s *Shape, limit int, reference subject) {
		t.Figures = append(t.Figures, Figure{Name: name, Subject: subjects[0].on(s, limit), Reference: reference.on(s, limit)})
	}
	for _, s := range shapes() {
		for _, limit := range []int{1, 8, 64} {
			add(fmt.Sprintf("%s, 1,000 nodes, limit %d", s.Name, limit), s, limit, subjects[1])
		}
	}
	for _, limit := range []int{8, 64} {
		add(fmt.Sprintf("100 layers of 100, limit %d", limit), Layered(100, 100), limit, subjects[1])
	}
	add("chain, 10 nodes", Chain(10), 8, subjects[1])
	add("one node", Chain(1), 8, subjects[1])
	for _, s := range shapes() {
		add(s.Name+", 1,000 nodes, over levels", s, 8, subjects[2])
	}
	return t
}

// growthTable has graphs of 100,000 nodes against the same shape with 1,000.
func growthTable() Table {
	t := Table{ID: "growth", Unit: "node"}
	for _, of := range []func(n int) *Shape{Chain, Wide, func(n int) *Shape { return Layered(n/100, 100) }} {
		small, large := subjects[0].on(of(1000), 8), subjects[0].on(of(100_000), 8)
		small.Name, large.Name = "1,000 nodes", "100,000 nodes"
		t.Figures = append(t.Figures, Figure{Name: of(1000).Name + ", 100,000 nodes", Subject: large, Reference: small})
	}
	return t
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
			run := sub.make(t, s, 8, func(i int32) error {
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
