package draw_test

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/draw"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestSteps tests drawings of walks by steps: transitions, defaults and the end are drawn, and parts
// that a run has added have a separate colour.
func TestSteps(t *testing.T) {
	text := func(s string) source.Text { return source.Text{Value: s} }
	w := &core.Workflow{Name: text("t"), Mode: core.ModeWalk, Walk: &core.Walk{Router: text(core.RouterSteps), Entry: text("a")}}
	for _, id := range []string{"a", "b", "c"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: text(id), Handler: core.HandlerFunc(nil)})
	}
	w.Nodes[0].Transitions = []core.Transition{{Key: text("good"), To: text("c")}, {Key: text("bad"), To: text(core.EndNode)}}
	w.Nodes[1].DefaultNext = text("a")
	w.Edges = []*core.Edge{{From: text("a"), To: text("b"), Cond: &core.Cond{Kind: text(core.CondError)}}, {From: text("c"), To: text(core.EndNode)}}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	d := p.Describe()
	run := &draw.Run{Taken: map[draw.EdgeKey]int{{From: "c", To: "b"}: 1}, AddedNodes: []string{"n"}, AddedEdges: [][2]string{{"c", "b"}, {"b", "n"}}}
	for name, want := range map[string][]string{
		"mermaid": {`a -. "transition: output.good" .-> c`, `-. "transition: output.bad" .->`, `b -- "default" --> a`, "c --> b", "b --> n", "style n stroke:#8a4fd3", "linkStyle 2,3 stroke:#8a4fd3"},
		"dot":     {`"a" -> "c" [style=dashed, label="transition: output.good"]`, `"c" -> "b" [color="#8a4fd3", penwidth=2]`, `"b" -> "n" [color="#8a4fd3", penwidth=2]`, `"c" -> "__end__"`},
		"svg":     {" added"},
		"text":    {"to b, added by the run ×1", "to n, added by the run\n", "└── added by the run\n    └── n"},
	} {
		f, _ := draw.ByName(name)
		got := f.Draw(d, draw.Options{Run: run})
		for _, line := range want {
			if !strings.Contains(got, line) {
				t.Errorf("%s lacks %q:\n%s", name, line, got)
			}
		}
	}
	if strings.Contains(draw.Mermaid(d, draw.Options{}), "8a4fd3") || len(d.Edges) != 2 {
		t.Error("the drawing of a run has changed the description")
	}
}
