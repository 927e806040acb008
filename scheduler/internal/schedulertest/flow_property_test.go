package schedulertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func compileFlow(t *testing.T, g *FlowGraph) *plan.Plan {
	t.Helper()
	p, ds := plan.Compile(g.Workflow(), core.NewRegistry(), plan.Options{})
	if p == nil {
		t.Fatalf("does not compile: %v\n%s", ds, g)
	}
	return p
}

// flowEnds returns the order in which the steps of a flow ended, and approvals that nobody decided.
func flowEnds(g *FlowGraph, events []core.Event) (ends []FlowEnding) {
	for _, e := range events {
		if n := g.node(e.Node); n != nil && (e.Type == core.NodeFailed || e.Type == core.NodeFinished && n.Type == "agent") && (n.Type == "agent" || n.Type == "approval") {
			ends = append(ends, FlowEnding{FlowEnd{e.Node, e.Visit}, e.Type == core.NodeFailed})
		}
	}
	return ends
}

// flowOutcome returns the outcome of a run.
func flowOutcome(r *core.Report, events []core.Event) *FlowOutcome {
	out := &FlowOutcome{Status: map[core.RunStatus]string{core.RunSuccess: "completed", core.RunFailed: "failed"}[r.Status], Entries: map[FlowEnd][]string{}, Path: r.Path}
	for _, e := range events {
		if e.Type == core.FlowLogged && e.Visit > 0 {
			key := FlowEnd{e.Node, e.Visit}
			out.Entries[key] = append(out.Entries[key], e.Step+" "+e.Log)
		}
	}
	c, _ := r.State.Get(core.ContextField)
	o, _ := c.(*value.Object)
	out.Context = sortedJSON(o)
	return out
}

// flowDifferences compares a run with the rules.
func flowDifferences(g *FlowGraph, r *core.Report, events []core.Event) (want *FlowOutcome, faults []string) {
	ends := flowEnds(g, events)
	want = OracleFlow(g, ends)
	got := flowOutcome(r, events)
	faults = append(faults, want.Faults...)
	if want.Status != got.Status {
		faults = append(faults, fmt.Sprintf("status %s, want %s: %v", got.Status, want.Status, r.Err))
	}
	if !slices.Equal(want.Path, got.Path) {
		faults = append(faults, fmt.Sprintf("arrivals %v, want %v", got.Path, want.Path))
	}
	if want.Context != got.Context {
		faults = append(faults, fmt.Sprintf("context %s, want %s", got.Context, want.Context))
	}
	ended := map[FlowEnd]bool{}
	for _, e := range ends {
		ended[e.FlowEnd] = true
	}
	for _, key := range slices.SortedFunc(maps.Keys(want.Entries), func(a, b FlowEnd) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		w, have := want.Entries[key], got.Entries[key]
		w = slices.DeleteFunc(slices.Clone(w), func(s string) bool { return strings.HasPrefix(s, "error ") }) // which carries no number
		if n := g.node(key.Node); want.Status == "failed" && n.Type == "agent" && !ended[key] && len(have) == 0 {
			continue // it had not begun when the flow failed
		}
		if !slices.Equal(w, have) {
			faults = append(faults, fmt.Sprintf("%v logged %q, want %q", key, have, w))
		}
	}
	for key := range got.Entries {
		if want.Entries[key] == nil {
			faults = append(faults, fmt.Sprintf("%v logged %q, want nothing", key, got.Entries[key]))
		}
	}
	errors := 0
	for _, e := range events {
		if errors > 0 && (e.Type == core.NodeStarted || e.Type == core.NodeRetrying) {
			faults = append(faults, fmt.Sprintf("%s of %s, arrival %d, attempt %d after the flow has failed", e.Type, e.Node, e.Visit, e.Attempt))
		}
		if e.Type == core.FlowLogged && (e.Step == core.LogError || e.Step == core.LogLLMError) {
			errors++
		}
	}
	if (want.Status == "failed") != (errors == 1) || errors > 1 {
		faults = append(faults, fmt.Sprintf("%d entries about errors of a run that is %s", errors, want.Status))
	}
	return want, faults
}

// TestPropertyFlowEqualsOracle checks that a flow follows the rules, with the engine and with a hostile
// driver, which ends steps in any order, repeats answers, restores snapshots, replays the journal and
// passes everything through JSON.
func TestPropertyFlowEqualsOracle(t *testing.T) {
	seen, runs := map[string]int{}, 0
	count := graphs() / 4
	for _, seed := range seeds(count) {
		g := GenerateFlow(seed)
		p := compileFlow(t, g)
		check := func(how string, r *core.Report, events []core.Event) {
			t.Helper()
			want, faults := flowDifferences(g, r, events)
			faults = append(faults, violations(p, events)...)
			if len(faults) > 0 {
				t.Errorf("seed %d, %s:\n%s\n%s", seed, how, strings.Join(faults, "\n"), g)
			}
			tallyFlow(seen, g, want)
			runs++
		}
		var events []core.Event
		r, _ := scheduler.Run(t.Context(), p, nil, scheduler.Options{Interviewer: core.InterviewerFunc(g.Ask), Listener: func(e core.Event) { events = append(events, e) }})
		check("engine", r, events)
		for i, c := range faultModes(seed) {
			if (uint64(i)+seed)%3 != 0 && *seedFlag == 0 {
				continue
			}
			c.Events, c.Ask = true, g.Ask
			if c.Replay {
				c.Journal = &Journal{Check: true}
			}
			r, events, err := c.Hostile.Run(p, nil, c.Options)
			if err != nil {
				t.Errorf("seed %d: %+v: %v\n%s", seed, c, err, g)
				return
			}
			check(fmt.Sprintf("%+v", c), r, events)
		}
		if t.Failed() {
			return
		}
	}
	t.Log(runs, seen)
	checkShares(t, seen, runs, map[string]int{"completed": 40, "failed": 10, "paused": 25, "paused twice": 8, "queued": 8, "waited": 4, "visited again": 10, "limit": 3})
}

// tallyFlow counts the features of a run.
func tallyFlow(seen map[string]int, g *FlowGraph, o *FlowOutcome) {
	has := func(what string, yes bool) {
		if yes {
			seen[what]++
		}
	}
	seen[o.Status]++
	has("paused", o.Pauses > 0)
	has("paused twice", o.Pauses > 1)
	has("queued", o.Queued > 0)
	has("waited", o.Waited > 0)
	has("limit", o.Status == "failed" && len(o.Path) == g.Most)
	again := false
	for key := range o.Entries {
		again = again || key.N > 1
	}
	has("visited again", again)
}

// TestPropertyFlowGoesOn checks that a flow follows the rules when its answers are repeated from the
// journal, some of them lost, and when it goes on after it was cancelled.
func TestPropertyFlowGoesOn(t *testing.T) {
	again := 0
	for _, seed := range seeds(graphs() / 8) {
		g := GenerateFlow(seed)
		p := compileFlow(t, g)
		for _, h := range []Hostile{
			{Seed: seed, Replay: true, Memo: true, Several: true},
			{Seed: seed, Uncancel: true, Cancel: 1 + int(seed%7)},
		} {
			h.Ask, h.Journal = g.Ask, &Journal{}
			r, events, err := h.Run(p, nil, machine.Options{Concurrency: 8, Events: true})
			if err != nil {
				t.Fatalf("seed %d: %+v: %v\n%s", seed, h, err, g)
			}
			again += h.Journal.Again + h.Journal.Kept
			if _, faults := flowDifferences(g, r, events); len(faults) > 0 {
				t.Fatalf("seed %d, %+v:\n%s\n%s", seed, h, strings.Join(faults, "\n"), g)
			}
		}
	}
	if again == 0 && *seedFlag == 0 {
		t.Error("no answer was repeated")
	}
}
