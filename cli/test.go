package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/rehearse"
)

func (a *app) testCommand() *cobra.Command {
	var concurrency int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test [FILE.mock.yaml...] [WORKFLOW]",
		Short: "Run a workflow against mock files, without side effects",
		Long: `test runs a workflow with answers from a mock file instead of its handlers, and
compares the run with the expectations in that file. Nothing is called or written,
and waits and retry delays take no real time. docs/testing.md describes the format.

Without WORKFLOW, x.mock.yaml tests x.yaml, x.yml, x.json, x.dot or x.fabro in the
same folder, or the only workflow there. A folder means all mock files in it; the default
is the current folder. The exit code is 1 if an expectation is not met.`,
		Example: examples(
			"wavefold test flow.mock.yaml",
			"wavefold test happy.mock.yaml refund.mock.yaml flow.yaml",
			"wavefold test flows/",
			"wavefold test",
		),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			tests, err := testsOf(args)
			if err != nil {
				return err
			}
			return a.test(tests, concurrency, asJSON)
		},
	}
	a.parallelFlag(cmd)
	a.allowAddedFlag(cmd)
	cmd.Flags().VarP(count{&concurrency, "-j"}, "concurrency", "j", "maximum number of nodes that run at the same time (default: the limit of the document)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as JSON")
	return cmd
}

// testResult is the JSON form of the result of one mock file.
type testResult struct {
	Mock     string          `json:"mock"`
	Workflow string          `json:"workflow"`
	Passed   bool            `json:"passed"`
	Misses   []rehearse.Miss `json:"misses,omitempty"`
}

func (a *app) test(tests []mockTest, concurrency int, asJSON bool) error {
	results := []testResult{}
	failed := 0
	for _, t := range tests {
		workflow, misses, ds := a.testOne(t, concurrency)
		if ds.Failed(false) {
			return a.invalid(ds, asJSON)
		}
		r := testResult{Mock: t.mock, Workflow: workflow, Passed: len(misses) == 0, Misses: misses}
		results = append(results, r)
		if !r.Passed {
			failed++
		}
		if !asJSON {
			a.printTest(&r)
		}
	}
	if asJSON {
		if err := a.writeJSON(results); err != nil {
			return err
		}
	} else if len(tests) > 1 {
		tty.Fprintf(a.Out, "%d of %s passed\n", len(tests)-failed, plural(len(tests), "test"))
	}
	if failed > 0 {
		return reported(exitFailed)
	}
	return nil
}

// testOne rehearses one workflow with one mock file. It returns the name of the workflow.
func (a *app) testOne(t mockTest, concurrency int) (string, []rehearse.Miss, source.Diagnostics) {
	file, ds := rehearse.ReadMock(t.mock)
	if ds.Failed(false) {
		if w, _ := a.engine.Read(t.mock); !isMock(t.mock) && w != nil && len(w.Nodes) > 0 {
			ds = nil
			ds.Errorf(source.CodeMissingFile, source.Position{File: t.mock}, "this is a workflow, not a mock file").
				WithHint("name the mock file: wavefold test FILE.mock.yaml %s", t.mock)
		}
		return "", nil, ds
	}
	workflow, ds := fileOf(a.engine, []string{t.workflow})
	if len(ds) > 0 {
		return "", nil, ds
	}
	misses, ds := rehearse.Test(a.engine, workflow, file, rehearse.Options{Concurrency: concurrency})
	return workflow, misses, ds
}

// printTest prints the result of a mock file: each expectation that was not met, with its
// position in the file.
func (a *app) printTest(r *testResult) {
	p := a.palette(a.Out)
	if r.Passed {
		tty.Fprintf(a.Out, "%s    %s\n", p.Good("ok"), r.Mock)
		return
	}
	tty.Fprintf(a.Out, "%s  %s: %s not met\n", p.Bad("FAIL"), r.Mock, plural(len(r.Misses), "expectation"))
	slices.SortStableFunc(r.Misses, func(x, y rehearse.Miss) int { return int(x.Pos.Line - y.Pos.Line) })
	for _, m := range r.Misses {
		tty.Fprintf(a.Out, "  %s: %s\n    want %s\n    got  %s\n", p.Bold(m.Pos.String()), m.What, p.Good(m.Want), p.Bad(m.Got))
		if m.Because != "" {
			tty.Fprintf(a.Out, "    %s\n", p.Dim(m.Because))
		}
	}
}
