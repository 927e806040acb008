package schedulertest

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store/memory"
)

// TestPropertyStepsFork checks that a replay of a walk by steps without a change, from any node that was
// visited, is the same walk, whatever the run has changed in its graph.
func TestPropertyStepsFork(t *testing.T) {
	replays, changed, added := 0, 0, 0
	for _, seed := range seeds(graphs() / 8) {
		g := GenerateSteps(seed)
		want, p, s := OracleSteps(g), compileSteps(t, g), memory.New(nil)
		options := func(run string, events *[]core.Event) scheduler.Options {
			return scheduler.Options{Run: run, Recording: &scheduler.Recording{Store: s}, Listener: func(e core.Event) { *events = append(*events, e) }}
		}
		var events []core.Event
		r, _ := scheduler.Run(t.Context(), p, nil, options("first", &events))
		compareSteps(t, g, "stored", want, StepsLogOf(r, events))
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
			if _, declared := p.Node(n.ID); !declared {
				added++
				if err == nil {
					t.Errorf("seed %d: a replay from %s, which the run has added, is not an error", seed, n.ID)
				}
				continue
			}
			if again == nil {
				t.Fatalf("seed %d: replay from %s: %v\n%s", seed, n.ID, err, g)
			}
			replays++
			if len(want.Changes) > 0 {
				changed++
			}
			compareSteps(t, g, "replay from "+n.ID, want, StepsLogOf(again, events))
		}
		if t.Failed() {
			t.Fatal(g)
		}
	}
	t.Logf("%d replays, %d of which of runs that changed their graph; %d from nodes that were added", replays, changed, added)
	if *seedFlag == 0 && (replays == 0 || changed == 0) {
		t.Errorf("%d replays, %d of which of runs that changed their graph", replays, changed)
	}
}
