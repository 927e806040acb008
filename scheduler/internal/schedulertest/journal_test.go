package schedulertest

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// journalled is a way to run a graph whose journal is replayed.
func journalled(g *Graph) (Hostile, machine.Options) {
	h := Hostile{Seed: g.Seed, Several: true, Split: g.Seed%3 == 0, Yield: g.Seed%2 == 0, Double: g.Seed%5 == 0}
	if g.Seed%4 == 0 {
		h.Cancel = 1 + int(g.Seed/4%30)
	}
	return h, machine.Options{Run: "r", Concurrency: 1 + int(g.Seed%7), Events: true, Seed: g.Seed}
}

// replayFaults runs a graph whose journal is replayed after each batch.
func replayFaults(t *testing.T, g *Graph, points KillPoints) []string {
	h, o := journalled(g)
	h.Journal = &Journal{Check: true, Points: points}
	if _, err := HostileRun(t, g, oracleOf(g), h, o); err != nil {
		return []string{fmt.Sprintf("%+v %+v", h, o), err.Error()}
	}
	return nil
}

// oracleOf returns the oracle's run of a dag, nil for a walk.
func oracleOf(g *Graph) *Run {
	if g.Walk != nil {
		return nil
	}
	return OracleRun(g)
}

// TestPropertyReplay replays each prefix of the journals of runs.
func TestPropertyReplay(t *testing.T) {
	points := KillPoints{}
	for _, tt := range journalShapes {
		t.Run(tt.name, func(t *testing.T) {
			property(t, graphs()/tt.share, tt.generate, func(t *testing.T, g *Graph) []string { return replayFaults(t, g, points) })
		})
	}
	checkPoints(t, points, "node", "item", "range of items", "row", "round", "visit", "delay of a retry", "deadline of a nested run", "in a nested run",
		"later attempt", "cancelled", "pause", "question to a person")
}

// checkPoints logs how many kill points were tried, and requires some with each of the given words.
func checkPoints(t *testing.T, points KillPoints, want ...string) {
	t.Helper()
	t.Logf("kill points: %v", points)
	for _, what := range want {
		if points[what] == 0 && *seedFlag == 0 {
			t.Errorf("no kill point with an open %s", what)
		}
	}
}

type journalShape struct {
	name     string
	share    uint64
	generate func(seed uint64) *Graph
}

var journalShapes = []journalShape{
	{"dags", 10, dags(Shape{})},
	{"ranges", 10, dags(Shape{Elements: 2, Long: true, NoUnits: true, NoNested: true})},
	{"expired", 20, dags(Shape{Expire: true})},
	{"stopped", 20, dags(Shape{FailRun: true})},
	{"races", 20, dags(Shape{Elements: 3, Race: true})},
	{"walks", 20, GenerateWalk},
}

// TestPropertyResume kills runs at random moments. They must end as if they had not been killed.
func TestPropertyResume(t *testing.T) {
	for _, tt := range journalShapes {
		if tt.name == "stopped" || tt.name == "races" { // whose ends depend on timing
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			property(t, graphs()/tt.share, tt.generate, resumeFaults)
		})
	}
}

func resumeFaults(t *testing.T, g *Graph) []string {
	h, o := journalled(g)
	h.Replay, h.Cancel = true, 0
	return endFaults(t, g, h, o)
}

// endFaults compares the end of a run with the oracle's.
func endFaults(t *testing.T, g *Graph, h Hostile, o machine.Options) []string {
	head := fmt.Sprintf("%+v %+v", h, o)
	want := oracleOf(g)
	got, err := HostileRun(t, g, want, h, o)
	if err != nil {
		return []string{head, err.Error()}
	}
	if want == nil {
		want = OracleWalk(g, 0, got.Events)
	}
	if faults := Differences(want, got); len(faults) > 0 {
		return append([]string{head}, faults...)
	}
	return nil
}

// enough is the number of graphs that a property about rare constructs tries at least, under the race
// detector, too.
const enough = 1000

// TestPropertyReplayRouted is TestPropertyReplay for walks that a model routes.
func TestPropertyReplayRouted(t *testing.T) {
	points := KillPoints{}
	for _, seed := range seeds(max(graphs(), enough) / 20) {
		g := GenerateRouted(seed)
		h, o := journalled(&Graph{Seed: seed})
		h.Router, h.Replay = g, seed%2 == 0
		h.Journal = &Journal{Check: true, Points: points}
		report, events, err := h.Run(compileRouted(t, g), g.Inputs(), o)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, g)
		}
		if report.Status != core.RunCancelled {
			compareRouted(t, g, fmt.Sprintf("%+v", h), OracleRouted(g), RoutedLog(report, events))
		}
	}
	checkPoints(t, points, "visit", "question to the router", "delay of a retry", "stall timer")
}

// TestPropertyMemo kills runs at random moments, and goes on with a new machine that repeats the
// answers, all of them or without those that can see the effect of a node. The runs must end as if
// they had not been killed.
func TestPropertyMemo(t *testing.T) {
	var kept, dropped, later int
	for _, tt := range journalShapes {
		if tt.name == "stopped" || tt.name == "races" { // whose ends depend on timing
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			property(t, max(graphs(), enough)/tt.share, tt.generate, func(t *testing.T, g *Graph) []string {
				h, o := journalled(g)
				h.Replay, h.Memo, h.Cancel, h.Journal = true, true, 0, &Journal{}
				faults := endFaults(t, g, h, o)
				kept, dropped, later = kept+h.Journal.Kept, dropped+h.Journal.Dropped, later+h.Journal.Later
				return faults
			})
		})
	}
	t.Logf("%d answers were kept, %d dropped, %d repeated later", kept, dropped, later)
	if *seedFlag == 0 && (kept == 0 || dropped == 0 || later == 0) {
		t.Error("want some of each")
	}
}

// TestPropertyUncancelled cancels runs, and goes on with them. They must end as if they had not been
// cancelled.
func TestPropertyUncancelled(t *testing.T) {
	again := 0
	for _, tt := range journalShapes {
		if tt.name == "stopped" || tt.name == "races" { // whose ends depend on timing
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			property(t, graphs()/tt.share, tt.generate, func(t *testing.T, g *Graph) []string {
				h, o := journalled(g)
				h.Uncancel, h.Cancel, h.Journal = true, 1+int(g.Seed%17), &Journal{}
				faults := endFaults(t, g, h, o)
				again += h.Journal.Again
				return faults
			})
		})
	}
	t.Logf("%d runs went on", again)
	if again == 0 && *seedFlag == 0 {
		t.Error("no run was cancelled")
	}
}

// TestPropertyUnfailed executes what has failed in a run again. It fails again, so the runs must end
// in the same way.
func TestPropertyUnfailed(t *testing.T) {
	again, kept, dropped := 0, 0, 0
	for _, tt := range journalShapes[:3] { // dags whose ends do not depend on timing
		t.Run(tt.name, func(t *testing.T) {
			property(t, graphs()/tt.share, tt.generate, func(t *testing.T, g *Graph) []string {
				h, o := journalled(g)
				h.Retry, h.Cancel, h.Journal = true, 0, &Journal{}
				faults := endFaults(t, g, h, o)
				again, kept, dropped = again+h.Journal.Again, kept+h.Journal.Kept, dropped+h.Journal.Dropped
				return faults
			})
		})
	}
	t.Logf("%d runs went on, with %d answers and without %d", again, kept, dropped)
	if *seedFlag == 0 && (again == 0 || kept == 0 || dropped == 0) {
		t.Error("want some of each")
	}
}
