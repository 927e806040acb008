package schedulertest

import (
	"testing"

	"github.com/wavefold/wavefold/scheduler/internal/fault"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// mistake is a planted one.
type mistake struct {
	name  string
	fault fault.Fault
}

// TestPlantedMistakesAreFound shows what the property is worth: mistakes of the
// kind it exists for are found within a thousand graphs.
func TestPlantedMistakesAreFound(t *testing.T) {
	mistakes := []mistake{
		{"writes fold in the order of arrival", fault.ArrivalOrderFold},
		{"a read does not wait for its writers", fault.DroppedStateDependency},
		{"items see the state of the moment", fault.LiveFanOutView},
		{"a skip does not wait for all predecessors", fault.SkipBeforeResolved},
		{"the writes of a retried attempt are lost", fault.LostRetryWrite},
		{"a join takes whoever comes first", fault.ArrivalOrderJoin},
		{"none, as a control", fault.None},
	}
	find(t, mistakes, func(seed uint64, o machine.Options) ([]string, error) {
		g := Generate(seed, Shape{})
		want := OracleRun(g)
		got, err := HostileRun(t, g, want, Hostile{Seed: seed}, o)
		if err != nil {
			return nil, err
		}
		return Differences(want, got), nil
	})
}

// TestPlantedMistakesInWalksAreFound is the same for walks.
func TestPlantedMistakesInWalksAreFound(t *testing.T) {
	mistakes := []mistake{
		{"the first edge in the file wins", fault.EdgeInFileOrder},
		{"only the last goal gate counts", fault.ForgottenGate},
		{"a node that is visited again has one attempt", fault.LostRetryBudget},
		{"what branches wrote that were given up is merged", fault.KeptLoserWrites},
		{"a conditional sees its own success", fault.OpaqueConditional},
		{"a restart keeps the context", fault.KeptContext},
		{"none, as a control", fault.None},
	}
	find(t, mistakes, func(seed uint64, o machine.Options) ([]string, error) {
		g := GenerateWalk(seed)
		o.Events = true
		got, err := HostileWalk(t, g, Hostile{Seed: seed}, o)
		if err != nil {
			return nil, err
		}
		return WalkDifferences(OracleWalk(g, 0, got.Events), got), nil
	})
}

// find holds that each mistake makes a run of some graph end differently. A planted
// mistake may also stall or stop the machine; that is easier to find and does not count.
func find(t *testing.T, mistakes []mistake, differences func(seed uint64, o machine.Options) ([]string, error)) {
	foundAfter := func(t *testing.T, f fault.Fault) int {
		most := uint64(1000)
		if f == fault.None {
			most = graphs()
		}
		for seed := range most {
			d, err := differences(seed, machine.Options{Concurrency: 8, Fault: f})
			switch {
			case err != nil && f == fault.None:
				t.Error(err)
			case len(d) > 0:
				t.Log(d[0])
				return int(seed) + 1
			}
		}
		return 0
	}
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			found := foundAfter(t, m.fault)
			if (found > 0) != (m.fault != fault.None) {
				t.Errorf("found after %d graphs (0: never)", found)
			}
		})
	}
}
