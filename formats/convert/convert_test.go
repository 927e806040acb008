package convert_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/convert"
	"github.com/wavefold/wavefold/internal/formatstest"
)

// reader returns a function that reads a document in a notation next to a file.
func reader(e *wavefold.Engine, file, notation string) func([]byte) (*core.Workflow, source.Diagnostics) {
	return func(data []byte) (*core.Workflow, source.Diagnostics) {
		return e.Parse(file+convert.Extension(notation), data)
	}
}

// read reads a document that must be valid.
func read(t testing.TB, e *wavefold.Engine, file, notation string, data []byte) *core.Workflow {
	t.Helper()
	w, ds := reader(e, file, notation)(data)
	if w == nil || ds.Failed(false) {
		t.Fatalf("%s\n%v", data, ds)
	}
	return w
}

// others returns the documents of the repository in a notation other than the native one.
func others(t testing.TB) map[string]string {
	out := map[string]string{}
	for notation, patterns := range map[string][]string{
		convert.DOT:   {"../dot/testdata/graphs/*", "../../examples/*/*.dot", "../../internal/draw/testdata/*.dot", "../../internal/draw/testdata/*.fabro", "../../cli/testdata/journals/*/*.dot"},
		convert.SWEny: {"../sweny/testdata/shapes/*", "../../examples/*/*.yml"},
	} {
		for _, p := range patterns {
			files, err := filepath.Glob(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				out[f] = notation
			}
		}
	}
	unpackCorpus(t, out)
	return out
}

// unpackCorpus adds the documents of the corpus, which are in archives.
func unpackCorpus(t testing.TB, out map[string]string) {
	archives, err := filepath.Glob("../../corpus/testdata/correct/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, a := range archives {
		data, err := os.ReadFile(a)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), filepath.Base(a))
		_, files := formatstest.Split(string(data))
		for _, f := range files {
			name := filepath.Join(dir, f.Name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(f.Data), 0o600)); err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.HasSuffix(name, ".dot"):
				out[name] = convert.DOT
			case strings.HasPrefix(filepath.Base(a), "sweny"):
				out[name] = convert.SWEny
			}
		}
	}
}

// Every document in DOT and of SWEny converts to the native notation and back, and the three
// are the same to a reader.
func TestThereAndBack(t *testing.T) {
	e := wavefold.NewEngine()
	counts := map[string]int{}
	for file, notation := range others(t) {
		w, ds := e.Read(file)
		if w == nil || ds.Failed(false) || w.Mode != core.ModeWalk {
			continue
		}
		counts[notation]++
		t.Run(filepath.Base(file), func(t *testing.T) {
			there, ds := convert.Convert(w, convert.Native, reader(e, file, convert.Native))
			if len(ds) > 0 {
				t.Fatal(ds)
			}
			as := read(t, e, file, convert.Native, there)
			if got, want := dump(as), dump(w); got != want {
				t.Errorf("as native:\n%s\nwant\n%s", got, want)
			}
			back, ds := convert.Convert(as, notation, reader(e, file, notation))
			if len(ds) > 0 {
				t.Fatalf("%s\n%v", there, ds)
			}
			if got, want := dump(read(t, e, file, notation, back)), dump(w); got != want {
				t.Errorf("and back:\n%s\nwant\n%s", got, want)
			}
		})
	}
	if counts[convert.DOT] < 10 || counts[convert.SWEny] < 6 {
		t.Errorf("%v documents were read", counts)
	}
}

// dump formats what a workflow says: without positions, findings and what depends on the
// notation.
func dump(w *core.Workflow) string {
	c := *w
	c.Dir, c.Findings, c.Codes, c.Sources, c.OpenInputs, c.HasInputs = "", nil, nil, nil, false, false
	walk := *w.Walk
	if walk.Router.Value == "" {
		walk.Router.Value = core.RouterOutcomes
	}
	c.Walk = &walk
	var b strings.Builder
	dumpValue(&b, "", reflect.ValueOf(c))
	return b.String()
}

func dumpValue(b *strings.Builder, at string, v reflect.Value) {
	switch x := v.Interface().(type) {
	case source.Position, source.Lost:
		return
	case core.Condition:
		fmt.Fprintf(b, "%s: %s\n", at, x.Source())
		return
	case *value.Object:
		for _, k := range sortedKeys(x) {
			m, _ := x.Get(k)
			fmt.Fprintf(b, "%s.%s: %s\n", at, k, value.JSON(m))
		}
		return
	case *source.Value:
		if x != nil {
			fmt.Fprintf(b, "%s: %s\n", at, value.JSON(x.Plain()))
		}
		return
	case core.Handler:
		fmt.Fprintf(b, "%s: a function\n", at)
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			dumpValue(b, at, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Toolless" {
				dumpValue(b, at+"."+name, v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			dumpValue(b, fmt.Sprintf("%s[%d]", at, i), v.Index(i))
		}
	case reflect.Func:
		if !v.IsNil() {
			fmt.Fprintf(b, "%s: a function\n", at)
		}
	default:
		if !v.IsZero() {
			fmt.Fprintf(b, "%s: %#v\n", at, v.Interface())
		}
	}
}

func sortedKeys(o *value.Object) []string {
	keys := append([]string(nil), o.Keys()...)
	for i := range keys {
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}

const graph = `digraph g {
  goal = "try"
  start [shape=Mdiamond]
  exit [shape=Msquare]
  a [shape=parallelogram, script="echo a"]
  b [prompt="Do {{ goal }}", label="B"]
  start -> a -> b
  b -> exit [label="done"]
}`

const routed = `{id: r, name: r, entry: a, nodes: {a: {name: A, instruction: Look.}, b: {name: B, instruction: Tell.}}, edges: [{from: a, to: b, when: it is new}]}`

// Whatever is set in a walk, a conversion there and back keeps it or names it.
func TestNothingIsLost(t *testing.T) {
	e := wavefold.NewEngine()
	bases := map[string]string{convert.DOT: graph, convert.SWEny: routed}
	var kept, named int
	rapid.Check(t, func(rt *rapid.T) {
		notation := rapid.SampledFrom([]string{convert.DOT, convert.SWEny}).Draw(rt, "notation")
		router := map[string]string{convert.DOT: core.RouterOutcomes, convert.SWEny: core.RouterModel}[notation]
		w := read(t, e, "", notation, []byte(bases[notation]))
		w.Walk.Router = source.Text{Value: router}
		w.Codes = nil
		targets := []reflect.Value{reflect.ValueOf(w).Elem(), reflect.ValueOf(w.Walk).Elem(), reflect.ValueOf(w.Nodes[len(w.Nodes)-1]).Elem(),
			reflect.ValueOf(w.Nodes[len(w.Nodes)-2]).Elem(), reflect.ValueOf(w.Edges[len(w.Edges)-1]).Elem()}
		var set []string
		for range rapid.IntRange(1, 3).Draw(rt, "edits") {
			of := rapid.SampledFrom(targets).Draw(rt, "of")
			f := of.Type().Field(rapid.IntRange(0, of.NumField()-1).Draw(rt, "field"))
			if outside(of.Type(), f.Name) || !fill(of.FieldByIndex(f.Index), rapid.IntRange(1, 4).Draw(rt, "value")) {
				continue
			}
			set = append(set, of.Type().Name()+"."+f.Name)
		}
		want := dump(w)
		out, ds := convert.Convert(w, notation, reader(e, "", notation))
		if len(ds) > 0 {
			named++
			if out != nil {
				rt.Fatal("there is a document although something has no counterpart")
			}
			return
		}
		kept++
		// labels that equal the id, and the name of the workflow, are written by SWEny
		back := read(t, e, "", notation, out)
		if got := dump(back); simple(got) != simple(want) {
			rt.Fatalf("%v are set and not named:\n%s\nwant\n%s\n%s", set, got, want, out)
		}
	})
	if kept+named >= 100 && (kept < 5 || named < 10) { // small samples (-short) may lack one
		t.Errorf("%d walks were converted, and %d had parts without a counterpart", kept, named)
	}
}

// simple leaves out of a dump what two notations say in different ways.
func simple(dump string) string {
	var lines []string
	for _, l := range strings.Split(dump, "\n") {
		if !strings.HasPrefix(l, ".Document") && !strings.HasPrefix(l, ".Walk.Attributes.name") {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

// outside reports fields that are not what a walk says: those for messages, and the parts
// that are edited on their own.
func outside(of reflect.Type, field string) bool {
	switch field {
	case "Child":
		return true // a whole workflow
	case "Document", "Dir", "Findings", "Codes", "Lost", "Sources", "Pos", "Toolless", "Asks", "Mode", "OpenInputs", "HasInputs", "Nodes", "Edges", "Walk", "Router", "Implied":
		return true
	case "Name", "From", "To", "ID":
		return true // other names
	}
	return false
}

// fill sets a field to a value that is not a default, and reports whether it could.
func fill(v reflect.Value, n int) bool {
	switch p := v.Addr().Interface().(type) {
	case *source.Position, *source.Lost:
		return false
	case *source.Text:
		p.Value = fmt.Sprintf("t %d", n)
		return true
	case **source.Value:
		*p = source.Tree(value.ObjectOf("k", int64(n)), source.Position{})
		return true
	case **value.Object:
		*p = value.ObjectOf("zz", "x", "list", []any{int64(n)})
		return true
	case **value.Type:
		*p = &value.Type{Kind: value.NumberType}
		return true
	case *time.Duration:
		*p = time.Duration(n) * time.Minute
		return true
	case *any:
		*p = int64(n)
		return true
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("s%d", n))
	case reflect.Int:
		v.SetInt(int64(100 + n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.25)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	case reflect.Func:
		v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) []reflect.Value { panic("never called") }))
	default:
		return false
	}
	return true
}
