package rehearse_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/internal/rehearse"
)

// TestSteps rehearses walks by steps. The walk has the nodes a to d; of a, edges lead to b after the
// condition named big, which is registered, or small, which is not.
func TestSteps(t *testing.T) {
	for _, tt := range []struct{ name, mock string }{
		{"tools", `{nodes: {a: [{tool_calls: [x]}, {tool_calls: [x, y]}, {tool_calls: [x], tool_loop: false}]}, conditions: {small: false}, expect: {path: [a, a, a, d], run: success}}`},
		{"a route before the edges", `{nodes: {a: {output: {route: c, n: 9}}}, conditions: {small: false}, expect: {path: [a, c]}}`},
		{"the next node", `{nodes: {a: {next_node: c}}, conditions: {small: true}, expect: {path: [a, c]}}`},
		{"the next node is not there", `{nodes: {a: {next_node: ghost}}, conditions: {small: true}, expect: {path: [a], run: failed, failure: unknown_node}}`},
		{"a registered condition", `{nodes: {a: {output: {n: 9}}}, conditions: {small: false}, expect: {path: [a, b]}}`},
		{"a scripted condition", `{nodes: {a: {output: {n: 1}}, d: {next_node: a}}, conditions: {small: [false, panic, true]}, expect: {path: [a, d, a, d, a, c]}}`},
		{"a scripted answer for a registered one", `{nodes: {a: {output: {n: 9}}}, conditions: {big: false, small: true}, expect: {path: [a, c]}}`},
		{"a guard", `{nodes: {b: {guards: {passed: [x], failed: [y]}}, a: {output: {n: 9}}}, conditions: {small: false}, expect: {path: [a, b, d]}}`},
		{"an error", `{nodes: {a: {output: {n: 9}}, b: {error: {message: no}}}, conditions: {small: false}, expect: {path: [a, b, c], run: success}}`},
		{"a change of the graph", `{nodes: {a: {output: {n: 9}}, b: {mutations: [{action: add_edge, from: b, to: d}]}}, conditions: {small: false}, expect: {path: [a, b, d]}}`},
		{"a jump", `{nodes: {a: {output: {_graph_action: skip_to, _target: d}}}, conditions: {small: true}, expect: {path: [a, d]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, ds := mock.Parse("mock.yaml", []byte(tt.mock))
			if len(ds) > 0 {
				t.Fatal(ds)
			}
			real := wavefold.NewEngine().Registry()
			if err := real.AddCondition("big", func(r *core.VisitResult) bool {
				n, _ := r.Member("n")
				return n.(int64) > 5 // panics without a number
			}); err != nil {
				t.Fatal(err)
			}
			rec := rehearseSteps(t, real, file, stepWorkflow())
			for _, m := range rec.Check(file.Expect) {
				t.Errorf("%s: want %s, got %s %s", m.What, m.Want, m.Got, m.Because)
			}
		})
	}
}

func rehearseSteps(t *testing.T, real *core.Registry, file *mock.File, w *core.Workflow) *rehearse.Record {
	t.Helper()
	p, ds := wavefold.EngineOf(rehearse.Registry(real, file)).Compile(w, false)
	if p == nil || ds.Failed(false) {
		t.Fatal(ds)
	}
	if ds := rehearse.Names(p, file); len(ds) > 0 {
		t.Fatal(ds)
	}
	rec, err := rehearse.Run(p, nil, file, rehearse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func text(s string) source.Text { return source.Text{Value: s} }

func stepWorkflow() *core.Workflow {
	w := &core.Workflow{Name: text("t"), Mode: core.ModeWalk, Walk: &core.Walk{Router: text(core.RouterSteps), Entry: text("a")}}
	for _, id := range []string{"a", "b", "c", "d"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: text(id), Kind: text("prompt"), HasWrites: true,
			Config: source.Tree(value.ObjectOf("prompt", "p"), source.Position{})})
	}
	w.Nodes[0].DefaultNext = text("d")
	edge := func(from, to string, c core.Cond) {
		w.Edges = append(w.Edges, &core.Edge{From: text(from), To: text(to), Cond: &c})
	}
	edge("a", "b", core.Cond{Ref: text("big")})
	edge("a", "c", core.Cond{Ref: text("small")})
	edge("b", "d", core.Cond{Kind: text(core.CondGuardFailed)})
	edge("b", "c", core.Cond{Kind: text(core.CondError)})
	return w
}

// TestHooks tests that a rehearsal calls the hooks of nodes that were built in Go, and ignores those
// that fail.
func TestHooks(t *testing.T) {
	file, _ := mock.Parse("mock.yaml", []byte(`{nodes: {a: {error: {message: no}}}}`))
	w := stepWorkflow()
	w.Edges = nil
	a, d := w.Nodes[0], w.Nodes[3]
	a.Before = func(_ context.Context, s *core.HookState) error { s.Set("k", 7); return nil }
	a.After = func(_ context.Context, r *core.VisitResult) error {
		r.Failure, r.Next = nil, "d"
		return nil
	}
	d.Before = func(_ context.Context, s *core.HookState) error { s.Set("gone", 1); panic("no") }
	d.After = func(context.Context, *core.VisitResult) error { panic("no") }
	rec := rehearseSteps(t, wavefold.NewEngine().Registry(), file, w)
	if got := strings.Join(rec.Report.Path, " "); got != "a d" || rec.Report.Status != core.RunSuccess || value.JSON(rec.Report.State) != `{"context":{"k":7}}` {
		t.Errorf("path %s, %s %v, state %s", got, rec.Report.Status, rec.Report.Err, value.JSON(rec.Report.State))
	}
}
