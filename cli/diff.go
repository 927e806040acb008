package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler/history"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
)

func (a *app) diffCommand() *cobra.Command {
	var at string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff RUN1 RUN2",
		Short: "Compare two stored runs",
		Long: `diff compares two stored runs. It shows first the first place where they differ: the
first execution, in the order in which writes are merged, with another status, another
next node of a walk or another written value. Then it shows the nodes of the workflow
that have changed, and the inputs, statuses, routes and values of the final state
that differ, and large differences in time.

The exit code is 0 if the runs do not differ, 1 if they do, and 2 after an error.
Different times alone are no difference. Secrets are masked.

` + whereRuns,
		Example: examples(
			"wavefold diff 4kqz7w 9pm2xc",
			"wavefold diff yesterday today --json | jq '.first'",
		),
		Args:              exactly(2, "two runs"),
		ValidArgsFunction: a.completeRuns(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.diff(cmd.Context(), at, args)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			if asJSON {
				if err := a.writeJSON(d); err != nil {
					return err
				}
			} else {
				a.printDiff(args, d)
			}
			if !d.Equal() {
				return reported(exitFailed)
			}
			return nil
		},
	}
	a.storeFlag(cmd.Flags(), &at)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return cmd
}

// diff compares two runs, and sets args to their whole names.
func (a *app) diff(ctx context.Context, at string, args []string) (d *history.Diff, err error) {
	known := map[string]*plan.Plan{} // by fingerprint and order
	var sides [2]history.Side
	for i, id := range args {
		found, err := a.findRun(ctx, at, id, nil)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, found.store.Close()) }()
		args[i] = found.Run
		if !found.Ended() {
			a.hintf("run %s has not ended (%s): what it has not recorded is missing here", found.Run, found.Status)
		}
		sides[i] = history.Side{Store: found.store, Run: found.Run, Compile: func(h *journal.Head) (*plan.Plan, error) {
			if p := known[h.Plan+h.Order]; p != nil {
				p.ForReplay() // runs of one workflow are not compared by their nodes
				return p, nil
			}
			p, err := a.recordedPlan(ctx, found, h)
			known[h.Plan+h.Order] = p
			return p, err
		}}
	}
	return history.Compare(ctx, sides[0], sides[1])
}

// maxDiffs limits the rows of a section of a difference.
const maxDiffs = 20

// section is a table of what differs in one respect.
type section struct {
	*tty.Table
	rows, hidden int
}

func newSection(headings ...string) *section { return &section{Table: tty.NewTable(headings)} }

func (s *section) add(cells ...any) {
	if s.rows++; s.rows > maxDiffs {
		s.hidden++
		return
	}
	s.Row(cells...)
}

// printSection prints a section, unless it is empty.
func (a *app) printSection(s *section) {
	if s.rows == 0 {
		return
	}
	tty.Fprintf(a.Out, "\n")
	a.printTable(a.Out, s.Table)
	if s.hidden > 0 {
		tty.Fprintf(a.Out, "… and %s more, see --json\n", plural(s.hidden, "difference"))
	}
}

func (a *app) printDiff(runs []string, d *history.Diff) {
	p := a.palette(a.Out)
	switch {
	case d.First != nil:
		a.printParting(runs, d.First)
	case d.Equal():
		tty.Fprintf(a.Out, "%s and %s do not differ\n", p.Bold(runs[0]), p.Bold(runs[1]))
	default:
		tty.Fprintf(a.Out, "every execution of %s and %s has the same status, route and values\n", p.Bold(runs[0]), p.Bold(runs[1]))
	}
	workflow := newSection("workflow", "change")
	for _, c := range d.Workflow {
		text := c.Change
		for i, m := range c.Members {
			if text += ", "; i == 0 {
				text = c.Change + ": "
			}
			text += m
		}
		workflow.add(c.Path, text)
	}
	a.printSection(workflow)
	a.printValueDiffs("input", runs, d.Inputs)
	a.printTextDiffs("status", runs, d.Nodes)
	a.printTextDiffs("next node after", runs, d.Routes)
	a.printValueDiffs("state", runs, d.State)
	times := newSection("time", runs[0], runs[1])
	for _, t := range d.Times {
		times.add(t.Name, explain.Duration(t.A), explain.Duration(t.B))
	}
	a.printSection(times)
}

// printParting prints the first execution in which two runs differ.
func (a *app) printParting(runs []string, x *history.Parting) {
	tty.Fprintf(a.Out, "first difference: %s\n", a.palette(a.Out).Bold(x.Name))
	t := newSection("differs in", runs[0], runs[1])
	switch {
	case x.A == nil:
		t.add("status", "did not run", statusOf(x.B))
	case x.B == nil:
		t.add("status", statusOf(x.A), "did not run")
	default:
		if x.A.Status != x.B.Status {
			t.add("status", statusOf(x.A), statusOf(x.B))
		}
		if x.A.Route != x.B.Route {
			t.add("next node", x.A.Route, x.B.Route)
		}
	}
	for _, v := range x.Values {
		t.add(v.Path, sideText(v.A), sideText(v.B))
	}
	a.printTable(a.Out, t.Table)
	if t.hidden > 0 {
		tty.Fprintf(a.Out, "… and %s more, see --json\n", plural(t.hidden, "value"))
	}
}

// statusOf returns the status of an execution with the reason.
func statusOf(x *history.Execution) string {
	text := cmp.Or(x.Status, "not ended")
	if x.Reason != "" {
		text += ": " + x.Reason
	}
	return text
}

// sideText returns the value of one of two runs, "-" if it has none.
func sideText(v *any) tty.Styled {
	if v == nil {
		return "-"
	}
	return tty.Cut(tty.Safe(value.JSON(*v)), maxShown)
}

func (a *app) printValueDiffs(what string, runs []string, list []history.ValueDiff) {
	t := newSection(what, runs[0], runs[1])
	for _, v := range list {
		t.add(v.Path, sideText(v.A), sideText(v.B))
	}
	a.printSection(t)
}

func (a *app) printTextDiffs(what string, runs []string, list []history.TextDiff) {
	t := newSection(what, runs[0], runs[1])
	for _, v := range list {
		t.add(v.Name, cmp.Or(v.A, "-"), cmp.Or(v.B, "-"))
	}
	a.printSection(t)
}
