package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/rehearse"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// compiler reads and compiles workflows. The engine of the app is one.
type compiler interface {
	Read(path string) (*core.Workflow, source.Diagnostics)
	Compile(w *core.Workflow, strict bool) (*plan.Plan, source.Diagnostics)
}

// check reads and compiles the file that the arguments name. It returns all findings that
// apply to a run with the given inputs.
func check(c compiler, args []string, strict bool, given ...string) (*plan.Plan, source.Diagnostics) {
	file, ds := fileOf(c, args)
	if len(ds) > 0 {
		return nil, ds
	}
	w, ds := c.Read(file)
	if w == nil {
		return nil, ds
	}
	p, ds := c.Compile(w, false)
	ds = slices.DeleteFunc(ds, func(d source.Diagnostic) bool { return d.Input != "" && slices.Contains(given, d.Input) })
	ds = plan.Preflight(w, ds)
	if p == nil {
		return nil, ds.Sorted()
	}
	if ds = append(ds, secret.Check(p.Secrets)...).Sorted(); ds.Failed(strict) {
		return nil, ds
	}
	return p, ds
}

// lenient returns the engine without the checks that only an execution needs.
func (a *app) lenient() compiler {
	return lenientEngine{a.engine.WithRegistry(rehearse.Lenient(a.engine.Registry()))}
}

type lenientEngine struct{ *wavefold.Engine }

func (e lenientEngine) Read(path string) (*core.Workflow, source.Diagnostics) {
	return rehearse.Read(e.Engine, path)
}

// parallelFlag adds the flag for SWEny documents.
func (a *app) parallelFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.engine.Parallel, "parallel", a.engine.Parallel, "read SWEny documents as if they had parallel: true: branches of a plain fan-out and join run in parallel")
}

// allowAddedFlag adds the flag for the kinds of nodes that runs may add.
func (a *app) allowAddedFlag(cmd *cobra.Command) {
	cmd.Flags().Var(&allowed{a: a}, "allow-added", "let a walk by steps add nodes of this `kind`, or of several with commas; the first is the kind of an added node that names none")
	_ = cmd.RegisterFlagCompletionFunc("allow-added", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.engine.Registry().KindNames(), cobra.ShellCompDirectiveNoFileComp
	})
}

// allowed is the value of --allow-added. The program that embeds the command, or the person
// that starts it, allows kinds, never a document or an output.
type allowed struct {
	a    *app
	list []string
}

// Set allows kinds.
func (f *allowed) Set(text string) error {
	kinds := strings.Split(text, ",")
	r := f.a.engine.Registry()
	for _, kind := range kinds {
		if _, ok := r.Kind(kind); ok {
			continue
		}
		if _, ok := r.Tool(kind); !ok {
			return errors.New(strings.TrimSuffix(fmt.Sprintf("there is no kind %q: %s", kind, source.DidYouMean(kind, r.KindNames())), ": "))
		}
	}
	if f.list == nil { // do not change the caller's engine
		copied := *f.a.engine
		f.a.engine = &copied
	}
	f.list = append(f.list, kinds...)
	f.a.engine.AllowAdded(kinds...)
	return nil
}

// String returns the kinds.
func (f *allowed) String() string { return strings.Join(f.list, ",") }

// Type names the value in the help.
func (f *allowed) Type() string { return "kind" }

// load returns the plan of the workflow that the arguments name. It prints the findings;
// errors among them end the command. With quiet, hints are omitted unless there are errors.
func (a *app) load(c compiler, args []string, strict, asJSON, quiet bool, given ...string) (*plan.Plan, error) {
	p, ds := check(c, args, strict, given...)
	if p == nil {
		return nil, a.invalid(ds, asJSON)
	}
	if quiet {
		ds = slices.DeleteFunc(ds, func(d source.Diagnostic) bool { return d.Severity == source.Hint })
	}
	a.printFindings(ds)
	return p, nil
}

// invalid prints the findings of a file that cannot run, and returns the error to exit
// with.
func (a *app) invalid(ds source.Diagnostics, asJSON bool) error {
	if asJSON {
		if err := a.writeJSON(findingsJSON(ds, false)); err != nil {
			return err
		}
		return reported(exitUsage)
	}
	a.printFindings(ds)
	return reported(exitUsage)
}

// workflowFiles completes names of workflow files.
func workflowFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return extensions, cobra.ShellCompDirectiveFilterFileExt
}
