package cli

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
)

func (a *app) resumeCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "resume [RUN]",
		Short: "Continue a stored run",
		Long: `resume continues a run that was stored and has not ended: its process crashed, it
was interrupted, or it waits for people. What has ended is kept. Nodes that were in
progress run again, with the same idempotency keys.

RUN is the id of the run or the beginning of it, at least four characters. Without
it, resume takes the newest run that can be resumed. Runs are looked for in the
store that --store or $WAVEFOLD_STORE names, or else in .wavefold in this folder, in
the nearest one above, and in folders up to four levels below.

Inputs, limits and the settings of the run are those it was started with. See
docs/durability.md.`,
		Example: examples(
			"wavefold resume",
			"wavefold resume 4kqz7w",
			"wavefold resume --budget-cost 2.50 4kqz7w      # in place of the limit that was reached",
		),
		Args: atMost(1, "one run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := ""
			if len(args) > 0 {
				id = args[0]
			}
			return a.resume(cmd.Context(), id, &f)
		},
	}
	flags := cmd.Flags()
	a.storeFlag(flags, &f.store)
	f.outputFlags(cmd)
	flags.BoolVar(&f.strict, "strict", false, "partial success exits with 1")
	flags.BoolVar(&f.autoApprove, "auto-approve", false, "take the first choice of every human gate instead of asking")
	f.budget.add(flags)
	return cmd
}

// resumable reports whether a run can be resumed without naming it.
func resumable(s *store.Summary) bool {
	switch s.Status {
	case store.StatusInterrupted, store.StatusPaused, string(core.RunCancelled), string(core.RunFailed):
		return true
	}
	return false
}

func (a *app) resume(ctx context.Context, id string, f *runFlags) error {
	if err := f.checkOutput(); err != nil {
		return err
	}
	found, err := a.findRun(ctx, f.store, id, resumable)
	if err != nil {
		return err
	}
	defer found.store.Close()
	st, err := scheduler.OpenStored(ctx, found.store, found.Run)
	if err != nil {
		return storedError(err)
	}
	p, err := a.planOf(st, found, f)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	keep := &keeping{app: a, store: found.store}
	keep.rec = scheduler.Recording{Store: found.store, Durability: core.DurabilityMode(f.durability)}
	return a.executeRun(ctx, p, f, keep, nil, func(ctx context.Context, o scheduler.Options) (*core.Report, error) {
		return scheduler.Resume(ctx, st, p, o)
	})
}

// planOf compiles the workflow of a stored run.
func (a *app) planOf(st *scheduler.Stored, found *storedRun, f *runFlags) (*plan.Plan, error) {
	if err := a.useModel(st.Head.Options.Model, f.budget.prices); err != nil {
		return nil, err
	}
	name := filepath.Join(filepath.Dir(found.store.Dir()), filepath.FromSlash(st.Head.File))
	p, err := a.load(f.compiler(a.engine), []string{name}, f.strict, f.json, f.quiet)
	if err != nil {
		return nil, err
	}
	a.mask = secret.MaskerOf(p.Secrets)
	return p, nil
}

// storedError returns the error of a command for an error of a store, with its exit code.
func storedError(err error) error {
	switch _, held := errors.AsType[*store.HeldError](err); {
	case held:
		return &exitError{exitHeld, err}
	case errors.Is(err, store.ErrNotFound):
		return &exitError{exitUsage, err}
	}
	return &exitError{exitFailed, err}
}
