package schedulertest

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store/memory"
)

// TestPropertyFlowFork checks that a replay of a flow without a change, from any node at which a token has
// arrived, follows the rules.
func TestPropertyFlowFork(t *testing.T) {
	replays := 0
	for _, seed := range seeds(graphs() / 8) {
		synctest.Test(t, func(t *testing.T) { replays += replayFlow(t, GenerateFlow(seed)) })
	}
	t.Logf("%d replays", replays)
	if *seedFlag == 0 && replays == 0 {
		t.Error("no run was replayed")
	}
}

// replayFlow runs a flow, and replays it from each node. It returns the number of replays.
func replayFlow(t *testing.T, g *FlowGraph) (replays int) {
	t.Helper()
	p, s := compileFlow(t, g), memory.New(nil)
	options := func(run string, events *[]core.Event) scheduler.Options {
		return scheduler.Options{Run: run, Interviewer: core.InterviewerFunc(g.Ask), Recording: &scheduler.Recording{Store: s}, Listener: func(e core.Event) { *events = append(*events, e) }}
	}
	var events []core.Event
	r, _ := scheduler.Run(t.Context(), p, nil, options("first", &events))
	for i, n := range r.Nodes() {
		if n.Visits == 0 {
			continue
		}
		st, err := scheduler.ReadStored(t.Context(), s, "first")
		if err != nil {
			t.Fatal(err)
		}
		var events []core.Event
		again, err := scheduler.Replay(t.Context(), st, p, scheduler.Fork{From: n.ID}, options(fmt.Sprint("again", i), &events))
		switch {
		case again == nil && n.Attempts == 0 && strings.HasSuffix(err.Error(), "has not visited it"):
			continue // the run ended before the node began
		case again == nil:
			t.Fatalf("seed %d: replay from %s: %v\n%s", g.Seed, n.ID, err, g)
		case again.Status == core.RunPaused:
			continue // it waits for an answer that is not given
		}
		replays++
		_, faults := flowDifferences(g, again, events)
		if faults = append(faults, violations(p, events)...); len(faults) > 0 {
			t.Fatalf("seed %d, replay from %s:\n%s\n%s", g.Seed, n.ID, strings.Join(faults, "\n"), g)
		}
	}
	return replays
}
