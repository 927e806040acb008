package schedulertest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/mutanttest"
)

// simulation is a run in processes that crash, and what it must be like at its end.
type simulation struct {
	shape   string
	g       *Graph
	s       Setting
	c       Crashes
	faultOf func(g *Graph, s Setting, got *Run) []string
}

// simulations are the shapes of graphs, and how many of a hundred seeds have each.
var simulations = []struct {
	shape    string
	share    uint64
	generate func(seed uint64) *Graph
	faults   func(g *Graph, s Setting, got *Run) []string
}{
	{"dags", 40, dags(Shape{}), endDifferences},
	{"ranges", 25, dags(Shape{Elements: 2, Long: true, NoUnits: true, NoNested: true}), endDifferences},
	{"walks", 20, GenerateWalk, endDifferences},
	{"races", 10, dags(Shape{Elements: 3, Race: true}), func(g *Graph, s Setting, got *Run) []string {
		return racedFaults(g, got, core.Limits{Concurrency: s.Concurrency, MaxInFlight: s.InFlight, Barrier: s.Barrier})
	}},
	{"stopped", 5, dags(Shape{FailRun: true, NoNested: true}), func(g *Graph, _ Setting, got *Run) []string {
		return failedFaults(g, OracleRun(g), got)
	}},
}

func endDifferences(g *Graph, _ Setting, got *Run) []string {
	want := oracleOf(g)
	if want == nil {
		want = OracleWalk(g, 0, got.Events)
	}
	return Differences(want, got)
}

// simulated returns the simulation of a seed.
func simulated(seed uint64) *simulation {
	at := mix(seed) % 100
	for _, shape := range simulations {
		if at >= shape.share {
			at -= shape.share
			continue
		}
		sim := &simulation{shape: shape.shape, g: shape.generate(seed), faultOf: shape.faults}
		sim.s = []Setting{{Concurrency: 1}, {Concurrency: 8, Timing: 1 + seed}, {Concurrency: 64, Timing: 2 + seed}, {Concurrency: 8, InFlight: 3, Timing: 3 + seed, Silent: true}}[seed%4]
		h := digest(seed, "simulation")
		sim.c = Crashes{Seed: seed, Most: 2 + int(h%13), Times: 1 + int(h/16%7), Mode: core.DurabilityFull, File: h/128%4 == 0, Posted: h/512%3 == 0}
		sim.c.Ways = [][]Crash{{CrashKill}, {CrashPower}, {CrashStall}, {CrashKill, CrashPower, CrashStall}}[h/2048%4]
		if h/8192%2 == 0 {
			sim.c.Mode = core.DurabilityBatch
		}
		return sim
	}
	panic("the shares of the shapes are less than 100")
}

func (sim *simulation) faults(t *testing.T) []string {
	got, faults := CrashRun(t, sim.g, oracleOf(sim.g), sim.s, sim.c)
	if got.Report == nil {
		return append(faults, "no end: the run never ended")
	}
	return append(faults, sim.faultOf(sim.g, sim.s, got)...)
}

// simulationCount is the number of seeds; WAVEFOLD_SEEDS raises it for a long run.
func simulationCount() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("WAVEFOLD_SEEDS"), 10, 64); err == nil {
		return n
	}
	return some(2000)
}

// TestSimulation runs generated graphs with the machine, the driver and a store in processes that are
// killed, lose power, or lose their lease while their writes are stuck, and whose questions are answered
// twice. A run must end as if none of that had happened.
func TestSimulation(t *testing.T) {
	tally := map[string]int{}
	for _, seed := range seeds(simulationCount()) {
		sim := simulated(seed)
		sim.c.Tally = tally
		if faults := sim.faults(t); len(faults) > 0 {
			sim.report(t, faults)
			return
		}
		tally[sim.shape]++
	}
	t.Log(tally)
	for _, what := range []string{"kept", "repeated", string(CrashKill), string(CrashPower), string(CrashStall), "paused", "answered twice"} {
		if tally[what] == 0 && *seedFlag == 0 {
			t.Errorf("the runs had none of this: %s", what)
		}
	}
}

// report prints a simulation that has faults, with fewer and simpler crashes and a smaller graph that
// have the same fault.
func (sim *simulation) report(t *testing.T, faults []string) {
	t.Helper()
	seed := sim.c.Seed
	command := fmt.Sprintf("seed %d (go test ./scheduler/internal/schedulertest -run TestSimulation -seed=%d)", seed, seed)
	if mutanttest.Running() {
		t.Fatalf("%s\n%s", command, strings.Join(faults, "\n"))
	}
	sim.c.Tally = nil
	first := subjectOf(faults)
	same := func() bool { // the order of goroutines at one instant is not part of a seed
		for range 3 {
			if again := sim.faults(t); subjectOf(again) == first {
				faults = again
				return true
			}
		}
		return false
	}
	if !same() {
		t.Errorf("%s: faults that were found are not found again:\n%s", command, strings.Join(faults, "\n"))
		return
	}
	sim.simplify(same)
	whole := sim.g
	sim.g = Reduce(whole, func(g *Graph) bool { sim.g = g; return same() })
	sim.simplify(same)
	t.Errorf("%s\n%s: %s, %+v\n%s\n%s", command, sim.shape, sim.s, sim.c, sim.g, strings.Join(faults, "\n"))
}

// subjectOf returns the kind of the first fault.
func subjectOf(faults []string) string {
	if len(faults) == 0 {
		return ""
	}
	return kindOf(append([]string{""}, faults...))
}

// simplify makes the crashes simpler as long as same returns true.
func (sim *simulation) simplify(same func() bool) {
	try := func(change func()) {
		s, c := sim.s, sim.c
		if change(); !same() {
			sim.s, sim.c = s, c
		}
	}
	for n := 1; n < sim.c.Times; n++ {
		try(func() { sim.c.Times = min(n, sim.c.Times) })
	}
	for _, way := range slices.Clone(sim.c.Ways) {
		if len(sim.c.Ways) > 1 {
			try(func() { sim.c.Ways = []Crash{way} })
		}
	}
	for first := 1; first < 40 && sim.c.First == 0; first++ {
		try(func() { sim.c.Times, sim.c.First = 1, first })
	}
	try(func() { sim.c.Posted = false })
	try(func() { sim.c.File = false })
	try(func() { sim.c.Mode = core.DurabilityFull })
	try(func() { sim.s = Setting{Concurrency: 1} })
}

// TestSimulationEverywhere crashes a few graphs after each record.
func TestSimulationEverywhere(t *testing.T) {
	tally := map[string]int{}
	for _, seed := range seeds(max(simulationCount()/100, 1)) {
		sim := simulated(seed)
		sim.c.Times, sim.c.Tally, sim.c.File = 1, tally, false
		for sim.c.First = 1; ; sim.c.First++ {
			before := crashCount(tally)
			if faults := sim.faults(t); len(faults) > 0 {
				sim.report(t, faults)
				return
			}
			if crashCount(tally) == before {
				break
			}
		}
	}
	t.Log(tally)
	if tally["kept"] == 0 || tally["repeated"] == 0 {
		t.Error("nothing was kept, or nothing was repeated")
	}
}

func crashCount(tally map[string]int) int {
	return tally[string(CrashKill)] + tally[string(CrashPower)] + tally[string(CrashStall)]
}
