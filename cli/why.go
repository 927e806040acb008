package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler/projection"
)

func (a *app) whyCommand() *cobra.Command {
	var run string
	var asJSON bool
	cmd := &cobra.Command{
		ValidArgsFunction: a.completeNodes,
		Use:               "why [NODE [WORKFLOW]] --run FILE|RUN",
		Short:             "Explain why a node was skipped, failed, tried again or visited",
		Long: `why reads the events of a run and explains how a node ended:
which condition skipped it and with which values, which attempts failed and how,
which node had written a field that rejected a write, and in which node a failure
began. Without NODE it lists everything that did not succeed.

--run names the log of a run (see run --events) or a stored run.

For a node of a walk it shows how the walk arrived each time (by which edge, rule and
values), how each visit ended, and where the walk continued. With WORKFLOW it also
explains why a walk never reached a node.`,
		Example: examples(
			"wavefold run --events run.ndjson flow.yaml",
			"wavefold why --run run.ndjson",
			"wavefold why save --run 4kqz7w",
			"wavefold why undo release.dot --run run.ndjson   # the walk never came there",
		),
		Args: atMost(2, "at most a node and a workflow"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if run == "" {
				return errors.New("why reads the events of a run: --run FILE|RUN (run --events FILE writes a file; runs lists the stored runs)")
			}
			s, err := a.readRun(cmd.Context(), run)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return a.troubles(s, asJSON)
			}
			if _, ok := s.Account(args[0]); !ok && (len(args) == 2 || len(gateJumps(s, args[0])) > 0) {
				return a.whyNot(s, args[0], args[1:])
			}
			return a.why(s, args[0], asJSON)
		},
	}
	a.runFlag(cmd, &run, "the run: a `file` with its events, - for standard input, or the id of a stored run")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the explanation as JSON")
	return cmd
}

// readRun reads the run that --run names: an event log, or a stored run.
func (a *app) readRun(ctx context.Context, name string) (*explain.Run, error) {
	in, err := a.openRun(ctx, name, projection.Events)
	if err != nil {
		return nil, runError(err)
	}
	defer in.Close()
	s, err := explain.Read(in)
	if err != nil {
		return nil, fail(exitUsage, "--run %s: %w", name, err)
	}
	return s, nil
}

// runError returns the error about a run that --run names.
func runError(err error) error {
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	return fail(exitUsage, "--run: %w", err)
}

func (a *app) why(s *explain.Run, node string, asJSON bool) error {
	account, ok := s.Account(node)
	if !ok {
		if _, err := os.Stat(node); err == nil {
			return fail(exitUsage, "%s is a file, and the node comes before it: wavefold why NODE %s --run …, or no node and no file for all that went wrong", node, shellWord(node))
		}
		if len(s.Steps) > 0 {
			return fail(exitUsage, "node %q is not in the events: it was never reached, or the workflow has no such node%s; with the workflow there is more to see: wavefold why %s FILE.dot --run …", node, hintFor(node, s.Nodes()), shellWord(node))
		}
		return fail(exitUsage, "node %q is not in the events: it was never reached, or the workflow has no such node%s", node, hintFor(node, s.Nodes()))
	}
	if asJSON {
		return a.writeJSON(account)
	}
	lines := s.Explain(account)
	tty.Fprintf(a.Out, "%s\n", a.palette(a.Out).Bold(lines[0]))
	for _, line := range lines[1:] {
		a.printLines(line)
	}
	return nil
}

// printLines prints a message with its line breaks. Lines after the first one are indented as far as the first one, and
// as they are in the message.
func (a *app) printLines(message string) {
	indent := message[:len(message)-len(strings.TrimLeft(message, " "))]
	for i, line := range strings.Split(message, "\n") {
		if i > 0 {
			line = indent + line
		}
		tty.Fprintf(a.Out, "%s\n", line)
	}
}

// firstLine returns the first line of a message for a table, and how many follow.
func firstLine(message string) string {
	first, rest, several := strings.Cut(message, "\n")
	if !several {
		return message
	}
	return strings.TrimSuffix(first, ":") + " (and " + plural(strings.Count(rest, "\n")+1, "more line") + ")"
}

func (a *app) troubles(s *explain.Run, asJSON bool) error {
	list := s.Unsuccessful()
	if asJSON {
		if list == nil {
			list = []*explain.Account{}
		}
		return a.writeJSON(list)
	}
	if len(list) == 0 {
		tty.Fprintf(a.Out, "every node of %s succeeded\n", s.Workflow)
		a.ownError(s, list)
		return nil
	}
	p := a.palette(a.Out)
	t := tty.NewTable([]string{"node", "status", "why"})
	t.Below()
	for _, x := range list {
		t.Row(x.Node, p.Status(x.Status), s.Brief(x))
	}
	a.printTable(a.Out, t)
	if s.Status != "" && s.Status != string(core.RunSuccess) {
		tty.Fprintf(a.Out, "\n%s: %s\n", s.Workflow, p.Status(s.Status))
	}
	a.ownError(s, list)
	return nil
}

// ownError prints the error of a run that failed although none of its nodes did, for
// example because a merge failed.
func (a *app) ownError(s *explain.Run, list []*explain.Account) {
	if s.Error != "" && len(s.Steps) > 0 {
		tty.Fprintf(a.Out, "the run could not continue: %s\n", s.Error)
		return
	}
	if s.Error != "" && !slices.ContainsFunc(list, func(x *explain.Account) bool { return x.Status == core.Fail.String() }) {
		tty.Fprintf(a.Out, "the run failed: %s\n", s.Error)
	}
}
