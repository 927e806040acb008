package explain_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestSteps tests the explanation of a walk by steps: the step that decided, the conditions that it
// looked at, and who asked for changes of the graph.
func TestSteps(t *testing.T) {
	text := func(s string) source.Text { return source.Text{Value: s} }
	answers := map[string][]core.Result{
		"a": {{Routing: &core.Routing{ToolCalls: []string{"search"}}}, core.Send(value.ObjectOf("n", int64(3), core.GraphAction, "add_edge", core.ActionFrom, "b", core.ActionTo, "c"))},
		"b": {core.Send(value.ObjectOf(core.GraphAction, "skip_to", core.ActionTarget, "ghost"))},
	}
	w := &core.Workflow{Name: text("t"), Mode: core.ModeWalk, Walk: &core.Walk{Router: text(core.RouterSteps), Entry: text("a")}}
	for _, id := range []string{"a", "b", "c"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: text(id), Handler: core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			if list := answers[id]; len(list) > 0 {
				return list[min(in.Visit(), len(list))-1], nil
			}
			return core.Result{}, errors.New("no")
		})})
	}
	small, big := text("$output.n < 2"), text("$output.n > 2")
	w.Edges = []*core.Edge{{From: text("a"), To: text("c"), When: &small}, {From: text("a"), To: text("b"), When: &big}}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	var events []core.Event
	_, _ = scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(e core.Event) { events = append(events, e) }})
	s := explain.New(events)
	for id, want := range map[string][]string{
		"a": {"then to a: step 1, tool loop: a wants to see the results of search", "then to b: step 4, edge: $output.n > 2 holds",
			"to c: $output.n < 2 does not hold, with $output.n = 3", "to b: $output.n > 2 holds, with $output.n = 3", "visit 2 asked for add_edge b -> c"},
		"b": {"visit 2 of a added the edge b -> c", `visit 1 asked for skip_to ghost, which was rejected: there is no node "ghost"`, "then to c: step 4, edge: the edge has no condition"},
		"c": {"from b: step 4, edge: the edge has no condition", "then to (end): step 7, end: nothing leads on from c"},
	} {
		a, _ := s.Account(id)
		got := strings.Join(s.Explain(a), "\n")
		for _, line := range want {
			if !strings.Contains(got, line) {
				t.Errorf("the explanation of %s lacks %q:\n%s", id, line, got)
			}
		}
	}
}
