package machine

import (
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// A row that waited for a slot for its next attempt used to be dropped when the run was stopped.
// Listeners waited for its end forever, and its attempt belonged to no execution.
func TestStoppedRowThatWaitsForASlot(t *testing.T) {
	w := &core.Workflow{Name: source.Text{Value: "w"}, Fields: []core.FieldDecl{{Name: source.Text{Value: "list"}, Default: value.Missing}},
		Nodes: []*core.Node{{ID: source.Text{Value: "s"}, HasWrites: true, Handler: core.HandlerFunc(nil),
			OnError: &core.OnError{Policy: source.Text{Value: "retry"}, Attempts: &source.Int{Value: 2}}}},
		Pipelines: []*core.Pipeline{{ID: source.Text{Value: "p"}, Items: source.Text{Value: "$.list"}, Stages: []source.Text{{Value: "s"}}, Concurrency: &source.Int{Value: 2}}}}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	for _, restored := range []bool{false, true} {
		m, err := New(p, value.ObjectOf("list", make([]any, 3)), Options{MaxInFlight: 1, Events: true})
		if err != nil {
			t.Fatal(err)
		}
		row := func(i int32) ID { return ID{From: i, To: i + 1, Attempt: 1} }
		m.Next()
		m.Apply(&Event{ID: row(0), Outcome: Outcome{Failure: &core.Failure{Message: "boom"}}})
		m.Next() // row 1 begins
		m.Apply(&Event{Kind: TimerFired, ID: row(0), Ended: int64(time.Second)})
		m.Next()
		if restored {
			m = reload(t, m)
			m.Next()
		}
		m.Apply(&Event{Kind: Cancel})
		m.Apply(&Event{ID: row(1)})
		ended, r := 0, m.root.report()
		for _, c := range m.Next() {
			c.Events.Events(new(core.Event), func(e *core.Event) {
				if e.Type == core.ItemFailed {
					ended++
				}
			})
		}
		if s, _ := r.Node("s"); s.Items != 2 || s.Failed != 2 || s.Attempts != 2 || ended != 2 || !m.Done() {
			t.Errorf("restored %t: %d rows, %d failed, %d attempts, %d ends were told", restored, s.Items, s.Failed, s.Attempts, ended)
		}
	}
}
