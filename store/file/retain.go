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

// retention is a hint: no run becomes old enough to be removed before its time, unless the run that
// would be the first has changed.
type retention struct {
	Until time.Time `json:"until"`
	Run   string    `json:"run,omitempty"` // the first one; "" if there is none
	Stamp stamp     `json:"stamp"`         // of its journal
	Kept  []string  `json:"kept"`          // workflows with runs that are old enough: they are removed once there are enough newer runs
}

func (s *Store) retentionFile() string { return filepath.Join(s.dir, "retention.json") }

// Retain removes the runs that store.Retention selects. It is called when a run of the workflow has ended.
// Most calls are cheap: a file of the store has the time at which the next run becomes old enough, and runs
// are not listed before that time.
func (s *Store) Retain(ctx context.Context, workflow string) (store.Pruned, error) {
	var total store.Pruned
	now := s.now()
	if s.retained(workflow, now) {
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
		total.Add(pruned)
	}
	all = slices.DeleteFunc(all, func(sum store.Summary) bool { return slices.Contains(total.Runs, sum.Run) })
	if hint, err := json.Marshal(nextRetention(queries, all, listed, now)); err == nil {
		s.replaceHint(s.retentionFile(), hint)
	}
	return total, nil
}

// retained reports whether the hint says that no run has to be removed.
func (s *Store) retained(workflow string, now time.Time) bool {
	data, err := os.ReadFile(s.retentionFile())
	if err != nil {
		return false
	}
	var r retention
	if json.Unmarshal(data, &r) != nil || !now.Before(r.Until) || slices.Contains(r.Kept, workflow) {
		return false
	}
	if r.Run == "" {
		return true
	}
	_, st, err := stampOf(s.RunDir(r.Run))
	return err == nil && st.equal(r.Stamp)
}

// nextRetention returns the time at which the first of the runs, or a run that begins now, becomes
// old enough for one of the queries.
func nextRetention(queries []store.Query, all []store.Summary, listed index, now time.Time) retention {
	next := retention{Until: now.Add(now.Sub(queries[0].Before)), Kept: []string{}}
	for _, q := range queries {
		age := now.Sub(q.Before)
		if until := now.Add(age); until.Before(next.Until) {
			next.Until = until
		}
		for _, sum := range (store.Query{Status: q.Status}).SelectPrune(slices.Clone(all)) {
			switch until := sum.Updated.Add(age); {
			case !until.After(now):
				next.Kept = append(next.Kept, sum.Workflow)
			case until.Before(next.Until):
				next.Until, next.Run, next.Stamp = until, sum.Run, listed[sum.Run].Stamp
			}
		}
	}
	slices.Sort(next.Kept)
	next.Kept = slices.Compact(next.Kept)
	return next
}
