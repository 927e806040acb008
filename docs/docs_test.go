// Package docs holds the pages of the manual; its tests hold what they say.
package docs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/internal/docstest"
	"github.com/wavefold/wavefold/nodes/std"
)

// pages are all pages of the manual and of the front.
func pages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) < 4 {
		t.Fatalf("found %q, %v", pages, err)
	}
	kinds, _ := filepath.Glob("kinds/*.md") // the pattern is well-formed
	formats, _ := filepath.Glob("formats/*.md")
	return append(slices.Concat(pages, kinds, formats), "../README.md", "../CHANGELOG.md")
}

// isWorkflow tells a whole workflow from a part of one. One that is a file of its page
// belongs to what that page runs.
func isWorkflow(b docstest.Block) bool {
	if b.Lang() != "yaml" || b.Notes["file"] != "" {
		return false
	}
	v, ds := document.Parse(b.File, []byte(b.Text))
	return !ds.Failed(false) && v != nil && v.Get("name") != nil && v.Get("graph") != nil
}

// showsErrors tells the findings of a workflow that is wrong on purpose. They are
// compared where the format is tested.
func showsErrors(b docstest.Block) bool {
	return b.Lang() == "text" && strings.Contains(b.Text, ": error: ")
}

// TestWorkflows compiles every workflow of the manual and, where the state it ends with
// is printed below it, runs it.
func TestWorkflows(t *testing.T) {
	compiled, run := 0, 0
	for _, page := range pages(t) {
		blocks := readPage(t, page)
		for i, b := range blocks {
			if !isWorkflow(b) || i+1 < len(blocks) && showsErrors(blocks[i+1]) {
				continue
			}
			g := load(t, b)
			if g == nil {
				continue
			}
			compiled++
			if i+1 < len(blocks) && blocks[i+1].Lang() == "json" && blocks[i+1].Info == "json" && page != "expressions.md" {
				run++
				ends(t, g, b, blocks[i+1])
			}
		}
	}
	if compiled < 10 || run < 7 {
		t.Errorf("compiled %d workflows and ran %d", compiled, run)
	}
}

// TestGraphs compiles every whole graph in DOT.
func TestGraphs(t *testing.T) {
	compiled := 0
	for _, page := range pages(t) {
		for _, b := range readPage(t, page) {
			if b.Lang() != "dot" || !strings.HasPrefix(b.Text, "digraph ") {
				continue
			}
			compiled++
			e := wavefold.NewEngine(std.Kinds()...)
			w, _ := e.Parse(filepath.Join(t.TempDir(), "graph.dot"), []byte(b.Text))
			if _, ds := e.Compile(w, true); len(ds) > 0 {
				t.Errorf("%s:%d: %v", b.File, b.Line, ds)
			}
		}
	}
	if compiled == 0 {
		t.Error("compiled no graph")
	}
}

// readPage is docstest.Blocks for pages that may have no block.
func readPage(t *testing.T, page string) []docstest.Block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n```") {
		return nil
	}
	return docstest.Blocks(t, page)
}

// load compiles a block as a file in a new folder. The functions that its tools name
// exist; they do nothing.
func load(t *testing.T, b docstest.Block) *wavefold.Graph {
	t.Helper()
	file := filepath.Join(t.TempDir(), "workflow.yaml")
	if err := os.WriteFile(file, []byte(b.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	e := wavefold.NewEngine(std.Kinds()...)
	w, _ := e.Read(file)
	if w == nil {
		t.Errorf("%s:%d: no workflow", b.File, b.Line)
		return nil
	}
	var known []string
	for _, n := range w.Nodes {
		impl := n.Config.Get("impl")
		if n.Kind.Value != "tool" || impl == nil || slices.Contains(known, impl.Scalar.(string)) {
			continue
		}
		known = append(known, impl.Scalar.(string))
		if err := e.AddTool(impl.Scalar.(string), func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	g, err := e.Load(file)
	if err != nil {
		t.Errorf("%s:%d: %v", b.File, b.Line, err)
		return nil
	}
	for _, d := range g.Findings() {
		t.Logf("%s:%d: %v", b.File, b.Line, d)
	}
	return g
}

// ends runs a workflow and compares the state it ends with.
func ends(t *testing.T, g *wavefold.Graph, b, want docstest.Block) {
	t.Helper()
	var options []wavefold.RunOption
	if note := b.Notes["inputs"]; note != "" {
		v, err := value.ParseJSON([]byte(note))
		if err != nil {
			t.Fatal(err)
		}
		for name, val := range v.(*value.Object).All() {
			options = append(options, wavefold.Set(name, val))
		}
	}
	r, err := g.Run(t.Context(), options...)
	if err != nil {
		t.Errorf("%s:%d: %v", b.File, b.Line, err)
		return
	}
	state, err := value.ParseJSON([]byte(want.Text))
	if err != nil {
		t.Errorf("%s:%d: %v", want.File, want.Line, err)
		return
	}
	if !value.Equal(r.State, state) {
		t.Errorf("%s:%d: the run ends with\n%s\nthe page says\n%s", b.File, b.Line, value.JSON(r.State), want.Text)
	}
}
