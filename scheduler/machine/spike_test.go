package machine

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// These tests show that the mode to come fits the machine as it is: a flow (several
// tokens, no joins) is a task like a walk is, on the same frames, commands, ids, limits
// and folds.

// visits are numbered visits of nodes, each with its
// own input, and a live state with one slot per arrival.
type visits struct {
	f      *frame
	v      int32
	nodes  []*plan.Node
	queue  []arrival
	open   []arrival
	n      int
	group  group
	column *state.Column
	next   func(v arrival, o *Outcome) // the planner: what follows an arrival
	trace  []string
}

type arrival struct {
	n     int
	node  int
	input any
}

func (t *visits) slotChanged()   { t.f.refresh(t.v) }
func (t *visits) holds() bool    { return t.group.active > 0 }
func (t *visits) canStart() bool { return len(t.queue) > 0 }
func (t *visits) commit()        {}
func (t *visits) stop()          { t.queue = nil }

func (t *visits) arrive(node int, input any) {
	t.queue = append(t.queue, arrival{t.n, node, input})
	t.n++
}

func (t *visits) startOne() bool {
	if len(t.queue) == 0 || !t.group.free() {
		return false
	}
	v := t.queue[0]
	t.queue = t.queue[1:]
	t.open = append(t.open, v)
	n := t.nodes[v.node]
	call := &Call{Edges: core.ObjectOf("input", v.input), Values: []any{t.column.Last()}}
	t.f.run(n, t.id(v), call, &t.group)
	return true
}

func (t *visits) id(v arrival) ID {
	return ID{Frame: t.f.id, Node: t.nodes[v.node].Index, From: int32(v.n), To: int32(v.n + 1), Attempt: 1}
}

func (t *visits) find(ID) work { return nil }
func (t *visits) reissue()     {}

func (t *visits) answer(e *Event) bool {
	at := slices.IndexFunc(t.open, func(v arrival) bool { return t.id(v) == e.ID })
	if at < 0 {
		return false
	}
	v := t.open[at]
	t.open = slices.Delete(t.open, at, at+1)
	t.f.landed(&t.group)
	t.trace = append(t.trace, fmt.Sprintf("%s(%v)", t.nodes[v.node].ID, v.input))
	t.column.Resolve(v.n, e.Outcome.Output, nil)
	t.next(v, &e.Outcome)
	if len(t.queue) == 0 && len(t.open) == 0 {
		t.f.resolve(t.v, core.Success)
	}
	t.f.refresh(t.v)
	return true
}

// newVisits turns the only vertex of a machine, a loop whose members are the
// nodes, into a task of visits.
func newVisits(t *testing.T, names ...string) (*Machine, *visits) {
	t.Helper()
	w := &core.Workflow{Loops: []*core.Loop{{ID: core.Text{Value: "mode"}, MaxIters: &core.Int{Value: 1}}}}
	for _, n := range names {
		w.Nodes = append(w.Nodes, &core.Node{ID: core.Text{Value: n}, Handler: core.HandlerFunc(nil)})
		w.Loops[0].Body = append(w.Loops[0].Body, core.Text{Value: n})
	}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	m, err := New(p, nil, Options{Concurrency: 4})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := state.NewSchema([]core.FieldDecl{{Name: core.Text{Value: "x"}, Default: core.Missing}}, nil)
	f := m.root
	v := &visits{f: f, nodes: nil, column: state.NewColumn(&s.Fields[0], core.Missing, nil)}
	v.group = group{parent: &f.group, limit: math.MaxInt, holder: v}
	for i := range p.Nodes {
		v.nodes = append(v.nodes, &p.Nodes[i])
	}
	f.v[0].phase = running
	f.setTask(0, v)
	return m, v
}

// drive answers every command with what the handler says, latest first.
func drive(t *testing.T, m *Machine, handler func(c Command) any) {
	t.Helper()
	var open []Command
	for !m.Done() {
		for _, c := range m.Next() {
			if c.Op == OpRun {
				open = append(open, c)
			}
		}
		if len(open) == 0 {
			break
		}
		c := open[len(open)-1]
		open = open[:len(open)-1]
		m.Apply(&Event{Kind: Finished, ID: c.ID, Outcome: Outcome{Output: handler(c), HasOutput: true}})
	}
	if !m.Done() {
		t.Fatal("the machine stands still")
	}
}

// A flow: s goes to a and b, each goes to m, and m runs once for each arrival,
// with the text that travelled there.
func TestSpikeFlow(t *testing.T) {
	m, v := newVisits(t, "s", "a", "b", "m")
	edges := map[int][]int{0: {1, 2}, 1: {3}, 2: {3}}
	v.next = func(at arrival, o *Outcome) {
		for _, to := range edges[at.node] {
			v.arrive(to, o.Output)
		}
	}
	v.arrive(0, "go")
	m.root.refresh(0)
	most := 0
	drive(t, m, func(c Command) any {
		most = max(most, len(v.open))
		in, _ := c.Call.Edges.Get("input")
		return fmt.Sprintf("%v>%s", in, c.Node.ID)
	})
	if got, want := fmt.Sprint(v.trace), "[s(go) b(go>s) m(go>s>b) a(go>s) m(go>s>a)]"; got != want {
		t.Errorf("flowed %s, want %s", got, want)
	}
	if most != 2 {
		t.Errorf("at most %d visits ran at once, want 2", most)
	}
	if got := v.column.Last(); got != "go>s>a>m" {
		t.Errorf("the live state holds %v", got)
	}
}
