package verify_test

import (
	"testing"

	"github.com/wavefold/wavefold/scheduler/internal/fault"
	"github.com/wavefold/wavefold/scheduler/internal/schedulertest"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// TestPlantedMistakesShowInLogs: mistakes of the machine are found from its events alone.
// A lost write is not: a log need not have any.
func TestPlantedMistakesShowInLogs(t *testing.T) {
	for _, m := range []struct {
		name  string
		fault fault.Fault
	}{
		{"a read does not wait for its writers", fault.DroppedStateDependency},
		{"a skip does not wait for all predecessors", fault.SkipBeforeResolved},
		{"a join takes whoever comes first", fault.ArrivalOrderJoin},
		{"writes fold in the order of arrival", fault.ArrivalOrderFold},
	} {
		t.Run(m.name, func(t *testing.T) {
			for seed := range uint64(300) {
				g := schedulertest.Generate(seed, schedulertest.Shape{})
				run, err := schedulertest.HostileRun(t, g, schedulertest.OracleRun(g), schedulertest.Hostile{Seed: seed},
					machine.Options{Concurrency: 8, Events: true, Fault: m.fault})
				if err != nil {
					continue // it stopped the machine, which is easier to find
				}
				if r := checked(t, run.Plan, run.Events); len(r.Violations) > 0 {
					t.Logf("graph %d: %v", seed, r.Violations[0])
					return
				}
			}
			t.Error("not found in 300 graphs")
		})
	}
}

// TestPlantedMistakesShowInLogsOfWalks is the same for walks. What a restart or a branch
// that was given up leaves in the state, a log does not tell.
func TestPlantedMistakesShowInLogsOfWalks(t *testing.T) {
	for _, m := range []struct {
		name  string
		fault fault.Fault
		rule  verify.Rule
	}{
		{"the first edge in the file wins", fault.EdgeInFileOrder, verify.Routes},
		{"only the last goal gate counts", fault.ForgottenGate, verify.Routes},
		{"a node that is visited again has one attempt", fault.LostRetryBudget, verify.Retries},
		{"a conditional sees its own success", fault.OpaqueConditional, verify.Routes},
	} {
		t.Run(m.name, func(t *testing.T) {
			for seed := range uint64(300) {
				g := schedulertest.GenerateWalk(seed)
				run, err := schedulertest.HostileWalk(t, g, schedulertest.Hostile{Seed: seed}, machine.Options{Concurrency: 8, Events: true, Fault: m.fault})
				if err != nil {
					continue // it stopped the machine, which is easier to find
				}
				if r := checked(t, run.Plan, run.Events); len(r.Of(m.rule)) > 0 {
					t.Logf("graph %d: %v", seed, r.Of(m.rule)[0])
					return
				}
			}
			t.Error("not found in 300 graphs")
		})
	}
}
