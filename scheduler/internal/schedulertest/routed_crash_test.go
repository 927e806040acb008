package schedulertest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// routers notes for which visits the model of a walk was asked, in all processes of a run.
type routers struct {
	g     *RoutedGraph
	mu    sync.Mutex
	asked map[string]int // by node and visit
}

// Route implements core.Router.
func (r *routers) Route(ctx context.Context, q core.RouteQuestion) (core.RouteAnswer, error) {
	r.mu.Lock()
	r.asked[fmt.Sprint(q.Node, "#", q.Visit)]++
	r.mu.Unlock()
	return r.g.Route(ctx, q)
}

// recording makes the handlers of a workflow record their executions.
func (p *process) recording(w *core.Workflow) *core.Workflow {
	for _, n := range w.Nodes {
		act := n.Handler
		n.Handler = core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
			p.rec.enter(in, walkSeen(in), false)
			defer p.rec.leave(in, false)
			return act.Handle(ctx, in)
		})
	}
	return w
}

// TestSimulationRouted is TestSimulation for walks that a model routes. A decision that was recorded is
// not asked for again: after each crash the model may be asked once more.
func TestSimulationRouted(t *testing.T) {
	tally := map[string]int{}
	again := 0
	for _, seed := range seeds(simulationCount() / 10) {
		g := GenerateRouted(seed)
		c := simulated(seed).c
		c.Mode, c.Posted, c.Tally = core.DurabilityFull, false, tally
		r := &routers{g: g, asked: map[string]int{}}
		before := crashCount(tally)
		run := &Run{Recorder: &Recorder{}}
		report, faults := crashRun(t, run, Setting{Concurrency: 1}, c, func(p *process) *plan.Plan {
			p.router, p.inputs = r, g.Inputs()
			p.rec.begin(&Graph{})
			compiled, ds := plan.Compile(p.recording(g.Workflow()), core.NewRegistry(), plan.Options{})
			if compiled == nil {
				t.Fatalf("does not compile: %v\n%s", ds, g)
			}
			return compiled
		})
		if report == nil {
			t.Fatalf("seed %d: the run never ended: %s\n%s", seed, faults, g)
		}
		repeated := 0
		for _, n := range r.asked {
			repeated += n - 1
		}
		if crashes := crashCount(tally) - before; repeated > crashes {
			faults = append(faults, fmt.Sprintf("the model was asked %d times again after %d crashes: %v", repeated, crashes, r.asked))
		}
		again += repeated
		if want, got := OracleRouted(g), RoutedLog(report, run.Events); !slices.Equal(want, got) || len(faults) > 0 {
			t.Fatalf("seed %d, %+v: %s\n%s\nwant %q\ngot  %q", seed, c, faults, g, want, got)
		}
	}
	t.Log(tally, "asked again:", again)
	if (again == 0 || tally["kept"] == 0 || tally["repeated"] == 0) && *seedFlag == 0 {
		t.Errorf("asked %d times again, %v", again, tally)
	}
}
