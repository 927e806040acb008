package machine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// eachPlan returns a plan with a fan-out n over $.list.
func eachPlan(t *testing.T, limit int, change ...func(*core.Node)) *plan.Plan {
	t.Helper()
	h := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	n := &core.Node{ID: source.Text{Value: "n"}, Handler: h, HasWrites: true,
		ForEach: &core.ForEach{Source: source.Text{Value: "$.list"}, Concurrency: &source.Int{Value: limit}}}
	for _, f := range change {
		f(n)
	}
	w := &core.Workflow{Name: source.Text{Value: "w"}, Nodes: []*core.Node{n}, Fields: []core.FieldDecl{{Name: source.Text{Value: "list"}, Default: value.Missing},
		{Name: source.Text{Value: "once"}, Merge: source.Text{Value: "set_once"}, Default: value.Missing}}}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// eachMachine returns a machine with a fan-out over the given number of items.
func eachMachine(t *testing.T, items, limit int, change ...func(*core.Node)) *Machine {
	t.Helper()
	m, err := New(eachPlan(t, limit, change...), value.ObjectOf("list", make([]any, items)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// told lists the commands that a machine issues: "run 3:7 yield 0:4".
func told(m *Machine) string {
	var list []string
	for _, c := range m.Next() {
		s := c.Op.String()
		if c.Node != nil {
			s += fmt.Sprintf(" %d:%d", c.ID.From, c.ID.To)
		}
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

func answerRange(m *Machine, from, to int) {
	m.Apply(&Event{ID: ID{From: int32(from), To: int32(to), Attempt: 1}})
}

func yieldRange(m *Machine, from, to int) {
	m.Apply(&Event{Kind: Yielded, ID: ID{From: int32(from), To: int32(to), Attempt: 1}})
}

// step compares the commands that a machine issues with want.
func step(t *testing.T, m *Machine, want string) {
	t.Helper()
	if got := told(m); got != want {
		t.Fatalf("it issues %q, want %q", got, want)
	}
}

// rangeInFlight answers items until the range 2:4 is in flight together with the last item only.
func rangeInFlight(t *testing.T, m *Machine) {
	t.Helper()
	for _, s := range []struct {
		from, to int
		want     string
	}{{0, 1, "run 2:4"}, {1, 2, "run 4:6"}, {4, 6, "run 6:7"}, {6, 7, "run 7:8"}, {7, 8, "run 8:9"}} {
		answerRange(m, s.from, s.to)
		step(t, m, s.want)
	}
}

// The items after one that takes long are issued again before new items.
func TestRangeThatIsHeldUpYields(t *testing.T) {
	m := eachMachine(t, 12, 2)
	step(t, m, "run 0:1 run 1:2")
	rangeInFlight(t, m)
	answerRange(m, 8, 9) // the fourth range issued after 2:4
	step(t, m, "yield 2:4 run 9:10")
	yieldRange(m, 2, 3)
	answerRange(m, 9, 10)
	step(t, m, "run 3:4")
	yieldRange(m, 2, 3) // a duplicate
	answerRange(m, 2, 3)
	step(t, m, "run 10:11")
}

// The items of a node with effects are issued one by one: a crash repeats all items of a range that
// has not been answered.
func TestNoRangesWithEffects(t *testing.T) {
	effects := true
	for _, n := range []*bool{nil, &effects} {
		m := eachMachine(t, 100, 1, func(decl *core.Node) { decl.Effects = n })
		longest := 0
		for !m.Done() {
			for _, c := range m.Next() {
				if c.Op == OpRun {
					longest = max(longest, int(c.ID.To-c.ID.From))
					answerRange(m, int(c.ID.From), int(c.ID.To))
				}
			}
		}
		if (longest > 1) == (n != nil) {
			t.Errorf("effects %t: the longest range has %d items", n != nil, longest)
		}
	}
}

// No slot stays free while a range holds items that have not started.
func TestRangeYieldsToFreeSlots(t *testing.T) {
	m := eachMachine(t, 12, 2)
	step(t, m, "run 0:1 run 1:2")
	rangeInFlight(t, m)
	answerRange(m, 8, 9)
	m = reload(t, m) // it does not know how long 2:4 has been in flight
	step(t, m, "run 2:4 run 9:10")
	answerRange(m, 9, 10)
	step(t, m, "run 10:11")
	answerRange(m, 10, 11)
	step(t, m, "run 11:12")
	answerRange(m, 11, 12)
	step(t, m, "yield 2:4")
	step(t, m, "") // it asks only once
	yieldRange(m, 2, 3)
	step(t, m, "run 3:4")
	answerRange(m, 2, 3)
	answerRange(m, 3, 4)
	step(t, m, "finish")
}

// If a range is issued twice, the first issue may be answered after the second has yielded. The
// items that it ran beyond that run again, and none is lost or counted twice.
func TestRangeYieldsToAnotherIssue(t *testing.T) {
	m := eachMachine(t, 12, 2)
	step(t, m, "run 0:1 run 1:2")
	rangeInFlight(t, m)
	m = reload(t, m)
	step(t, m, "run 2:4 run 8:9")
	yieldRange(m, 2, 3)
	answerRange(m, 2, 4)
	step(t, m, "run 3:4")
	for i, next := range []int{3: 9, 8: 10, 9: 11} {
		if next > 0 {
			answerRange(m, i, i+1)
			step(t, m, fmt.Sprintf("run %d:%d", next, next+1))
		}
	}
	answerRange(m, 10, 11)
	answerRange(m, 11, 12)
	if c := m.Next(); len(c) != 1 || c[0].Op != OpFinish || m.Dropped() != 0 {
		t.Fatalf("it issues %v after dropping %d answers", c, m.Dropped())
	}
	if n, _ := m.root.report().Node("n"); n.Attempts != 12 {
		t.Errorf("%d attempts for 12 items", n.Attempts)
	}
}
