package schedulertest

import (
	"context"
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/mutanttest"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

var seedFlag = flag.Uint64("seed", 0, "run the properties on the graph of this seed only")

// graphs is how many graphs the properties try, fewer under the race detector;
// WAVEFOLD_GRAPHS raises it for a long run.
func graphs() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("WAVEFOLD_GRAPHS"), 10, 64); err == nil {
		return n
	}
	return some(1000)
}

// seeds yields the seeds a property runs on.
func seeds(most uint64) []uint64 {
	if *seedFlag > 0 {
		return []uint64{*seedFlag}
	}
	if testing.Short() {
		most = min(most, 200)
	}
	list := make([]uint64, most)
	for i := range list {
		list[i] = uint64(i + 1)
	}
	return list
}

// settings are the ways each graph is run: everything that must not matter.
func settings(seed uint64) []Setting {
	return []Setting{
		{Concurrency: 1, Timing: 1 + seed},
		{Concurrency: 2, Timing: 2 + seed},
		{Concurrency: 8, Timing: 3 + seed},
		{Concurrency: 64, Timing: 4 + seed},
		{Concurrency: 8, Timing: 5 + seed, Barrier: true},
		{Concurrency: 1, Timing: 6 + seed, Barrier: true},
		{Concurrency: 64, InFlight: 2, Timing: 7 + seed},
		{Concurrency: 8, Timing: 8 + seed, Silent: true},
		{Concurrency: 64, Timing: 0, Silent: true},
	}
}

// TestPropertyEqualsOracle is promise number one: whatever the limit, the
// timing and the schedule, a run equals the naive interpreter's, down to what
// every single execution saw.
func TestPropertyEqualsOracle(t *testing.T) {
	property(t, graphs(), dags(Shape{}), faultsOf)
}

// faultsOf runs a graph in all settings and lists what is wrong, of the first
// setting with faults.
func faultsOf(t *testing.T, g *Graph) []string {
	want := OracleRun(g)
	// The bare machine first: there a broken invariant is a fault with a seed,
	// in the engine it is the end of the process.
	if _, err := HostileRun(t, g, want, Hostile{Seed: g.Seed}, machine.Options{Concurrency: 8, Events: true}); err != nil {
		return []string{"bare machine", err.Error()}
	}
	var first *Run
	for i, s := range settings(g.Seed) {
		if (uint64(i)+g.Seed)%2 > 0 && *seedFlag == 0 { // every one gets its share of graphs
			continue
		}
		got := EngineRun(t, g, want, s)
		faults := append(Differences(want, got), got.Recorder.overlaps(g, s.Concurrency, s.InFlight)...)
		if !s.Silent {
			faults = append(faults, logFaults(g, first, got, core.Limits{Concurrency: s.Concurrency, MaxInFlight: s.InFlight, Barrier: s.Barrier})...)
			first = got
		}
		if len(faults) > 0 {
			return append([]string{s.String()}, faults...)
		}
	}
	return nil
}

// logFaults checks the events of a run, and against those of an earlier one.
func logFaults(g *Graph, before, got *Run, limits core.Limits) []string {
	var d differences
	d.compare("limits", limits, *got.Events[0].Limits)
	if before != nil {
		d = append(d, EventDifferences(before, got)...)
	}
	d = append(d, failureCounts(got)...)
	return append(d, Verify(got)...)
}

// property requires that graphs of that many seeds have no faults.
func property(t *testing.T, count uint64, generate func(seed uint64) *Graph, faults func(*testing.T, *Graph) []string) {
	t.Helper()
	for _, seed := range seeds(count) {
		if g := generate(seed); len(faults(t, g)) > 0 {
			report(t, g, func(g *Graph) []string { return faults(t, g) })
			return
		}
	}
}

// dags returns the generator of dags of a shape.
func dags(s Shape) func(seed uint64) *Graph {
	return func(seed uint64) *Graph { return Generate(seed, s) }
}

// report prints a failing graph, made as small as it goes.
func report(t *testing.T, g *Graph, faults func(*Graph) []string) {
	t.Helper()
	// A smaller graph must fail in the same way, or one fault leads to another.
	found := faults(g)
	if len(found) == 0 {
		t.Errorf("seed %d: faults that were found are not found again\n%s", g.Seed, g)
		return
	}
	if mutanttest.Running() {
		t.Fatalf("seed %d\n%s", g.Seed, strings.Join(found, "\n"))
	}
	first := kindOf(found)
	small := Reduce(g, func(g *Graph) bool { return kindOf(faults(g)) == first })
	t.Errorf("seed %d (go test ./scheduler/internal/schedulertest -run Property -seed=%d)\n%s\n%s", g.Seed, g.Seed, small, strings.Join(faults(small), "\n"))
}

// kindOf tells what the first fault is about.
func kindOf(faults []string) string {
	if len(faults) < 2 {
		return ""
	}
	for _, word := range []string{"deadlock", "stalled", "not asked for again", "panic", "restored machine differs", "reports differ"} {
		if strings.Contains(faults[1], word) {
			return word
		}
	}
	kind, _, _ := strings.Cut(faults[1], " ")
	return kind
}

// TestRulesOnEngine runs the hand-worked graphs through the engine.
func TestRulesOnEngine(t *testing.T) {
	for _, r := range slices.Concat(rules, visits) {
		t.Run(r.name, func(t *testing.T) {
			p, ds := plan.Compile(r.workflow(t), core.NewRegistry(), plan.Options{})
			if p == nil {
				t.Fatal(ds)
			}
			for _, limit := range []int{1, 8} {
				synctest.Test(t, func(t *testing.T) {
					report, _ := scheduler.Run(context.Background(), p, nil, scheduler.Options{Concurrency: limit})
					r.check(t, OutcomeOf(report, nil))
				})
			}
		})
	}
}
