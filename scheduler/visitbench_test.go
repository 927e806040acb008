package scheduler_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// markKind is a kind with a role.
type markKind struct{ role core.Role }

func (k markKind) Name() string   { return k.role.String() }
func (k markKind) Keys() []string { return nil }
func (k markKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Role: k.role}, nil
}

// BenchmarkVisit measures a visit of a node that does nothing, in a walk of 1,000 visits, by router.
func BenchmarkVisit(b *testing.B) {
	const visits = 1000
	noop := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	for _, router := range []string{core.RouterOutcomes, core.RouterSteps} {
		b.Run("router="+router, func(b *testing.B) {
			w := &core.Workflow{Name: str("w"), Mode: core.ModeWalk, Walk: &core.Walk{Router: str(router), Entry: str("n0"), MaxVisits: &source.Int{}}}
			add := func(from, to string) { w.Edges = append(w.Edges, &core.Edge{From: str(from), To: str(to)}) }
			reg := core.NewRegistry(markKind{core.RoleStart}, markKind{core.RoleExit})
			for i := range visits {
				w.Nodes = append(w.Nodes, &core.Node{ID: str(fmt.Sprint("n", i)), Handler: noop})
				if i > 0 {
					add(fmt.Sprint("n", i-1), fmt.Sprint("n", i))
				}
			}
			w.Walk.MaxSteps = &source.Int{Value: visits + 2}
			if router == core.RouterOutcomes {
				w.Nodes = append(w.Nodes, &core.Node{ID: str("start"), Kind: str("start")}, &core.Node{ID: str("exit"), Kind: str("exit")})
				add("start", "n0")
				add(fmt.Sprint("n", visits-1), "exit")
			}
			p, ds := plan.Compile(w, reg, plan.Options{})
			if p == nil {
				b.Fatal(ds)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: 1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/visits, "ns/visit")
		})
	}
}

// BenchmarkManyWalks measures 10,000 walks of a few visits that run at once, each of which changes its
// graph.
func BenchmarkManyWalks(b *testing.B) {
	const walks = 10_000
	s := newStepWalk("a", "b", "c")
	s.edge("a", "b")
	s.node("b").Handler = core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
		return core.Send(value.ObjectOf("_graph_action", "add_edge", "_from", "b", "_to", "c")), nil
	})
	for _, id := range []string{"a", "c"} { // the handlers of stepWalk record what they see
		s.node(id).Handler = core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	}
	p, ds := plan.Compile(s.w, nil, plan.Options{})
	if p == nil {
		b.Fatal(ds)
	}
	b.ReportAllocs()
	for b.Loop() {
		var wg sync.WaitGroup
		for range walks {
			wg.Go(func() {
				r, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: 1})
				if err != nil || len(r.Path) != 3 {
					b.Error(r.Path, err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/walks, "ns/walk")
}
