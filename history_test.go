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
	"github.com/wavefold/wavefold/scheduler"
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

// A store keeps the parsed form of a large document beside it. If it is gone, from the store or from an archive, the document
// is parsed.
func TestHistoryWithoutParsedForm(t *testing.T) {
	dir := folderOf(t, map[string]string{"flow.yaml": largeDocument("large")})
	s, err := file.Open(filepath.Join(dir, ".wavefold"), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := wavefold.NewEngine(std.Kinds()...)
	g, err := e.Load(filepath.Join(dir, "flow.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := g.Run(t.Context(), wavefold.WithStore(s), wavefold.Set("x", "v"))
	if err != nil {
		t.Fatal(err)
	}
	st, err := scheduler.ReadStored(t.Context(), s, res.Run)
	if err != nil {
		t.Fatal(err)
	}
	form := st.Head.Sources[0].Parsed
	if form == "" {
		t.Fatal("the store has no parsed form")
	}
	check := func(what string, s store.Store) {
		t.Helper()
		h, err := e.History(t.Context(), s, res.Run, "")
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if blame, err := h.State().Blame("x"); err != nil || blame[0].By.Path != "n1499" {
			t.Errorf("%s: %v, %v", what, blame, err)
		}
	}
	check("with its parsed form", s)
	if err := os.Remove(filepath.Join(dir, ".wavefold", "blobs", form[7:9], form[7:])); err != nil {
		t.Fatal(err)
	}
	check("without its parsed form", s)
	var data bytes.Buffer
	if _, err := archive.Write(t.Context(), &data, s, res.Run); err != nil {
		t.Fatal(err)
	}
	other := memory.New(nil)
	if _, _, err := archive.Read(t.Context(), &data, other); err != nil {
		t.Fatal(err)
	}
	check("imported", other)
}
