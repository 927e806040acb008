package schedulertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// killPoints counts the prefixes of journals that were replayed, by what was open then.
type killPoints map[string]int

func (k killPoints) add(open []journal.Open) {
	k["all"]++
	for _, what := range constructsOf(open) {
		k[what]++
	}
}

// journalled is a way to run a graph whose journal is replayed.
func journalled(g *Graph) (Hostile, machine.Options) {
	h := Hostile{Seed: g.Seed, Several: true, Split: g.Seed%3 == 0, Yield: g.Seed%2 == 0, Double: g.Seed%5 == 0}
	if g.Seed%4 == 0 {
		h.Cancel = 1 + int(g.Seed/4%30)
	}
	return h, machine.Options{Run: "r", Concurrency: 1 + int(g.Seed%7), Events: true, Seed: g.Seed}
}

// replayFaults runs a graph. After each batch of its journal, the replay must be the machine of the
// run, with the same open commands.
func replayFaults(t *testing.T, g *Graph, points killPoints) []string {
	h, o := journalled(g)
	var live *journal.Replay
	var emitted []string
	j := &Journal{}
	j.Each = func(m *machine.Machine) error {
		if live == nil {
			var err error
			if live, err = j.replay(0); err != nil {
				return err
			}
			live.Listener = func(e machine.Emissions) { emitted = appendEvents(emitted, e) }
		}
		if err := j.replayRecord(live, j.records[len(j.records)-1]); err != nil {
			return err
		}
		return j.compare(m, live, points)
	}
	h.Journal = j
	run, err := HostileRun(t, g, oracleOf(g), h, o)
	if err == nil {
		err = sameLines("event", j.events, emitted)
	}
	if err == nil {
		err = j.silent(run.Report)
	}
	if err != nil {
		return []string{fmt.Sprintf("%+v %+v", h, o), err.Error()}
	}
	return nil
}

// compare compares a machine with a replay of its journal, and with the open commands of the driver.
func (j *Journal) compare(m *machine.Machine, r *journal.Replay, points killPoints) error {
	if err := sameMachine(m, r.Machine()); err != nil {
		return err
	}
	open := r.Open()
	points.add(open)
	var got []string
	for i := range open {
		got = append(got, openKey(&open[i]))
	}
	if !slices.IsSortedFunc(open, func(a, b journal.Open) int { return m.Compare(a.ID, b.ID) }) {
		return fmt.Errorf("open commands are not in canonical order: %q", got)
	}
	slices.Sort(got)
	return sameLines("open command", j.open.keys(m), got)
}

// silent replays the journal without events: the run must be the same.
func (j *Journal) silent(want *core.Report) error {
	o := j.options
	o.Events = !o.Events
	other := *j
	other.options = o
	r, err := other.replay(len(j.records))
	if err != nil {
		return fmt.Errorf("events %t: %w", o.Events, err)
	}
	if !r.Machine().Done() || len(r.Open()) > len(j.open) {
		return fmt.Errorf("events %t: the replay is not at its end", o.Events)
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
	points := killPoints{}
	for _, tt := range journalShapes {
		t.Run(tt.name, func(t *testing.T) {
			property(t, graphs()/tt.share, tt.generate, func(t *testing.T, g *Graph) []string { return replayFaults(t, g, points) })
		})
	}
	points.check(t, "node", "item", "range of items", "row", "round", "visit", "delay of a retry", "deadline of a nested run", "in a nested run",
		"later attempt", "cancelled")
}

func (k killPoints) check(t *testing.T, want ...string) {
	t.Logf("kill points: %v", k)
	for _, what := range want {
		if k[what] == 0 && *seedFlag == 0 {
			t.Errorf("no kill point with an open %s", what)
		}
	}
}

var journalShapes = []struct {
	name     string
	share    uint64
	generate func(seed uint64) *Graph
}{
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

// TestPropertyReplayRouted is TestPropertyReplay for walks that a model routes.
func TestPropertyReplayRouted(t *testing.T) {
	points := killPoints{}
	for _, seed := range seeds(graphs() / 20) {
		g := GenerateRouted(seed)
		h, o := journalled(&Graph{Seed: seed})
		h.Router, h.Replay = g, seed%2 == 0
		j := &Journal{}
		j.Each = func(m *machine.Machine) error {
			r, err := j.replay(len(j.records))
			if err != nil {
				return err
			}
			return j.compare(m, r, points)
		}
		h.Journal = j
		report, events, err := h.Run(compileRouted(t, g), g.Inputs(), o)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, g)
		}
		if report.Status != core.RunCancelled {
			compareRouted(t, g, fmt.Sprintf("%+v", h), OracleRouted(g), RoutedLog(report, events))
		}
	}
	points.check(t, "visit", "question to the router", "delay of a retry", "stall timer")
}
