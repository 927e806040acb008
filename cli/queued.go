package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/internal/explain"
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
			return nil, err
		}
		list, err := scheduler.QueuedRuns(ctx, s)
		if err != nil {
			return nil, &exitError{exitFailed, err}
		}
		for _, w := range list {
			if w.Lease.Since.Before(q.Since) || isStored(ctx, s, w.Run) {
				continue
			}
			all = append(all, *newQueued(s, &w))
		}
	}
	slices.SortStableFunc(all, func(x, y storedRun) int { return y.Started.Compare(x.Started) })
	return all, nil
}

// newQueued returns a run that waits for its concurrency key and is not stored.
func newQueued(s runStore, w *scheduler.QueuedRun) *storedRun {
	holder := w.Lease
	r := &storedRun{store: s, wait: w, Summary: store.Summary{Run: w.Run, Status: statusQueued, Started: holder.Since, Updated: holder.Since, Holder: &holder}}
	r.Reason = r.queueJSON().text()
	return r
}

// isStored reports whether a run has a journal. A run that waits has none, unless it was resumed.
func (r *storedRun) isStored() bool { return r.Status != statusQueued }

// unstored is the error of a command for stored runs.
func (r *storedRun) unstored() error {
	return fail(exitUsage, "run %s is not stored before it begins: it %s", r.Run, r.Reason)
}

// findQueued returns a run in a store that waits for its concurrency key: the run with that id, or else the
// runs whose ids begin with it.
func findQueued(ctx context.Context, s runStore, id string) (list []*storedRun, err error) {
	all, err := scheduler.QueuedRuns(ctx, s)
	for i := range all {
		w := &all[i]
		if w.Run == id && !isStored(ctx, s, w.Run) {
			return []*storedRun{newQueued(s, w)}, nil
		}
		if len(id) >= minPrefix && strings.HasPrefix(w.Run, id) && !isStored(ctx, s, w.Run) {
			list = append(list, newQueued(s, w))
		}
	}
	return list, err
}

// withQueue adds for what a stored run waits, if it was resumed and waits for its concurrency key.
func (r *storedRun) withQueue(ctx context.Context) error {
	list, err := scheduler.QueuedRuns(ctx, r.store)
	for i := range list {
		if list[i].Run == r.Run {
			r.wait = &list[i]
		}
	}
	return err
}

// cancelQueued ends the waiting of a run.
func (a *app) cancelQueued(ctx context.Context, r *storedRun, by string) error {
	if err := r.wait.Cancel(ctx, r.store, by); err != nil {
		return err
	}
	h := r.wait.Lease
	tty.Fprintf(a.Out, "run %s is asked to end: pid %d of %s@%s waits for its concurrency key\n", r.Run, h.PID, h.User, h.Host)
	return nil
}

// queueJSON is for what a run waits.
type queueJSON struct {
	Key    string     `json:"concurrency_key"`
	Run    string     `json:"run"` // that has the key; "" if none has
	Before int        `json:"before"`
	Since  time.Time  `json:"since"`
	Holder holderJSON `json:"holder"` // its process
}

func (r *storedRun) queueJSON() *queueJSON {
	if r.wait == nil {
		return nil
	}
	h := r.wait.Lease
	return &queueJSON{r.wait.Key, r.wait.Other, r.wait.Before, h.Since, holderJSON{h.Host, h.PID, h.User, h.Since}}
}

func isStored(ctx context.Context, s store.Store, run string) bool {
	for _, err := range s.Read(ctx, run, 1) {
		return err == nil
	}
	return false
}

// text says for what a run waits.
func (q *queueJSON) text() string {
	text := fmt.Sprintf("waits for the concurrency key %q", q.Key)
	if q.Run != "" {
		text += " of run " + q.Run
	}
	if q.Before > 0 {
		text += ", after " + plural(q.Before, "other run")
	}
	return text
}

// inspectQueued shows a run that waits and is not stored.
func (a *app) inspectQueued(r *storedRun, asJSON bool) error {
	x := newInspection(r)
	if asJSON {
		return a.writeJSON(x)
	}
	tty.Fprintf(a.Out, "%s: %s\n", a.palette(a.Out).Bold(r.Run), a.palette(a.Out).Status(r.Status))
	a.printQueue(x.WaitsFor)
	return nil
}

// printQueue says for what a run waits, and since when.
func (a *app) printQueue(q *queueJSON) {
	if q == nil {
		return
	}
	tty.Fprintf(a.Out, "%s\n", q.text())
	tty.Fprintf(a.Out, "waiting since %s (%s), pid %d of %s@%s\n", q.Since.Local().Format(time.DateTime), explain.Duration(time.Since(q.Since).Round(time.Second)), q.Holder.PID, q.Holder.User, q.Holder.Host)
}
