package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// TestOverlap starts a run of an hour every ten minutes, three times. It tests when each one begins and how
// it ends.
func TestOverlap(t *testing.T) {
	const skipped, replaced = -1, -2
	for _, tt := range []struct {
		overlap core.Overlap
		begin   []time.Duration // after the first one; negative if it does not begin
		status  []core.RunStatus
	}{
		{"", []time.Duration{0, time.Hour, 2 * time.Hour}, []core.RunStatus{core.RunSuccess, core.RunSuccess, core.RunSuccess}},
		{core.OverlapQueue, []time.Duration{0, time.Hour, 2 * time.Hour}, []core.RunStatus{core.RunSuccess, core.RunSuccess, core.RunSuccess}},
		{core.OverlapSkip, []time.Duration{0, skipped, skipped}, []core.RunStatus{core.RunSuccess, "", ""}},
		{core.OverlapFail, []time.Duration{0, skipped, skipped}, []core.RunStatus{core.RunSuccess, "", ""}},
		{core.OverlapCancelPrevious, []time.Duration{0, 10 * time.Minute, 20 * time.Minute}, []core.RunStatus{core.RunCancelled, core.RunCancelled, core.RunSuccess}},
	} {
		t.Run(string(tt.overlap), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := memory.New(nil)
				first := time.Now()
				type result struct {
					r   *core.Report
					err error
				}
				ended := make([]chan result, len(tt.begin))
				for i := range tt.begin {
					ended[i] = make(chan result, 1)
					time.AfterFunc(time.Duration(i)*10*time.Minute, func() {
						p := compileKey(t, tt.overlap)
						r, err := scheduler.Run(context.Background(), p, nil, scheduler.Options{Run: "run" + string(rune('1'+i)), Recording: &scheduler.Recording{Store: s}})
						ended[i] <- result{r, err}
					})
				}
				results := make([]result, len(ended))
				for i := range ended {
					results[i] = <-ended[i]
				}
				if tt.begin[len(tt.begin)-1] > 0 { // waiting runs begin in any order
					slices.SortFunc(results, func(a, b result) int { return a.r.Started.Compare(b.r.Started) })
				}
				for i, want := range tt.begin {
					got := results[i]
					if want < 0 {
						overlap, ok := errors.AsType[*core.OverlapError](got.err)
						if !ok || got.r != nil || overlap.Key != "k" || overlap.Run != "run1" || overlap.Overlap != tt.overlap {
							t.Errorf("run %d: %v, %v", i+1, got.r, got.err)
						}
						continue
					}
					if got.r == nil {
						t.Fatalf("run %d: %v", i+1, got.err)
					}
					if began := got.r.Started.Sub(first); got.r.Status != tt.status[i] || began < want || began > want+time.Second {
						t.Errorf("run %d began after %s and is %s, want %s and %s", i+1, began, got.r.Status, want, tt.status[i])
					}
				}
			})
		})
	}
}

// compileKey returns the plan of a node that takes an hour.
func compileKey(t *testing.T, overlap core.Overlap) *plan.Plan {
	w := graph(map[string]core.HandlerFunc{"a": func(ctx context.Context, _ core.Input) (core.Result, error) {
		select {
		case <-time.After(time.Hour):
		case <-ctx.Done():
		}
		return core.Result{}, ctx.Err()
	}}, []string{"a"})
	w.Runtime.ConcurrencyKey, w.Runtime.Overlap = text("k"), text(string(overlap))
	return compile(t, w)
}

// TestOverlapDead: the key of a process that died is free once its lease has expired, and a run that was
// interrupted takes the key when it is resumed.
func TestOverlapDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := memory.New(nil), compileKey(t, core.OverlapFail)
		for _, name := range []string{"key:k", "run0"} { // the dead run has both
			if _, err := s.Acquire(t.Context(), name, store.Holder{ID: "run0 1 x", Host: "other"}, 15*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		run := func(ctx context.Context, id string) (*core.Report, error) {
			return scheduler.Run(ctx, p, nil, scheduler.Options{Run: id, Recording: &scheduler.Recording{Store: s}})
		}
		if _, err := run(t.Context(), "run1"); !errors.As(err, new(*core.OverlapError)) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if r, err := run(ctx, "run1"); err == nil || r.Status != core.RunCancelled {
			t.Fatal(r, err)
		}
		other := make(chan error)
		go func() {
			_, err := run(t.Context(), "run2")
			other <- err
		}()
		synctest.Wait()
		if _, err := resume(t, s, "run1", p); !errors.As(err, new(*core.OverlapError)) {
			t.Errorf("resumed while run2 has the key: %v", err)
		}
		if err := <-other; err != nil {
			t.Fatal(err)
		}
		if r, err := resume(t, s, "run1", p); err != nil || r.Status != core.RunSuccess {
			t.Error(r, err)
		}
	})
}
