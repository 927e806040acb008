package parsed

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/native"
	"github.com/wavefold/wavefold/nodes/std"
)

func formOf(tb testing.TB, salt string) *Form {
	tb.Helper()
	f, err := New(salt)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// documents calls f with the documents of the repository, whether they are valid or not.
func documents(tb testing.TB, f func(name string, data []byte)) {
	tb.Helper()
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".yaml" {
			return err
		}
		data, err := os.ReadFile(name)
		if err == nil {
			f(name, data)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// What is decoded equals what is parsed, wherever the document is, with its positions and findings.
func TestDocuments(t *testing.T) {
	f, opts := formOf(t, ""), native.OptionsFor(core.NewRegistry(std.Kinds()...))
	equal, without := 0, 0
	documents(t, func(name string, data []byte) {
		w, _ := native.Parse(name, data, opts)
		if w == nil {
			return
		}
		form, err := f.Encode(w, name)
		if err != nil {
			without++
			if !strings.Contains(err.Error(), "core.Condition") {
				t.Errorf("%s: %v", name, err)
			}
			return
		}
		const other = "other/place/flow.yaml"
		want, _ := native.Parse(other, data, opts)
		got, err := f.Decode(form, other)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if got.Dir = filepath.Dir(other); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: what is decoded differs from what is parsed", name)
		}
		equal++
	})
	if equal < 50 || without > equal/20 {
		t.Errorf("%d documents are equal, %d have no form", equal, without)
	}
}

func TestValues(t *testing.T) {
	f := formOf(t, "")
	for _, v := range []any{nil, value.Missing, true, false, int64(-1 << 63), 1.5, "", "x", []any{}, []any(nil), []any{nil, "a"},
		value.NewObject(0), value.ObjectOf("b", int64(1), "a", []any{value.ObjectOf("x", nil)})} {
		w := &core.Workflow{Inputs: []core.InputDecl{{Default: v}}}
		data, err := f.Encode(w, "")
		if err != nil {
			t.Errorf("%#v: %v", v, err)
			continue
		}
		got, err := f.Decode(data, "")
		if err != nil || !reflect.DeepEqual(got.Inputs, w.Inputs) {
			t.Errorf("%#v came back as %#v, %v", v, got.Inputs, err)
		}
	}
}

// The Go parts of a workflow have no form.
func TestGoValues(t *testing.T) {
	f := formOf(t, "")
	for name, w := range map[string]*core.Workflow{
		"a function": {Fields: []core.FieldDecl{{Reduce: func(_, v any) (any, error) { return v, nil }}}},
		"a hook":     {Nodes: []*core.Node{{Before: func(_ context.Context, _ *core.HookState) error { return nil }}}},
		"a nil node": {Nodes: []*core.Node{nil}},
		"a Go value": {Inputs: []core.InputDecl{{Default: struct{}{}}}},
		"a Go type":  {Fields: []core.FieldDecl{{Go: value.GoTypeFor[int]()}}},
	} {
		if _, err := f.Encode(w, ""); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOtherForms(t *testing.T) {
	w := &core.Workflow{Name: source.Text{Value: "w"}, Nodes: []*core.Node{{ID: source.Text{Value: "a"}}}}
	data, err := formOf(t, "a").Encode(w, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := formOf(t, "b").Decode(data, ""); err == nil {
		t.Error("a form of another salt was decoded")
	}
	for n := range data {
		if _, err := formOf(t, "a").Decode(data[:n], ""); err == nil {
			t.Errorf("%d of %d bytes were decoded", n, len(data))
		}
	}
	if _, err := formOf(t, "a").Decode(append(data, 0), ""); err == nil {
		t.Error("a byte too many was accepted")
	}
}

// FuzzDecode: any data gives a workflow or an error, and a workflow has the form of itself.
func FuzzDecode(f *testing.F) {
	form, opts := formOf(f, ""), native.OptionsFor(core.NewRegistry(std.Kinds()...))
	documents(f, func(name string, data []byte) {
		if w, _ := native.Parse(name, data, opts); w != nil && len(data) < 1000 {
			if data, err := form.Encode(w, name); err == nil {
				f.Add(data[8:])
			}
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := form.Decode(append(form.header[:], data...), "f")
		if err != nil {
			return
		}
		again, err := form.Encode(w, "f")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := form.Decode(again, "f"); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkForm compares parsing a document of 10,000 nodes with encoding and decoding its form.
func BenchmarkForm(b *testing.B) {
	const nodes = 10_000
	var text strings.Builder
	text.WriteString("name: large\nstate: {schema: {x: {type: string}}}\ngraph:\n  nodes:\n")
	for i := range nodes {
		fmt.Fprintf(&text, "    - {id: n%d, kind: template, text: \"v\", writes: [x]}\n", i)
	}
	text.WriteString("  edges:\n")
	for i := range nodes - 1 {
		fmt.Fprintf(&text, "    - {from: n%d, to: n%d}\n", i, i+1)
	}
	f, opts := formOf(b, ""), native.OptionsFor(core.NewRegistry(std.Kinds()...))
	w, _ := native.Parse("flow.yaml", []byte(text.String()), opts)
	form, err := f.Encode(w, "flow.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"parse":  func() error { w, _ = native.Parse("flow.yaml", []byte(text.String()), opts); return nil },
		"encode": func() error { form, err = f.Encode(w, "flow.yaml"); return err },
		"decode": func() error { _, err := f.Decode(form, "flow.yaml"); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nodes, "ns/node")
			b.ReportMetric(float64(len(form))/nodes, "bytes/node")
		})
	}
}

// A form depends on the fields of the types and on their order.
func TestHeaders(t *testing.T) {
	type x struct{ A int }
	type y struct{ A string }
	header := func(t reflect.Type) string {
		b := newBuilder("")
		if _, err := b.of(t); err != nil {
			return err.Error()
		}
		return string(b.types.Sum(nil))
	}
	seen := map[string]reflect.Type{}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[struct{ A x }](), reflect.TypeFor[struct{ B x }](), reflect.TypeFor[struct{ A y }](), reflect.TypeFor[struct{ A *x }](), reflect.TypeFor[struct{ A []x }](),
		reflect.TypeFor[struct {
			A x
			B y
			C x
		}](), reflect.TypeFor[struct {
			A x
			B y
			C y
		}](), reflect.TypeFor[struct {
			B y
			A x
			C x
		}](),
	} {
		h := header(typ)
		if before := seen[h]; before != nil {
			t.Errorf("%s has the form of %s", typ, before)
		}
		seen[h] = typ
	}
}
