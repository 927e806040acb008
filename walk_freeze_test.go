package wavefold_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// A graph does not change when the Walk it came from, or what that was made of, does. The
// slices have spare capacity, so that an append in place would be seen.
func TestGraphOfAWalkIsFrozen(t *testing.T) {
	parts := make([]wavefold.Part, 0, 64)
	parts = append(parts, wavefold.Do("a", idle, wavefold.Entry(), wavefold.Transition("x", wavefold.End)), wavefold.Do("b", idle), wavefold.Do("c", idle))
	equals := map[string]any{"list": []any{1}}
	w := wavefold.NewWalk("frozen", parts...)
	for range 40 {
		w.OnOutput("a", "c", "n", equals, wavefold.Priority(1))
	}
	w.Sequential("a", "b")
	g, unused := w.Graph(), w.Graph()
	before := dump(g)
	var runs sync.WaitGroup
	for range 4 {
		runs.Go(func() {
			if r, err := g.Run(t.Context()); err != nil || !slices.Equal(r.Path, []string{"a", "b"}) {
				t.Errorf("walked %s: %v", r.Path, err)
			}
		})
	}
	clear(parts[:3])
	equals["list"].([]any)[0] = 2
	_ = append(parts, wavefold.Do("b", idle)) // into the spare capacity
	for i := range 100 {
		w.Always("a", "c", wavefold.Priority(100+i))
		w.Add(wavefold.Do(fmt.Sprint("x", i), idle, wavefold.DefaultNext("nowhere")))
		_ = w.Graph().Findings()
	}
	w.LoopUntil("b", "nowhere", wavefold.CondExpr("true"), 0)
	runs.Wait()
	if after := dump(g); after != before {
		t.Errorf("the graph was\n%s\nand is\n%s", before, after)
	}
	if got, _ := path(t, unused); got != "a b" {
		t.Errorf("a graph that was not compiled yet walked %s", got)
	}
	if err := w.Graph().Compile(); err == nil {
		t.Error("what was added last is not in the new graph")
	}
}

// dump writes what a graph consists of.
func dump(g *wavefold.Graph) string {
	var b strings.Builder
	for _, n := range g.Workflow().Nodes {
		fmt.Fprintln(&b, n.ID.Value, n.Transitions, n.DefaultNext.Value)
	}
	for _, e := range g.Workflow().Edges {
		fmt.Fprint(&b, e.From.Value, e.To.Value, e.Priority.Value)
		if e.Cond != nil {
			fmt.Fprint(&b, e.Cond.Key.Value, value.JSON(e.Cond.Value))
		}
		fmt.Fprintln(&b)
	}
	return b.String() + fmt.Sprint(len(g.Workflow().Walk.LoopUntil))
}

// Forty edges of one priority are tried in the order in which they were added.
func TestEdgesInOrder(t *testing.T) {
	w := wavefold.NewWalk("w", wavefold.Do("a", idle, wavefold.Entry()))
	for i := range 40 {
		id := fmt.Sprintf("n%02d", i)
		w.Add(wavefold.Do(id, idle))
		w.When("a", id, wavefold.CondExpr(fmt.Sprintf("$visits > 0 && %d >= 17", i)))
	}
	if got, _ := path(t, w.Graph()); got != "a n17" {
		t.Errorf("walked %s", got)
	}
}

// Transitions are tried in the order of the options, after the edges and before the default.
func TestTransitionsInGo(t *testing.T) {
	type verdict struct {
		Reject  bool   `json:"reject"`
		Approve string `json:"approve"`
		Route   string `json:"route"`
	}
	n, out := wavefold.NewField[int]("n", wavefold.Default(0)), wavefold.NewField[verdict]("out")
	for want, v := range map[string]verdict{
		"a approve": {Approve: "yes"}, "a reject": {Approve: "yes", Reject: true}, "a other": {}, "a approve ": {Route: "approve"},
		"a routed": {Reject: true, Route: "routed"}, "a": {Route: wavefold.End},
	} {
		w := wavefold.NewWalk("w",
			wavefold.Map("a", n, out, func(context.Context, int) (verdict, error) { return v, nil }, wavefold.Entry(),
				wavefold.Transition("reject", "reject"), wavefold.Transition("approve", "approve"), wavefold.DefaultNext("other")),
			wavefold.Do("reject", idle), wavefold.Do("approve", idle), wavefold.Do("other", idle), wavefold.Do("routed", idle)).
			OnError("a", "other")
		if got, _ := path(t, w.Graph()); got != strings.TrimSpace(want) {
			t.Errorf("%+v: walked %s, want %s", v, got, want)
		}
	}
}

// What a visit says besides its result counts even if the visit fails.
func TestStepsOfVisits(t *testing.T) {
	n, out := wavefold.NewField[int]("n", wavefold.Default(0)), wavefold.NewField[int]("out")
	for name, tt := range map[string]struct {
		visit core.Routing
		err   error
		opts  []wavefold.Option
		want  string
	}{
		"next":              {visit: core.Routing{Next: "b"}, want: "a b"},
		"next of a failure": {visit: core.Routing{Next: "b"}, err: errors.New("late"), want: "a b"},
		"end":               {visit: core.Routing{Next: wavefold.End}, want: "a"},
		"unknown":           {visit: core.Routing{Next: "z"}, want: `a: `},
		"failure":           {err: errors.New("late"), want: "a c"},
		"critical":          {err: errors.New("late"), opts: []wavefold.Option{wavefold.Critical()}, want: "a: node a: late"},
		"guard":             {visit: core.Routing{GuardsFailed: []string{"tone"}}, want: "a d"},
	} {
		t.Run(name, func(t *testing.T) {
			w := wavefold.NewWalk("w",
				wavefold.Step("a", n, out, func(_ context.Context, _ int, v *wavefold.Visit) (int, error) {
					v.Routing = tt.visit
					return 1, tt.err
				}, append(tt.opts, wavefold.Entry())...),
				wavefold.Do("b", idle), wavefold.Do("c", idle), wavefold.Do("d", idle)).
				OnError("a", "c").OnGuardFail("a", "d").OnConfidence("a", "b", 0.5)
			if got, _ := path(t, w.Graph()); got != tt.want && (name != "unknown" || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("walked %s, want %s", got, tt.want)
			}
		})
	}
}

// Hooks run around each visit, and what they set counts.
func TestHooksInGo(t *testing.T) {
	n, out := wavefold.NewField[int]("n", wavefold.Default(0)), wavefold.NewField[int]("out")
	w := wavefold.NewWalk("w",
		wavefold.Map("a", n, out, func(_ context.Context, n int) (int, error) { return n, errors.New("always") }, wavefold.Entry(),
			wavefold.BeforeVisit(func(_ context.Context, s *core.HookState) error {
				before, _ := s.Get("n")
				s.Set("n", before.(int)+10)
				return nil
			}),
			wavefold.AfterVisit(func(_ context.Context, r *core.VisitResult) error {
				r.Failure, r.Next = nil, "b"
				return nil
			})),
		wavefold.Map("b", n, out, func(_ context.Context, n int) (int, error) { return n, nil }))
	got, r := path(t, w.Graph())
	if got != "a b" || out.Get(r) != 10 {
		t.Errorf("walked %s to %d", got, out.Get(r))
	}
}

// WithMaxVisits limits the visits of a run of every walk.
func TestMaxVisitsOfEveryWalk(t *testing.T) {
	for router, w := range map[wavefold.WalkRouter]*wavefold.Walk{
		wavefold.BySteps:    wavefold.NewWalk("w", wavefold.Do("a", idle, wavefold.Entry())).Always("a", "a"),
		wavefold.ByOutcomes: wavefold.NewWalk("w", wavefold.ByOutcomes, wavefold.Start("s"), wavefold.Exit("e"), wavefold.Do("a", idle)).Sequential("s", "a", "a").When("a", "e", wavefold.CondExpr("outcome=fail")),
		wavefold.ByModel:    wavefold.NewWalk("w", wavefold.ByModel, wavefold.Do("a", idle, wavefold.Entry())).Always("a", "a", wavefold.MaxFollows(100)),
	} {
		got, r := path(t, w.Graph(), wavefold.WithMaxVisits(5))
		if len(r.Path) != 5 || r.Err == nil {
			t.Errorf("%s: walked %s", router, got)
		}
	}
}

// A run may add nodes of the kinds that the engine allows, in its own graph only.
func TestAddedNodesInGo(t *testing.T) {
	n, out := wavefold.NewField[int]("n", wavefold.Default(0)), wavefold.NewField[map[string]any]("out")
	for _, allowed := range [][]string{nil, {"help"}} {
		e := wavefold.NewEngine()
		if err := e.AddTool("help", func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		e.AllowAdded(allowed...)
		g := wavefold.NewWalk("w", wavefold.Using(e),
			wavefold.Map("a", n, out, func(context.Context, int) (map[string]any, error) {
				return map[string]any{core.GraphAction: core.MutationAddNode, core.ActionConfig: map[string]any{"name": "b"}, "route": "b"}, nil
			}, wavefold.Entry())).Graph()
		want := "a"
		if allowed != nil {
			want = "a b"
		}
		for range 2 {
			if got, _ := path(t, g); got != want {
				t.Errorf("allowed %s: walked %s, want %s", allowed, got, want)
			}
		}
		if len(g.Workflow().Nodes) != 1 {
			t.Error("the graph of the program was changed")
		}
	}
}
