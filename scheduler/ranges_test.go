package scheduler_test

import (
	"context"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// each returns a workflow of one fan-out over $.list that appends what its items
// return to $.out.
func each(h func(ctx context.Context, i int64) error, change ...func(*core.Node)) *core.Workflow {
	w := fields(one(func(ctx context.Context, in core.Input) (core.Result, error) {
		i, _ := in.Item()
		return core.Write("out", []any{i}), h(ctx, i.(int64))
	}, change...), "list")
	w.Nodes[0].Writes = []core.Text{text("out")}
	w.Fields = append(w.Fields, core.FieldDecl{Name: text("out"), Merge: text("array_append"), Default: core.Missing})
	return w
}

func written(r *core.Report) int {
	out, _ := r.State.Get("out")
	list, _ := out.([]any)
	return len(list)
}

// TestFailRunWithinARange: the item that stopped the run ended the fan-out while
// the outcomes of the items behind it in the same answer had not been looked at.
// Those were lost, and failures among them counted twice.
func TestFailRunWithinARange(t *testing.T) {
	w := each(func(context.Context, int64) error { return nil }, forEach("list", 1), func(n *core.Node) {
		n.OnError = &core.OnError{Policy: text("fail_run")}
	})
	p := compile(t, w)
	m, err := machine.New(p, core.ObjectOf("list", numbers(100)), machine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for !m.Done() {
		for _, c := range m.Next() {
			switch c.Op {
			case machine.OpFinish:
				n, _ := c.Report.Node("n")
				if ok := written(c.Report); n.Failed+ok != 100 || ok < 3 {
					t.Errorf("%d items failed and %d wrote, want 100 together", n.Failed, ok)
				}
			case machine.OpRun:
				m.Apply(stopping(p, c.ID))
			}
		}
	}
}

// stopping answers a range: items succeed, until a range of at least four comes,
// whose two in the middle fail.
func stopping(p *plan.Plan, id machine.ID) *machine.Event {
	e := &machine.Event{ID: id, Items: make([]machine.Outcome, id.To-id.From)}
	out, _ := p.Schema.Index("out")
	for i := range e.Items {
		e.Items[i].Writes = []plan.Write{{Field: int32(out), Value: []any{int64(i)}}}
		if len(e.Items) >= 4 && (i == 1 || i == 2) {
			e.Items[i] = machine.Outcome{Failure: &core.Failure{Message: "boom"}}
		}
	}
	return e
}
