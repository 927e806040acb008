package plan

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/native"
)

// testKind is a kind whose nodes do nothing. The keys see and after, if set, list the fields and
// nodes that the kind itself depends on.
type testKind struct {
	name   string
	keys   []string
	writes bool
}

func (k testKind) Name() string      { return k.name }
func (k testKind) Keys() []string    { return k.keys }
func (k testKind) WritesState() bool { return k.writes }

func (k testKind) Compile(n *core.Node, env core.Env) (core.Compiled, source.Diagnostics) {
	made := core.Compiled{Handler: core.HandlerFunc(nothing), Effects: k.name == "tool", Reads: texts(n.Config.Get("see")), Nodes: texts(n.Config.Get("after"))}
	made.Streams = texts(n.Config.Get("streams"))
	made.Stdout, made.Stdin = n.Config.Get("stdout") != nil, n.Config.Get("stdin") != nil
	made.Outputs, made.Inputs = targets(n.Config.Get("to")), targets(n.Config.Get("from"))
	if s := n.Config.Get("stream"); s != nil {
		made.Stream = source.At(s.Scalar.(string), s.Pos)
	}
	v := n.Config.Get("file")
	if v == nil {
		return made, nil
	}
	inner, err := env.LoadWorkflow(v.Scalar.(string))
	if err != nil {
		ds, _ := source.AsDiagnostics(err)
		return core.Compiled{}, ds
	}
	made.Handler, made.Frame = nil, &core.Frame{Workflow: inner}
	if outputs := n.Config.Get("outputs"); outputs != nil {
		made.Frame.Outputs = map[string]string{}
		for i, k := range outputs.Keys {
			made.Frame.Outputs[k.Value] = outputs.Values[i].Scalar.(string)
		}
	}
	return made, nil
}

func nothing(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }

// targets parses files such as out.csv, patterns such as in/*.csv, and tables such as x.db#orders.
// A + in front of a table means that rows are added to it.
func targets(v *source.Value) []core.Target {
	var out []core.Target
	for _, name := range texts(v) {
		t := core.Target{Name: name}
		name.Value, t.Adds = strings.CutPrefix(name.Value, "+")
		t.Name.Value, t.Table, _ = strings.Cut(name.Value, "#")
		t.Key, t.Pattern = path.Clean(t.Name.Value), strings.Contains(t.Name.Value, "*")
		out = append(out, t)
	}
	return out
}

func texts(v *source.Value) []source.Text {
	var out []source.Text
	if v != nil {
		for _, e := range v.Items {
			out = append(out, source.At(e.Scalar.(string), e.Pos))
		}
	}
	return out
}

func registry() *core.Registry {
	return core.NewRegistry(testKind{name: "fn", keys: []string{"see", "after", "stream", "streams", "stdout", "stdin"}}, testKind{name: "put", keys: []string{"to", "from"}},
		testKind{name: "tool", keys: []string{"impl"}, writes: true}, testKind{name: "workflow", keys: []string{"file", "outputs"}})
}

// lint is lint.Check of scheduler/lint. external_test.go sets it, because that package imports this
// one.
var lint func(*Facts) source.Diagnostics

// files are documents by name. Nodes of kind workflow refer to these names.
type files map[string]string

func (f files) parse(name string) (*core.Workflow, source.Diagnostics) {
	return native.Parse(name, []byte(f[name]), native.OptionsFor(registry()))
}

func (f files) compile(name string, strict bool) (*Plan, source.Diagnostics) {
	w, ds := f.parse(name)
	if w == nil {
		return nil, ds
	}
	loaded := map[string]*core.Workflow{name: w}
	load := func(name string) (*core.Workflow, error) {
		if w, ok := loaded[name]; ok {
			return w, nil
		}
		if _, ok := f[name]; !ok {
			return nil, fmt.Errorf("no file %s", name)
		}
		w, ds := f.parse(name)
		if loaded[name] = w; w == nil {
			return nil, ds
		}
		return w, nil
	}
	return Compile(w, registry(), Options{Strict: strict, Lint: lint, Env: func(*core.Workflow) core.Env { return core.Env{LoadWorkflow: load} }})
}

// mustCompile compiles a document that may have warnings.
func mustCompile(t testing.TB, doc string) *Plan {
	t.Helper()
	p, ds := files{"flow.yaml": doc}.compile("flow.yaml", false)
	if p == nil {
		t.Fatalf("%s\n%v", doc, ds)
	}
	return p
}

// layered returns a workflow of layers of plain nodes. Each node comes after a few nodes of the
// previous layer.
func layered(layers, width int) *core.Workflow {
	w := &core.Workflow{Name: source.Text{Value: "layered"}}
	for i := range layers * width {
		id := source.Text{Value: fmt.Sprintf("n%d", i)}
		w.Nodes = append(w.Nodes, &core.Node{ID: id, Handler: core.HandlerFunc(nothing), HasWrites: true})
		if i < width {
			continue
		}
		before := i - i%width - width
		from := []int{before + i%width, before + (i+1)%width, before + (i*7)%width}
		slices.Sort(from)
		for _, j := range slices.Compact(from) {
			w.Edges = append(w.Edges, &core.Edge{From: w.Nodes[j].ID, To: id})
		}
	}
	return w
}
