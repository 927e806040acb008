package cli

import (
	"bytes"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestPrintSteps tests the plan of a walk by steps.
func TestPrintSteps(t *testing.T) {
	text := func(s string) source.Text { return source.Text{Value: s} }
	w := &core.Workflow{Name: text("t"), Mode: core.ModeWalk, Walk: &core.Walk{Router: text(core.RouterSteps), Entry: text("a")}}
	for _, id := range []string{"a", "b", "c"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: text(id), Kind: text("x"), Handler: core.HandlerFunc(nil)})
	}
	a, when := w.Nodes[0], text("$output.n > 2")
	a.Transitions, a.DefaultNext, a.Critical = []core.Transition{{Key: text("good"), To: text("c")}}, text(core.EndNode), true
	e := &core.Edge{From: text("a"), To: text("b"), When: &when, Label: text("big")}
	e.Priority.Value = 5
	w.Edges = []*core.Edge{{From: text("a"), To: text("c"), Cond: &core.Cond{Kind: text(core.CondError)}}, e}
	until := text("$output.good")
	w.Walk.LoopUntil = []*core.LoopUntil{{Node: text("b"), ExitTo: text("c"), Until: &until}}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	var out bytes.Buffer
	(&app{Streams: Streams{Out: &out}}).printWalk(p.Describe())
	const want = `t: a walk by steps of 3 nodes and 4 edges, from a

node  kind  visits  to     when
a     x       ≤ 10  b      $output.n > 2; "big"; priority 5
                    c      error
                    c      output.good is set (transition)
                    (end)  otherwise (default_next)
b     x        ≤ 5  c      $output.good; "exit_loop"; priority 10
                    b      always; "loop"
                    c      its visits are used up
c     x       ≤ 10         the walk ends here, unless an output or code names a node

A run makes at most 50 visits.
A failure of a ends the run at once.
A run may change its graph at most 10 times.
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
