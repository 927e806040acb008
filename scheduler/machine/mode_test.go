package machine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/draw"
	"github.com/wavefold/wavefold/internal/runview"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// tokenMode is a mode that the engine does not have: each visit of a node sends a token along
// every edge, and a node runs once for each token that arrives. The compiler gets it as this
// value and the machine its planner, and no other file refers to it.
var tokenMode = &plan.Mode{
	Name: "tokens", Graph: "tokens", Level: "step %d", Visits: true,
	Compile:     (*plan.Build).Visits,
	Ends:        func(*plan.Plan) (start, exit int32) { return 0, -1 },
	Conventions: func(*core.Workflow, *plan.Options) core.Conventions { return core.Conventions{Context: true} },
}

func init() { planners[tokenMode.Name] = newTokens }

// tokens is the planner of tokenMode and the task of its vertex. Everything else is as in a dag.
type tokens struct {
	dag
	group group
	tokensMemory
}

// tokensMemory is what snapshots contain of it.
type tokensMemory struct {
	Queue   []token // tokens that wait for their visits
	Flying  []token // tokens whose visits are running
	Arrived int
	Visits  []nodeVisits
	Order   []int32
	Most    int // maximum number of visits that ran at the same time
	Fields  []column
}

// token is the arrival of a value at a node.
type token struct {
	N     int32
	Node  int32
	Visit int
	Input any
}

func newTokens(f *frame) planner {
	t := &tokens{dag: dag{f}}
	t.Visits = make([]nodeVisits, len(f.p.Nodes))
	t.Fields = t.columns()
	t.group = group{parent: &f.group, limit: math.MaxInt, holder: tokensTask{t}}
	return t
}

func (t *tokens) columns() (list []column) {
	for i := range t.f.p.Schema.Fields {
		list = append(list, column{Column: state.NewColumn(&t.f.p.Schema.Fields[i], t.f.ledger.Final(i), nil)})
	}
	return list
}

func (t *tokens) memory() any { return &t.tokensMemory }

func (t *tokens) restore() error {
	saved := t.Fields
	t.Fields = t.columns()
	t.f.setTask(0, tokensTask{t})
	return loadColumns(t.Fields, saved)
}

func (t *tokens) open() {
	t.f.v[0].Phase = running
	t.f.setTask(0, tokensTask{t})
	start, _ := t.f.p.Mode.Ends(t.f.p)
	t.arrive(start, "go")
	t.f.refresh(0)
}

func (t *tokens) arrive(node int32, input any) {
	t.Queue = append(t.Queue, token{int32(t.Arrived), node, 0, input})
	t.Arrived++
}

func (t *tokens) id(v token) ID {
	return ID{Frame: t.f.ID, Node: v.Node, From: v.N, To: v.N + 1, Attempt: 1}
}

func (t *tokens) emit(what core.EventType, v token, status string) {
	n := &t.f.p.Nodes[v.Node]
	t.f.m.emit(core.Event{Type: what, Node: t.f.name(n.ID), Kind: n.Kind, Visit: v.Visit, Attempt: 1, Status: status})
}

func (t *tokens) final(field int) any              { return t.Fields[field].Last() }
func (t *tokens) units() []core.UnitReport         { return nil }
func (t *tokens) locate(*core.Event, ID)           {}
func (t *tokens) unmergedWriter(int32, int) string { return "" }
func (t *tokens) failedNode(int32) string          { return "" }

func (t *tokens) nodes() (list []core.NodeReport) {
	for i, v := range t.Visits {
		list = append(list, core.NodeReport{ID: t.f.p.Nodes[i].ID, Visits: v.Visits, Attempts: v.Attempts, Status: v.Status})
	}
	return list
}

func (t *tokens) path() (ids []string) {
	for _, node := range t.Order {
		ids = append(ids, t.f.p.Nodes[node].ID)
	}
	return ids
}

// run starts the handler of a visit.
func (t *tokens) run(v token) {
	n := &t.f.p.Nodes[v.Node]
	c := newCall(CallContext{Edges: value.ObjectOf("input", v.Input)})
	c.Values = make([]any, len(n.Reads))
	t.f.run(n, t.id(v), c, &t.group)
}

// tokensTask implements task for tokens.
type tokensTask struct{ *tokens }

func (t tokensTask) slotChanged()    { t.f.refresh(0) }
func (t tokensTask) holdsSlot() bool { return t.group.active > 0 }
func (t tokensTask) canStart() bool  { return len(t.Queue) > 0 }
func (t tokensTask) commit()         {}
func (t tokensTask) stop()           { t.Queue = nil }
func (t tokensTask) find(ID) work    { return nil }

func (t tokensTask) startOne() bool {
	if len(t.Queue) == 0 || !t.group.free() {
		return false
	}
	v := t.Queue[0]
	r := &t.Visits[v.Node]
	r.Visits, r.Attempts = r.Visits+1, r.Attempts+1
	v.Visit = r.Visits
	t.Queue, t.Flying = t.Queue[1:], append(t.Flying, v)
	t.Most, t.Order = max(t.Most, len(t.Flying)), append(t.Order, v.Node)
	t.emit(core.NodeStarted, v, "")
	t.run(v)
	return true
}

func (t tokensTask) reissue() {
	for _, v := range t.Flying {
		t.run(v)
	}
}

func (t tokensTask) answer(e *Event) bool {
	at := slices.IndexFunc(t.Flying, func(v token) bool { return t.id(v) == e.ID })
	if at < 0 {
		return false
	}
	v := t.Flying[at]
	t.Flying = slices.Delete(t.Flying, at, at+1)
	t.f.handlerEnded(&t.group)
	t.Visits[v.Node].Status = core.Success
	for _, w := range e.Outcome.Writes {
		t.Fields[w.Field].Resolve(int(v.N), w.Value, nil)
	}
	t.emit(core.NodeFinished, v, core.Success.String())
	for _, edge := range t.f.p.Leaving(v.Node) {
		t.arrive(t.f.p.Edges[edge].ToNode, e.Outcome.Output)
	}
	if len(t.Queue)+len(t.Flying) == 0 {
		t.f.resolve(0, core.Success)
	}
	t.f.refresh(0)
	return true
}

// tokensPlan compiles a graph in which s sends to a and b, and a and b send to m.
func tokensPlan(t *testing.T, modes ...*plan.Mode) *plan.Plan {
	t.Helper()
	text := func(s string) source.Text { return source.Text{Value: s} }
	w := &core.Workflow{Name: text("tokens"), Mode: modes[0].Name, Fields: []core.FieldDecl{{Name: text("x"), Default: value.Missing}}}
	for _, id := range []string{"s", "a", "b", "m"} {
		w.Nodes = append(w.Nodes, &core.Node{ID: text(id), Writes: []source.Text{text("x")}, Handler: core.HandlerFunc(nil)})
	}
	for _, e := range []string{"sa", "sb", "am", "bm"} {
		w.Edges = append(w.Edges, &core.Edge{From: text(e[:1]), To: text(e[1:])})
	}
	p, ds := plan.Compile(w, nil, plan.Options{Modes: modes})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// TestNewMode registers a mode with one value, and plans, draws, runs and reports a graph of that
// mode.
func TestNewMode(t *testing.T) {
	p := tokensPlan(t, tokenMode)
	d := p.Describe()
	if d.Mode.Name != "tokens" || d.Mode.Start != "s" || d.Mode.Exit != "" || len(d.Levels) != 3 || d.Width != 2 || len(d.Edges) != 4 {
		t.Errorf("described as %+v, %d levels of at most %d, %d edges", d.Mode, len(d.Levels), d.Width, len(d.Edges))
	}
	for _, want := range []string{"tokens: a tokens of 4 nodes", "step 0", "step 2", "after a", "after b"} {
		if got := draw.Text(d, draw.Options{}); !strings.Contains(got, want) {
			t.Errorf("drawn without %q:\n%s", want, got)
		}
	}
	if again := tokensPlan(t, tokenMode); p.Fingerprint() != again.Fingerprint() {
		t.Error("the fingerprint differs between two plans of one workflow")
	}
	taken := &draw.Run{Taken: map[draw.EdgeKey]int{{From: "s", To: "a"}: 7}}
	if got := draw.SVG(d, draw.Options{Run: taken}); !strings.Contains(got, "×7") || strings.Contains(got, "level 0") {
		t.Errorf("the SVG counts no edges or has levels:\n%s", got)
	}

	if _, ok := p.Schema.Index(core.ContextField); !ok {
		t.Error("the mode says that runs have a context, and there is none")
	}

	m, err := New(p, nil, Options{Concurrency: 4, Events: true})
	if err != nil {
		t.Fatal(err)
	}
	view := runview.New(d)
	m, r := drive(t, m, view.Apply, func(c Command) any {
		in, _ := c.Call.Edges.Get("input")
		return fmt.Sprintf("%v>%s", in, c.Node.ID)
	})
	if got := fmt.Sprintf("%s %v", r.Status, r.Path); got != "success [s a b m m]" {
		t.Errorf("reported %s", got)
	}
	if x, _ := r.State.Get("x"); x != "go>s>a>m" {
		t.Errorf("the state holds %v", x)
	}
	if n := r.Nodes()[3]; n.ID != "m" || n.Visits != 2 || n.Status != core.Success {
		t.Errorf("reported %+v", n)
	}
	if most := m.root.mode.(*tokens).Most; most != 2 {
		t.Errorf("at most %d visits ran at once, want 2", most)
	}
	var rows []string
	for _, row := range view.Rows {
		rows = append(rows, fmt.Sprintf("%s×%d", row.ID, row.Visits))
	}
	if got := strings.Join(rows, " "); got != "s×1 a×1 b×1 m×2" || view.Status != "success" {
		t.Errorf("the view shows %s, status %q", got, view.Status)
	}
}

// drive answers every command with the result of handler, latest command first, and writes it to
// the fields of the node. Before each answer the machine is replaced by one that is restored from
// its snapshot, which must issue the same commands again.
func drive(t *testing.T, m *Machine, listen func(*core.Event), handler func(c Command) any) (last *Machine, r *core.Report) {
	t.Helper()
	var open []Command
	for !m.Done() {
		for _, c := range m.Next() {
			switch c.Op {
			case OpRun:
				open = append(open, c)
			case OpEmit:
				c.Events.Events(new(core.Event), listen)
			case OpFinish:
				r = c.Report
			}
		}
		if len(open) == 0 {
			break
		}
		var ids []ID
		m = reload(t, m)
		for _, c := range m.Next() {
			if c.Op == OpRun {
				ids = append(ids, c.ID)
			}
		}
		if !slices.EqualFunc(open, ids, func(c Command, id ID) bool { return c.ID == id }) {
			t.Fatalf("issued again: %v, want %v", ids, open)
		}
		c := open[len(open)-1]
		open = open[:len(open)-1]
		v := handler(c)
		o := Outcome{Output: v, HasOutput: true}
		for _, field := range c.Node.WriteFields {
			o.Writes = append(o.Writes, plan.Write{Field: field, Value: v})
		}
		m.Apply(&Event{Kind: Finished, ID: c.ID, Outcome: o})
	}
	if r == nil {
		t.Fatal("the machine stands still")
	}
	return m, r
}

// A mode without a planner is rejected before anything runs, and a mode that is not registered is
// rejected by the compiler.
func TestModesWithoutPlanner(t *testing.T) {
	lame := *tokenMode
	lame.Name = "lame"
	if _, err := New(tokensPlan(t, &lame), nil, Options{}); err == nil || !strings.Contains(err.Error(), `the mode "lame" has no planner`) {
		t.Errorf("got %v", err)
	}
	w := &core.Workflow{Mode: "lost", Nodes: []*core.Node{{ID: source.Text{Value: "a"}, Handler: core.HandlerFunc(nil)}}}
	if p, ds := plan.Compile(w, nil, plan.Options{}); p != nil || !strings.Contains(fmt.Sprint(ds), `mode: unknown word "lost"`) {
		t.Errorf("got %v", ds)
	}
}
