package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestModeOfOwn checks that the plan and the summary are printed for a graph whose mode the
// command does not know and whose nodes are visited.
func TestModeOfOwn(t *testing.T) {
	flow := &plan.Mode{Name: "tokens", Graph: "flow", Level: "step %d", Visits: true, Compile: (*plan.Build).Visits,
		Ends: func(*plan.Plan) (start, exit int32) { return 0, -1 }}
	w := &core.Workflow{Name: source.Text{Value: "tokens"}, Mode: "tokens", Edges: []*core.Edge{{From: source.Text{Value: "read"}, To: source.Text{Value: "merge"}}}}
	for _, id := range []string{"read", "merge", "alert"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: source.Text{Value: id}, Handler: core.HandlerFunc(nil)})
	}
	p, ds := plan.Compile(w, nil, plan.Options{Modes: []*plan.Mode{flow}})
	if p == nil {
		t.Fatal(ds)
	}
	var out bytes.Buffer
	a := newApp(wavefold.NewEngine(), Streams{Out: &out, Err: &out})
	if err := a.printPlan(p, false); err != nil {
		t.Fatal(err)
	}
	r := &core.Report{Workflow: "tokens", Status: core.RunSuccess, State: value.ObjectOf("x", int64(1)), Path: []string{"read", "merge", "merge"},
		Nodes: func() []core.NodeReport {
			return []core.NodeReport{{ID: "read", Status: core.Success, Visits: 1}, {ID: "merge", Status: core.Success, Visits: 2}, {ID: "alert"}}
		}, Units: func() []core.UnitReport { return nil }}
	if err := a.printReport(p, r, &runFlags{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"tokens: a flow of 3 nodes and 1 edge, from read", "read   merge", "path: read -> merge -> merge", "never visited: alert", "merge  success       2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed without %q:\n%s", want, &out)
		}
	}
}
