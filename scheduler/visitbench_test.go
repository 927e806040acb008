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
