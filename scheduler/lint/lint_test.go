package lint

import (
	"context"
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// A graph that is too large to check the order of all reads and writes is reported once.
func TestTooLargeToCheck(t *testing.T) {
	w := &core.Workflow{Fields: []core.FieldDecl{{Name: source.Text{Value: "f"}, Default: value.Missing}}}
	for i := range 3 {
		id := source.Text{Value: fmt.Sprint("n", i)}
		w.Nodes = append(w.Nodes, &core.Node{ID: id, Writes: []source.Text{{Value: "f"}},
			Handler: core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })})
		if i > 0 {
			w.Edges = append(w.Edges, &core.Edge{From: w.Nodes[i-1].ID, To: id})
		}
	}
	var ds source.Diagnostics
	p, found := plan.Compile(w, nil, plan.Options{Lint: func(f *plan.Facts) source.Diagnostics {
		c := &checker{f: f, p: f.Plan(), w: w, chained: []bool{true}}
		visits := 0
		q := []plan.Question{{Gate: 2, Field: 0, Last: 1}}
		c.gapsOf(q, nil, 1, &visits)
		c.gapsOf(q, nil, 1, &visits)
		ds = c.ds
		if c.chained[0] {
			t.Error("what was not checked counts as in order")
		}
		return nil
	}})
	if p == nil {
		t.Fatal(found)
	}
	if len(ds) != 1 || ds[0].Severity != source.Hint || ds[0].Code != source.CodeLimit {
		t.Errorf("findings %v", ds)
	}
}
