package schedulertest

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store/memory"
)

// TestPropertyFlowFork checks that a replay of a flow without a change, or with a value that is set to what it is, from any node at which a token has
// arrived, follows the rules.
func TestPropertyFlowFork(t *testing.T) {
	replays, sets := 0, 0
	for _, seed := range seeds(graphs() / 8) {
		synctest.Test(t, func(t *testing.T) {
			r, s := replayFlow(t, GenerateFlow(seed))
			replays, sets = replays+r, sets+s
		})
	}
	t.Logf("%d replays, %d of which set a key of the context", replays, sets)
	if *seedFlag == 0 && (replays == 0 || sets == 0) {
		t.Errorf("%d replays, %d of which set a key of the context", replays, sets)
	}
}

// replayFlow runs a flow, and replays it from each node. It returns the number of replays, and how many of them
// set a key of the context.
func replayFlow(t *testing.T, g *FlowGraph) (replays, sets int) {
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
		fork := scheduler.Fork{From: n.ID}
		if i%2 == 1 {
			fork.Set = sameContext(t, st, p, n.ID)
		}
		var events []core.Event
		again, err := scheduler.Replay(t.Context(), st, p, fork, options(fmt.Sprint("again", i), &events))
		switch {
		case again == nil && n.Attempts == 0 && strings.HasSuffix(err.Error(), "has not visited it"):
			continue // the run ended before the node began
		case again == nil:
			t.Fatalf("seed %d: replay from %s: %v\n%s", g.Seed, n.ID, err, g)
		case again.Status == core.RunPaused:
			continue // it waits for an answer that is not given
		}
		replays, sets = replays+1, sets+len(fork.Set)
		_, faults := flowDifferences(g, again, events)
		if faults = append(faults, violations(p, events)...); len(faults) > 0 {
			t.Fatalf("seed %d, replay from %s:\n%s\n%s", g.Seed, n.ID, strings.Join(faults, "\n"), g)
		}
	}
	return replays, sets
}

// sameContext sets a key of the context to the value that it has before a node begins.
func sameContext(t *testing.T, st *scheduler.Stored, p *plan.Plan, from string) []machine.Assignment {
	for _, key := range []string{core.FlowPrevious, "s"} {
		set := []machine.Assignment{{Path: fmt.Sprintf("%s[%q]", core.ContextField, key), Value: "other"}}
		forecast, err := scheduler.Preview(t.Context(), st, p, scheduler.Fork{From: from, Set: set}, scheduler.Options{})
		if err != nil {
			continue // the run ended before the node began
		}
		if x := forecast.Set[0]; x.Made && !value.IsMissing(x.Was) && x.Was != nil {
			set[0].Value = x.Was
			return set
		}
	}
	return nil
}
