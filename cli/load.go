package cli

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli/internal/rehearse"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// defaultFile is what stands for a folder.
const defaultFile = "workflow.yaml"

// fileOf returns the workflow file that an argument names: itself, or the one in
// a folder; without an argument the one in the current folder.
func fileOf(args []string) string {
	path := "."
	if len(args) > 0 {
		path = args[0]
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path
	}
	return filepath.Join(path, defaultFile)
}

// compiler reads and compiles workflows. The engine of the app is one.
type compiler interface {
	Read(path string) (*core.Workflow, core.Diagnostics)
	Compile(w *core.Workflow, strict bool) (*plan.Plan, core.Diagnostics)
}

// check reads and compiles a file and returns everything that was found, about
// its shape and about its meaning, in one list.
func check(c compiler, file string, strict bool) (*plan.Plan, core.Diagnostics) {
	w, shape := c.Read(file)
	if w == nil {
		return nil, shape.Sorted()
	}
	p, meaning := c.Compile(w, strict)
	if !shape.Failed(false) {
		ds := append(slices.Clone(shape), meaning...).Sorted()
		if ds.Failed(strict) {
			return nil, ds
		}
		return p, ds
	}
	// Of a document of the wrong shape more can be said, but nothing that only
	// follows from what was left out at the same place.
	for _, d := range meaning {
		same := func(s core.Diagnostic) bool { return s.Pos == d.Pos && s.Severity == core.Error }
		if !slices.ContainsFunc(shape, same) {
			shape = append(shape, d)
		}
	}
	return nil, shape.Sorted()
}

// lenient is the engine without its demand for what only executing needs.
func (a *app) lenient() *wavefold.Engine {
	return wavefold.EngineOf(rehearse.Lenient(a.engine.Registry()))
}

// load returns the plan of the workflow that the arguments name. Findings are
// printed; with errors among them the command is over.
func (a *app) load(c compiler, args []string, strict, asJSON bool) (*plan.Plan, error) {
	p, ds := check(c, fileOf(args), strict)
	if p == nil {
		return nil, a.invalid(ds, asJSON)
	}
	a.printFindings(ds)
	return p, nil
}

// invalid prints the findings of a file that cannot run, and is the error.
func (a *app) invalid(ds core.Diagnostics, asJSON bool) error {
	if asJSON {
		if err := a.writeJSON(findingsJSON(ds, false)); err != nil {
			return err
		}
		return said(exitUsage)
	}
	a.printFindings(ds)
	return said(exitUsage)
}

// workflowFiles completes names of workflow files.
func workflowFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
}
