package schedulertest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func compileSteps(t *testing.T, g *StepsGraph) *plan.Plan {
	t.Helper()
	w, reg := g.Workflow()
	p, ds := plan.Compile(w, reg, plan.Options{AddedKinds: g.Kinds})
	if p == nil {
		t.Fatalf("does not compile: %v\n%s", ds, g)
	}
	return p
}

// TestPropertyStepsEqualsOracle checks that a walk by steps follows the rules, with the
// engine and with a hostile driver, which repeats answers, restores snapshots, replays
// journals and passes everything through JSON.
func TestPropertyStepsEqualsOracle(t *testing.T) {
	seen := map[string]int{}
	count := graphs()
	for _, seed := range seeds(count) {
		g := GenerateSteps(seed)
		want := OracleSteps(g)
		g.tally(seen, want)
		p := compileSteps(t, g)
		var events []core.Event
		r, _ := scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) { events = append(events, e) }})
		compareSteps(t, g, "engine", want, StepsLogOf(r, events))
		for _, d := range violations(p, events) {
			t.Errorf("seed %d: verify: %s", seed, d)
		}
		for _, c := range faultModes(seed) {
			if seed%16 != 0 && *seedFlag == 0 {
				continue
			}
			c.Options.Events = true
			r, events, err := c.Hostile.Run(p, nil, c.Options)
			if err != nil {
				t.Fatalf("seed %d: %+v: %v\n%s", seed, c, err, g)
			}
			compareSteps(t, g, fmt.Sprintf("%+v", c), want, StepsLogOf(r, events))
		}
		if t.Failed() {
			t.Fatal(g)
		}
	}
	t.Log(len(seeds(count)), seen)
	checkShares(t, seen, len(seeds(count)), stepsShares)
}

func compareSteps(t *testing.T, g *StepsGraph, how string, want, got *StepsLog) {
	t.Helper()
	compare := func(what string, want, got []string) {
		if !slices.Equal(want, got) {
			at := 0
			for at < min(len(want), len(got)) && want[at] == got[at] {
				at++
			}
			part := func(list []string) string { return strings.Join(list[max(0, at-5):min(len(list), at+5)], "\n") }
			t.Errorf("seed %d, %s, %s, line %d\nthe rules:\n%s\nthe run:\n%s", g.Seed, how, what, at+1, part(want), part(got))
		}
	}
	compare("walk", want.Walk, got.Walk)
	compare("changes", want.Changes, got.Changes)
	compare("panics", want.Panicked, got.Panicked)
	if want.Results != nil {
		compare("results", want.Results, got.Results)
	}
	compare("state", []string{want.State}, []string{got.State})
}

// TestPropertyStepsJournal checks that the journal of a walk is a complete record after each
// batch: its replay, which calls no function, is the machine of the run.
func TestPropertyStepsJournal(t *testing.T) {
	for _, seed := range seeds(graphs() / 4) {
		g := GenerateSteps(seed)
		p := compileSteps(t, g)
		h := Hostile{Seed: seed, JSON: seed%2 == 0, Journal: &Journal{Check: true}}
		r, events, err := h.Run(p, nil, machine.Options{Concurrency: 1, Events: true})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, g)
		}
		compareSteps(t, g, "journal", OracleSteps(g), StepsLogOf(r, events))
		if t.Failed() {
			t.Fatal(g)
		}
	}
}

// TestPropertyStepsCancelled checks that a cancelled walk is a prefix of the complete walk,
// and that it completes if it goes on.
func TestPropertyStepsCancelled(t *testing.T) {
	cancelled := 0
	for _, seed := range seeds(graphs() / 4) {
		g := GenerateSteps(seed)
		p, want := compileSteps(t, g), OracleSteps(g)
		c := faultModes(seed)[int(seed)%len(faultModes(seed))]
		c.Options.Events, c.Cancel = true, 1+int(seed%9)
		r, events, err := c.Hostile.Run(p, nil, c.Options)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, g)
		}
		got := StepsLogOf(r, events)
		if r.Status != core.RunCancelled {
			compareSteps(t, g, "not cancelled", want, got)
			continue
		}
		cancelled++
		ways := func(log *StepsLog) (list []string) {
			for _, line := range log.Walk {
				if strings.Contains(line, " -> ") {
					list = append(list, line)
				}
			}
			return list
		}
		part, whole := ways(got), ways(want)
		if len(part) > len(whole) || !slices.Equal(whole[:len(part)], part) {
			t.Fatalf("seed %d: cancelled, it took %q, the whole walk takes %q\n%s", seed, part, whole, g)
		}
		if n := len(got.Changes); n > len(want.Changes) || !slices.Equal(want.Changes[:n], got.Changes) {
			t.Fatalf("seed %d: cancelled, it made the changes %q, the whole walk %q\n%s", seed, got.Changes, want.Changes, g)
		}
	}
	if *seedFlag == 0 && cancelled == 0 {
		t.Error("no walk was cancelled")
	}
}

// TestStepsRunsAreIsolated runs a plan many times at once: the changes that one run makes of
// its graph are not seen by others, and the workflow of the caller does not change.
func TestStepsRunsAreIsolated(t *testing.T) {
	changed := 0
	for _, seed := range seeds(graphs() / 10) {
		g := GenerateSteps(seed)
		want := OracleSteps(g)
		if !strings.Contains(strings.Join(want.Changes, "\n"), " accepted ") && *seedFlag == 0 {
			continue
		}
		changed++
		p := compileSteps(t, g)
		before := fmt.Sprint(p.Fingerprint())
		var wg sync.WaitGroup
		logs := make([]*StepsLog, 12)
		for i := range logs {
			wg.Go(func() {
				var events []core.Event
				r, _ := scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) { events = append(events, e) }})
				logs[i] = StepsLogOf(r, events)
			})
		}
		wg.Wait()
		for _, got := range logs {
			compareSteps(t, g, "at once", want, got)
		}
		if after := fmt.Sprint(p.Fingerprint()); before != after || len(p.Changes()) > 0 {
			t.Errorf("seed %d: the plan was %s and is %s, with changes %v", seed, before, after, p.Changes())
		}
		if t.Failed() {
			t.Fatal(g)
		}
	}
	if changed == 0 {
		t.Error("no run changed its graph")
	}
}

// stepsShares are the constructs that must occur, with their least shares of the graphs in
// percent. They occur in the walk itself, not only in the graph.
var stepsShares = map[string]int{
	"jump": 15, "tool_loop": 15, "route": 15, "next_node": 14, "edge": 15, "transition": 13, "default_next": 15, "end": 12, "budget": 15,
	"success": 15, "failed error": 15, "failed max_iterations": 12, "failed node_budget": 15, "failed unknown_node": 4, "critical failure": 10,
	"route by _next": 9, "route by goto": 9, "route by next_step": 9, "route by route": 9, "unusable route": 15, "route by a transition": 3,
	"self edge": 15, "loop": 15, "loop left by its budget": 3, "error transition taken": 3, "error node taken": 3, "13 edges of one priority": 4,
	"function panicked": 15, "data condition": 15, "expression condition": 15, "function condition": 15, "named condition": 15,
	"retried": 14, "all attempts failed": 5, "failure left behind": 15, "returned error with a result": 5, "panic": 5,
	"accepted add_edge": 13, "accepted remove_edge": 12, "accepted add_node": 12, "accepted remove_node": 8, "accepted skip_to": 12, "accepted retry_with": 11,
	"rejected add_edge": 15, "rejected remove_edge": 8, "rejected add_node": 15, "rejected remove_node": 15, "rejected skip_to": 9, "rejected retry_with": 10, "rejected explode": 15,
	"added node visited": 2, "storm": 2, "fixed graph": 10, "schema": 40, "no schema": 40, "ends at __end__ by name": 12, "writes are the output": 10,
	"hook Before changed the state": 15, "hook Before failed": 10, "hook Before rejected": 5,
	"hook After changed the result": 15, "hook After failed": 10, "hook After cleared a failure": 5, "hook After failed the visit": 3, "hook After ended the walk": 3,
	"conversation goes on": 15, "conversation left behind": 5,
	"nested walk": 15, "nested dag": 10, "nested run failed": 10, "nested run succeeded": 10, "run nested in a nested one": 3,
}

// tally counts what occurs in a walk.
func (g *StepsGraph) tally(seen map[string]int, log *StepsLog) {
	text, changes := "\n"+strings.Join(log.Walk, "\n")+"\n", "\n"+strings.Join(log.Changes, "\n")+"\n"
	is := func(what string, yes bool) {
		if yes {
			seen[what]++
		}
	}
	for _, step := range []string{"jump", "tool_loop", "route", "next_node", "edge", "transition", "default_next", "end", "budget"} {
		is(step, strings.Contains(text, " "+step+"\n"))
	}
	for _, end := range []string{"success", "failed error", "failed max_iterations", "failed node_budget", "failed unknown_node"} {
		is(end, strings.HasPrefix(log.Walk[len(log.Walk)-1], end))
	}
	for _, action := range []string{"accepted add_edge", "accepted remove_edge", "accepted add_node", "accepted remove_node", "accepted skip_to", "accepted retry_with",
		"rejected add_edge", "rejected remove_edge", "rejected add_node", "rejected remove_node", "rejected skip_to", "rejected retry_with", "rejected explode"} {
		is(action, strings.Contains(changes, " "+action+"\n"))
	}
	is("function panicked", len(log.Panicked) > 0)
	is("retried", strings.Contains(text, "after 2\n"))
	is("added node visited", strings.Contains(text, "\nx0#") || strings.Contains(text, "\nx1#"))
	is("storm", strings.Count(changes, "\n") > 30)
	is("fixed graph", g.Fixed)
	is("schema", g.Schema)
	is("no schema", !g.Schema)
	is("loop", len(g.Loops) > 0)
	for what := range log.Marks {
		is(what, true)
	}
	g.tallyVisits(is, log)
	g.tallyEdges(is)
}

// tallyVisits counts what visits of a walk do. Each construct counts once for a graph.
func (g *StepsGraph) tallyVisits(is func(string, bool), log *StepsLog) {
	once := map[string]bool{}
	mark := func(what string, yes bool) { once[what] = once[what] || yes }
	var n *StepsNode
	var v *StepsVisit
	log = log.outermost()
	for i, line := range log.Walk {
		name, rest, isVisit := strings.Cut(line, "#")
		if isVisit {
			var count int
			_, _ = fmt.Sscan(rest, &count)
			n = g.node(name)
			v = g.visit(n, name, count)
			mark("nested walk", n.Sub != nil)
			mark("nested dag", n.Dag != nil)
			if n.Sub != nil || n.Dag != nil {
				continue
			}
			failed := strings.Contains(rest, " fail ")
			lost := v.Failing >= n.Attempts
			next := log.Walk[i+1]
			mark("all attempts failed", lost)
			mark("failure left behind", failed && i+2 < len(log.Walk) && strings.Contains(next, " -> ") && !strings.Contains(next, core.End))
			mark("critical failure", failed && strings.HasPrefix(next, "failed error"))
			mark("returned error with a result", !lost && v.Err == "returned")
			mark("panic", !lost && v.Err == "panic")
			mark("writes are the output", !v.Sends && len(v.Writes) > 0)
			o, _ := v.Output.(*value.Object)
			for _, key := range core.RouteKeys {
				to, exists := o.Get(key)
				usable := strings.HasSuffix(next, fmt.Sprintf("-> %v route", to))
				mark("route by "+key, exists && usable)
				mark("unusable route", exists && !usable)
				mark("route by a transition", exists && to == "approve" && strings.HasSuffix(next, " route"))
			}
			continue
		}
		from, way, _ := strings.Cut(line, " -> ")
		to, step, _ := strings.Cut(way, " ")
		mark("self edge", step == core.StepEdge && from == to)
		mark("loop left by its budget", step == core.StepBudget && slices.ContainsFunc(g.Loops, func(l *StepsLoop) bool { return l.Node == from && l.Exit == to && to != from }))
		mark("error node taken", step == core.StepBudget && to == core.ErrorNode)
		mark("error transition taken", step == core.StepBudget && to != core.End && to != core.ErrorNode)
		mark("ends at __end__ by name", to == core.End && step != core.StepEnd && step != core.StepBudget)
	}
	for what, yes := range once {
		is(what, yes)
	}
}

// tallyEdges counts the forms of conditions.
func (g *StepsGraph) tallyEdges(is func(string, bool)) {
	forms, most := map[string]int{}, map[string]int{}
	for _, e := range g.Edges {
		forms[e.Cond.Form]++
		most[fmt.Sprint(e.From, e.Priority)]++
	}
	is("data condition", forms["data"] > 0)
	is("expression condition", forms["expression"] > 0)
	is("function condition", forms["function"] > 0)
	is("named condition", forms["named"]+forms["both"] > 0)
	many := false
	for _, n := range most {
		many = many || n > 12 // a sort of up to 12 is stable whatever the algorithm
	}
	is("13 edges of one priority", many)
}
