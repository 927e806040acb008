package file

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wavefold/wavefold/store"
)

// retention is a hint: until then no run is old enough to be removed, unless the first one that will be has changed.
type retention struct {
	Until time.Time `json:"until"`
	Run   string    `json:"run,omitempty"` // the first one; "" if there is none
	Stamp stamp     `json:"stamp"`         // of its journal
}

// minRetained is the least time for which Retain removes nothing: the newest runs of a workflow are kept, however old they are.
const minRetained = time.Hour

func (s *Store) retentionFile() string { return filepath.Join(s.dir, "retention.json") }

// Retain removes the runs that store.Retention selects. It is cheap after most runs: a file of the store has the time at which the
// next run becomes old enough, and at least an hour passes between two calls that list the runs.
func (s *Store) Retain(ctx context.Context) (store.Pruned, error) {
	var total store.Pruned
	now := s.now()
	if s.retained(now) {
		return total, nil
	}
	all, listed, err := s.summaries(ctx)
	if err != nil {
		return total, err
	}
	queries := store.Retention("", now)
	for _, q := range queries {
		if len(q.SelectPrune(slices.Clone(all))) == 0 {
			continue
		}
		pruned, err := s.Prune(ctx, q)
		if err != nil {
			return total, err
		}
		total.Runs, total.Blobs, total.Bytes = append(total.Runs, pruned.Runs...), total.Blobs+pruned.Blobs, total.Bytes+pruned.Bytes
	}
	all = slices.DeleteFunc(all, func(sum store.Summary) bool { return slices.Contains(total.Runs, sum.Run) })
	if hint, err := json.Marshal(nextRetention(queries, all, listed, now)); err == nil {
		s.replaceHint(s.retentionFile(), hint)
	}
	return total, nil
}

// retained reports whether the hint says that no run is old enough.
func (s *Store) retained(now time.Time) bool {
	data, err := os.ReadFile(s.retentionFile())
	if err != nil {
		return false
	}
	var r retention
	if json.Unmarshal(data, &r) != nil || !now.Before(r.Until) {
		return false
	}
	if r.Run == "" {
		return true
	}
	_, st, err := stampOf(s.RunDir(r.Run))
	return err == nil && st.equal(r.Stamp)
}

// nextRetention returns when one of the runs, or one that begins now, becomes old enough for one of the queries.
func nextRetention(queries []store.Query, all []store.Summary, listed index, now time.Time) retention {
	var next retention
	for i, q := range queries {
		age := now.Sub(q.Before)
		if until := now.Add(age); i == 0 || until.Before(next.Until) {
			next = retention{Until: until}
		}
		for _, sum := range (store.Query{Status: q.Status}).SelectPrune(slices.Clone(all)) {
			if until := sum.Updated.Add(age); until.Before(next.Until) {
				next = retention{until, sum.Run, listed[sum.Run].Stamp}
			}
		}
	}
	if least := now.Add(minRetained); next.Until.Before(least) {
		next.Until = least
	}
	return next
}
