package schedulertest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// A quarter of the graphs is enough for these properties: they concern only the few rules
// about stopping.

// TestPropertyFailRun stops runs by policy. How far such a run gets depends on timing;
// everything that it does must be part of the complete run.
func TestPropertyFailRun(t *testing.T) {
	stopped := 0
	property(t, graphs()/4, dags(Shape{FailRun: true, NoNested: true}), func(t *testing.T, g *Graph) []string {
		if stops(g, OracleRun(g)) {
			stopped++
		}
		return failRunFaults(t, g)
	})
	if stopped == 0 && *seedFlag == 0 {
		t.Error("no graph stops its run")
	}
}

// stops reports whether a node that stops the run fails.
func stops(g *Graph, want *Run) bool {
	for _, n := range g.Nodes {
		if n.Policy == "fail_run" && want.Outcome.Nodes[n.ID].Status == core.Fail {
			return true
		}
	}
	return false
}

func failRunFaults(t *testing.T, g *Graph) []string {
	want := OracleRun(g)
	// The bare machine comes first, see faultsOf.
	for _, c := range faultModes(g.Seed)[:5:5] {
		got, err := HostileRun(t, g, want, c.Hostile, c.Options)
		if err != nil {
			return []string{fmt.Sprintf("%+v", c), err.Error()}
		}
		if faults := failedFaults(g, want, got); len(faults) > 0 {
			return append([]string{fmt.Sprintf("%+v", c)}, faults...)
		}
	}
	for _, s := range settings(g.Seed)[:4] {
		got := EngineRun(t, g, want, s)
		if faults := failedFaults(g, want, got); len(faults) > 0 {
			return append([]string{s.String()}, faults...)
		}
	}
	return nil
}

func failedFaults(g *Graph, want, got *Run) []string {
	if stops(g, want) {
		return stoppedFaults(g, want, got, core.RunFailed)
	}
	return Differences(want, got)
}

// TestStopWhileWaiting: an item of a fan-out stopped the run while another item waited for
// its turn to commit. The outcome of the latter used to be lost, together with the failure
// that the fan-out then had to report.
func TestStopWhileWaiting(t *testing.T) {
	r := rule{fields: []string{"x set_once", "y = [1,2]"}, nodes: []string{"a write x 7", "f each y; fail_run; failon 2; write x $item"}}
	for seed := range uint64(20) {
		p, ds := plan.Compile(r.workflow(t), core.NewRegistry(), plan.Options{})
		if p == nil {
			t.Fatal(ds)
		}
		report, _, err := Hostile{Seed: seed}.Run(p, nil, machine.Options{Concurrency: 2})
		if err != nil {
			t.Fatal(err)
		}
		if f, _ := report.Node("f"); report.Status != core.RunFailed || f.Status != core.Fail {
			t.Errorf("seed %d: run %s, f %s", seed, report.Status, f.Status)
		}
	}
}

// TestCancelledWriterMakesNoRoom: if a run is cancelled, an earlier writer of a set_once
// field ends without writing it. A fan-out that waited for its turn after that writer used
// to take this for its turn.
func TestCancelledWriterMakesNoRoom(t *testing.T) {
	r := rule{fields: []string{"x set_once", "y = [1,2]"}, nodes: []string{"a flaky; write x 7; retry 2", "f each y; write x $item"}}
	waited := false
	for seed := range uint64(20) {
		p, ds := plan.Compile(r.workflow(t), core.NewRegistry(), plan.Options{})
		if p == nil {
			t.Fatal(ds)
		}
		report, _, err := Hostile{Seed: seed, Cancel: 4}.Run(p, nil, machine.Options{Concurrency: 2})
		if err != nil {
			t.Fatal(err)
		}
		a, _ := report.Node("a")
		f, _ := report.Node("f")
		waited = waited || a.Status == core.Fail
		if x, ok := report.State.Get("x"); f.Status == core.Success || ok && x != int64(7) {
			t.Errorf("seed %d: a %s, f %s, x %v", seed, a.Status, f.Status, x)
		}
	}
	if !waited {
		t.Error("a was never cancelled")
	}
}

// TestPropertyCancelled cancels runs at random times.
func TestPropertyCancelled(t *testing.T) {
	property(t, graphs()/4, dags(Shape{}), cancelFaults)
}

func cancelFaults(t *testing.T, g *Graph) []string {
	want := OracleRun(g)
	for i, c := range faultModes(g.Seed) {
		if (uint64(i)+g.Seed)%3 != 0 { // each case is used for a part of the graphs
			continue
		}
		c.Cancel = 1 + int(draw(g.Seed, fmt.Sprint(c))%20)
		got, err := HostileRun(t, g, want, c.Hostile, c.Options)
		if err != nil {
			return []string{fmt.Sprintf("%+v", c), err.Error()}
		}
		if faults := cancelledFaults(g, want, got); len(faults) > 0 {
			return append([]string{fmt.Sprintf("%+v", c)}, faults...)
		}
	}
	for i, s := range settings(g.Seed)[1:4] {
		after := time.Duration(draw(g.Seed, fmt.Sprint("cancel", i)) % uint64(2*time.Millisecond))
		ctx := func() (context.Context, context.CancelFunc) { return context.WithTimeout(context.Background(), after) }
		got := engineRun(t, g, want, s, ctx)
		if faults := cancelledFaults(g, want, got); len(faults) > 0 {
			return append([]string{fmt.Sprintf("%s, cancelled after %s", s, after)}, faults...)
		}
	}
	return nil
}

// cancelledFaults lists the faults of a cancelled run. The run may have ended before it was
// cancelled.
func cancelledFaults(g *Graph, want, got *Run) []string {
	if got.Outcome.Status == core.RunCancelled {
		return stoppedFaults(g, want, got, core.RunCancelled)
	}
	return Differences(want, got)
}

// stoppedFaults lists the results of a stopped run that are not part of the complete run.
func stoppedFaults(g *Graph, want, got *Run, status core.RunStatus) []string {
	var d differences
	d.compare("run status", status, got.Outcome.Status)
	if got.Outcome.State == nil {
		return d
	}
	for _, n := range g.Nodes {
		w, o := want.Outcome.Nodes[n.ID], got.Outcome.Nodes[n.ID]
		cancelled := o.Status == core.Fail && o.Class == core.ClassCanceled
		// A unit or fan-out that was stopped did a part of its work, or its last execution
		// was cancelled.
		unit := got.Recorder.unitOf[n.ID] != "" && (o.Status == core.Fail || o.Status.Succeeded() && o.Items < w.Items)
		part := unit || n.Source != "" && o.Status == core.Fail
		if o.Status != core.StatusNone && !cancelled && !part {
			w.Handled, o.Handled = false, false // the node that would have handled it may not have run
			d.node(n.ID, w, o)
		}
	}
	for e, saw := range got.Recorder.seen {
		d.compare("execution "+e.String(), want.Recorder.saw(e), saw)
	}
	if got.Recorder.total > 0 {
		d.compare("executions alive at the end", 0, got.Recorder.total)
	}
	return append(d, eventFaults(g, got)...)
}

// eventFaults lists events of a stopped run that contradict its report.
func eventFaults(g *Graph, got *Run) []string {
	var faults []string
	succeeded := endsOf(got, core.ItemFinished)
	for _, n := range g.Nodes {
		if o := got.Outcome.Nodes[n.ID]; succeeded[n.ID] > o.Items-o.Failed {
			faults = append(faults, fmt.Sprintf("%d executions of %s ended well by their events, and %d of %d failed", succeeded[n.ID], n.ID, o.Failed, o.Items))
		}
	}
	if got.Events != nil {
		faults = append(faults, Verify(got)...)
	}
	return faults
}

// TestStopWhileStarting: a stage that cannot be given what it reads fails as it starts. If
// that ended the run, the machine used to treat the rest of the pipeline as work that does
// not start, and panicked.
func TestStopWhileStarting(t *testing.T) {
	g := &Graph{Seed: 872,
		Fields: []Field{{Name: "list", Merge: "last_wins", Type: value.AnyType, Default: []any{int64(0), int64(94), int64(98), int64(45)}},
			{Name: "sum", Merge: "sum", Type: value.IntegerType, Large: true, Default: int64(1) << 62}},
		Nodes:     []*Node{{ID: "n5", MaxFailures: -1, Args: []Arg{{"a0", "$.sum"}}, Policy: "fail_run"}, {ID: "n10", MaxFailures: -1, Writes: []string{"sum"}}},
		Pipelines: []*Unit{{ID: "p", Items: "$.list", Members: []string{"n10", "n5"}, Concurrency: 2}},
	}
	for seed := range uint64(20) {
		got, err := HostileRun(t, g, OracleRun(g), Hostile{Seed: seed}, machine.Options{Concurrency: 8})
		if err != nil {
			t.Fatal(err)
		}
		if n := got.Outcome.Nodes["n5"]; got.Outcome.Status != core.RunFailed || n.Class != core.ClassMerge {
			t.Errorf("seed %d: run %s, n5 %+v", seed, got.Outcome.Status, n)
		}
	}
}
