package schedulertest

import (
	"context"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestSimulationFlow is TestSimulation for flows: their processes crash, and they are paused while only
// people can go on, who answer each question twice. The order in which the steps ended is that of the
// journal.
func TestSimulationFlow(t *testing.T) {
	tally := map[string]int{}
	for _, seed := range seeds(simulationCount() / 10) {
		g := GenerateFlow(seed)
		g.Silly, g.Leave, g.Approve = 0, 0, true
		c := simulated(seed).c
		c.Posted, c.Tally = seed%2 == 0, tally
		run := &Run{Recorder: &Recorder{}}
		report, faults := crashRun(t, run, Setting{Concurrency: 8, Timing: seed}, c, func(p *process) *plan.Plan {
			p.rec.begin(&Graph{})
			if !c.Posted {
				p.interviewer = core.InterviewerFunc(g.Ask)
			}
			w := g.Workflow()
			for _, n := range w.Nodes {
				if act := n.Handler; act != nil {
					n.Handler = core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
						p.rec.enter(in, digestText(in), false)
						defer p.rec.leave(in, false)
						return act.Handle(ctx, in)
					})
				}
			}
			compiled, ds := plan.Compile(w, core.NewRegistry(), plan.Options{})
			if compiled == nil {
				t.Fatalf("does not compile: %v\n%s", ds, g)
			}
			return compiled
		})
		if report == nil {
			t.Fatalf("seed %d: the run never ended: %s\n%s", seed, faults, g)
		}
		_, differences := flowDifferences(g, report, run.Events)
		if faults = append(faults, differences...); len(faults) > 0 {
			t.Fatalf("seed %d, %+v:\n%s\n%s", seed, c, strings.Join(faults, "\n"), g)
		}
	}
	t.Log(tally)
	for _, what := range []string{"kept", "repeated", "paused", "answered twice"} {
		if tally[what] == 0 && *seedFlag == 0 {
			t.Errorf("the runs had none of this: %s", what)
		}
	}
}
