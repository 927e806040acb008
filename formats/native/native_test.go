package native

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/internal/formatstest"
)

var updateGolden = flag.Bool("golden", false, "write the golden files and the tables in docs/format.md")

// kinds are the kinds in the test documents, with their keys.
var kinds = []testKind{
	{"tool", []string{"impl"}},
	{"agent", []string{"prompt", "model", "provider", "schema", "output_format", "timeout_ms"}},
	{"cli-agent", []string{"provider", "prompt", "model", "workdir", "output_format", "schema", "timeout_ms", "extra_args"}},
	{"dataset", []string{"source"}},
	{"skill", []string{"impl", "inputs", "model", "schema"}},
	{"experience", []string{"impl", "state_scope"}},
	{"start", nil}, {"exit", nil}, {"parallel", nil}, {"human", []string{"text"}},
}

type testKind struct {
	name string
	keys []string
}

func (k testKind) Name() string   { return k.name }
func (k testKind) Keys() []string { return k.keys }
func (k testKind) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{}, nil
}

func registry() *core.Registry {
	r := core.NewRegistry()
	for _, k := range kinds {
		r.AddKind(k)
	}
	return r
}

func options() Options { return OptionsFor(registry()) }

func TestFindings(t *testing.T) {
	formatstest.Findings(t, "testdata/findings/*.txtar", func(file string, data []byte) source.Diagnostics {
		_, ds := Parse(file, data, options())
		return ds
	})
}

// documents returns the workflows under testdata, by file.
func documents(t testing.TB) map[string][]byte {
	files, err := filepath.Glob("testdata/workflows/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		if out[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestDocuments(t *testing.T) {
	for file, data := range documents(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			w, ds := Parse(file, data, options())
			if ds = withoutReferences(ds); len(ds) > 0 {
				t.Fatal(ds)
			}
			w.Findings = nil
			if !w.Document || w.Dir != "testdata/workflows" {
				t.Errorf("document %v, dir %q", w.Document, w.Dir)
			}
			tree, _ := document.Parse(file, data)
			if !bytes.Contains(data, []byte("&step")) { // values expanded from an alias are elsewhere in the document
				if err := formatstest.CheckPositions(data, tree); err != nil {
					t.Error(err)
				}
			}
			roundTrip(t, w)
		})
	}
}

// withoutReferences removes the findings about $ref keys without effect.
func withoutReferences(ds source.Diagnostics) source.Diagnostics {
	return slices.DeleteFunc(slices.Clone(ds), func(d source.Diagnostic) bool { return strings.Contains(d.Message, "$ref: this key has no effect") })
}

// roundTrip checks that writing a workflow and parsing the result gives the same
// workflow, except for values that equal their defaults, and that writing it again
// gives the same bytes.
func roundTrip(t *testing.T, w *core.Workflow) {
	t.Helper()
	first, err := Write(w)
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
	back, ds := Parse("", first, Options{})
	if back != nil {
		back.Findings = nil // findings about keys without effect are not compared
	}
	if ds.Failed(false) {
		t.Fatalf("Write wrote\n%s\nwhich has %v", first, ds)
	}
	second, err := Write(back)
	if err != nil {
		t.Fatalf("Write again: %v", err)
	}
	if !bytes.Equal(first, second) {
		t.Errorf("written twice:\n%s\n%s", first, second)
	}
	if got, want := dump(normal(back)), dump(normal(w)); got != want {
		t.Errorf("Write wrote\n%s\nwhich reads as\n%s\nwant\n%s", first, got, want)
	}
}

// normal returns a copy without values that equal the defaults of the format.
func normal(w *core.Workflow) *core.Workflow {
	c := *w
	c.Dir, c.Document = "", true
	dropNumber(&c.Runtime.Concurrency, 1)
	dropWord(&c.Runtime.Schedule, "dataflow")
	dropWord(&c.Runtime.Durability, "batch")
	dropWord(&c.Runtime.Overlap, "queue")
	c.Fields = slices.Clone(w.Fields)
	for i := range c.Fields {
		dropWord(&c.Fields[i].Merge, "last_wins")
	}
	c.Nodes = copies(w.Nodes, normalNode)
	c.Edges = copies(w.Edges, func(e *core.Edge) { dropWord(&e.On, "success") })
	c.Pipelines = copies(w.Pipelines, func(p *core.Pipeline) {
		dropNumber(&p.Concurrency, 1)
		p.OnError = normalOnError(p.OnError)
	})
	c.Loops = copies(w.Loops, func(l *core.Loop) {
		dropWord(&l.OnExhausted, "continue")
		l.OnError = normalOnError(l.OnError)
	})
	return &c
}

func copies[T any](list []*T, edit func(*T)) []*T {
	var out []*T
	for _, e := range list {
		c := *e
		edit(&c)
		out = append(out, &c)
	}
	return out
}

func dropNumber(n **source.Int, byDefault int) {
	if *n != nil && (*n).Value == byDefault {
		*n = nil
	}
}

func dropWord(t *source.Text, byDefault string) {
	if t.Value == byDefault {
		*t = source.Text{}
	}
}

func normalNode(n *core.Node) {
	n.OnError = normalOnError(n.OnError)
	if n.ForEach != nil {
		f := *n.ForEach
		n.ForEach = &f
		dropNumber(&n.ForEach.Concurrency, 1)
	}
	if n.Args != nil && len(n.Args.Keys) == 0 {
		n.Args = nil
	}
	if n.Join.Word() == core.JoinAll {
		n.Join = nil
	}
}

func normalOnError(e *core.OnError) *core.OnError {
	switch {
	case e == nil:
		return nil
	case e.Policy.Value != "retry":
		return &core.OnError{Policy: e.Policy}
	}
	c := *e
	dropWord(&c.Backoff, "linear")
	if c.Base != nil && c.Base.Value == 100*time.Millisecond {
		c.Base = nil
	}
	return &c
}

// dump formats a workflow without positions, one value per line.
func dump(w *core.Workflow) string { return dumpWith(w, false) }

func dumpWith(w *core.Workflow, positions bool) string {
	d := &dumper{positions: positions}
	d.value(reflect.ValueOf(w), "")
	return d.b.String()
}

type dumper struct {
	b         strings.Builder
	positions bool
}

func (d *dumper) value(v reflect.Value, path string) {
	switch x := v.Interface().(type) {
	case source.Position:
		if d.positions && x.IsValid() {
			x.File = ""
			fmt.Fprintf(&d.b, "%s @ %s\n", path, x)
		}
		return
	case *source.Value:
		if x != nil {
			d.tree(x, path)
		}
		return
	case *value.Object:
		if x != nil {
			fmt.Fprintf(&d.b, "%s = %s\n", path, value.JSON(x))
		}
		return
	case core.Condition:
		fmt.Fprintf(&d.b, "%s = %q\n", path, x.Source())
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			d.value(v.Elem(), path)
		}
	case reflect.Interface:
		if !value.IsMissing(v.Interface()) {
			fmt.Fprintf(&d.b, "%s = %s\n", path, value.JSON(v.Interface()))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			d.value(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		for i := range v.Len() {
			d.value(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		if !v.IsZero() {
			fmt.Fprintf(&d.b, "%s = %#v\n", path, v.Interface())
		}
	}
}

func (d *dumper) tree(v *source.Value, path string) {
	fmt.Fprintf(&d.b, "%s = %s", path, value.JSON(v.Plain()))
	if d.positions {
		p := v.Pos
		p.File = ""
		fmt.Fprintf(&d.b, " @ %s", p)
	}
	d.b.WriteByte('\n')
}

func TestEverything(t *testing.T) {
	for _, name := range everything {
		t.Run(name, func(t *testing.T) {
			file := "testdata/workflows/" + name + ".yaml"
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w, ds := Parse(file, data, options())
			if w.Findings = nil; len(withoutReferences(ds)) > 0 || len(ds) != map[string]int{"everything": 2}[name] {
				t.Fatal(ds)
			}
			golden(t, "testdata/"+name+".dump", dumpWith(w, true))
			out, err := Write(w)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out, data) {
				t.Errorf("the document with every key is not written as it is:\n%s", out)
			}
		})
	}
}

// everything are the documents that have every key of a mode and router.
var everything = []string{"everything", "walk_steps", "walk_outcomes", "walk_model"}

// TestEverythingHasEveryKey checks that the documents of TestEverything have every key.
func TestEverythingHasEveryKey(t *testing.T) {
	texts := map[string][]byte{}
	for _, name := range everything {
		data, err := os.ReadFile("testdata/workflows/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = data
	}
	for _, s := range sections {
		data := texts["everything"]
		switch router, _, _ := strings.Cut(s.name, "_"); router {
		case "steps", "outcomes", "model":
			data = texts["walk_"+router]
		case "loop":
			if s.name == "loop_until" {
				data = texts["walk_steps"]
			}
		case "document":
			data = slices.Concat(data, texts["walk_steps"])
		}
		for _, k := range source.KeysOf(s.shape) {
			if k.Name == "store" || k.Name == "budget" { // without effect, never written
				continue
			}
			if _, common := nodeKeys[k.Name]; common && strings.HasSuffix(s.name, "_node") {
				continue
			}
			if !bytes.Contains(data, []byte(k.Name+":")) {
				t.Errorf("%s: key %s is not in the document", s.name, k.Name)
			}
		}
	}
}

// nodeKeys are the keys that nodes have in all modes.
var nodeKeys = func() map[string]bool {
	out := map[string]bool{}
	for _, shape := range []any{nodeHead{}, nodeRun{}, nodeTail{}} {
		for _, k := range source.KeyNames(shape) {
			out[k] = true
		}
	}
	return out
}()

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *updateGolden {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	i := 0
	for i < len(g)-1 && i < len(w)-1 && g[i] == w[i] {
		i++
	}
	t.Errorf("%s:%d differs; run with -golden and review\n got %s\nwant %s", file, i+1, g[i], w[i])
}

func TestOptionsZero(t *testing.T) {
	w, ds := Parse("", []byte("name: x\ngraph: {nodes: [{id: a, kind: whatever, some: key}]}"), Options{})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	if got := value.JSON(w.Nodes[0].Config.Plain()); got != `{"some":"key"}` {
		t.Errorf("config %s", got)
	}
	if w.Dir != "" {
		t.Errorf("dir %q of a document without a file", w.Dir)
	}
}

// TestWorkflowDespiteErrors checks that parsing a document with errors of shape still
// returns a workflow for other checks.
func TestWorkflowDespiteErrors(t *testing.T) {
	w, ds := Parse("x.yaml", []byte("name: x\nbad: 1\nruntime: {concurrency: 0}\ngraph: {nodes: [3, {id: a, kind: tool, impl: f}], edges: [{from: a, to: b}]}"), options())
	if !ds.Failed(false) || w == nil {
		t.Fatalf("workflow %v, findings %v", w, ds)
	}
	if len(w.Nodes) != 2 || w.Nodes[0].Config == nil || w.Nodes[1].ID.Value != "a" || len(w.Edges) != 1 {
		t.Errorf("got %s", dump(w))
	}
}

func TestFindingsAreCapped(t *testing.T) {
	_, ds := Parse("x.yaml", []byte("name: x\ngraph: {nodes: ["+strings.Repeat("{},", 1000)+"]}"), options())
	if len(ds) != source.MaxFindings+1 || ds[source.MaxFindings].Message != "1800 more findings are not shown" {
		t.Errorf("got %d findings, the last is %v", len(ds), ds[len(ds)-1])
	}
}

func TestTypeNamesMatchCore(t *testing.T) {
	for _, section := range []string{"input", "field", "type"} {
		if got := Keys(section)[0]; got.Name != "type" || !slices.Equal(got.OneOf, value.TypeNames()) {
			t.Errorf("%s: %q, want %q", section, got.OneOf, value.TypeNames())
		}
	}
}

func addSeeds(f *testing.F) {
	for _, data := range documents(f) {
		f.Add(data)
	}
	formatstest.AddDocuments(f, "testdata/findings/*.txtar")
}

// FuzzParse checks that Parse never panics, that every finding has a position and a
// code, and that a document without errors is written and parsed back unchanged.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opts := range []Options{options(), {}} {
			w, ds := Parse("x.yaml", data, opts)
			for _, d := range ds {
				if !d.Pos.IsValid() || d.Code == "" || d.Message == "" {
					t.Errorf("bare finding %+v", d)
				}
			}
			if w == nil && !ds.Failed(false) {
				t.Error("neither a workflow nor an error")
			}
			if w != nil && !ds.Failed(false) {
				w.Findings = nil // warnings are not written
				roundTrip(t, w)
			}
		}
	})
}
