package wavefold_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/archive"
	"github.com/wavefold/wavefold/store/file"
	"github.com/wavefold/wavefold/store/memory"
)

// The values of Go types are merged by their reducers, and shown in their JSON form.
func TestHistoryOfAGraph(t *testing.T) {
	n, list := wavefold.NewField[int]("n"), wavefold.NewField[[]int]("list", wavefold.Append)
	write := func(values map[string]any) func(context.Context, core.Input) (core.Result, error) {
		return func(context.Context, core.Input) (core.Result, error) { return core.Result{Delta: values}, nil }
	}
	g := wavefold.New("history",
		wavefold.Func("first", nil, wavefold.Fields(n, list), write(map[string]any{"n": 1, "list": []int{1, 2}})),
		wavefold.Func("second", nil, wavefold.Fields(n, list), write(map[string]any{"n": 2, "list": []int{3}}), wavefold.After("first")),
	)
	s := memory.New(nil)
	r, err := g.Start(t.Context(), wavefold.WithStore(s))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	h, err := g.History(t.Context(), s, r.ID(), "")
	if err != nil {
		t.Fatal(err)
	}
	after, err := h.After("first")
	if err != nil {
		t.Fatal(err)
	}
	if got := value.JSON(after.Values()); got != `{"n":1,"list":[1,2]}` {
		t.Errorf("after the first node: %s", got)
	}
	blame, err := h.State().Blame("list[2]")
	if err != nil || blame[0].By.Path != "second" || blame[0].Value != int64(3) {
		t.Errorf("blame %+v, error %v", blame, err)
	}
	other := wavefold.New("history", wavefold.Func("first", nil, nil, write(nil)))
	if _, err := other.History(t.Context(), s, r.ID(), ""); err == nil || !strings.Contains(err.Error(), "was started with another graph") {
		t.Errorf("another graph: %v", err)
	}
}

// The document of a run is read from the store, so it may have changed.
func TestHistoryOfADocument(t *testing.T) {
	dir := t.TempDir()
	document := filepath.Join(dir, "flow.yaml")
	text := "name: flow\nstate: {schema: {x: {type: string}}}\ngraph: {nodes: [{id: a, kind: tool, impl: hello, args: {name: Ann}, writes: [x]}]}\n"
	if err := os.WriteFile(document, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := file.Open(filepath.Join(dir, ".wavefold"), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := wavefold.NewEngine()
	if err := e.AddTool("hello", func(name string) string { return "hello " + name }); err != nil {
		t.Fatal(err)
	}
	g, err := e.Load(document)
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Start(t.Context(), wavefold.WithStore(s))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(document); err != nil {
		t.Fatal(err)
	}
	h, err := e.History(t.Context(), s, r.ID(), "")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := h.State().Lookup("x"); v != "hello Ann" {
		t.Errorf("x is %v, error %v", v, err)
	}
}

// A store keeps the parsed form of a large document, for looking back only. If the form is that of another workflow or damaged, or
// the program has other kinds, the document is parsed. Archives have no forms.
func TestHistoryWithParsedForm(t *testing.T) {
	e := wavefold.NewEngine(std.Kinds()...)
	s := memory.New(nil)
	start := func(name string) (run string, f core.SourceFile, dir string) {
		t.Helper()
		dir = folderOf(t, map[string]string{"flow.yaml": largeDocument(name)})
		var sources wavefold.Sources
		if _, ds := e.Recording(&sources).Read(filepath.Join(dir, "flow.yaml")); ds.Failed(false) {
			t.Fatal(ds)
		}
		g, err := e.Load(filepath.Join(dir, "flow.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := g.Run(t.Context(), wavefold.WithStore(s), wavefold.Set("x", "v"))
		if err != nil {
			t.Fatal(err)
		}
		return res.Run, sources.Files()[0], dir
	}
	run, f, dir := start("a")
	_, other, _ := start("other")
	entry := func(key string) store.CacheEntry {
		t.Helper()
		x, err := s.GetCached(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	form, wrong := entry(f.ParsedKey), entry(other.ParsedKey)
	put := func(x store.CacheEntry) {
		t.Helper()
		x.Key = f.ParsedKey
		if err := s.PutCached(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	read := func(what string, e *wavefold.Engine, want string) {
		t.Helper()
		w, ds := e.Read(filepath.Join(dir, "flow.yaml"))
		if w == nil || w.Name.Value != want || w.Dir != dir {
			t.Errorf("%s: another workflow than %s: %v", what, want, ds)
		}
	}
	history := func(what string, s store.Store) {
		t.Helper()
		h, err := e.History(t.Context(), s, run, "")
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if blame, err := h.State().Blame("x"); err != nil || blame[0].By.Path != "n1499" {
			t.Errorf("%s: %v, %v", what, blame, err)
		}
	}
	read("its form", e.LookingBack(t.Context(), s), "a")
	history("its form", s)
	put(wrong)
	read("the form of another workflow", e.LookingBack(t.Context(), s), "other") // so a form is used
	read("an engine that executes", e, "a")
	read("other kinds", wavefold.NewEngine(append(std.Kinds(), &keeper{})...).LookingBack(t.Context(), s), "a")
	history("the form of another workflow", s)
	form.Result = []byte(`"AAAA"`)
	put(form)
	read("a damaged form", e.LookingBack(t.Context(), s), "a")
	history("a damaged form", s)
	var data bytes.Buffer
	if _, err := archive.Write(t.Context(), &data, s, run); err != nil {
		t.Fatal(err)
	}
	imported := memory.New(nil)
	if _, _, err := archive.Read(t.Context(), &data, imported); err != nil {
		t.Fatal(err)
	}
	if _, err := imported.GetCached(t.Context(), f.ParsedKey); err == nil {
		t.Error("an archive has a parsed form")
	}
	history("imported", imported)
}
