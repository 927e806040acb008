package schedulertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestClockSetBack resumes a run at a time before its start, as after the clock was set back. The time of
// the run stands still meanwhile: no event is earlier than one before it, and a delay takes what was left
// of it.
func TestClockSetBack(t *testing.T) {
	if err := compressOnce(); err != nil {
		t.Fatal(err)
	}
	crash := func() {}
	w := &core.Workflow{Name: text("clock"), Nodes: []*core.Node{
		{ID: text("busy"), Kind: text("fn"), OnError: &core.OnError{Policy: text("retry"), Attempts: &source.Int{Value: 2}},
			Handler: core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
				if in.Attempt() == 1 {
					return core.Result{}, core.RetryAfter(errors.New("busy"), time.Minute)
				}
				return core.Result{}, nil
			})},
		{ID: text("short"), Kind: text("fn"), Handler: does(func(context.Context) { time.Sleep(10 * time.Second) })},
		{ID: text("long"), Kind: text("fn"), Handler: does(func(context.Context) { time.Sleep(20 * time.Second); crash() })},
	}}
	p, ds := plan.Compile(w, core.NewRegistry(), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	dir := t.TempDir()
	var times []time.Time
	o := scheduler.Options{Run: "r", Concurrency: 3, Listener: func(e core.Event) { times = append(times, e.Time) }}
	synctest.Test(t, func(t *testing.T) { // each test begins at the same time
		time.Sleep(time.Hour)
		s := openOn(t, dir, "one")
		crash = func() { s.Close() }
		o.Recording = &scheduler.Recording{Store: s, Durability: core.DurabilityFull}
		if _, err := scheduler.Run(t.Context(), p, nil, o); !errors.As(err, new(*core.StoreError)) {
			t.Fatalf("error %v", err)
		}
	})
	before := len(times)
	synctest.Test(t, func(t *testing.T) {
		s := openOn(t, dir, "one")
		defer s.Close()
		crash, o.Recording = func() {}, nil
		st, err := scheduler.OpenStored(t.Context(), s, "r")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		report, err := scheduler.Resume(t.Context(), st, p, o)
		if err != nil || report.Status != core.RunSuccess {
			t.Fatalf("error %v", err)
		}
		if took := time.Since(began); took != 50*time.Second || report.Duration != time.Minute {
			t.Errorf("what was left of the delay took %s, and the run %s of its own time", took, report.Duration)
		}
	})
	if before < 7 || len(times) < before+4 || !slices.IsSortedFunc(times, time.Time.Compare) {
		t.Errorf("%d events of the first process, all at %v", before, times)
	}
}
