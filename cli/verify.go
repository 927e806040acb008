package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/projection"
	"github.com/wavefold/wavefold/scheduler/verify"
)

func (a *app) verifyCommand() *cobra.Command {
	var asJSON bool
	var run string
	cmd := &cobra.Command{
		Use:   "verify [FILE] EVENTS|--run RUN",
		Short: "Check the events of a run against the rules",
		Long: `verify reads the events of a run (see run --events), replays them against the
workflow in FILE and reports every violation of the rules, with its line in the log:
the order of nodes, limits, retries, items, rows and rounds, skips, the paths of
walks, writes, the final state and statuses. EVENTS is a file, or - for standard
input; --run names a stored run instead. If a run had ended and was resumed, verify
checks its last part, with the results that were kept of the others. Files, programs
and Go functions that only a run needs may be missing.

Rules that the log has too little information for are listed as not checked.

Exit codes: 0 no violations, 4 violations, 2 nothing to compare: EVENTS is not an
event log, is incomplete, or belongs to another workflow.`,
		Example: examples(
			"wavefold run --events run.ndjson flow.yaml",
			"wavefold verify flow.yaml run.ndjson",
			"wavefold verify --run 4kqz7w            # a stored run, with its workflow",
			"wavefold verify --json flow.yaml run.ndjson | jq '.violations[].message'",
			"gunzip -c run.ndjson.gz | wavefold verify flow.yaml -",
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if run != "" {
				return atMost(1, oneWorkflow)(cmd, args)
			}
			return verifyArgs(cmd, args)
		},
		ValidArgsFunction: verifyFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			if run != "" {
				p, err := a.planForRun(cmd.Context(), args, run)
				if err != nil {
					return err
				}
				in, err := a.openRun(cmd.Context(), run, projection.Newest)
				if err != nil {
					return runError(err)
				}
				return a.verify(p, in, run, asJSON)
			}
			last := len(args) - 1
			p, ds := check(a.lenient(), args[:last], false)
			if p == nil {
				return a.invalid(ds, false)
			}
			in, err := a.openLog(args[last])
			if err != nil {
				return &exitError{exitUsage, err}
			}
			return a.verify(p, in, args[last], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	a.runFlag(cmd, &run, "the run: a `file` with its events, - for standard input, or the id of a stored run")
	a.parallelFlag(cmd)
	return cmd
}

func verifyArgs(_ *cobra.Command, args []string) error {
	isWorkflow := func(path string) bool {
		return slices.Contains([]string{".yaml", ".yml", ".dot", ".fabro"}, filepath.Ext(path))
	}
	switch {
	case len(args) == 0:
		return errors.New("verify wants the log of a run: verify FILE EVENTS (run --events EVENTS writes one)")
	case len(args) > 2:
		return fmt.Errorf("verify wants a workflow and the log of a run, not %d files", len(args))
	case len(args) == 1 && isWorkflow(args[0]):
		return fmt.Errorf("verify needs the log of a run in addition to %s: verify FILE EVENTS (run --events EVENTS writes one)", args[0])
	case len(args) == 2 && isWorkflow(args[1]) && !isWorkflow(args[0]):
		return fmt.Errorf("verify wants the workflow first: verify %s %s", args[1], args[0])
	}
	return nil
}

// verifyFiles completes a workflow, and then any file.
func verifyFiles(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return workflowFiles(cmd, args, word)
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// verify checks the events in a log, and closes it.
func (a *app) verify(p *plan.Plan, in io.ReadCloser, name string, asJSON bool) error {
	defer in.Close()
	r, err := verify.Log(p, in)
	if err != nil {
		return fail(exitUsage, "%s: %w", name, err)
	}
	if asJSON {
		err = a.writeJSON(r)
	} else {
		a.printViolations(r, name)
	}
	if err == nil && len(r.Violations) > 0 {
		return reported(exitViolated)
	}
	return err
}

func (a *app) printViolations(r *verify.Report, path string) {
	p := a.palette(a.Out)
	for _, v := range r.Violations {
		subject := ""
		if v.Node != "" {
			subject = v.Node + itemText(v.Item, v.Round) + ": "
		}
		at := fmt.Sprintf("seq %d", v.Seq)
		if !v.Time.IsZero() && !r.Started.IsZero() {
			at += fmt.Sprintf(", %.3fs", v.Time.Sub(r.Started).Seconds())
		}
		tty.Fprintf(a.Out, "%s %s%s: %s %s\n", p.Bold(fmt.Sprintf("%s:%d:", path, v.Line)), subject, p.Bad(string(v.Rule)), v.Message, p.Dim("("+at+")"))
	}
	for _, u := range r.Unchecked {
		tty.Fprintf(a.Out, "%s %s: %s\n", p.Dim("not checked:"), string(u.Rule), u.Why)
	}
	result := tty.Styled("no violations")
	if n := len(r.Violations); n > 0 {
		result = p.Bad(plural(n, "violation"))
	}
	tty.Fprintf(a.Out, "checked %s, %s, %s: %s\n", plural(r.Events, "event"), plural(r.Nodes, "node"), plural(len(r.Rules), "rule"), result)
}
