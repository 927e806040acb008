package verify_test

import (
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/schedulertest"
)

// TestPropertyNothingCanBeLeftOut: every log of a random graph is clean (the properties
// of schedulertest hold that for many more), and none stays so without one of its
// events. Left alone are writes, of which a log need not have any, conditions that
// another edge made irrelevant, and items that were given up at any moment.
func TestPropertyNothingCanBeLeftOut(t *testing.T) {
	dropped := map[core.EventType]int{}
	for seed := range uint64(100) {
		g := schedulertest.Generate(seed+1, schedulertest.Shape{})
		run, err := schedulertest.HostileRun(t, g, schedulertest.OracleRun(g), schedulertest.Hostile{Seed: seed}, machine.Options{Concurrency: 3, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		whole := log(run.Events)
		if r := checked(t, run.Plan, whole); len(r.Violations) > 0 {
			t.Fatalf("seed %d\n%s%s", seed+1, g, words(r))
		}
		for i, e := range whole {
			item, _ := e.Item.Get()
			void := run.Outcome.Void(schedulertest.Execution{Node: e.Node, Item: item})
			if e.Type == core.StateWritten || e.Type == core.EdgeJudged || void {
				continue
			}
			dropped[e.Type]++
			if r := checked(t, run.Plan, slices.Clone(whole).drop(i).numbered()); len(r.Violations) == 0 {
				t.Errorf("seed %d: nobody misses event %d, %s of %s%s item %v round %v", seed+1, i+1, e.Type, e.Node, e.Unit, e.Item, e.Round)
			}
		}
	}
	if len(dropped) < 13 {
		t.Errorf("only %v", dropped)
	}
}
