package cli

import (
	"context"

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
marked as cancelled. resume continues a cancelled run.

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
	found, err := a.findRun(ctx, flag, id, nil)
	if err != nil {
		return err
	}
	defer found.store.Close()
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
