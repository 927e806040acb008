package machine

import (
	"context"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func onePlan(t *testing.T) *plan.Plan {
	t.Helper()
	h := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	w := &core.Workflow{Name: core.Text{Value: "w"}, Nodes: []*core.Node{{ID: core.Text{Value: "n"}, Handler: h, HasWrites: true}}}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

func ops(m *Machine) string {
	s := ""
	for _, c := range m.Next() {
		s += c.Op.String() + " "
		if c.Op == OpEmit {
			s += string(c.Event.Type) + " "
		}
	}
	return s
}

func reload(t *testing.T, m *Machine) *Machine {
	t.Helper()
	b, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Restore(m.root.p, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A machine restored after its end still hands its report over, and does not
// publish its end once more.
func TestRestoreAfterTheEnd(t *testing.T) {
	m, err := New(onePlan(t), nil, Options{Events: true})
	if err != nil {
		t.Fatal(err)
	}
	m.Next()
	m.Apply(&Event{Kind: Finished, ID: ID{Attempt: 1}})
	m.Next()
	m = reload(t, m)
	if got := ops(m); got != "finish " || !m.Done() {
		t.Errorf("it issues %q, done %t", got, m.Done())
	}
}

// A machine restored while it is being stopped issues what is in flight before
// the command that cancels it.
func TestRestoreWhileStopping(t *testing.T) {
	m, err := New(onePlan(t), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Next()
	m.Apply(&Event{Kind: Cancel})
	m = reload(t, m)
	if got := ops(m); got != "run cancel " {
		t.Errorf("it issues %q", got)
	}
	m.Apply(&Event{Kind: Finished, ID: ID{Attempt: 1}})
	if got := ops(m); got != "finish " {
		t.Errorf("then it issues %q", got)
	}
}
