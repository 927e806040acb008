package journal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// graph compiles nodes and edges: "a b a>b a!c" is an edge from a to b, and one from a to c that is
// taken if a fails.
func graph(t *testing.T, parts string) *plan.Plan {
	t.Helper()
	w := &core.Workflow{Name: text("w")}
	for part := range strings.FieldsSeq(parts) {
		if from, to, ok := strings.Cut(part, ">"); ok {
			w.Edges = append(w.Edges, &core.Edge{From: text(from), To: text(to)})
		} else if from, to, ok := strings.Cut(part, "!"); ok {
			w.Edges = append(w.Edges, &core.Edge{From: text(from), To: text(to), On: text("fail")})
		} else {
			w.Nodes = append(w.Nodes, &core.Node{ID: text(part), Handler: core.HandlerFunc(nil)})
		}
	}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// recorded is the journal of a run whose nodes all end in the order of their start; those in failing
// fail. Its records are the numbers of its batches.
type recorded struct {
	k       *Codec
	options machine.Options
	report  *core.Report
	kept    []Kept
	data    map[Ref][]byte
}

func record(t *testing.T, p *plan.Plan, failing string) *recorded {
	t.Helper()
	x := &recorded{options: machine.Options{Concurrency: 9}, data: map[Ref][]byte{}}
	x.k = &Codec{Plan: p, Kept: func(ref Ref) ([]byte, error) { return x.data[ref], nil }}
	m, err := machine.New(p, nil, x.options)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewReplay(x.k, nil, x.options)
	if err != nil {
		t.Fatal(err)
	}
	r.Keep()
	var issuer Issuer
	b := &Batch{}
	for {
		commands := m.Next()
		b.N, b.Seq, b.Issued = b.N+1, b.N+1, issuer.Issued(commands)
		for i, data := range b.Each() {
			x.data[Ref{b.Seq, i}] = data
		}
		if err := r.Batch(b); err != nil {
			t.Fatal(err)
		}
		b.Reset()
		if m.Done() {
			x.report, x.kept = r.Report(), r.Kept()
			return x
		}
		for i := range commands {
			e := &machine.Event{ID: commands[i].ID}
			if strings.Contains(failing, commands[i].Node.ID) {
				e.Outcome.Failure = &core.Failure{Class: core.ClassError, Message: "x"}
			}
			var entry Encoded
			if err := x.k.AppendEvent(&entry, &commands[i], e); err != nil {
				t.Fatal(err)
			}
			b.Add(&entry)
			m.Apply(e)
		}
	}
}

// TestUnfailedKeepsOtherUnits: a pipeline without edges runs after all nodes, so it was dropped with any
// node that failed.
func TestUnfailedKeepsOtherUnits(t *testing.T) {
	w := &core.Workflow{Name: text("w"), Fields: []core.FieldDecl{{Name: text("list"), Default: []any{int64(1), int64(2), int64(3)}}},
		Nodes:     []*core.Node{{ID: text("fails"), Handler: core.HandlerFunc(nil)}, {ID: text("stage"), Handler: core.HandlerFunc(nil)}},
		Pipelines: []*core.Pipeline{{ID: text("rows"), Items: text("$.list"), Stages: []source.Text{text("stage")}}}}
	p, ds := plan.Compile(w, nil, plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	x := record(t, p, "fails")
	kept := unfailedOf(x)
	got := ""
	for i := range kept {
		got += fmt.Sprint(kept[i].Path, " ")
	}
	if got != "stage stage stage " {
		t.Errorf("kept: %s", got)
	}
}

func unfailedOf(x *recorded) []Kept {
	kept, _ := Unfailed(x.k.Plan, x.kept, x.report, false)
	return kept
}

// TestMemo: what is open after a memo of a run, and which nodes have ended.
func TestMemo(t *testing.T) {
	const diamond = "a b c d e a>b a>c b>d"
	for _, tt := range []struct {
		name, graph, failing string
		keep                 func(x *recorded) []Kept
		changed              string // the new graph, if it has changed
		want                 string
	}{
		{"everything", diamond, "", func(x *recorded) []Kept { return x.kept }, "", "success: "},
		{"from a node", diamond, "", func(x *recorded) []Kept { return Without(x.kept, Affected(x.k.Plan, []string{"b"})) }, "", "open: b"},
		{"from the first", diamond, "", func(x *recorded) []Kept { return Without(x.kept, Affected(x.k.Plan, []string{"a"})) }, "", "open: a"},
		{"a new node", diamond, "", func(x *recorded) []Kept { return x.kept }, "e d c b a n a>b a>c b>d b>n", "open: n"},
		{"a removed node", diamond, "", func(x *recorded) []Kept { return x.kept }, "a b c d a>b a>c b>d", "success: "},
		{"a failed node", diamond, "b", unfailedOf, "", "open: b"},
		{"a node that ran because of it", diamond + " b!f f>g f g", "b", unfailedOf, "", "open: b"},
		{"two failed nodes", diamond, "be", unfailedOf, "", "open: e b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := record(t, graph(t, tt.graph), tt.failing)
			kept := tt.keep(x)
			if tt.changed != "" {
				x.k.Plan = graph(t, tt.changed)
			}
			memo, err := NewMemo(x.k, nil, x.options, kept)
			if err != nil {
				t.Fatal(err)
			}
			got := "open:"
			if r := memo.Replay().Report(); r != nil {
				got = fmt.Sprint(r.Status, ": ")
			}
			for _, o := range memo.Replay().Open() {
				got += " " + o.Call.Name(o.Node)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			replayed(t, x.k, x.options, memo.Batches()) // which must not diverge
		})
	}
}
