package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Every value that a field ever had used to stay in memory, and in each snapshot, until the end
// of the run.
func TestOldValuesAreForgotten(t *testing.T) {
	text := func(s string) source.Text { return source.Text{Value: s} }
	h := core.HandlerFunc(nil) // the test answers instead
	node := func(id string) *core.Node {
		return &core.Node{ID: text(id), Reads: []source.Text{text("x")}, Writes: []source.Text{text("x")}, HasWrites: true, Handler: h}
	}
	chain := &core.Workflow{}
	for i := range 300 {
		chain.Nodes = append(chain.Nodes, node(fmt.Sprint("n", i)))
		if i > 0 {
			chain.Edges = append(chain.Edges, &core.Edge{From: text(fmt.Sprint("n", i-1)), To: text(fmt.Sprint("n", i))})
		}
	}
	loop := &core.Workflow{Nodes: []*core.Node{node("a")}, Loops: []*core.Loop{{ID: text("l"), Body: []source.Text{text("a")}, MaxIters: &source.Int{Value: 300}}}}
	rows := &core.Workflow{Nodes: []*core.Node{node("a")}, Fields: []core.FieldDecl{{Name: text("rows"), Default: make([]any, 300)}},
		Pipelines: []*core.Pipeline{{ID: text("p"), Items: text("$.rows"), Stages: []source.Text{text("a")}}}}
	big := strings.Repeat("x", 1000)
	for name, w := range map[string]*core.Workflow{"chain": chain, "loop": loop, "pipeline": rows} {
		w.Name = text(name)
		w.Fields = append(w.Fields, core.FieldDecl{Name: text("x"), Default: value.Missing})
		p, ds := plan.Compile(w, nil, plan.Options{})
		if p == nil {
			t.Fatal(ds)
		}
		m, err := New(p, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for k := 0; !m.Done(); k++ {
			if k == 299 {
				m = reload(t, m)
				if b, _ := m.Snapshot(); strings.Count(string(b), big) > 4 {
					t.Errorf("%s: a snapshot holds %d values of the field", name, strings.Count(string(b), big))
				}
			}
			c := m.Next()[0]
			if c.Op != OpRun {
				break
			}
			if seen := c.Call.Values[0]; k > 0 && seen != fmt.Sprint(big, k-1) {
				t.Fatalf("%s: execution %d sees %.20v", name, k, seen)
			}
			m.Apply(&Event{Kind: Finished, ID: c.ID, Outcome: Outcome{Writes: []plan.Write{{Field: c.Node.WriteFields[0], Value: fmt.Sprint(big, k)}}}})
		}
		if got := m.root.report().State; value.JSON(got) != value.JSON(value.ObjectOf("x", fmt.Sprint(big, 299))) && name != "pipeline" {
			t.Errorf("%s: the state is %.50s", name, value.JSON(got))
		}
	}
}
