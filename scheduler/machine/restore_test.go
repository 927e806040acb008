package machine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func onePlan(t *testing.T) *plan.Plan {
	t.Helper()
	h := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	w := &core.Workflow{Name: source.Text{Value: "w"}, Nodes: []*core.Node{{ID: source.Text{Value: "n"}, Handler: h, HasWrites: true}}}
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
			c.Events.Events(new(core.Event), func(e *core.Event) { s += string(e.Type) + " " })
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

// A machine that is restored after its end issues its report again, but not the event of its end.
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

// A machine that is restored while it is being stopped issues the commands in flight before the
// command that cancels them.
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

// twoPlan returns a plan of nodes with the given IDs, in that order, without edges.
func twoPlan(t *testing.T, change func(nodes []*core.Node), ids ...string) *plan.Plan {
	t.Helper()
	h := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	w := &core.Workflow{Name: source.Text{Value: "w"}}
	for _, id := range ids {
		w.Nodes = append(w.Nodes, &core.Node{ID: source.Text{Value: id}, Handler: h, HasWrites: true})
	}
	if change != nil {
		change(w.Nodes)
	}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// A snapshot used to be restored for any plan with the same number of nodes and fields. With two
// nodes exchanged, a node that had run ran again and the other one was taken for done.
func TestRestoreOfAnotherWorkflow(t *testing.T) {
	m, err := New(twoPlan(t, nil, "charge", "refund"), nil, Options{Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	m.Next()
	m.Apply(&Event{ID: ID{Attempt: 1}})
	m.Next()
	data, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	priority := func(nodes []*core.Node) { nodes[1].Priority.Value = 7 }
	phase := func(nodes []*core.Node) { nodes[1].Phase.Value = "late" }
	for _, tt := range []struct {
		name string
		p    *plan.Plan
		want error
	}{
		{"the same", twoPlan(t, nil, "charge", "refund"), nil},
		{"what does not count", twoPlan(t, phase, "charge", "refund"), nil},
		{"exchanged", twoPlan(t, nil, "refund", "charge"), ErrOtherWorkflow},
		{"renamed", twoPlan(t, nil, "charge", "return"), ErrOtherWorkflow},
		{"one more", twoPlan(t, nil, "charge", "refund", "mail"), ErrOtherWorkflow},
		{"another priority", twoPlan(t, priority, "charge", "refund"), ErrOtherWorkflow},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Restore(tt.p, data); !errors.Is(err, tt.want) {
				t.Errorf("the error is %v, want %v", err, tt.want)
			}
		})
	}
}

// A snapshot without the planner of a mode that has one is not restored.
func TestRestoreWithoutPlanner(t *testing.T) {
	checkRestoreWithout(t, tokensPlan(t, tokenMode), "planner")
}

// checkRestoreWithout checks that a snapshot that lacks a member is not restored.
func checkRestoreWithout(t *testing.T, p *plan.Plan, member string) {
	t.Helper()
	m, err := New(p, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.Replace(string(data), `"`+member+`":`, `"missing":`, 1)
	if _, err := Restore(p, []byte(broken)); !errors.Is(err, ErrOtherWorkflow) {
		t.Errorf("the error is %v", err)
	}
}

// The error for a snapshot of an older version used to look like the error for a damaged one.
func TestRestoreOfAnotherVersion(t *testing.T) {
	for _, tt := range []struct {
		name, data, want string
		got              int // version in the VersionError, 0 if the error is another one
	}{
		{"older, in another form", `{"version": 1, "options": [], "frames": "none"}`, "snapshot: it has format 1 of an older wavefold, and this wavefold reads format 7", 1},
		{"newer", `{"version": 99}`, "snapshot: it has format 99 of a newer wavefold, and this wavefold reads format 7", 99},
		{"cut short", `{"version": 1, `, "snapshot: unexpected end of JSON input", 0},
		{"no version", `{"frames": []}`, "snapshot: it has no version", 0},
		{"no snapshot", `[1]`, "snapshot: json: cannot unmarshal array", 0},
		{"ours, broken", `{"version": 7, "frames": 7}`, "snapshot: json: cannot unmarshal number", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Restore(onePlan(t), []byte(tt.data))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("the error is %v, want %q", err, tt.want)
			}
			version, ok := errors.AsType[*VersionError](err)
			switch {
			case ok != (tt.got > 0):
				t.Errorf("the error is a %T", err)
			case ok && (version.Got != tt.got || version.Want != snapshotVersion):
				t.Errorf("the versions are %d and %d", version.Got, version.Want)
			}
		})
	}
}

// A snapshot of a fan-out that has ended contains each result once, in the ledger.
func TestSnapshotHasResultsOnce(t *testing.T) {
	text := func(s string) source.Text { return source.Text{Value: s} }
	n := &core.Node{ID: text("n"), Handler: core.HandlerFunc(nil), Writes: []source.Text{text("out")}, HasWrites: true, ForEach: &core.ForEach{Source: text("$.list")}}
	w := &core.Workflow{Name: text("w"), Nodes: []*core.Node{n}, Fields: []core.FieldDecl{
		{Name: text("list"), Default: []any{int64(1), int64(2)}}, {Name: text("out"), Merge: text("array_append"), Default: []any{}}}}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	m, err := New(p, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for !m.Done() {
		for _, c := range m.Next() {
			if c.Op == OpRun {
				m.Apply(&Event{ID: c.ID, Outcome: Outcome{Writes: []plan.Write{{Field: fieldIndex(p, "out"), Value: []any{"result of an item"}}}}})
			}
		}
	}
	data, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(data), "result of an item"); got != 2 {
		t.Errorf("the snapshot has %d results, want 2\n%s", got, data)
	}
}

// fieldIndex returns the index of a field.
func fieldIndex(p *plan.Plan, name string) int32 {
	i, _ := p.Schema.Index(name)
	return int32(i)
}
