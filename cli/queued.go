package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store"
)

// statusQueued is the status in a list of a run that waits for its concurrency key. It is not stored yet.
const statusQueued = "queued"

// queuedRuns returns the runs that wait for concurrency keys in the stores, the last one first, without those
// that are stored because they were resumed. The name of their workflow is not known.
func (a *app) queuedRuns(ctx context.Context, flag string, q store.Query) ([]storedRun, error) {
	dirs, err := a.findStores(flag)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	var all []storedRun
	for _, dir := range dirs {
		s, err := a.openStore(ctx, dir)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		list, err := scheduler.QueuedRuns(ctx, s)
		if err != nil {
			return nil, &exitError{exitFailed, err}
		}
		for _, w := range list {
			if w.Lease.Since.Before(q.Since) || isStored(ctx, s, w.Run) {
				continue
			}
			holder := w.Lease
			all = append(all, storedRun{s, store.Summary{Run: w.Run, Status: statusQueued, Reason: reasonOf(&w), Started: holder.Since, Updated: holder.Since, Holder: &holder}})
		}
	}
	slices.SortStableFunc(all, func(x, y storedRun) int { return y.Started.Compare(x.Started) })
	return all, nil
}

func isStored(ctx context.Context, s store.Store, run string) bool {
	for _, err := range s.Read(ctx, run, 1) {
		return err == nil
	}
	return false
}

// reasonOf says what a run waits for.
func reasonOf(w *scheduler.QueuedRun) string {
	text := fmt.Sprintf("waits for the concurrency key %q", w.Key)
	if w.Other != "" {
		text += " of run " + w.Other
	}
	if w.Before > 0 {
		text += ", after " + plural(w.Before, "other run")
	}
	return text
}
