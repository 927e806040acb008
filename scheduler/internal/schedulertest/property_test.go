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

// graphs is the number of graphs that a property tries; it is smaller under the race
// detector, and WAVEFOLD_GRAPHS raises it for a long run.
func graphs() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("WAVEFOLD_GRAPHS"), 10, 64); err == nil {
		return n
	}
	return some(1000)
}

// seeds returns the seeds that a property runs with.
func seeds(count uint64) []uint64 {
	if *seedFlag > 0 {
		return []uint64{*seedFlag}
	}
	if testing.Short() {
		count = min(count, 200)
	}
	list := make([]uint64, count)
	for i := range list {
		list[i] = uint64(i + 1)
	}
	return list
}

// settings returns the ways in which each graph is run. None of them may affect the result.
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

// TestPropertyEqualsOracle tests the first promise of the engine: at every limit, timing
// and schedule, a run equals the run of the naive interpreter, including the input of every
// execution.
func TestPropertyEqualsOracle(t *testing.T) {
	property(t, graphs(), dags(Shape{}), faultsOf)
}

// faultsOf runs a graph in all settings and returns the faults of the first setting that
// has any.
func faultsOf(t *testing.T, g *Graph) []string {
	want := OracleRun(g)
	// The bare machine comes first: there, a violated invariant is a fault with a seed; in
	// the engine it would end the process.
	if _, err := HostileRun(t, g, want, Hostile{Seed: g.Seed}, machine.Options{Concurrency: 8, Events: true}); err != nil {
		return []string{"bare machine", err.Error()}
	}
	var first *Run
	for i, s := range settings(g.Seed) {
		if (uint64(i)+g.Seed)%2 > 0 && *seedFlag == 0 { // each setting is used for a part of the graphs
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

// logFaults checks the events of a run, and compares them with those of an earlier run.
func logFaults(g *Graph, before, got *Run, limits core.Limits) []string {
	var d differences
	d.compare("limits", limits, *got.Events[0].Limits)
	if before != nil {
		d = append(d, EventDifferences(before, got)...)
	}
	d = append(d, failureCounts(got)...)
	return append(d, Verify(got)...)
}

// property requires that the graphs of count seeds have no faults.
func property(t *testing.T, count uint64, generate func(seed uint64) *Graph, faults func(*testing.T, *Graph) []string) {
	t.Helper()
	for _, seed := range seeds(count) {
		if g := generate(seed); len(faults(t, g)) > 0 {
			report(t, g, func(g *Graph) []string { return faults(t, g) })
			return
		}
	}
}

// dags returns a generator of dags with the given shape.
func dags(s Shape) func(seed uint64) *Graph {
	return func(seed uint64) *Graph { return Generate(seed, s) }
}

// report prints a failing graph, reduced as far as possible.
func report(t *testing.T, g *Graph, faults func(*Graph) []string) {
	t.Helper()
	// A smaller graph must fail in the same way; otherwise the reduction could end at
	// another fault.
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

// kindOf returns the subject of the first fault.
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

// TestRulesOnEngine runs the handwritten graphs with the engine.
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
