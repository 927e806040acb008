package plan_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// The documents in testdata also expect the findings of package lint.
func init() { plan.SetLint(lint.Check) }

// A node may take the context of a nested walk, and a nested dag has none.
func TestContextOfANestedWalk(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"walk.dot":   "digraph g { start [shape=Mdiamond]; exit [shape=Msquare]; start -> exit }",
		"dag.yaml":   "{name: d, graph: {nodes: [{id: x, kind: wait, duration: 1s}]}}",
		"walks.yaml": "{name: o, state: {schema: {c: {type: object}}}, graph: {nodes: [{id: n, kind: workflow, file: walk.dot, writes: [c], outputs: {c: context}}]}}",
		"dags.yaml":  "{name: o, state: {schema: {c: {type: object}}}, graph: {nodes: [{id: n, kind: workflow, file: dag.yaml, writes: [c], outputs: {c: context}}]}}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{"walks.yaml": true, "dags.yaml": false} {
		e := wavefold.NewEngine()
		w, ds := e.Read(filepath.Join(dir, name))
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		if p, ds := e.Compile(w, false); (p != nil) != want {
			t.Errorf("%s: valid: %t, want %t: %v", name, p != nil, want, ds)
		}
	}
}
