package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/inbox"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/memory"
)

// asksForever is a gate without a time limit.
func asksForever(ctx context.Context, in core.Input) (core.Result, error) {
	_, err := in.Shared().Ask(ctx, core.Question{Node: in.Node(), Attempt: in.Attempt(), Text: "Go?", Choices: []core.Choice{{Key: "a", Label: "A"}}})
	return core.Result{}, err
}

// A run is paused when only a gate is left, also if other nodes end long after the gate has asked.
// It continues with an answer that was posted while it had no process.
func TestPause(t *testing.T) {
	for name, work := range map[string]time.Duration{"the gate is last": 0, "the gate is first": time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := besides(t, asksForever, func(context.Context, core.Input) (core.Result, error) {
					time.Sleep(work)
					return core.Result{}, nil
				})
				s := memory.New(nil)
				r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: s}})
				paused, ok := errors.AsType[*core.PausedError](err)
				if !ok || len(paused.Questions) != 1 || paused.Questions[0].Node != "gate" || r.Status != core.RunPaused {
					t.Fatalf("error %v, want a run that is paused at gate", err)
				}
				var list []store.Summary
				for sum, err := range s.List(t.Context(), store.Query{}) {
					if err != nil {
						t.Error(err)
					}
					list = append(list, sum)
				}
				const counts = `{"total":6,"done":2,"failed":0,"skipped":0,"running":0,"waiting":2}`
				if len(list) != 1 || list[0].Status != store.StatusPaused || string(list[0].Counts) != counts {
					t.Errorf("got %+v", list)
				}
				if _, err := inbox.Post(t.Context(), s, "r", inbox.Answer{Node: "gate", Choice: "A", By: "ann"}); err != nil {
					t.Fatal(err)
				}
				if r, err := resume(t, s, "r", p); err != nil || r.Status != core.RunSuccess {
					t.Errorf("status %s, error %v", r.Status, err)
				}
			})
		})
	}
}

// A deadline holds without a process: after it, a resumed run continues without an answer, unless
// the answer was posted in time.
func TestPauseEndsAtTheDeadline(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer time.Duration // after the pause; 0 means no answer
		want   error         // of the question
	}{
		{"no answer", 0, core.ErrLate},
		{"an answer in time", time.Minute, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got error
				p := besides(t, func(ctx context.Context, in core.Input) (core.Result, error) {
					q := core.Question{Node: in.Node(), Attempt: in.Attempt(), Text: "Go?", Choices: []core.Choice{{Key: "a", Label: "A"}}, Timeout: time.Hour}
					_, got = in.Shared().Ask(ctx, q)
					return core.Result{}, nil
				}, noop)
				s := memory.New(nil)
				if r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: s}}); r.Status != core.RunPaused {
					t.Fatalf("status %s, error %v", r.Status, err)
				}
				if tt.answer > 0 {
					time.Sleep(tt.answer)
					if _, err := inbox.Post(t.Context(), s, "r", inbox.Answer{Node: "gate", Choice: "a"}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(2 * time.Hour)
				_, err := inbox.Post(t.Context(), s, "r", inbox.Answer{Node: "gate", Choice: "a"})
				if _, late := errors.AsType[*inbox.LateError](err); late != (tt.answer == 0) || err == nil {
					t.Errorf("an answer after the deadline: %v", err)
				}
				if r, err := resume(t, s, "r", p); err != nil || r.Status != core.RunSuccess || !errors.Is(got, tt.want) {
					t.Errorf("status %s, error %v, the question ended with %v", r.Status, err, got)
				}
			})
		})
	}
}

// A question whose attempt has ended without an answer is closed: it is not listed as waiting, and an
// answer is rejected.
func TestWithdrawnQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := besides(t, func(ctx context.Context, in core.Input) (core.Result, error) {
			q := core.Question{Node: in.Node(), Attempt: in.Attempt(), Text: "Go?", Choices: []core.Choice{{Key: "a", Label: "A"}}, Timeout: time.Hour}
			_, err := in.Shared().Ask(ctx, q)
			return core.Result{}, err
		}, noop)
		s := memory.New(nil)
		if r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: s}}); r.Status != core.RunPaused {
			t.Fatalf("status %s, error %v", r.Status, err)
		}
		time.Sleep(2 * time.Hour)
		if r, err := resume(t, s, "r", p); r.Status != core.RunSuccess { // the walk continues after a branch that failed
			t.Fatalf("status %s, error %v", r.Status, err)
		}
		st, err := inbox.Questions(t.Context(), s, "r")
		if err != nil || len(st.Open) != 0 || len(st.Late) != 1 || st.Late[0].Node != "gate" {
			t.Errorf("got %+v, %v, want no open and one late question", st, err)
		}
		_, err = inbox.Post(t.Context(), s, "r", inbox.Answer{Node: "gate", Choice: "a"})
		if late, ok := errors.AsType[*inbox.LateError](err); !ok || late.Since.IsZero() {
			t.Errorf("an answer after the deadline: %v", err)
		}
		// The node runs again, and asks another question with a new time limit.
		stored, err := scheduler.OpenStored(t.Context(), s, "r")
		if err != nil {
			t.Fatal(err)
		}
		_, err = scheduler.Resume(t.Context(), stored, p, scheduler.Options{Recording: &scheduler.Recording{Store: s, RerunFrom: []string{"gate"}}})
		paused, ok := errors.AsType[*core.PausedError](err)
		if !ok || len(paused.Questions) != 1 || paused.Questions[0].Generation != 2 || time.Until(paused.Questions[0].Deadline) != time.Hour {
			t.Fatalf("error %v, want the question of another generation with an hour left", err)
		}
		if _, err := inbox.Post(t.Context(), s, "r", inbox.Answer{Node: "gate", Choice: "a"}); err != nil {
			t.Error(err)
		}
		if r, err := resume(t, s, "r", p); err != nil || r.Status != core.RunSuccess {
			t.Errorf("status %s, error %v", r.Status, err)
		}
	})
}

// A paused run that is cancelled can be resumed.
func TestCancelStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := besides(t, asksForever, noop)
		s := memory.New(nil)
		if r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: s}}); r.Status != core.RunPaused {
			t.Fatalf("status %s, error %v", r.Status, err)
		}
		if err := scheduler.CancelStored(t.Context(), s, "r", "ann"); err != nil {
			t.Fatal(err)
		}
		for sum, err := range s.List(t.Context(), store.Query{}) {
			if err != nil || sum.Status != string(core.RunCancelled) || sum.Reason != "cancelled by ann" || sum.Holder != nil {
				t.Errorf("got %+v, %v", sum, err)
			}
		}
		if err := scheduler.CancelStored(t.Context(), s, "r", "bob"); err == nil {
			t.Error("a run that has ended was cancelled")
		}
		if _, err := inbox.Post(t.Context(), s, "r", inbox.Answer{Node: "gate", Choice: "a"}); err != nil {
			t.Fatal(err)
		}
		if r, err := resume(t, s, "r", p); err != nil || r.Status != core.RunSuccess {
			t.Errorf("status %s, error %v", r.Status, err)
		}
	})
}
