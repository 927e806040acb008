package schedulertest

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Setting is one way to run a graph.
type Setting struct {
	Concurrency, InFlight int
	Barrier               bool
	// Timing is the seed for the durations of executions.
	Timing uint64
	// Silent runs without a listener, for which the engine has faster paths.
	Silent bool
}

// String formats the setting for messages.
func (s Setting) String() string {
	return fmt.Sprintf("limit %d, in flight %d, barrier %t, silent %t, timing %d", s.Concurrency, s.InFlight, s.Barrier, s.Silent, s.Timing)
}

// EngineRun runs a graph with the real engine in virtual time. want is the oracle's run of
// a dag, which determines the void executions; it is nil for a walk. A graph that does not
// compile, or a run that leaves goroutines behind, ends the test.
func EngineRun(t *testing.T, g *Graph, want *Run, s Setting) *Run {
	t.Helper()
	return engineRun(t, g, want, s, func() (context.Context, context.CancelFunc) { return context.Background(), func() {} })
}

// engineRun calls begin to create the run's context inside the synctest bubble.
func engineRun(t *testing.T, g *Graph, want *Run, s Setting, begin func() (context.Context, context.CancelFunc)) (run *Run) {
	t.Helper()
	run = &Run{Recorder: &Recorder{Timing: s.Timing}}
	p := MustCompile(t, g, run.Recorder)
	run.Plan = p
	defer func() {
		if fault := recover(); fault != nil { // synctest has found a deadlock
			run.neverEnded(fault, want)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		o := scheduler.Options{Run: "test", Concurrency: s.Concurrency, MaxInFlight: s.InFlight, Barrier: s.Barrier, Interviewer: run.Recorder.continues(g)}
		if !s.Silent {
			o.Listener = func(e core.Event) { run.Events = append(run.Events, e) }
		}
		ctx, cancel := begin()
		defer cancel()
		report, err := scheduler.Run(ctx, p, g.Values(), o)
		if err != report.Err {
			t.Errorf("Run returned error %v, the report has %v", err, report.Err)
		}
		run.ended(report, want)
	})
	return run
}

// MustCompile compiles a graph, recording into rec.
func MustCompile(t *testing.T, g *Graph, rec *Recorder) *plan.Plan {
	t.Helper()
	w, reg := g.Workflow(rec)
	p, ds := plan.Compile(w, reg, plan.Options{})
	if p == nil {
		t.Fatalf("graph does not compile: %v\n%s", ds, g)
	}
	return p
}

// HostileRun runs a graph with a hostile driver of the bare machine. want is as for
// EngineRun.
func HostileRun(t *testing.T, g *Graph, want *Run, h Hostile, o machine.Options) (*Run, error) {
	t.Helper()
	run := &Run{Recorder: &Recorder{Repeats: h.Reload || h.Double || h.Replay || h.Uncancel || h.Retry}}
	p := MustCompile(t, g, run.Recorder)
	report, events, err := h.Run(p, g.Values(), o)
	if err != nil {
		return nil, err
	}
	run.Plan, run.Events = p, events
	run.ended(report, want)
	return run, nil
}
