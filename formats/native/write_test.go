package native

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
)

func text(s string) source.Text { return source.At(s, source.Position{}) }

func number(n int) *source.Int { return &source.Int{Value: n} }

func tool(id, impl string) *core.Node {
	return &core.Node{ID: text(id), Kind: text("tool"), Config: source.Tree(value.ObjectOf("impl", impl), source.Position{})}
}

var doNothing = core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })

// built is a workflow as Go code constructs it, with values that documents would not
// contain: values that equal their defaults, Go types, and durations that are not whole
// milliseconds.
func built() *core.Workflow {
	load := tool("load", "loader")
	load.Handler = doNothing
	load.HasWrites = true
	load.Writes = []source.Text{text("rows")}
	score := tool("score", "scorer")
	score.ForEach = &core.ForEach{Source: text("$.rows"), Concurrency: number(1)}
	score.OnError = &core.OnError{
		Policy:   text("retry"),
		Attempts: number(3),
		Backoff:  text("linear"),
		Base:     &source.Located[time.Duration]{Value: 1500 * time.Microsecond},
		Max:      &source.Located[time.Duration]{Value: 2 * time.Second},
	}
	score.Timeout = &source.Located[time.Duration]{Value: 90 * time.Second}
	score.Join = core.JoinOf(text("all"))
	score.Effects = new(false)
	type row struct {
		ID int `json:"id"`
	}
	return &core.Workflow{
		Name:      text("built"),
		HasInputs: true,
		Runtime:   core.Runtime{Concurrency: number(1), Schedule: text("dataflow")},
		Fields: []core.FieldDecl{
			{Name: text("rows"), Type: &value.Type{Kind: value.ArrayType, Items: &value.Type{}}, Merge: text("last_wins"), Default: []row{{1}, {2}}, Go: value.GoTypeFor[[]row]()},
			{Name: text("note"), Type: &value.Type{Kind: value.StringType, Desc: "from the type"}, Default: value.Missing},
			{Name: text("anything"), Default: value.Missing},
		},
		Nodes: []*core.Node{load, score, tool("save", "saver")},
		Edges: []*core.Edge{
			{From: text("load"), To: text("score"), On: text("success")},
			{From: text("score"), To: text("save"), When: &source.Text{Value: "length($.rows) > 0 && $.note != ': #'"}},
		},
		Loops: []*core.Loop{{ID: text("again"), Body: []source.Text{text("save")}, BodyIsList: true, MaxIters: number(2), OnExhausted: text("continue")}},
	}
}

const builtText = `name: built
inputs: {}
state:
  schema:
    rows:
      type: array
      default:
        - {id: 1}
        - {id: 2}
    note: {type: string, description: from the type}
    anything: {}
graph:
  nodes:
    - id: load
      kind: tool
      impl: loader
      writes: [rows]
    - id: score
      kind: tool
      impl: scorer
      for_each: {source: $.rows}
      on_error: {policy: retry, attempts: 3, base_ms: 1.5ms, max_ms: 2000}
      timeout: 1m30s
      effects: false
    - id: save
      kind: tool
      impl: saver
  edges:
    - {from: load, to: score}
    - {from: score, to: save, when: "length($.rows) > 0 && $.note != ': #'"}
  loops:
    - id: again
      body: [save]
      max_iters: 2
`

func TestWriteBuilt(t *testing.T) {
	got, err := Write(built())
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != builtText {
		t.Errorf("got\n%s\nwant\n%s", got, builtText)
	}
	back, ds := Parse("", got, options())
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	roundTrip(t, back)
}

func TestWriteErrors(t *testing.T) {
	tests := []struct {
		name string
		edit func(w *core.Workflow)
		want string
	}{
		{"handler", func(w *core.Workflow) { w.Nodes[1].Handler, w.Nodes[1].Config = doNothing, nil },
			"node score: its Go function has no registered name, so a document cannot refer to it"},
		{"handler of another kind", func(w *core.Workflow) {
			w.Nodes[1].Handler, w.Nodes[1].Config = doNothing, source.Tree(value.ObjectOf("impl", int64(3)), source.Position{})
		}, "node score: its Go function has no registered name"},
		{"reduce", func(w *core.Workflow) { w.Fields[1].Reduce = func(a, b any) (any, error) { return a, nil } },
			"field note: its merge strategy is a Go function, which a document cannot hold"},
		{"default", func(w *core.Workflow) { w.Fields[0].Default = []any{math.Inf(1)} }, "field rows: default: "},
		{"enum", func(w *core.Workflow) { w.Fields[1].Type.Enum = []any{make(chan int)} }, "field note: enum: "},
		{"mode", func(w *core.Workflow) { w.Mode = "spiral" }, "workflow built: mode spiral cannot be written in this format"},
		{"walk", func(w *core.Workflow) { w.Mode = core.ModeWalk }, "workflow built: pipelines and loops cannot be written: they exist in dags only"},
		{"input", func(w *core.Workflow) {
			w.Inputs = []core.InputDecl{{Name: text("in"), Type: &value.Type{Kind: value.ObjectType, Required: []string{"a"}}, Default: value.Missing}}
		}, "input in: required members and $ref of a type cannot be written"},
		{"config", func(w *core.Workflow) { w.Nodes[0].Config.Set(text("reads"), source.Tree("x", source.Position{})) },
			`node load: key "reads" of kind tool is one that all nodes have`},
		{"text", func(w *core.Workflow) { w.Nodes[0].Description = text("a\xff") }, `string "a\xff" is not valid UTF-8`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := built()
			tt.edit(w)
			out, err := Write(w)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %q, %v, want error %q", out, err, tt.want)
			}
		})
	}
}

// TestWriteOrder checks that the keys of every section of a written document are in the
// order of the table.
func TestWriteOrder(t *testing.T) {
	for file, data := range documents(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			w, _ := Parse(file, data, options())
			out, err := Write(w)
			if err != nil {
				t.Fatal(err)
			}
			tree, ds := document.Parse("", out)
			if len(ds) > 0 {
				t.Fatal(ds)
			}
			checkOrder(t, tree, "document")
			for _, in := range members(tree.Get("inputs")) {
				checkOrder(t, in, "input")
			}
			for _, f := range members(tree.Get("state").Get("schema")) {
				checkOrder(t, f, "field")
			}
			checkOrder(t, tree.Get("runtime"), "runtime")
			graph, router := tree.Get("graph"), ""
			if r, ok := tree.Get("graph").Get("router").Plain().(string); ok {
				router = r + "_"
			}
			checkOrder(t, graph, router+"graph")
			for _, l := range items(graph.Get("loop_until")) {
				checkOrder(t, l, "loop_until")
			}
			for _, n := range items(graph.Get("nodes")) {
				checkOrder(t, n, router+"node")
				checkOrder(t, n.Get("for_each"), "for_each")
				checkOrder(t, n.Get("on_error"), "on_error")
			}
			for _, e := range items(graph.Get("edges")) {
				checkOrder(t, e, router+"edge")
			}
			for _, p := range items(graph.Get("pipelines")) {
				checkOrder(t, p, "pipeline")
			}
			for _, l := range items(graph.Get("loops")) {
				checkOrder(t, l, "loop")
			}
		})
	}
}

func members(v *source.Value) []*source.Value {
	if v == nil {
		return nil
	}
	return v.Values
}

func items(v *source.Value) []*source.Value {
	if v == nil {
		return nil
	}
	return v.Items
}

func checkOrder(t *testing.T, v *source.Value, section string) {
	t.Helper()
	if v == nil {
		return
	}
	var order []int
	for _, k := range v.Keys {
		if i := slices.IndexFunc(Keys(section), func(key source.Key) bool { return key.Name == k.Value }); i >= 0 {
			order = append(order, i)
		}
	}
	if !slices.IsSorted(order) {
		t.Errorf("%s: keys are written in the order %v", section, source.Strings(v.Keys))
	}
}

// TestWriteIsCanonical checks that the output does not depend on the layout of the
// original: JSON and YAML of the same workflow give the same bytes.
func TestWriteIsCanonical(t *testing.T) {
	data, err := os.ReadFile("testdata/workflows/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tree, _ := document.Parse("", data)
	json, err := value.AppendJSON(nil, tree.Plain())
	if err != nil {
		t.Fatal(err)
	}
	w, ds := Parse("everything.json", json, options())
	if len(withoutReferences(ds)) > 0 {
		t.Fatal(ds)
	}
	out, err := Write(w)
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != string(data) {
		t.Errorf("got\n%s", out)
	}
}

// Older parsers of YAML read a plain off as false, so it is quoted when it is written.
func TestDurabilityOff(t *testing.T) {
	const doc = "name: x\nruntime: {durability: %s}\ngraph: {nodes: [{id: a, kind: tool, impl: f}]}\n"
	for _, word := range []string{"off", `"off"`} {
		w, ds := Parse("flow.yaml", fmt.Appendf(nil, doc, word), Options{})
		if ds.Failed(true) || w.Runtime.Durability.Value != "off" {
			t.Fatalf("%s: got %q, %v", word, w.Runtime.Durability.Value, ds)
		}
		out, err := Write(w)
		if err != nil || !strings.Contains(string(out), `durability: "off"`) {
			t.Errorf("%s: written as\n%s%v", word, out, err)
		}
	}
}
