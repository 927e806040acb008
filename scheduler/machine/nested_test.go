package machine

import (
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// A loop used to keep an entry for each nested run that it had ever begun, in memory and in its
// snapshots.
func TestEndedNestedRunsAreForgotten(t *testing.T) {
	leaf := &core.Workflow{Name: source.Text{Value: "inner"}, Nodes: []*core.Node{{ID: source.Text{Value: "leaf"}, HasWrites: true, Handler: core.HandlerFunc(nil)}}}
	w := &core.Workflow{Name: source.Text{Value: "w"},
		Nodes: []*core.Node{{ID: source.Text{Value: "body"}, Kind: source.Text{Value: "nested"}, HasWrites: true}},
		Loops: []*core.Loop{{ID: source.Text{Value: "l"}, Body: []source.Text{{Value: "body"}}, MaxIters: &source.Int{Value: 1000}}}}
	p, ds := plan.Compile(w, core.NewRegistry(nestedKind{leaf}), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	m, err := New(p, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var before ID
	seen := map[int64]bool{}
	for round := range 1000 {
		c := m.Next()
		if len(c) != 1 || c[0].Op != OpRun || len(m.frames) != 2 || len(m.nested) != 1 || seen[c[0].ID.Frame] {
			t.Fatalf("round %d: commands %v with %d frames", round, c, len(m.frames))
		}
		id := c[0].ID
		seen[id.Frame] = true
		m.Apply(&Event{ID: before}) // a duplicate, which is dropped
		if before = id; m.Dropped() != round+1 && round > 0 {
			t.Fatalf("round %d: %d answers were dropped", round, m.Dropped())
		}
		if round == 500 {
			m = reload(t, m)
			if c = m.Next(); len(c) != 1 || c[0].ID != id {
				t.Fatalf("restored it issues %v, want %v", c, id)
			}
		}
		m.Apply(&Event{ID: id})
		if round == 700 {
			m = reload(t, m)
		}
	}
	if m.Next(); !m.Done() {
		t.Error("the run is not over")
	}
}

// siblingsPlan has two nodes a and b, each followed by a nested run, x and y. The only node of a
// nested run has three attempts with jitter.
func siblingsPlan(t *testing.T) *plan.Plan {
	t.Helper()
	leaf := &core.Workflow{Name: source.Text{Value: "inner"}, Nodes: []*core.Node{retried("work", handled)}}
	at := func(s string) source.Text { return source.Text{Value: s} }
	w := &core.Workflow{Name: at("w"),
		Nodes: []*core.Node{{ID: at("a"), HasWrites: true, Handler: core.HandlerFunc(nil)}, {ID: at("b"), HasWrites: true, Handler: core.HandlerFunc(nil)},
			{ID: at("x"), Kind: at("nested"), HasWrites: true}, {ID: at("y"), Kind: at("nested"), HasWrites: true}},
		Edges: []*core.Edge{{From: at("a"), To: at("x")}, {From: at("b"), To: at("y")}}}
	p, ds := plan.Compile(w, core.NewRegistry(nestedKind{leaf}), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// Nested runs used to be numbered in the order of their start, so their IDs, and the delays drawn
// from them, depended on which neighbour ended first and on when Next was called.
func TestIDsOfNestedRunsArePaths(t *testing.T) {
	p := siblingsPlan(t)
	issued := func(order ...string) string {
		m, err := New(p, nil, Options{Concurrency: 4, Seed: 42})
		if err != nil {
			t.Fatal(err)
		}
		m.Next()
		var list []string
		next := func() {
			for _, c := range m.Next() {
				list = append(list, c.Call.Name(c.Node)+" "+c.Op.String()+" "+c.ID.String()+" "+c.Delay.String())
				if c.Op == OpRun {
					m.Apply(&Event{ID: c.ID, Outcome: Outcome{Failure: &core.Failure{Message: "busy"}}})
				}
			}
		}
		for _, step := range order {
			switch n, ok := p.Node(step); {
			case ok:
				m.Apply(&Event{ID: ID{Node: n.Index, Attempt: 1}})
			default:
				next()
			}
		}
		next()
		next()
		slices.Sort(list)
		return strings.Join(list, "\n")
	}
	want := issued("b", "Next", "a", "Next")
	if !strings.Contains(want, "x/work run ") || strings.Count(want, "timer") != 2 {
		t.Fatalf("it issues\n%s", want)
	}
	for _, order := range [][]string{{"b", "a", "Next"}, {"a", "b", "Next"}, {"a", "Next", "b", "Next"}} {
		if got := issued(order...); got != want {
			t.Errorf("in the order %v it issues\n%s\nwant\n%s", order, got, want)
		}
	}
}
