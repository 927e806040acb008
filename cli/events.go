package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/projection"
	"github.com/wavefold/wavefold/store"
)

func (a *app) eventsCommand() *cobra.Command {
	var at, to string
	var logs bool
	cmd := &cobra.Command{
		Use:   "events [RUN]",
		Short: "Print the events of a stored run",
		Long: `events prints the events of a stored run, one JSON object per line, as run --events
writes them: with the times and numbers that they had, whether or not the run had an
event log. With --logs, the log records and the progress of its nodes are put between
them, by their times; a crash may have taken the last of these. Secrets are masked.

` + whereRuns + newestRun,
		Example: examples(
			"wavefold events 4kqz7w",
			"wavefold events 4kqz7w --logs -o run.ndjson",
			"wavefold events 4kqz7w | jq -c 'select(.type == \"node.failed\")'",
		),
		Args:              atMost(1, "one run"),
		ValidArgsFunction: a.completeRuns(nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := a.findRun(cmd.Context(), at, first(args), nil)
			if err != nil {
				return err
			}
			defer found.store.Close()
			if to == "" {
				to = "-"
			}
			log, err := a.openEvents(to, false)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			err = a.storedEvents(cmd.Context(), found, log, logs)
			return errors.Join(err, log.close())
		},
	}
	a.storeFlag(cmd.Flags(), &at)
	cmd.Flags().BoolVar(&logs, "logs", false, "with log records and progress")
	cmd.Flags().StringVarP(&to, "output", "o", "", "write to a `file` instead of standard output")
	return cmd
}

// storedEvents writes the events of a stored run to a log. logged adds log records and progress.
func (a *app) storedEvents(ctx context.Context, r *storedRun, log *eventLog, logged bool) error {
	compile := func(h *journal.Head) (*plan.Plan, error) { return a.recordedPlan(ctx, r, h) }
	logs := &storedLogs{err: io.EOF}
	if logged {
		var err error
		if logs, err = r.openLogs(); err != nil {
			return err
		}
		defer logs.close()
	}
	write := func(e *core.Event) error {
		if log.write(e) {
			log.flush()
		}
		return log.err
	}
	err := projection.Events(ctx, r.store, r.Run, compile, func(e *core.Event) error {
		err := logs.before(e.Time, write)
		logs.seq = e.Seq
		return errors.Join(err, write(e))
	})
	if err == nil {
		err = logs.before(time.Time{}, write)
	}
	log.flush()
	if err != nil && log.err == nil {
		return &exitError{exitFailed, err}
	}
	return nil
}

// recordedPlan compiles the workflow that a part of a journal was written with: from the store or, if
// that has another one, from its file.
func (a *app) recordedPlan(ctx context.Context, r *storedRun, h *journal.Head) (*plan.Plan, error) {
	if h.File == "" {
		return nil, fail(exitUsage, "run %s was not started from a document; only the program that started it knows its graph", r.Run)
	}
	files, err := scheduler.SourceFiles(ctx, r.store, h)
	if err != nil {
		return nil, err
	}
	now := *a.engine
	now.Resumed = true
	for _, e := range []*wavefold.Engine{a.engine.From(files).LookingBack(ctx, r.store), a.engine.From(files), &now} {
		e.Parallel = h.Options.Parallel != 0 || e.Parallel
		if p, _ := check(e, []string{r.file()}, false); p != nil && h.IsOf(p) {
			return p, nil
		}
	}
	return nil, fail(exitUsage, "the workflow of run %s is not known any more: the store does not have it, and %s has changed or is gone", r.Run, r.file())
}

// planForRun compiles the workflow in args. If args is empty, it compiles the workflow of the stored run
// that --run names.
func (a *app) planForRun(ctx context.Context, args []string, name string) (*plan.Plan, error) {
	if len(args) > 0 || name == "" || isLog(name) {
		p, ds := check(a.lenient(), args, false)
		if p == nil {
			return nil, a.invalid(ds, false)
		}
		return p, nil
	}
	found, err := a.findRun(ctx, "", name, nil)
	if err != nil {
		return nil, err
	}
	defer found.store.Close()
	var head *journal.Head
	for rec, err := range found.store.Read(ctx, found.Run, 1) {
		if err == nil && rec.Type == store.Head {
			head, err = journal.SealedHead(rec.Data)
		}
		if err != nil {
			return nil, storedError(err)
		}
	}
	return a.recordedPlan(ctx, found, head)
}

// isLog reports whether the value of --run names the log of a run, and not a stored run: it is a path, a
// name with an extension, or the name of a file that exists.
func isLog(name string) bool {
	if name == "-" || filepath.Base(name) != name || filepath.Ext(name) != "" {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// openRun opens the events that --run names: those in a file, on standard input, or of a stored run, as
// events returns them. The caller closes them.
func (a *app) openRun(ctx context.Context, name string, events projected) (io.ReadCloser, error) {
	if isLog(name) {
		return a.openLog(name)
	}
	found, err := a.findRun(ctx, "", name, nil)
	if err != nil {
		return nil, err
	}
	defer found.store.Close()
	var out bytes.Buffer
	log := &eventLog{out: tty.JSON(&out)}
	compile := func(h *journal.Head) (*plan.Plan, error) { return a.recordedPlan(ctx, found, h) }
	err = events(ctx, found.store, found.Run, compile, func(e *core.Event) error {
		if log.write(e) {
			log.flush()
		}
		return log.err
	})
	log.flush()
	if err != nil {
		return nil, &exitError{exitFailed, err}
	}
	return io.NopCloser(&out), nil
}

// projected is projection.Events or projection.Newest.
type projected = func(context.Context, store.Store, string, func(*journal.Head) (*plan.Plan, error), func(*core.Event) error) error

// openLog opens an event log.
func (a *app) openLog(path string) (io.ReadCloser, error) {
	switch {
	case path != "-":
		return os.Open(path)
	case a.In == nil:
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	return io.NopCloser(a.In), nil
}

// runFlag adds --run.
func (a *app) runFlag(cmd *cobra.Command, to *string, use string) {
	cmd.Flags().StringVar(to, "run", "", use)
	_ = cmd.RegisterFlagCompletionFunc("run", func(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
		runs, _ := a.completeRuns(nil)(cmd, nil, word)
		return runs, cobra.ShellCompDirectiveDefault
	})
}
