package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

// printedFlags are the flags of output.
type printedFlags struct {
	store         string
	item, attempt int // -1 and 0 if not set
	stderr        bool
}

// stream returns the name of the stream, and its name for people.
func (f *printedFlags) stream() (name, text string) {
	if f.stderr {
		return "stderr", "standard error"
	}
	return "stdout", "standard output"
}

func (a *app) outputCommand() *cobra.Command {
	f := printedFlags{item: -1}
	cmd := &cobra.Command{
		Use:   "output RUN NODE",
		Short: "Print what the program of a node has printed",
		Long: `output prints what the program of a node wrote to standard output, or with --stderr to
standard error, in a stored run. Programs are those of the kinds command, script and
tool. A run that is in progress shows what its programs have printed so far.

NODE is the id of a node. An item of a fan-out is many[7] or many --item 7; a node of
a nested workflow is outer/save, or outer[3]/save for item 3 of outer. Of several
rounds, visits and attempts the last one is printed, or the last one with the number
of --attempt.

Of each attempt and stream, at most 1 MiB is kept: the beginning and the end, with a
line between them that says how much was left out. Secrets are masked.

` + whereRuns,
		Example: examples(
			"wavefold output 4kqz7w load",
			"wavefold output 4kqz7w price[2] --stderr",
			"wavefold output 4kqz7w price --item 2 --attempt 1",
		),
		Args:              exactly(2, "a run and a node"),
		ValidArgsFunction: a.completePrinted,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.item < 0 && cmd.Flags().Changed("item") {
				return fmt.Errorf("--item is %d, want the index of an item: 0 or more", f.item)
			}
			return a.output(cmd.Context(), args[0], args[1], &f)
		},
	}
	flags := cmd.Flags()
	a.storeFlag(flags, &f.store)
	flags.IntVar(&f.item, "item", -1, "the `index` of an item of a fan-out or pipeline, from 0")
	flags.Lookup("item").DefValue = ""
	flags.Var(count{&f.attempt, "--attempt"}, "attempt", "the number of an attempt, from 1 (default: the last)")
	flags.BoolVar(&f.stderr, "stderr", false, "print standard error")
	return cmd
}

func (a *app) output(ctx context.Context, run, node string, f *printedFlags) error {
	found, err := a.findRun(ctx, f.store, run, nil)
	if err != nil {
		return err
	}
	defer found.store.Close()
	known, err := found.nodePaths(ctx)
	if err != nil {
		return err
	}
	if name := plan.PartPath(node); !slices.Contains(known, name) {
		return fail(exitUsage, "run %s has no node %q%s", found.Run, node, suggest(name, known))
	}
	path, item := node, f.item
	if at := strings.LastIndexByte(node, '['); item < 0 && strings.HasSuffix(node, "]") {
		if item, err = strconv.Atoi(node[at+1 : len(node)-1]); err == nil {
			path = node[:at]
		}
	}
	files, err := found.files()
	if err != nil {
		return err
	}
	list, err := scheduler.PrintedBy(files, found.Run, path)
	if err != nil {
		return &exitError{exitFailed, err}
	}
	p, err := f.choose(list, node, item)
	if err != nil {
		return err
	}
	r, err := p.Open(files, found.Run)
	if err != nil {
		return &exitError{exitFailed, err}
	}
	defer r.Close()
	if _, err := io.Copy(a.Out, r); err != nil && a.out.failed() == nil {
		return &exitError{exitFailed, err}
	}
	return nil
}

// nodePaths returns the paths of the nodes of the workflow that a run was started or resumed with, sorted.
func (r *storedRun) nodePaths(ctx context.Context) ([]string, error) {
	known := map[string]bool{}
	for rec, err := range r.store.Read(ctx, r.Run, 1) {
		if err == nil && rec.Type == store.Head {
			var h *journal.Head
			var then plan.Recorded
			if h, err = journal.SealedHead(rec.Data); err == nil {
				then, err = h.Recorded()
			}
			for path := range then.Parts {
				known[path] = true
			}
		}
		if err != nil {
			return nil, storedError(err)
		}
	}
	return slices.Sorted(maps.Keys(known)), nil
}

// choose returns the output of a node that the flags select. item is negative for a node
// without items.
func (f *printedFlags) choose(list []scheduler.Printed, node string, item int) (*scheduler.Printed, error) {
	stream, text := f.stream()
	other := false // whether there is something on the other stream
	var items, attempts []int
	var last *scheduler.Printed
	for i := range list {
		p := &list[i]
		index, isItem := p.Item.Get()
		if !isItem && len(p.Rounds) > 0 && item >= 0 { // body[2] is its round 2
			index, isItem = p.Rounds[0], true
		}
		switch {
		case isItem && p.Item > 0 && item < 0:
			items = append(items, index)
		case item >= 0 && (!isItem || index != item):
		case p.Stream != stream:
			other = true
		default:
			attempts = append(attempts, p.Attempt)
			if f.attempt == 0 || p.Attempt == f.attempt {
				last = p
			}
		}
	}
	switch {
	case last != nil:
		return last, nil
	case len(items) > 0:
		first, end := slices.Min(items), slices.Max(items)
		return nil, fail(exitUsage, "node %s has the output of several items, from %d to %d: name one, for example %s", node, first, end, shellWord(fmt.Sprintf("%s[%d]", node, first)))
	case len(attempts) > 0:
		slices.Sort(attempts)
		return nil, fail(exitUsage, "attempt %d of node %s has printed nothing to %s; there is output of %s", f.attempt, node, text, numberedAttempts(slices.Compact(attempts)))
	case other && f.stderr:
		return nil, fail(exitFailed, "node %s has printed nothing to standard error; without --stderr there is its standard output", node)
	case other:
		return nil, fail(exitFailed, "node %s has printed nothing to standard output; --stderr prints its standard error", node)
	case item >= 0 && len(list) > 0:
		return nil, fail(exitUsage, "item %d of node %s has printed nothing", item, list[0].Node)
	}
	return nil, fail(exitFailed, "node %s has printed nothing that is kept: programs of the kinds command, script and tool print, and output: none discards standard output", node)
}

// numberedAttempts lists attempts: "attempt 1", "attempts 1, 2".
func numberedAttempts(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	if len(words) == 1 {
		return "attempt " + words[0]
	}
	return "attempts " + strings.Join(words, ", ")
}

// completePrinted completes a run, and then a node.
func (a *app) completePrinted(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return a.completeRuns(nil)(cmd, args, word)
	}
	flag, _ := cmd.Flags().GetString("store")
	found, err := a.findRun(cmd.Context(), flag, args[0], nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer found.store.Close()
	nodes, _ := found.nodePaths(cmd.Context())
	return nodes, cobra.ShellCompDirectiveNoFileComp
}
