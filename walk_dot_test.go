package wavefold_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

const scored = `digraph Scored {
  goal = "find good rows"
  start [shape=Mdiamond]
  score [type=score_rows, threshold=0.5, label="Score", color=blue]
  exit [shape=Msquare]

  start -> score
  score -> exit [condition="context.kept >= 2"]
  score -> score [condition="context.kept < 2"]
}
`

// TestGraphInDOT runs a graph in DOT whose work is a Go function, saves it and runs what
// was saved.
func TestGraphInDOT(t *testing.T) {
	e := wavefold.NewEngine()
	err := e.AddTool("score_rows", func(_ context.Context, in core.Input) (core.Result, error) {
		threshold := in.Args()["threshold"]
		kept := int64(0)
		for _, row := range []float64{0.2, 0.6, 0.9} {
			if row >= threshold.(float64) {
				kept++
			}
		}
		return core.Result{Routing: &core.Routing{Context: map[string]any{"kept": kept}}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := func(name string, text []byte) (*wavefold.Graph, string) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		g, err := e.Load(file)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		r, err := g.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept, _ := r.State.Get(core.ContextField)
		return g, core.JSON(kept)
	}
	g, first := run("scored.dot", []byte(scored))
	saved, err := g.Save()
	if err != nil {
		t.Fatal(err)
	}
	again, second := run("saved.fabro", saved)
	if first != second {
		t.Errorf("the context is %s, and of what was saved %s", first, second)
	}
	if kept, _ := core.ParseJSON([]byte(first)); kept == nil {
		t.Errorf("got context %s", first)
	} else if n, _ := kept.(*core.Object).Get("kept"); n != int64(2) {
		t.Errorf("got context %s, want kept 2", first)
	}
	if twice, err := again.Save(); err != nil || string(twice) != string(saved) {
		t.Errorf("saved again: %v\n%s\nwant\n%s", err, twice, saved)
	}
}
