package schedulertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func compileRouted(t *testing.T, g *RoutedGraph) *plan.Plan {
	t.Helper()
	p, ds := plan.Compile(g.Workflow(), core.NewRegistry(), plan.Options{})
	if p == nil {
		t.Fatalf("does not compile: %v\n%s", ds, g)
	}
	return p
}

// TestPropertyRoutedEqualsOracle checks that a walk that a model routes follows the rules,
// with the engine and with a hostile driver, which repeats answers, restores snapshots and
// passes everything through JSON.
func TestPropertyRoutedEqualsOracle(t *testing.T) {
	seen := map[string]int{}
	count := graphs() / 4
	for _, seed := range seeds(count) {
		g := GenerateRouted(seed)
		want := OracleRouted(g)
		tallyRouted(seen, g, want)
		p := compileRouted(t, g)
		var events []core.Event
		r, _ := scheduler.Run(t.Context(), p, g.Inputs(), scheduler.Options{Router: g, Listener: func(e core.Event) { events = append(events, e) }})
		compareRouted(t, g, "engine", want, RoutedLog(r, events))
		for _, d := range violations(p, events) {
			t.Errorf("verify: %s", d)
		}
		for _, c := range faultModes(seed) {
			if seed%8 != 0 && *seedFlag == 0 {
				continue
			}
			c.Events, c.Router = true, g
			r, events, err := c.Hostile.Run(p, g.Inputs(), c.Options)
			if err != nil {
				t.Errorf("seed %d: %+v: %v\n%s", seed, c, err, g)
				return
			}
			compareRouted(t, g, fmt.Sprintf("%+v", c), want, RoutedLog(r, events))
		}
		if t.Failed() {
			return
		}
	}
	least := map[string]int{}
	for _, what := range []string{core.StepModel, core.StepFallback, core.StepUnconditional, core.StepNone, core.StepDryRun, "failed", "visited again", "retried", "spent", "visit_limit"} {
		least[what] = 4
	}
	checkShares(t, seen, len(seeds(count)), least)
}

// tallyRouted counts the features of a graph.
func tallyRouted(seen map[string]int, g *RoutedGraph, log []string) {
	text := strings.Join(log, "\n")
	has := func(what string, yes bool) {
		if yes {
			seen[what]++
		}
	}
	for _, step := range []string{core.StepModel, core.StepFallback, core.StepUnconditional, core.StepNone, core.StepDryRun} {
		has(step, strings.Contains(text, " "+step+": "))
	}
	has("failed", strings.Contains(text, "\nfailed error"))
	has("visit_limit", strings.Contains(text, "\nfailed visit_limit"))
	has("retried", strings.Contains(text, "after 2"))
	has("spent", slices.ContainsFunc(g.Edges, func(e *RoutedEdge) bool {
		return e.Max > 0 && strings.Count(text, e.From+" -> "+e.To+" ") >= e.Max
	}))
	has("visited again", slices.ContainsFunc(g.Nodes, func(n *RoutedNode) bool { return strings.Count("\n"+text, "\n"+n.ID+" success after") > 1 }))
}

func compareRouted(t *testing.T, g *RoutedGraph, how string, want, got []string) {
	t.Helper()
	if slices.Equal(want, got) {
		return
	}
	t.Errorf("seed %d, %s\n%s\nthe rules:\n%s\nthe run:\n%s", g.Seed, how, g, strings.Join(want, "\n"), strings.Join(got, "\n"))
}

// TestPropertyRoutedCancelled checks that a cancelled walk is a prefix of the complete
// walk.
func TestPropertyRoutedCancelled(t *testing.T) {
	for _, seed := range seeds(graphs() / 8) {
		g := GenerateRouted(seed)
		p, want := compileRouted(t, g), OracleRouted(g)
		c := faultModes(seed)[int(seed)%len(faultModes(seed))]
		c.Events, c.Router, c.Cancel = true, g, 1+int(seed%9)
		r, events, err := c.Hostile.Run(p, g.Inputs(), machine.Options{Concurrency: 1, Events: true})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, g)
		}
		if r.Status != core.RunCancelled {
			compareRouted(t, g, "not cancelled", want, RoutedLog(r, events))
			continue
		}
		var ways, part []string
		for _, line := range want {
			if strings.Contains(line, " -> ") {
				ways = append(ways, line)
			}
		}
		for _, line := range RoutedLog(r, events) {
			if strings.Contains(line, " -> ") {
				part = append(part, line)
			}
		}
		if len(part) > len(ways) || !slices.Equal(ways[:len(part)], part) {
			t.Fatalf("seed %d: cancelled, it took %q, the whole walk takes %q\n%s", seed, part, ways, g)
		}
	}
}

// TestPropertyRoutedFailFast checks that with FailFast a walk is a prefix of the complete
// walk, up to the first visit that fails, and that MaxVisits limits its visits.
func TestPropertyRoutedFailFast(t *testing.T) {
	stopped, capped := 0, 0
	for _, seed := range seeds(graphs() / 16) {
		g := GenerateRouted(seed)
		p := compileRouted(t, g)
		run := func(o scheduler.Options) (*core.Report, []core.Event) {
			var events []core.Event
			o.Router, o.Listener = g, func(e core.Event) { events = append(events, e) }
			r, _ := scheduler.Run(t.Context(), p, g.Inputs(), o)
			for _, d := range violations(p, events) {
				t.Fatalf("seed %d, %+v: verify: %s\n%s", seed, o.MaxVisits, d, g)
			}
			return r, events
		}
		whole, events := run(scheduler.Options{})
		want := len(whole.Path)
		if n := visitsUntilFailure(events); n > 0 {
			want = n
		}
		fast, _ := run(scheduler.Options{FailFast: true})
		if !slices.Equal(fast.Path, whole.Path[:want]) || want < len(whole.Path) && fast.Status != core.RunFailed {
			t.Fatalf("seed %d: went %v, %s; want the first %d of %v\n%s", seed, fast.Path, fast.Status, want, whole.Path, g)
		}
		if want < len(whole.Path) {
			stopped++
		}
		maxVisits := 1 + int(seed%4)
		few, _ := run(scheduler.Options{MaxVisits: maxVisits})
		if len(whole.Path) > maxVisits && len(whole.Path) < g.maxPath() {
			capped++
			if !slices.Equal(few.Path, whole.Path[:maxVisits]) || few.Status != core.RunFailed {
				t.Fatalf("seed %d: went %v, %s; want the first %d of %v\n%s", seed, few.Path, few.Status, maxVisits, whole.Path, g)
			}
		}
	}
	if *seedFlag == 0 && (stopped == 0 || capped == 0) {
		t.Errorf("%d walks were stopped by a failure and %d by their visits, want some of each", stopped, capped)
	}
}

// visitsUntilFailure counts the visits up to the first that failed, 0 if none did.
func visitsUntilFailure(events []core.Event) int {
	ended := 0
	for _, e := range events {
		switch e.Type {
		case core.NodeFailed:
			return ended + 1
		case core.NodeFinished, core.NodeSkipped:
			ended++
		}
	}
	return 0
}

func (g *RoutedGraph) maxPath() int {
	if g.Steps == 0 {
		return core.DefaultMaxSteps
	}
	return g.Steps
}
