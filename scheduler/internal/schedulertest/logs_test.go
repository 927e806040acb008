package schedulertest

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// TestPropertyLogs checks that the event log of a run of a random graph violates no rule.
// Other properties cover runs that do not end, and this one ignores them, so that a failure
// of this test means that the events alone show a bug.
func TestPropertyLogs(t *testing.T) {
	clean(t, func(seed uint64, o machine.Options) (*plan.Plan, []core.Event) {
		g := Generate(seed, Shape{})
		run, err := HostileRun(t, g, OracleRun(g), Hostile{Seed: seed}, o)
		if err != nil {
			return nil, nil
		}
		return run.Plan, run.Events
	})
}

// TestPropertyLogsOfWalks is the same for walks.
func TestPropertyLogsOfWalks(t *testing.T) {
	clean(t, func(seed uint64, o machine.Options) (*plan.Plan, []core.Event) {
		run, err := HostileRun(t, GenerateWalk(seed), nil, Hostile{Seed: seed}, o)
		if err != nil {
			return nil, nil
		}
		return run.Plan, run.Events
	})
}

// clean checks the logs of 300 runs, with a subtest for each rule.
func clean(t *testing.T, run func(seed uint64, o machine.Options) (*plan.Plan, []core.Event)) {
	found := map[verify.Rule]string{}
	for seed := range uint64(300) {
		p, events := run(seed, machine.Options{Concurrency: 8, Events: true})
		if p == nil {
			continue
		}
		r, err := verify.Events(p, events)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Violations {
			if found[v.Rule] == "" {
				found[v.Rule] = v.String()
				t.Logf("graph %d: %s", seed, v)
			}
		}
	}
	for _, r := range verify.Rules() {
		t.Run(string(r.Rule), func(t *testing.T) {
			if found[r.Rule] != "" {
				t.Error(found[r.Rule])
			}
		})
	}
}
