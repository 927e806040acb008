package machine

import (
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestEndedNestedRunsAreForgotten: a loop kept a place for each nested run it had ever
// begun, in memory and in its snapshots.
func TestEndedNestedRunsAreForgotten(t *testing.T) {
	leaf := &core.Workflow{Name: core.Text{Value: "inner"}, Nodes: []*core.Node{{ID: core.Text{Value: "leaf"}, HasWrites: true, Handler: core.HandlerFunc(nil)}}}
	w := &core.Workflow{Name: core.Text{Value: "w"},
		Nodes: []*core.Node{{ID: core.Text{Value: "body"}, Kind: core.Text{Value: "nested"}, HasWrites: true}},
		Loops: []*core.Loop{{ID: core.Text{Value: "l"}, Body: []core.Text{{Value: "body"}}, MaxIters: &core.Int{Value: 1000}}}}
	p, ds := plan.Compile(w, core.NewRegistry(nestedKind{leaf}), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	m, err := New(p, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var before ID
	for round := range 1000 {
		c := m.Next()
		if len(c) != 1 || c[0].Op != OpRun || len(m.frames) != 2 || int(c[0].ID.Frame) != round+1 {
			t.Fatalf("round %d: commands %v with %d frames", round, c, len(m.frames))
		}
		id := c[0].ID
		m.Apply(&Event{ID: before}) // once more: it is nobody's
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
