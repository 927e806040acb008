package verify_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// routedPlan returns the plan of the walk draft -> judge -> refine (at most once) or
// publish, and refine -> judge, in which publish fails.
func routedPlan(t *testing.T) *plan.Plan {
	t.Helper()
	text := func(s string) source.Text { return source.Text{Value: s} }
	w := &core.Workflow{Mode: core.ModeWalk, Name: text("refining"), OpenInputs: true, Walk: &core.Walk{Router: text(core.RouterModel), Entry: text("draft")}}
	for _, id := range []string{"draft", "judge", "refine", "publish"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: text(id), Kind: text("stage"), Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) {
			if id == "publish" {
				return core.Result{Status: core.Fail, Note: "no space left"}, nil
			}
			return core.Result{}, nil
		})})
	}
	edge := func(from, to, when string, most int) {
		e := &core.Edge{From: text(from), To: text(to)}
		if when != "" {
			e.When = &source.Text{Value: when}
		}
		if most > 0 {
			e.MaxIterations = &source.Int{Value: most}
		}
		w.Edges = append(w.Edges, e)
	}
	edge("draft", "judge", "", 0)
	edge("judge", "refine", "poor", 1)
	edge("judge", "publish", "good", 0)
	edge("refine", "judge", "", 0)
	p, ds := plan.Compile(w, core.NewRegistry(), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// TestRoutedMistakes falsifies the log of a walk routed by a model. The walk visits
// refine once and then publish, whose failure ends it.
func TestRoutedMistakes(t *testing.T) {
	p := routedPlan(t)
	run := func() []core.Event {
		var l []core.Event
		first := core.RouterFunc(func(context.Context, core.RouteQuestion) (core.RouteAnswer, error) {
			return core.RouteAnswer{Raw: "1"}, nil
		})
		_, _ = scheduler.Run(t.Context(), p, nil, scheduler.Options{Router: first, FailFast: true, Listener: func(e core.Event) { l = append(l, e) }})
		return l
	}
	if r := checked(t, p, run()); len(r.Violations) > 0 {
		t.Fatalf("%+v", r.Violations)
	}
	way := func(l []core.Event, n int) *core.Event { // the nth chosen edge
		for i := range l {
			if l[i].Type == core.EdgeChosen {
				if n--; n == 0 {
					return &l[i]
				}
			}
		}
		t.Fatal("there are fewer ways")
		return nil
	}
	for _, c := range []struct {
		name   string
		rule   verify.Rule
		want   string
		mutate func(l []core.Event)
	}{
		{"a question where there is nothing to decide", verify.Routes, "a model was asked, and there is nothing to decide",
			func(l []core.Event) { way(l, 1).Step = core.StepModel }},
		{"no question where there is something to decide", verify.Routes, "continues without a question",
			func(l []core.Event) { way(l, 2).Step = core.StepUnconditional }},
		{"an edge that is used up", verify.Routes, "or it is spent",
			func(l []core.Event) { e := way(l, 4); e.To, e.When = "refine", "poor" }},
		{"a choice that was not there", verify.Routes, "the model was offered other edges",
			func(l []core.Event) {
				e := way(l, 2)
				e.Values = value.ObjectOf("choices", []any{value.ObjectOf("to", "refine", "when", "poor")})
			}},
		{"a fallback that has a condition", verify.Routes, "which does not belong to the edge",
			func(l []core.Event) { way(l, 2).Step = core.StepFallback }},
		{"a dry run that is none", verify.Routes, "ends as a dry run",
			func(l []core.Event) { e := way(l, 2); e.Step, e.To, e.When = core.StepDryRun, core.End, "" }},
		{"a failure that is none", verify.Routes, "ends because the node failed",
			func(l []core.Event) { e := way(l, 2); e.Step, e.To, e.When = core.StepFailFast, core.End, "" }},
		{"more visits than the run may make", verify.Limits, "is visit 4 of the walk, which may make 3",
			func(l []core.Event) { l[0].Limits = &core.Limits{Concurrency: 1, MaxVisits: 3} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := slices.Clone(run())
			c.mutate(l)
			r := checked(t, p, l)
			if !slices.ContainsFunc(r.Of(c.rule), func(v verify.Violation) bool { return strings.Contains(v.Message, c.want) }) {
				t.Errorf("want %q of %s among %+v", c.want, c.rule, r.Violations)
			}
		})
	}
}
