package wavefold_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/std"
)

// nestedDocuments are a dag that contains a walk by steps, which contains a dag and a walk by
// outcomes. All have a concurrency of 1, the default of documents.
var nestedDocuments = map[string]string{
	"outer.yaml": `name: outer
state:
  schema:
    refined: {type: object}
graph:
  nodes:
    - {id: refine, kind: workflow, file: refine.yaml, outputs: {refined: context}, writes: [refined]}
    - {id: after, kind: tool, impl: note, args: {name: after}}
  edges:
    - {from: refine, to: after}
`,
	"refine.yaml": `name: refine
mode: walk
graph:
  router: steps
  entry: try
  nodes:
    - {id: try, kind: tool, impl: try, writes: [tries]}
    - {id: inner, kind: workflow, file: inner.yaml}
    - {id: check, kind: workflow, file: check.yaml}
  edges:
    - {from: inner, to: check}
  loop_until:
    - {node: try, exit_to: inner, ref: thrice, max_iterations: 7}
`,
	"inner.yaml": `name: inner
graph:
  nodes:
    - {id: one, kind: tool, impl: note, args: {name: one}}
    - {id: two, kind: tool, impl: note, args: {name: two}}
  edges:
    - {from: one, to: two}
`,
	"check.yaml": `name: check
mode: walk
graph:
  router: outcomes
  nodes:
    - id: start
      kind: start
    - id: done
      kind: note
      args: {name: check}
    - id: exit
      kind: exit
  edges:
    - {from: start, to: done}
    - {from: done, to: exit, when: outcome=success}
`,
}

// TestNestedModes runs walks in dags and dags in walks from files, with one slot.
func TestNestedModes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range nestedDocuments {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := wavefold.NewEngine(std.Kinds()...)
	var notes []string
	tries := int64(0)
	add := func(name string, fn any) {
		if err := e.AddTool(name, fn); err != nil {
			t.Fatal(err)
		}
	}
	add("note", func(_ context.Context, in struct{ Name string }) error {
		notes = append(notes, in.Name)
		return nil
	})
	add("try", func(context.Context, core.Input) (core.Result, error) {
		tries++
		return core.Result{Delta: map[string]any{"tries": tries}}, nil
	})
	if err := e.Registry().AddCondition("thrice", func(r *core.VisitResult) bool { return r.Visit == 3 }); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	g, err := e.Load(filepath.Join(dir, "outer.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Run(ctx, wavefold.WithMaxInFlight(1))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"one", "two", "check", "after"}; !slices.Equal(notes, want) || tries != 3 {
		t.Errorf("ran %v after %d tries, want %v after 3", notes, tries, want)
	}
	if got, _ := r.State.Get("refined"); value.JSON(got) != `{"tries":3}` {
		t.Errorf("the state is %s", value.JSON(r.State))
	}
	for name, text := range nestedDocuments { // save, load, save
		g, err := e.Load(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		first, err := g.Save()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		saved := filepath.Join(dir, "saved-"+name)
		if err := os.WriteFile(saved, first, 0o600); err != nil {
			t.Fatal(err)
		}
		if g, err = e.Load(saved); err != nil {
			t.Fatalf("%s\n%v", first, err)
		}
		if second, err := g.Save(); err != nil || string(first) != string(second) {
			t.Errorf("saved twice, %v:\n%s\n%s", err, first, second)
		}
	}
}
