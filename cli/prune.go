package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/store"
)

// pruneFlags are the flags of prune.
type pruneFlags struct {
	store, workflow, older string
	keep                   int // -1 if not set
	status                 []string
	dryRun, json           bool
}

func (a *app) pruneCommand() *cobra.Command {
	f := pruneFlags{keep: -1}
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old runs from a store",
		Long: `prune removes stored runs that are both old (--older) and not among the newest of
their workflow (--keep), with the blobs that only they needed. It removes runs that
have ended, and paused, interrupted or damaged ones only if --status names them. A
run with a process is never removed.

Without --keep and --older it removes what run removes at its end: successful runs
older than 30 days that are not among the 20 newest of their workflow, and failed and
cancelled ones older than 90 days.`,
		Example: examples(
			"wavefold prune --dry-run",
			"wavefold prune --keep 5 --older 7d",
			"wavefold prune --older 30d --status interrupted",
			"wavefold prune --keep 0 --workflow orders --json",
		),
		Args: atMost(0, noArguments),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.prune(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	a.storeFlag(flags, &f.store)
	flags.Var(keepCount{&f.keep}, "keep", "keep this many of the newest runs of each workflow (default: 0)")
	flags.StringVar(&f.older, "older", "", "remove only runs that were last written before this `time`: 2024-01-31, 90m or 7d ago")
	flags.StringSliceVar(&f.status, "status", nil, "remove only runs with this `status`; several with commas")
	flags.StringVar(&f.workflow, "workflow", "", "remove only runs of the workflow with this `name`")
	flags.BoolVar(&f.dryRun, "dry-run", false, "list the runs and remove nothing")
	flags.BoolVar(&f.json, "json", false, "print what was removed as JSON")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(runStatuses, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// keepCount is the value of --keep: an integer of at least 0.
type keepCount struct{ n *int }

// String returns the value, "" if it is not set.
func (k keepCount) String() string {
	if k.n == nil || *k.n < 0 {
		return ""
	}
	return strconv.Itoa(*k.n)
}

// Type returns the placeholder for the value in the help.
func (keepCount) Type() string { return "N" }

// Set parses the value.
func (k keepCount) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return &badFlag{fmt.Sprintf("--keep wants a whole number of 0 or more, not %q", text)}
	}
	*k.n = n
	return nil
}

// queries returns what the flags select.
func (f *pruneFlags) queries(now time.Time) ([]store.Query, error) {
	if err := checkStatuses(f.status); err != nil {
		return nil, err
	}
	if slices.Contains(f.status, store.StatusRunning) {
		return nil, errors.New("--status running: a run with a process is never removed")
	}
	if f.keep < 0 && f.older == "" {
		if len(f.status) > 0 {
			return nil, errors.New("--status needs --keep or --older, which say how many runs are removed")
		}
		return store.Retention(f.workflow, now), nil
	}
	q := store.Query{Workflow: f.workflow, Status: f.status, Keep: max(f.keep, 0)}
	var err error
	if f.older != "" {
		q.Before, err = momentOf("--older", f.older, now)
	}
	return []store.Query{q}, err
}

// prunedJSON is what prune removed.
type prunedJSON struct {
	Runs  []string `json:"runs"`
	Blobs int      `json:"blobs"`
	// Cached is the number of results of nodes that have expired.
	Cached int   `json:"cached"`
	Bytes  int64 `json:"bytes"`
}

func (a *app) prune(ctx context.Context, f *pruneFlags) error {
	queries, err := f.queries(time.Now())
	if err != nil {
		return err
	}
	dirs, err := a.findStores(f.store)
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		return errNoStore
	}
	total := prunedJSON{Runs: []string{}}
	for _, dir := range dirs {
		s, err := a.openStore(ctx, dir)
		if err != nil {
			return err
		}
		for _, q := range queries {
			q.DryRun = f.dryRun
			pruned, err := s.Prune(ctx, q)
			if err != nil {
				return &exitError{exitFailed, errors.Join(err, s.Close())}
			}
			total.Runs, total.Blobs = append(total.Runs, pruned.Runs...), total.Blobs+pruned.Blobs
			total.Cached, total.Bytes = total.Cached+pruned.Cached, total.Bytes+pruned.Bytes
		}
		if err := s.Close(); err != nil {
			return &exitError{exitFailed, err}
		}
	}
	if f.json {
		return a.writeJSON(total)
	}
	verb := "removed"
	if f.dryRun {
		verb = "would remove"
		for _, run := range total.Runs {
			tty.Fprintf(a.Out, "%s\n", run)
		}
	}
	cached := ""
	if total.Cached > 0 {
		cached = plural(total.Cached, "expired result") + ", "
	}
	tty.Fprintf(a.Out, "%s %s, %s, %s%s\n", verb, plural(len(total.Runs), "run"), plural(total.Blobs, "blob"), cached, plural(int(total.Bytes), "byte"))
	return nil
}
