package schedulertest

import (
	"testing"

	"github.com/wavefold/wavefold/scheduler/internal/fault"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// TestPlantedMistakesAreFound shows what the property is worth: mistakes of the
// kind it exists for are found within a thousand graphs.
func TestPlantedMistakesAreFound(t *testing.T) {
	mistakes := []struct {
		name  string
		fault fault.Fault
	}{
		{"writes fold in the order of arrival", fault.ArrivalOrderFold},
		{"a read does not wait for its writers", fault.DroppedStateDependency},
		{"items see the state of the moment", fault.LiveFanOutView},
		{"a skip does not wait for all predecessors", fault.SkipBeforeResolved},
		{"the writes of a retried attempt are lost", fault.LostRetryWrite},
		{"a join takes whoever comes first", fault.ArrivalOrderJoin},
		{"none, as a control", fault.None},
	}
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			if found := foundAfter(t, m.fault); (found > 0) != (m.fault != fault.None) {
				t.Errorf("found after %d graphs (0: never)", found)
			}
		})
	}
}

// foundAfter returns how many graphs it took until a run ended differently, 0
// for never. A planted mistake may also stall or stop the machine; that is
// easier to find and does not count.
func foundAfter(t *testing.T, mistake fault.Fault) int {
	for seed := range uint64(1000) {
		g := Generate(seed, Shape{})
		want := OracleRun(g)
		got, err := HostileRun(t, g, want, Hostile{Seed: seed}, machine.Options{Concurrency: 8, Fault: mistake})
		if err != nil {
			if mistake == fault.None {
				t.Error(err)
			}
			continue
		}
		if d := Differences(want, got); len(d) > 0 {
			t.Log(d[0])
			return int(seed) + 1
		}
	}
	return 0
}
