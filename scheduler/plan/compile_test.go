package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/formatstest"
)

func handled(id string) *core.Node {
	return &core.Node{ID: text(id), Handler: core.HandlerFunc(nothing), HasWrites: true}
}

func number(n int) *source.Int {
	return &source.Int{Value: n, Pos: source.Position{Line: 9, Column: 9}}
}

// brokenKind makes no handlers for its nodes.
type brokenKind struct{ testKind }

func (brokenKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{}, nil
}

// TestGoBuilt covers workflows that no document can describe, because its format rejects them
// first.
func TestGoBuilt(t *testing.T) {
	for _, tt := range []struct {
		name  string
		build func(w *core.Workflow, n *core.Node)
		want  string
	}{
		{"no nodes", func(w *core.Workflow, _ *core.Node) { w.Nodes = nil }, "MISSING_KEY the graph has no nodes"},
		{"mode", func(w *core.Workflow, _ *core.Node) { w.Mode = "wlak" }, `BAD_VALUE mode: unknown word "wlak" (dag, walk or flow)`},
		{"concurrency", func(w *core.Workflow, _ *core.Node) { w.Runtime.Concurrency = number(0) }, "9:9 BAD_VALUE runtime.concurrency: want a whole number of at least 1, got 0"},
		{"max_in_flight", func(w *core.Workflow, _ *core.Node) { w.Runtime.MaxInFlight = number(-1) }, "9:9 BAD_VALUE runtime.max_in_flight: want a whole number of at least 1, got -1"},
		{"schedule", func(w *core.Workflow, _ *core.Node) { w.Runtime.Schedule = text("wave") }, `BAD_VALUE runtime.schedule: unknown word "wave" (dataflow or barrier)`},
		{"durability", func(w *core.Workflow, _ *core.Node) { w.Runtime.Durability = text("bacth") }, `BAD_VALUE runtime.durability: unknown word "bacth" (did you mean "batch"?)`},
		{"overlap", func(w *core.Workflow, _ *core.Node) {
			w.Runtime.ConcurrencyKey, w.Runtime.Overlap = text("k"), text("quue")
		}, `BAD_VALUE runtime.overlap: unknown word "quue" (did you mean "queue"?)`},
		{"overlap without a key", func(w *core.Workflow, _ *core.Node) { w.Runtime.Overlap = text("skip") }, "MISSING_KEY runtime.overlap: it needs runtime.concurrency_key, which names the runs that must not overlap"},
		{"a key of no input", func(w *core.Workflow, _ *core.Node) { w.Runtime.ConcurrencyKey = text("a-{{day}}") }, "EXPR_NAME runtime.concurrency_key: day names no input (write {{$input.day}})"},
		{"a key of the state", func(w *core.Workflow, _ *core.Node) { w.Runtime.ConcurrencyKey = text("{{$.rows}}") }, "EXPR_NAME runtime.concurrency_key: rows names no input (write {{$input.rows}})"},
		{"no kind", func(_ *core.Workflow, n *core.Node) { n.Handler = nil }, "MISSING_KEY node n: kind is missing"},
		{"unknown kind", func(_ *core.Workflow, n *core.Node) { n.Handler, n.Kind = nil, text("tol") }, `UNKNOWN_KIND node n: unknown kind "tol" (did you mean "tool"?)`},
		{"a kind without a handler", func(_ *core.Workflow, n *core.Node) { n.Handler, n.Kind = nil, text("broken") }, `UNKNOWN_KIND node n: kind "broken" made no handler for it`},
		{"timeout", func(_ *core.Workflow, n *core.Node) { n.Timeout = &source.Located[time.Duration]{} }, "BAD_VALUE node n: timeout: want more than 0, got 0s"},
		{"join", func(_ *core.Workflow, n *core.Node) { n.Join = core.JoinOf(text("all_doen")) }, `BAD_VALUE node n: join: unknown word "all_doen" (did you mean "all_done"?)`},
		{"for_each.concurrency", func(_ *core.Workflow, n *core.Node) {
			n.ForEach = &core.ForEach{Source: text("$.rows"), Concurrency: number(0)}
		}, "9:9 BAD_VALUE node n: for_each.concurrency: want a whole number of at least 1, got 0"},
		{"for_each.max_failures", func(_ *core.Workflow, n *core.Node) {
			n.ForEach = &core.ForEach{Source: text("$.rows"), MaxFailures: number(-1)}
		}, "9:9 BAD_VALUE node n: for_each.max_failures: want at least 0, got -1"},
		{"for_each.source", func(_ *core.Workflow, n *core.Node) { n.ForEach = &core.ForEach{} }, "EXPR_SYNTAX node n: for_each.source: the expression is empty"},
		{"policy", func(_ *core.Workflow, n *core.Node) { n.OnError = &core.OnError{Policy: text("retyr")} }, `BAD_VALUE node n: on_error.policy: unknown word "retyr" (did you mean "retry"?)`},
		{"attempts missing", func(_ *core.Workflow, n *core.Node) { n.OnError = &core.OnError{Policy: text("retry")} }, "MISSING_KEY node n: on_error: policy retry needs attempts (write attempts: 3 for two more tries after the first, or preset: standard)"},
		{"attempts", func(_ *core.Workflow, n *core.Node) {
			n.OnError = &core.OnError{Policy: text("retry"), Attempts: number(21)}
		}, "9:9 BAD_VALUE node n: on_error.attempts: want 1 to 20, got 21"},
		{"backoff, waits and then", func(_ *core.Workflow, n *core.Node) {
			n.OnError = &core.OnError{Policy: text("retry"), Attempts: number(2), Backoff: text("exp"), Base: &source.Located[time.Duration]{Value: -1},
				Max: &source.Located[time.Duration]{Value: -1}, Then: text("retry")}
		}, `BAD_VALUE node n: on_error.backoff: unknown word "exp" (defined: linear, exponential)
 BAD_VALUE node n: on_error.base_ms: want at least 0, got -1ns
 BAD_VALUE node n: on_error.max_ms: want at least 0, got -1ns
 BAD_VALUE node n: on_error.then: unknown word "retry" (defined: skip, fail_run)`},
		{"edge without ends", func(w *core.Workflow, _ *core.Node) { w.Edges = []*core.Edge{{}} }, `UNKNOWN_NODE edge ? -> ?: unknown node "" (defined: n)`},
		{"on", func(w *core.Workflow, _ *core.Node) {
			w.Nodes = append(w.Nodes, handled("m"))
			w.Edges = []*core.Edge{{From: text("n"), To: text("m"), On: text("failed")}}
		}, `BAD_VALUE edge n -> m: on: unknown word "failed" (did you mean "fail"?)`},
		{"pipeline", func(w *core.Workflow, _ *core.Node) {
			w.Pipelines = []*core.Pipeline{{ID: text("p"), Items: text("$.rows"), Concurrency: number(0), OnError: &core.OnError{Policy: text("retry")}}}
		}, `BAD_VALUE pipeline p: on_error.policy: unknown word "retry" (defined: skip, fail_run)
 MISSING_KEY pipeline p: stages is empty
9:9 BAD_VALUE pipeline p: concurrency: want a whole number of at least 1, got 0`},
		{"loop", func(w *core.Workflow, _ *core.Node) {
			w.Loops = []*core.Loop{{ID: text("l"), Body: []source.Text{text("n")}, MaxIters: number(0), OnExhausted: text("stop")}}
		}, `BAD_VALUE loop l: on_exhausted: unknown word "stop" (defined: continue, fail)
9:9 BAD_VALUE loop l: max_iters: want a whole number of at least 1, got 0`},
		{"field", func(w *core.Workflow, _ *core.Node) {
			w.Fields = append(w.Fields, core.FieldDecl{Name: text("rows"), Default: value.Missing})
		}, `DUPLICATE_ID state field "rows" is declared twice`},
		{"input", func(w *core.Workflow, _ *core.Node) {
			w.Inputs = []core.InputDecl{{Name: text("a"), Default: value.Missing}, {Name: text("a"), Default: value.Missing}, {Name: text(""), Default: value.Missing}}
		}, `BAD_ID input "": a name is letters, digits and underscore, not starting with a digit
 DUPLICATE_ID input "a" is declared twice`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := handled("n")
			n.Reads = []source.Text{text("rows")}
			w := &core.Workflow{Name: text("x"), Nodes: []*core.Node{n},
				Fields: []core.FieldDecl{{Name: text("rows"), Type: &value.Type{Kind: value.ArrayType}, Default: []any{}}}}
			tt.build(w, n)
			reg := registry()
			reg.AddKind(brokenKind{testKind{name: "broken"}})
			p, ds := Compile(w, reg, Options{Lint: lint})
			var got []string
			for _, d := range ds.Sorted() {
				if d.Severity == source.Error {
					got = append(got, formatstest.Line(d))
				}
			}
			if text := strings.TrimSpace(strings.Join(got, "\n")); text != tt.want || p != nil {
				t.Errorf("got\n%s\nwant\n%s", text, tt.want)
			}
		})
	}
}

// A graph built in Go is given starting values along with its fields. So a field that no node
// writes causes no warning, unless the graph declares its inputs.
func TestGoBuiltStartingValues(t *testing.T) {
	n := handled("n")
	n.Reads = []source.Text{text("name")}
	w := &core.Workflow{Nodes: []*core.Node{n}, Fields: []core.FieldDecl{{Name: text("name"), Default: value.Missing}}}
	if _, ds := Compile(w, nil, Options{Lint: lint}); len(ds) > 0 {
		t.Errorf("without inputs: %v", ds)
	}
	w.HasInputs = true
	if _, ds := Compile(w, nil, Options{Lint: lint}); !ds.Has(source.CodeNeverWritten) {
		t.Errorf("with inputs: %v", ds)
	}
}

func TestDefaults(t *testing.T) {
	p := mustCompile(t, "{name: x, graph: {nodes: [{id: a, kind: fn, on_error: {policy: retry, attempts: 2}}]}}")
	if p.Concurrency != 1 || p.MaxInFlight != 0 || p.Barrier {
		t.Errorf("limits of a document: %d, %d, %t", p.Concurrency, p.MaxInFlight, p.Barrier)
	}
	if r := *p.Nodes[0].Retry; r != (Retry{Attempts: 2, Base: 100 * time.Millisecond}) {
		t.Errorf("retry %+v", r)
	}
	p, _ = Compile(&core.Workflow{Nodes: []*core.Node{handled("a")}, Runtime: core.Runtime{Schedule: text("barrier")}}, nil, Options{Lint: lint})
	if p.Concurrency != 0 || !p.Barrier {
		t.Errorf("limits of a graph built in Go: %d, %t", p.Concurrency, p.Barrier)
	}
	n := &p.Nodes[0]
	if n.Retry.Attempts != 1 || n.MaxFailures != -1 || n.Concurrency != 1 || n.Member != -1 || !n.FieldsOnly {
		t.Errorf("node %+v", n)
	}
	if _, ok := p.Node("b"); ok {
		t.Error("a node that is not there is found")
	}
}

func TestStrict(t *testing.T) {
	const doc = "{name: x, state: {schema: {a: {}}}, graph: {nodes: [{id: n, kind: fn, reads: [a]}]}}"
	if p, ds := (files{"f": doc}).compile("f", false); p == nil || len(ds) != 1 {
		t.Errorf("lenient: %v", ds)
	}
	if p, ds := (files{"f": doc}).compile("f", true); p != nil || len(ds) != 1 {
		t.Errorf("strict: %v", ds)
	}
	const hint = "{name: x, state: {schema: {a: {}}}, graph: {nodes: [{id: n, kind: fn}]}}"
	if p, ds := (files{"f": hint}).compile("f", true); p == nil || len(ds) != 1 {
		t.Errorf("strict, with a hint only: %v", ds)
	}
}

// If there are too many findings, the least severe are left out first, in the order of the file.
func TestTooManyFindings(t *testing.T) {
	w := &core.Workflow{Phases: []core.Phase{{ID: text("p")}}}
	at := func(line int, s string) source.Text {
		return source.At(s, source.Position{Line: int32(line), Column: 1})
	}
	for i := range 300 {
		n := handled(fmt.Sprint("n", i))
		n.Phase = at(2*i, "q")
		if i%3 == 0 {
			n.Reads = []source.Text{at(2*i+1, "nope")}
		}
		w.Nodes = append(w.Nodes, n)
	}
	_, ds := Compile(w, nil, Options{Lint: lint})
	count := map[source.Severity]int{}
	for i, d := range ds {
		count[d.Severity]++
		if i > 0 && d.Pos.Line < ds[i-1].Pos.Line {
			t.Errorf("%v stands behind %v", d, ds[i-1])
		}
	}
	last := ds[len(ds)-1]
	if len(ds) != 201 || count[source.Error] != 100 || last.Code != source.CodeLimit || last.Severity != source.Warning || last.Message != "201 more findings are not shown" {
		t.Errorf("%d findings, %v, the last is %v", len(ds), count, last)
	}
}

// Only the first wrong references get a suggestion, because the search of all names for each of
// them took half an hour.
func TestManyWrongNames(t *testing.T) {
	w := layered(200, 100)
	for i, e := range w.Edges {
		e.To = text(fmt.Sprint("m", i))
	}
	_, ds := Compile(w, nil, Options{Lint: lint})
	if len(ds) != source.MaxFindings+1 || ds[0].Code != source.CodeUnknownNode {
		t.Errorf("%d findings, the first is %v", len(ds), ds[0])
	}
}

// The longest cycle a graph can have is reported in a message of bounded length.
func TestLongCycle(t *testing.T) {
	w := layered(5000, 1)
	w.Edges = append(w.Edges, &core.Edge{From: text("n4999"), To: text("n0")})
	_, ds := Compile(w, nil, Options{Lint: lint})
	if len(ds) != 1 || ds[0].Code != source.CodeCycle || len(ds[0].Message) > 2000 || !strings.Contains(ds[0].Message, "n0 -> n1 -> n2") || !strings.Contains(ds[0].Message, "(4901 more nodes)") {
		t.Errorf("findings %v", ds)
	}
}

// Compiling large graphs with dense state must end.
func TestLargeGraphs(t *testing.T) {
	for name, w := range map[string]*core.Workflow{
		"one list":       fielded(layered(100, 100), "array_append", func(int) int { return 0 }, func(int) []int { return []int{0} }),
		"one last write": fielded(layered(100, 100), "", func(int) int { return 0 }, func(int) []int { return nil }),
		"pairs":          fielded(layered(2, 5000), "", func(i int) int { return i % 4999 }, func(int) []int { return nil }),
		"wide reader":    fielded(layered(2, 5000), "", func(i int) int { return i }, func(i int) []int { return []int{(i * 31) % 5000} }),
	} {
		if p, ds := Compile(w, nil, Options{Lint: lint}); p == nil || len(ds) > source.MaxFindings+1 || len(ds) == 0 {
			t.Errorf("%s: %d findings", name, len(ds))
		}
	}
}
