package schedulertest

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
)

// TestPropertyRaces checks that time decides only who wins a race. With the recorded
// choices the oracle has the same result, including the input of every execution.
func TestPropertyRaces(t *testing.T) {
	losers, begun := 0, 0
	count := max(graphs()/5, 200) // fewer graphs may have no node that loses
	property(t, count, dags(Shape{Race: true}), func(t *testing.T, g *Graph) []string {
		return raceFaults(t, g, func(r *Run) {
			for id := range ChoicesOf(r.Events).Lost {
				losers++
				if n, ok := r.Report.Node(id); ok && n.Attempts > 0 {
					begun++
				}
			}
		})
	})
	if *seedFlag == 0 && (losers < int(count/2) || begun < int(count/20)) {
		t.Errorf("only %d nodes lost, of which %d had begun", losers, begun)
	}
	t.Logf("%d nodes lost, of which %d had begun", losers, begun)
}

func raceFaults(t *testing.T, g *Graph, look func(*Run)) []string {
	for _, c := range faultModes(g.Seed) {
		c.Events = true
		got, err := HostileRun(t, g, OracleRun(g), c.Hostile, c.Options)
		if err != nil {
			return []string{fmt.Sprintf("%+v %+v", c.Hostile, c.Options), err.Error()}
		}
		if faults := racedFaults(g, got, core.Limits{Concurrency: c.Concurrency, MaxInFlight: c.MaxInFlight, Barrier: c.Barrier}); len(faults) > 0 {
			return append([]string{fmt.Sprintf("%+v %+v", c.Hostile, c.Options)}, faults...)
		}
		look(got)
	}
	for _, s := range settings(g.Seed)[:7] {
		got := EngineRun(t, g, OracleRun(g), s)
		if faults := racedFaults(g, got, core.Limits{Concurrency: s.Concurrency, MaxInFlight: s.InFlight, Barrier: s.Barrier}); len(faults) > 0 {
			return append([]string{s.String()}, faults...)
		}
		look(got)
	}
	return nil
}

func racedFaults(g *Graph, got *Run, limits core.Limits) []string {
	want := RaceRun(g, ChoicesOf(got.Events))
	got.Outcome.Void = want.Outcome.Void
	for id, n := range got.Outcome.Nodes {
		if n.Skip == SkipLost { // its progress depends on timing
			n.Attempts, n.Items, n.Failed = 0, 0, 0
			got.Outcome.Nodes[id] = n
		}
	}
	return append(Differences(want, got), logFaults(g, nil, got, limits)...)
}

// TestPropertyStoppedRaces checks that a race ends in a run that is cancelled or stopped by
// a failure, and that the log is consistent.
func TestPropertyStoppedRaces(t *testing.T) {
	property(t, graphs()/5, dags(Shape{Race: true, FailRun: true}), stoppedRaceFaults)
}

func stoppedRaceFaults(t *testing.T, g *Graph) []string {
	for i, c := range faultModes(g.Seed) {
		c.Events, c.Cancel = true, 1+int(g.Seed+uint64(i))%9
		if i%3 == 0 {
			c.Cancel = 0
		}
		head := fmt.Sprintf("%+v %+v", c.Hostile, c.Options)
		got, err := HostileRun(t, g, OracleRun(g), c.Hostile, c.Options)
		if err != nil {
			return []string{head, err.Error()}
		}
		if faults := Verify(got); len(faults) > 0 {
			return append([]string{head}, faults...)
		}
	}
	return nil
}
