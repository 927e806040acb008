package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// A cancelled run with backpressure waited until its listener had handled all waiting events. It
// must end within the grace period, however slow the listener is, and whether handlers return or
// not.
func TestCancelEndsWithASlowListener(t *testing.T) {
	const grace = 2 * time.Second
	for _, c := range []struct {
		name   string
		listen func(release chan struct{})
		h      core.HandlerFunc
		after  time.Duration // when the context ends
		within time.Duration
	}{
		{"slow", func(chan struct{}) { time.Sleep(100 * time.Millisecond) }, noop, 5 * time.Second, grace},
		{"takes nothing", func(release chan struct{}) { <-release }, noop, 500 * time.Millisecond, grace},
		{"slow, and a handler that tidies up", func(chan struct{}) { time.Sleep(100 * time.Millisecond) },
			func(ctx context.Context, in core.Input) (core.Result, error) {
				if in.Index() == 29_000 {
					<-ctx.Done()
					time.Sleep(grace / 2)
				}
				return core.Result{}, nil
			}, 5 * time.Second, grace},
		{"slow, and a handler that never returns", func(chan struct{}) { time.Sleep(100 * time.Millisecond) },
			func(_ context.Context, in core.Input) (core.Result, error) {
				if in.Index() == 100 {
					select {}
				}
				return core.Result{}, nil
			}, 5 * time.Second, grace + grace/10},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() { _ = recover() }() // the panic of the bubble about a handler that never returns
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				ctx, cancel := context.WithTimeout(t.Context(), c.after)
				defer cancel()
				w := fields(one(c.h, forEach("list", 4)), "list")
				var got atomic.Int64
				r, err := scheduler.Run(ctx, compile(t, w), map[string]any{"list": numbers(30_000)}, scheduler.Options{
					Concurrency: 4, Backpressure: true, Grace: grace, Listener: func(core.Event) { c.listen(release); got.Add(1) }})
				if took := time.Since(deadlineOf(ctx)); took > c.within || r.Status != core.RunCancelled {
					t.Errorf("%s after the end of the context, run %s", took, r.Status)
				}
				stray, ok := err.(*core.StrayError)
				if !ok || !stray.Listener || stray.Unheard < 10_000 || !strings.Contains(err.Error(), fmt.Sprintf("%d are left", stray.Unheard)) {
					t.Errorf("error %v", err)
				}
				heard := got.Load() // before the listener continues
				close(release)
				if c.within == grace {
					time.Sleep(24 * time.Hour) // the listener gets the remaining events
					if n, want := got.Load()-heard, stray.Unheard; n != want && n != want-1 {
						t.Errorf("the listener got %d events after the end, want %d", n, want)
					}
				}
			})
		})
	}
}

func deadlineOf(ctx context.Context) time.Time {
	d, _ := ctx.Deadline()
	return d
}

// slowJSON is a value whose MarshalJSON is slow.
type slowJSON struct{ wait func() }

func (v slowJSON) MarshalJSON() ([]byte, error) { v.wait(); return []byte("1"), nil }

// A starting value whose MarshalJSON never returns blocked the run even after its context had
// ended.
func TestStartingValuesThatNeverReturn(t *testing.T) {
	for name, never := range map[string]bool{"never": true, "slow": false} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			wait := func() { time.Sleep(time.Minute) }
			if never {
				wait = func() { <-release }
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			r, err := scheduler.Run(ctx, compile(t, fields(one(noop), "x")), map[string]any{"x": slowJSON{wait}}, scheduler.Options{Grace: time.Second})
			stray, stuck := err.(*core.StrayError)
			switch {
			case stuck != never:
				t.Errorf("%s: %v", name, err)
			case never && (r != nil || time.Since(deadlineOf(ctx)) != time.Second || fmt.Sprint(stray.Code) != "[reading the starting values]"):
				t.Errorf("%s: after %s: %v", name, time.Since(deadlineOf(ctx)), err)
			case !never && (err != nil || r.Status != core.RunSuccess):
				t.Errorf("%s: %v", name, err)
			}
			close(release)
		})
	}
	r, err := scheduler.Run(t.Context(), compile(t, fields(one(noop), "x")), map[string]any{"x": slowJSON{func() { panic("no") }}}, scheduler.Options{})
	if r != nil || err == nil || !strings.Contains(err.Error(), "panicked: no") {
		t.Errorf("a panic: %v", err)
	}
}

func TestRunWithoutAContext(t *testing.T) {
	var none context.Context
	if _, err := scheduler.Run(none, compile(t, one(noop)), nil, scheduler.Options{}); err == nil || !strings.Contains(err.Error(), "the context is nil") {
		t.Errorf("got %v", err)
	}
}

// Error messages, panics and log lines of any length would otherwise be part of each event.
func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("x", 10<<20)
	for name, h := range map[string]core.HandlerFunc{
		"error": func(context.Context, core.Input) (core.Result, error) { return core.Result{}, fmt.Errorf("%s", long) },
		"panic": func(context.Context, core.Input) (core.Result, error) { panic(long) },
		"note": func(context.Context, core.Input) (core.Result, error) {
			return core.Result{Status: core.Fail, Note: long}, nil
		},
		"log": func(_ context.Context, in core.Input) (core.Result, error) {
			in.Logger().Info(long, "text", long, "list", []string{long, long}, "error", fmt.Errorf("%s", long))
			return core.Result{}, nil
		},
	} {
		cut := 0
		_, err := scheduler.Run(t.Context(), compile(t, one(h)), nil, scheduler.Options{Listener: func(e core.Event) {
			text := value.JSON(e)
			cut += strings.Count(text, "bytes are left out)")
			if len(text) > 6*value.MaxText {
				t.Errorf("%s: %s with %d bytes", name, e.Type, len(text))
			}
		}})
		if err != nil && len(err.Error()) > 2*value.MaxText {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
		if want := map[string]int{"log": 4}[name]; cut < max(1, want) {
			t.Errorf("%s: %d texts were cut", name, cut)
		}
	}
}
