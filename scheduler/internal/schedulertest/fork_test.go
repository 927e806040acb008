package schedulertest

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store/memory"
)

// TestPropertyFork replays runs from each of their nodes without a change. A replay must end as the run
// did, and execute nothing else than what comes after the node.
func TestPropertyFork(t *testing.T) {
	var replays, executed, kept int
	for _, tt := range journalShapes {
		if tt.name == "stopped" || tt.name == "races" || tt.name == "expired" { // whose ends depend on timing
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			property(t, graphs()/tt.share/2, tt.generate, func(t *testing.T, g *Graph) []string {
				want := oracleOf(g)
				run, faults := forkedRuns(t, g, want, func(ran, all int) {
					replays, executed, kept = replays+1, executed+ran, kept+all-ran
				})
				if run == nil {
					return append(faults, "no end")
				}
				return faults
			})
		})
	}
	t.Logf("%d replays: %d executions, %d kept", replays, executed, kept)
	if *seedFlag == 0 && (executed == 0 || kept == 0) {
		t.Errorf("%d executions ran again, and %d were kept", executed, kept)
	}
}

// forkedRuns runs a graph and replays the run from each node that it has executed.
func forkedRuns(t *testing.T, g *Graph, want *Run, each func(ran, all int)) (run *Run, faults []string) {
	t.Helper()
	defer func() {
		if fault := recover(); fault != nil { // synctest has found a deadlock
			faults = append(faults, fmt.Sprint("deadlock: ", fault))
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(nil)
		o := scheduler.Options{Run: "test", Concurrency: 1 + int(g.Seed%7), Recording: &scheduler.Recording{Store: s}}
		execute := func(from string) *Run {
			r := &Run{Recorder: &Recorder{Timing: 1 + g.Seed}}
			r.Plan = MustCompile(t, g, r.Recorder)
			o.Interviewer = r.Recorder.continues(g)
			o.Listener = func(e core.Event) { r.Events = append(r.Events, e) }
			var report *core.Report
			var err error
			if from == "" {
				report, err = scheduler.Run(context.Background(), r.Plan, g.Values(), o)
			} else {
				st, readErr := scheduler.ReadStored(context.Background(), s, "test")
				if readErr != nil {
					t.Fatal(readErr)
				}
				o.Run = "replay-" + from
				report, err = scheduler.Replay(context.Background(), st, r.Plan, scheduler.Fork{From: from}, o)
			}
			if report == nil {
				faults = append(faults, fmt.Sprintf("from %q: %v", from, err))
				return nil
			}
			r.ended(report, want)
			return r
		}
		if run = execute(""); run == nil {
			return
		}
		for _, n := range run.Report.Nodes() {
			if n.Attempts == 0 {
				continue
			}
			st, err := scheduler.ReadStored(context.Background(), s, "test")
			if err != nil {
				t.Fatal(err)
			}
			steps, err := scheduler.Preview(context.Background(), st, run.Plan, scheduler.Fork{From: n.ID}, o)
			if err != nil {
				faults = append(faults, fmt.Sprintf("preview from %s: %v", n.ID, err))
			}
			again := execute(n.ID)
			if again == nil {
				continue
			}
			faults = append(faults, unlike(again, steps)...)
			ran := len(again.Recorder.seen)
			for e, seen := range run.Recorder.seen {
				if again.Recorder.saw(e) == notRun {
					again.Recorder.seen[e] = seen // it is kept
				}
			}
			wanted := want
			if wanted == nil {
				wanted = OracleWalk(g, 0, again.Events)
			}
			for _, d := range Differences(wanted, again) {
				faults = append(faults, fmt.Sprintf("from %s: %s", n.ID, d))
			}
			each(ran, len(run.Recorder.seen))
		}
	})
	return run, faults
}

// unlike lists the steps of a preview that said for certain what the replay has not done.
func unlike(again *Run, steps []scheduler.Step) (faults []string) {
	for _, x := range steps {
		n, _ := again.Report.Node(x.Path)
		began := n.Attempts > 0 || n.Visits > 0
		switch {
		case x.Maybe:
		case x.Action == scheduler.ActionSkip && n.Status != core.Skipped,
			x.Action == scheduler.ActionRun && !began && n.Status != core.Fail, // its items may be none
			x.Action == scheduler.ActionKeep && n.Status == core.Skipped && n.Visits == 0:
			faults = append(faults, fmt.Sprintf("preview: %+v, and its status is %s", x, n.Status))
		}
	}
	return faults
}
