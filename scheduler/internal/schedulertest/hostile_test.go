package schedulertest

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// faultModes lists the faults that are injected.
func faultModes(seed uint64) []struct {
	Hostile
	machine.Options
} {
	type c = struct {
		Hostile
		machine.Options
	}
	return []c{
		{Hostile{Seed: seed}, machine.Options{Concurrency: 8, Events: true}},
		{Hostile{Seed: seed, Split: true, Yield: true}, machine.Options{Concurrency: 64}},
		{Hostile{Seed: seed, JSON: true, Split: true, Yield: true}, machine.Options{Concurrency: 8}},
		{Hostile{Seed: seed, Double: true}, machine.Options{Concurrency: 8, MaxInFlight: 3}},
		{Hostile{Seed: seed, JSON: true, Reload: true}, machine.Options{Concurrency: 3, Events: true}},
		{Hostile{Seed: seed, JSON: true, Reload: true, Double: true, Split: true, Yield: true}, machine.Options{Concurrency: 64}},
		{Hostile{Seed: seed, JSON: true, Reload: true, Double: true}, machine.Options{Concurrency: 1, Barrier: true}},
		{Hostile{Seed: seed, Several: true, Replay: true, Double: true, Split: true, Yield: true}, machine.Options{Concurrency: 8, Events: true}},
	}
}

// TestPropertyHostile tests the interface of the machine: whatever faults occur between
// commands and answers, the run ends like that of the local driver.
func TestPropertyHostile(t *testing.T) {
	property(t, graphs()/3, dags(Shape{}), hostileFaults)
}

// TestPropertyRanges is the same for fan-outs over lists that are long enough to be issued
// in ranges, and for the engine.
func TestPropertyRanges(t *testing.T) {
	property(t, graphs()/30, dags(Shape{Elements: 2, Long: true, NoUnits: true, NoNested: true}), rangeFaults)
}

func rangeFaults(t *testing.T, g *Graph) []string {
	if faults := hostileFaults(t, g); len(faults) > 0 {
		return faults
	}
	want := OracleRun(g)
	for _, s := range []Setting{{Concurrency: 2}, {Concurrency: 8, InFlight: 3, Timing: 1 + g.Seed}, {Concurrency: 64, Timing: 2 + g.Seed}} {
		s.Silent = true
		got := EngineRun(t, g, want, s)
		if faults := append(Differences(want, got), got.Recorder.overlaps(g, s.Concurrency, s.InFlight)...); len(faults) > 0 {
			return append([]string{s.String()}, faults...)
		}
	}
	return nil
}

// TestPropertyExpired lets nested runs time out: their attempts fail as a whole, are
// retried, and nothing inside of them counts.
func TestPropertyExpired(t *testing.T) {
	expired := 0
	property(t, graphs()/8, dags(Shape{Expire: true}), func(t *testing.T, g *Graph) []string {
		for _, n := range OracleRun(g).Outcome.Nodes {
			if n.Class == core.ClassTimeout {
				expired++
			}
		}
		return expiredFaults(t, g)
	})
	if expired == 0 && *seedFlag == 0 {
		t.Error("no nested run has timed out for good")
	}
}

func expiredFaults(t *testing.T, g *Graph) []string {
	want := OracleRun(g)
	for _, c := range faultModes(g.Seed) {
		got, err := HostileRun(t, g, want, c.Hostile, c.Options)
		if err != nil {
			return []string{fmt.Sprintf("%+v %+v", c.Hostile, c.Options), err.Error()}
		}
		if faults := Differences(want, got); len(faults) > 0 {
			return append([]string{fmt.Sprintf("%+v %+v", c.Hostile, c.Options)}, faults...)
		}
	}
	return nil
}

func hostileFaults(t *testing.T, g *Graph) []string {
	want := OracleRun(g)
	var local, first *Run
	for _, c := range faultModes(g.Seed) {
		head := fmt.Sprintf("%+v %+v", c.Hostile, c.Options)
		got, err := HostileRun(t, g, want, c.Hostile, c.Options)
		if err != nil {
			return []string{head, err.Error()}
		}
		if local == nil { // after a run of the bare machine, see faultsOf
			local = EngineRun(t, g, want, Setting{Concurrency: 8, Timing: 1, Silent: true})
		}
		faults := Differences(want, got)
		if c.Events {
			faults = append(faults, logFaults(g, first, got, core.Limits{Concurrency: c.Concurrency, MaxInFlight: c.MaxInFlight, Barrier: c.Barrier})...)
			first = got
		}
		if a, b := ReportText(local.Report), ReportText(got.Report); a != b {
			faults = append(faults, "reports differ: local\n"+a+"hostile\n"+b)
		}
		if len(faults) > 0 {
			return append([]string{head}, faults...)
		}
	}
	return nil
}
