package native

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/internal/condition"
)

// walkDraw draws walks that have no value that equals a default.
type walkDraw struct {
	*rapid.T
	nodes int
}

func (t walkDraw) yes(what string) bool { return rapid.Bool().Draw(t.T, what) }

func (t walkDraw) word(what string) source.Text {
	return text(rapid.SampledFrom([]string{"", "a b", "off", "é: #", "12", "__end__", "x\ny", `"`}).Draw(t.T, what))
}

// over draws nil or a number above a default.
func (t walkDraw) over(what string, byDefault int) *source.Int {
	if t.yes(what) {
		return nil
	}
	return number(byDefault + rapid.IntRange(1, 9).Draw(t.T, what))
}

func (t walkDraw) id(what string) source.Text {
	return text(fmt.Sprintf("n%d", rapid.IntRange(0, t.nodes-1).Draw(t.T, what)))
}

func (t walkDraw) target(what string) source.Text {
	if t.yes(what) {
		return text(core.EndNode)
	}
	return t.id(what)
}

func (t walkDraw) attributes(what string) *value.Object {
	if t.yes(what) {
		return nil
	}
	return value.ObjectOf("k", t.word(what).Value, "list", []any{int64(1), 2.5, nil, value.ObjectOf("x", true)})
}

func (t walkDraw) cond() *core.Cond {
	kinds := core.CondKinds()
	c := &core.Cond{}
	switch i := rapid.IntRange(0, len(kinds)).Draw(t.T, "cond"); {
	case i == len(kinds):
		c.Ref = text("good")
		if t.yes("func") {
			c.Func = func(*core.VisitResult) bool { return true }
		}
	default:
		c.Kind = text(kinds[i])
	}
	switch c.Kind.Value {
	case core.CondOutput:
		c.Key = text("k: 1")
		c.Value = rapid.SampledFrom([]any{true, false, nil, "true", int64(3), 3.5, []any{"a"}, value.ObjectOf("a", int64(1))}).Draw(t.T, "value")
	case core.CondConfidence:
		if t.yes("min") {
			c.Min = &source.Located[float64]{Value: rapid.SampledFrom([]float64{0, 0.25, 1}).Draw(t.T, "confidence")}
		}
	}
	return c
}

func (t walkDraw) workflow(router string) *core.Workflow {
	walk := &core.Walk{Router: text(router), MaxRetries: t.over("retries", 0), Attributes: t.attributes("graph")}
	w := &core.Workflow{Name: text("drawn"), Mode: core.ModeWalk, Document: true, HasInputs: t.yes("inputs"), Walk: walk}
	if t.yes("stall") {
		walk.StallTimeout = &source.Located[time.Duration]{Value: time.Duration(rapid.IntRange(0, 100).Draw(t.T, "stall")) * time.Second}
	}
	for range t.nodes {
		w.Nodes = append(w.Nodes, t.node(fmt.Sprintf("n%d", len(w.Nodes)), router))
	}
	for range rapid.IntRange(0, 6).Draw(t.T, "edges") {
		w.Edges = append(w.Edges, t.edge(router))
	}
	switch router {
	case core.RouterSteps:
		walk.Entry, walk.MaxSteps, walk.MaxVisits, walk.MaxMutations = t.id("entry"), t.over("steps", 50), t.over("visits", 25), t.over("mutations", 10)
		if t.yes("fixed") {
			walk.FixedGraph = &source.Located[bool]{Value: true}
		}
		for range rapid.IntRange(0, 2).Draw(t.T, "loops") {
			l := &core.LoopUntil{Node: t.id("node"), ExitTo: t.target("exit"), MaxIterations: t.over("iterations", 5)}
			if l.Cond = t.cond(); t.yes("until") {
				l.Until, l.Cond = &source.Text{Value: "$output.x > 3"}, nil
			}
			walk.LoopUntil = append(walk.LoopUntil, l)
		}
	case core.RouterOutcomes:
		walk.MaxSteps, walk.MaxVisits, walk.MaxJumps, walk.RepeatLimit = t.over("steps", 0), t.over("visits", 0), t.over("jumps", 10), t.over("repeats", 3)
		walk.RetryTarget, walk.FallbackRetryTarget, walk.Fidelity = t.id("retry"), t.id("fallback"), text("none")
	default:
		walk.Entry, walk.Model, walk.MaxSteps, walk.MaxVisits = t.id("entry"), t.word("model"), t.over("steps", 200), t.over("visits", 0)
	}
	return w
}

func (t walkDraw) node(id, router string) *core.Node {
	n := tool(id, "f")
	n.Label, n.Attributes, n.AllowPartial = t.word("label"), t.attributes("node"), t.yes("partial")
	if t.yes("classes") {
		n.Classes = []source.Text{text("a"), text("b c")}
	}
	switch router {
	case core.RouterSteps:
		for _, key := range []string{"z", "yes", "a: b", "error"} {
			if t.yes(key) {
				n.Transitions = append(n.Transitions, core.Transition{Key: text(key), To: t.target(key)})
			}
		}
		n.Critical, n.MaxVisits = t.yes("critical"), t.over("budget", 10)
		if t.yes("default") {
			n.DefaultNext = t.target("default")
		}
	case core.RouterOutcomes:
		n.GoalGate, n.Random, n.MaxVisits = t.yes("gate"), t.yes("random"), t.over("budget", -1)
		n.RetryTarget, n.Fidelity = t.id("retry"), text("full")
		if t.yes("parallel") {
			n.Kind, n.Config = text("parallel"), nil
			n.Parallel = &core.Parallel{MaxParallel: number(9), ErrorPolicy: text("ignore")}
			n.Join = rapid.SampledFrom([]*core.Join{nil, core.JoinOf(text(core.JoinFirstSuccess)), {Policy: text(core.JoinKOfN), Count: number(2)},
				{Policy: text(core.JoinQuorum), Fraction: &source.Located[float64]{Value: 0.5}}}).Draw(t.T, "join")
		}
	default:
		n.MaxVisits = t.over("budget", -1)
		if t.yes("view") {
			n.ViewMembers = []source.Text{text("a")}
		}
	}
	return n
}

func (t walkDraw) edge(router string) *core.Edge {
	e := &core.Edge{From: t.id("from"), To: t.id("to"), Label: t.word("label"), Attributes: t.attributes("edge")}
	when := func(s string) *source.Text { return &source.Text{Value: s} }
	switch router {
	case core.RouterSteps:
		e.To, e.Priority.Value = t.target("to"), rapid.IntRange(-3, 3).Draw(t.T, "priority")
		if t.yes("condition") {
			e.Cond = t.cond()
		} else if t.yes("when") {
			e.When = when("$output.k == 'a: b'")
		}
	case core.RouterOutcomes:
		e.Weight.Value, e.LoopRestart, e.Freeform = rapid.IntRange(-3, 3).Draw(t.T, "weight"), t.yes("restart"), t.yes("freeform")
		if t.yes("when") {
			e.When = when(`outcome=fail && !context.x contains "a: b"`)
			tree, _ := condition.Parse(*e.When)
			e.Parsed = tree
		}
	default:
		e.MaxIterations = t.over("iterations", 0)
		if t.yes("when") {
			e.When = when(rapid.SampledFrom([]string{"it is good: really", "true", "12", "- no #"}).Draw(t.T, "text"))
		}
	}
	return e
}

// TestDrawnWalks checks that walks of all routers are written and read back unchanged, and
// that writing them again gives the same bytes.
func TestDrawnWalks(t *testing.T) {
	for _, router := range []string{core.RouterSteps, core.RouterOutcomes, core.RouterModel} {
		t.Run(router, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				w := walkDraw{rt, rapid.IntRange(1, 4).Draw(rt, "nodes")}.workflow(router)
				first, err := Write(w)
				if err != nil {
					rt.Fatal(err)
				}
				back, ds := Parse("", first, options())
				if ds.Failed(true) {
					rt.Fatalf("%s\n%v", first, ds)
				}
				second, err := Write(back)
				if err != nil || !bytes.Equal(first, second) {
					rt.Fatalf("written twice:\n%s\n%s%v", first, second, err)
				}
				if got, want := dump(normalWalk(back)), dump(normalWalk(w)); got != want {
					rt.Fatalf("%s\nreads as\n%s\nwant\n%s", first, got, want)
				}
			})
		})
	}
}

// normalWalk returns a copy without what a document does not hold: Go functions that have
// names, and empty configurations.
func normalWalk(w *core.Workflow) *core.Workflow {
	c := *w
	c.Edges = copies(w.Edges, func(e *core.Edge) { e.Cond = withoutFunc(e.Cond) })
	c.Nodes = copies(w.Nodes, func(n *core.Node) {
		if n.Config != nil && len(n.Config.Keys) == 0 {
			n.Config = nil
		}
	})
	walk := *w.Walk
	walk.LoopUntil = copies(walk.LoopUntil, func(l *core.LoopUntil) { l.Cond = withoutFunc(l.Cond) })
	c.Walk = &walk
	return &c
}

func withoutFunc(c *core.Cond) *core.Cond {
	if c == nil {
		return nil
	}
	copied := *c
	copied.Func = nil
	return &copied
}

// TestWriteWalkErrors checks that what a document of the router does not have is not lost
// silently.
func TestWriteWalkErrors(t *testing.T) {
	test := func(result *core.VisitResult) bool { return true }
	tests := []struct {
		name, router string
		edit         func(w *core.Workflow)
		want         string
	}{
		{"function", "steps", func(w *core.Workflow) { w.Edges[0].Cond = &core.Cond{Func: test} },
			"edge a -> b: its condition is a Go function without a name, so a document cannot refer to it"},
		{"function of a loop", "steps", func(w *core.Workflow) {
			w.Walk.LoopUntil = []*core.LoopUntil{{Node: text("a"), ExitTo: text("b"), Cond: &core.Cond{Func: test}}}
		}, "loop_until a: its condition is a Go function without a name"},
		{"hook", "steps", func(w *core.Workflow) {
			w.Nodes[0].After = func(context.Context, *core.VisitResult) error { return nil }
		},
			"node a: its hook is a Go function"},
		{"twice", "steps", func(w *core.Workflow) {
			w.Nodes[0].Transitions = []core.Transition{{Key: text("x"), To: text("a")}, {Key: text("x"), To: text("b")}}
		}, `node a: two transitions have the key "x"`},
		{"condition language", "steps", func(w *core.Workflow) {
			w.Edges[0].When = &source.Text{Value: "outcome=fail"}
			tree, _ := condition.Parse(*w.Edges[0].When)
			w.Edges[0].Parsed = tree
		}, "edge a -> b: its condition is not an expression"},
		{"expression", "outcomes", func(w *core.Workflow) { w.Edges[0].When = &source.Text{Value: "$.x > 3"} },
			"edge a -> b: its condition is an expression, and this router has a language of its own"},
		{"priority", "outcomes", func(w *core.Workflow) { w.Edges[0].Priority.Value = 3 },
			"edge a -> b: on, ref or priority cannot be written: it does not exist in a walk with router: outcomes"},
		{"weight", "model", func(w *core.Workflow) { w.Edges[0].Weight.Value = 3 }, "edge a -> b: a setting of router: outcomes cannot be written"},
		{"gate", "steps", func(w *core.Workflow) { w.Nodes[0].GoalGate = true }, "node a: a setting of router: outcomes cannot be written"},
		{"for_each", "steps", func(w *core.Workflow) { w.Nodes[0].ForEach = &core.ForEach{} }, "node a: for_each cannot be written: it exists in dags only"},
		{"on", "steps", func(w *core.Workflow) { w.Edges[0].On = text("fail") }, "edge a -> b: on, handles and when: else cannot be written"},
		{"child", "outcomes", func(w *core.Workflow) { w.Nodes[0].Child = &core.Workflow{} }, "node a: its workflow is part of the document"},
		{"router", "spin", func(*core.Workflow) {}, "workflow w: router spin cannot be written in this format"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &core.Workflow{Name: text("w"), Mode: core.ModeWalk, Walk: &core.Walk{Router: text(tt.router)},
				Nodes: []*core.Node{tool("a", "f"), tool("b", "f")}, Edges: []*core.Edge{{From: text("a"), To: text("b")}}}
			tt.edit(w)
			out, err := Write(w)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %q, %v, want error %q", out, err, tt.want)
			}
		})
	}
}
