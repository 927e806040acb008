package machine

import (
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// nestedKind is a kind whose nodes run the workflow inner.
type nestedKind struct{ inner *core.Workflow }

func (nestedKind) Name() string   { return "nested" }
func (nestedKind) Keys() []string { return nil }
func (k nestedKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Frame: &core.Frame{Workflow: k.inner}}, nil
}

// retried returns a node with three attempts and a delay of 100 ms with jitter.
func retried(id string, change ...func(*core.Node)) *core.Node {
	n := &core.Node{ID: source.Text{Value: id}, HasWrites: true, OnError: &core.OnError{Policy: source.Text{Value: "retry"}, Attempts: &source.Int{Value: 3},
		Base: &source.Located[time.Duration]{Value: 100 * time.Millisecond}, Jitter: new(true)}}
	for _, f := range change {
		f(n)
	}
	return n
}

func handled(n *core.Node) { n.Handler = core.HandlerFunc(nil) }

// retriedPlan has a plain node, a fan-out, a stage of a pipeline and a nested run, all with
// retries.
func retriedPlan(t *testing.T, change ...func(*core.Node)) *plan.Plan {
	t.Helper()
	inner := &core.Workflow{Name: source.Text{Value: "inner"}, Nodes: []*core.Node{{ID: source.Text{Value: "leaf"}, HasWrites: true, Handler: core.HandlerFunc(nil)}}}
	each := func(n *core.Node) {
		n.ForEach = &core.ForEach{Source: source.Text{Value: "$.list"}, Concurrency: &source.Int{Value: 9}}
	}
	w := &core.Workflow{Name: source.Text{Value: "w"}, Fields: []core.FieldDecl{{Name: source.Text{Value: "list"}, Default: value.Missing}},
		Nodes: []*core.Node{retried("plain", append(change, handled)...), retried("each", append(change, handled, each)...), retried("stage", append(change, handled)...),
			retried("nested", append(change, func(n *core.Node) { n.Kind = source.Text{Value: "nested"} })...)},
		Pipelines: []*core.Pipeline{{ID: source.Text{Value: "p"}, Items: source.Text{Value: "$.list"}, Stages: []source.Text{{Value: "stage"}}}},
		Edges:     []*core.Edge{{From: source.Text{Value: "plain"}, To: source.Text{Value: "stage"}, On: source.Text{Value: "done"}}},
	}
	p, ds := plan.Compile(w, core.NewRegistry(nestedKind{inner}), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// waits fails every attempt and returns the delays that follow, in the order of their commands:
// the delays of the machine, and the delays of machines restored after each step.
func waits(t *testing.T, p *plan.Plan, seed uint64, fail *core.Failure) (list, restored []time.Duration) {
	t.Helper()
	m, err := New(p, value.ObjectOf("list", make([]any, 20)), Options{Concurrency: 8, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	for !m.Done() {
		var open []*Event
		for _, c := range m.Next() {
			e := &Event{ID: c.ID}
			switch c.Op {
			case OpTimer:
				e.Kind = TimerFired
				list = append(list, c.Delay)
				for _, again := range reload(t, m).Next() {
					if again.Op == OpTimer && again.ID == c.ID {
						restored = append(restored, again.Delay)
					}
				}
			case OpRun:
				e.Outcome.Failure = fail
			}
			open = append(open, e)
		}
		for _, e := range open {
			m.Apply(e)
		}
	}
	return list, restored
}

// The delays of a run differ from each other and are derived from its seed. The delays of nested
// runs used to have no jitter, and the delays of restored runs lost it.
func TestWaitsAreSpread(t *testing.T) {
	p := retriedPlan(t)
	seen := map[time.Duration]int{}
	list, restored := waits(t, p, 7, &core.Failure{Message: "boom"})
	again, _ := waits(t, p, 7, &core.Failure{Message: "boom"})
	other, _ := waits(t, p, 8, &core.Failure{Message: "boom"})
	if want := 2 * (1 + 20 + 20 + 1); len(list) != want || len(restored) != want {
		t.Fatalf("%d waits, %d of them restored, want %d", len(list), len(restored), want)
	}
	same := 0
	for i, d := range list {
		if seen[d]++; d < 50*time.Millisecond || d >= 300*time.Millisecond {
			t.Errorf("wait %d is %s", i, d)
		}
		if restored[i] != d || again[i] != d {
			t.Errorf("wait %d is %s, %s in a second run and %s after a restore", i, d, again[i], restored[i])
		}
		if other[i] == d {
			same++
		}
	}
	if len(seen) != len(list) || same > 0 {
		t.Errorf("%d different waits of %d, %d the same with another seed", len(seen), len(list), same)
	}
}

// Without a seed, the delays are as in the formula.
func TestWaitsAreNotSpreadWithoutASeed(t *testing.T) {
	list, _ := waits(t, retriedPlan(t), 0, &core.Failure{Message: "boom"})
	for i, d := range list {
		if d != 100*time.Millisecond && d != 200*time.Millisecond {
			t.Errorf("wait %d is %s", i, d)
		}
	}
}

// A delay with jitter could exceed the maximum delay.
func TestLongestWait(t *testing.T) {
	longest := func(n *core.Node) { n.OnError.Max = &source.Located[time.Duration]{Value: 110 * time.Millisecond} }
	list, _ := waits(t, retriedPlan(t, longest), 7, &core.Failure{Message: "boom"})
	capped := 0
	for i, d := range list {
		if d > 110*time.Millisecond {
			t.Errorf("wait %d is %s", i, d)
		}
		if d == 110*time.Millisecond {
			capped++
		}
	}
	if capped == 0 || capped == len(list) {
		t.Errorf("%d of %d waits are the longest", capped, len(list))
	}
}

// A delay that a failure had asked for used to be lost when the run was restored.
func TestWaitsThatWereAskedFor(t *testing.T) {
	list, restored := waits(t, retriedPlan(t), 7, &core.Failure{Message: "busy", RetryAfter: time.Minute})
	for i, d := range list {
		if d != time.Minute || restored[i] != d {
			t.Errorf("wait %d is %s, after a restore %s", i, d, restored[i])
		}
	}
}
