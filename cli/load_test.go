package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// FuzzCheck checks that compiling a document that could be read only in part never panics,
// and that a missing plan always comes with an error that has a position.
func FuzzCheck(f *testing.F) {
	for _, pattern := range []string{"internal/starter/*/workflow.yaml", "../internal/draw/testdata/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte("name: x\nextra: 1\ngraph:\n  nodes:\n    - {id: , kind: tool}\n    - 3\n    - {id: a, kind: [x], for_each: 3, on_error: {policy: retry}}\n  edges: [{from: a}, 3]\n  loops: [{id: l, body: 3}]\n  pipelines: [{id: a}]"))
	engine := wavefold.NewEngine(std.Kinds()...)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, ds := check(text{engine, data}, []string{"flow.yaml"}, false)
		if p == nil && !ds.Failed(false) {
			t.Error("neither a plan nor an error")
		}
		if p != nil && ds.Failed(false) {
			t.Errorf("a plan in spite of %v", ds)
		}
	})
}

// text is a compiler that reads the same document from every file.
type text struct {
	engine *wavefold.Engine
	data   []byte
}

func (c text) Read(string) (*core.Workflow, source.Diagnostics) {
	return c.engine.Parse("flow.yaml", c.data)
}

func (c text) Compile(w *core.Workflow, strict bool) (*plan.Plan, source.Diagnostics) {
	return c.engine.Compile(w, strict)
}
