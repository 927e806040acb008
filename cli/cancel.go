package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/store"
)

func (a *app) cancelCommand() *cobra.Command {
	var at, by string
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Cancel a stored run",
		Long: `cancel ends a stored run. A run with a process ends as after an interrupt: its
process cancels running nodes and waits for them. A paused or interrupted run is
marked as cancelled. resume continues a cancelled run. A run that waits for its
concurrency_key ends without having begun, and is not stored.

` + whereRuns,
		Example: examples(
			"wavefold cancel 4kqz7w",
			"wavefold cancel 4kqz7w --by ann",
		),
		Args:              exactly(1, "a run"),
		ValidArgsFunction: a.completeRuns(func(s *store.Summary) bool { return !s.Ended() }),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.cancel(cmd.Context(), at, args[0], userName(by))
		},
	}
	a.storeFlag(cmd.Flags(), &at)
	cmd.Flags().StringVar(&by, "by", "", "the `name` of the person (default: the user)")
	return cmd
}

func (a *app) cancel(ctx context.Context, flag, id, by string) error {
	found, err := a.findAny(ctx, flag, id, nil)
	if err != nil {
		return err
	}
	defer found.store.Close()
	if found.isStored() {
		if err := found.withQueue(ctx); err != nil {
			return storedError(err)
		}
	}
	if found.wait == nil {
		return a.cancelStored(ctx, found, by)
	}
	switch err := a.cancelQueued(ctx, found, by); {
	case err == nil:
		return nil
	case !errors.Is(err, store.ErrNotFound):
		return storedError(err)
	case found.isStored():
		return a.cancelStored(ctx, found, by)
	}
	return a.cancelBegun(ctx, found, by) // it has its key
}

func (a *app) cancelStored(ctx context.Context, found *storedRun, by string) error {
	switch {
	case found.Ended():
		return fail(exitFailed, "run %s has ended already: %s", found.Run, found.Status)
	case found.Holder != nil:
		if err := inbox.PostCancel(ctx, found.store, found.Run, by); err != nil {
			return storedError(err)
		}
		tty.Fprintf(a.Out, "run %s is asked to end: pid %d of %s@%s executes it\n", found.Run, found.Holder.PID, found.Holder.User, found.Holder.Host)
		return nil
	}
	if err := scheduler.CancelStored(ctx, found.store, found.Run, by); err != nil {
		return storedError(err)
	}
	tty.Fprintf(a.Out, "run %s is cancelled\n", found.Run)
	return nil
}

// beginTime limits the time from when a run has its key until it is stored.
const beginTime = 2 * time.Second

// cancelBegun cancels a run that was waiting until just now.
func (a *app) cancelBegun(ctx context.Context, found *storedRun, by string) error {
	for end := time.Now().Add(beginTime); time.Now().Before(end); time.Sleep(beginTime / 20) {
		err := inbox.PostCancel(ctx, found.store, found.Run, by)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return storedError(err)
		}
		h := found.wait.Lease
		tty.Fprintf(a.Out, "run %s is asked to end: pid %d of %s@%s executes it\n", found.Run, h.PID, h.User, h.Host)
		return nil
	}
	return fail(exitFailed, "run %s has ended before it began", found.Run)
}
