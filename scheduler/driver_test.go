package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// one returns a workflow of a single node.
func one(h core.HandlerFunc, change ...func(*core.Node)) *core.Workflow {
	w := graph(map[string]core.HandlerFunc{"n": h}, []string{"n"})
	for _, f := range change {
		f(w.Nodes[0])
	}
	return w
}

func timeout(d time.Duration) func(*core.Node) {
	return func(n *core.Node) { n.Timeout = &source.Located[time.Duration]{Value: d} }
}

func retry(attempts int, backoff string) func(*core.Node) {
	return func(n *core.Node) {
		n.OnError = &core.OnError{Policy: source.Text{Value: "retry"}, Attempts: &source.Int{Value: attempts}, Backoff: source.Text{Value: backoff}}
	}
}

func forEach(field string, limit int) func(*core.Node) {
	return func(n *core.Node) {
		n.ForEach = &core.ForEach{Source: source.Text{Value: "$." + field}, Concurrency: &source.Int{Value: limit}}
	}
}

func fields(w *core.Workflow, names ...string) *core.Workflow {
	for _, n := range names {
		w.Fields = append(w.Fields, core.FieldDecl{Name: source.Text{Value: n}, Default: value.Missing})
	}
	return w
}

func numbers(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

func TestPanicEndsAsTheNodesFailure(t *testing.T) {
	w := one(func(context.Context, core.Input) (core.Result, error) { panic("boom") }, retry(3, ""))
	r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{})
	n, _ := r.Node("n")
	if n.Failure == nil || n.Failure.Class != core.ClassPanic || !strings.Contains(n.Failure.Stack, "driver_test.go") {
		t.Fatalf("failure %+v", n.Failure)
	}
	if n.Attempts != 1 {
		t.Errorf("a panic was tried %d times", n.Attempts)
	}
	if err == nil || err.Error() != "node n: panic: boom" {
		t.Errorf("error %v", err)
	}
}

func TestGoexitEndsAsTheNodesFailure(t *testing.T) {
	w := graph(map[string]core.HandlerFunc{
		"a": func(context.Context, core.Input) (core.Result, error) {
			time.Sleep(time.Millisecond)
			return core.Result{}, nil
		},
		"b": func(context.Context, core.Input) (core.Result, error) { runtime.Goexit(); return core.Result{}, nil },
		"c": noop,
	}, []string{"a", "b", "c"})
	done := make(chan struct{})
	go func() { // because the handler may end the goroutine of the caller
		defer close(done)
		r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Concurrency: 3})
		if err == nil || r.Status != core.RunFailed {
			t.Errorf("status %v, error %v", r.Status, err)
		}
	}()
	<-done
}

func TestErrorsKeepTheirIdentity(t *testing.T) {
	mine := errors.New("disk on fire")
	w := one(func(context.Context, core.Input) (core.Result, error) {
		return core.Result{}, fmt.Errorf("save: %w", mine)
	})
	_, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{})
	if !errors.Is(err, mine) {
		t.Errorf("%v does not wrap the handler's error", err)
	}
	if ne, ok := errors.AsType[*core.NodeError](err); !ok || ne.Node != "n" {
		t.Errorf("%v does not name the node", err)
	}
}

func TestRetryWaitsAsTheFormulaSays(t *testing.T) {
	for _, c := range []struct {
		backoff string
		want    time.Duration
	}{{"linear", 600 * time.Millisecond}, {"exponential", 700 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			w := one(func(context.Context, core.Input) (core.Result, error) {
				if calls++; calls < 4 {
					return core.Result{}, errors.New("not yet")
				}
				return core.Result{}, nil
			}, retry(5, c.backoff))
			begin := time.Now()
			if _, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{}); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(begin); got != c.want || calls != 4 {
				t.Errorf("%s: %d calls in %s, want 4 in %s", c.backoff, calls, got, c.want)
			}
		})
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		w := one(func(context.Context, core.Input) (core.Result, error) {
			if calls++; calls == 1 {
				return core.Result{}, core.RetryAfter(errors.New("busy"), time.Minute)
			}
			return core.Result{}, nil
		}, retry(2, ""))
		begin := time.Now()
		_, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{})
		if got := time.Since(begin); err != nil || got != time.Minute {
			t.Errorf("waited %s, error %v", got, err)
		}
	})
}

func TestPermanentErrorsAreNotRetried(t *testing.T) {
	calls := 0
	w := one(func(context.Context, core.Input) (core.Result, error) {
		calls++
		return core.Result{}, core.Permanent(errors.New("no such table"))
	}, retry(5, ""))
	if _, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{}); err == nil || calls != 1 {
		t.Errorf("%d calls, error %v", calls, err)
	}
}

// A backoff holds no slot: at limit 1 the other node runs during the backoff.
func TestBackoffHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var trace []string
		calls := 0
		w := graph(map[string]core.HandlerFunc{
			"a": func(context.Context, core.Input) (core.Result, error) {
				trace = append(trace, "a")
				if calls++; calls == 1 {
					return core.Result{}, errors.New("again")
				}
				return core.Result{}, nil
			},
			"b": func(context.Context, core.Input) (core.Result, error) {
				trace = append(trace, "b")
				return core.Result{}, nil
			},
		}, []string{"a", "b"})
		retry(2, "")(w.Nodes[0])
		if _, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Concurrency: 1}); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(trace); got != "[a b a]" {
			t.Errorf("order %s", got)
		}
	})
}

func TestTimeoutIsPerAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		w := one(func(ctx context.Context, _ core.Input) (core.Result, error) {
			if calls++; calls < 3 {
				<-ctx.Done()
				return core.Result{}, ctx.Err()
			}
			return core.Result{}, nil
		}, retry(3, ""), timeout(time.Second))
		begin := time.Now()
		_, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{})
		if got := time.Since(begin); err != nil || got != 2300*time.Millisecond {
			t.Errorf("took %s, error %v", got, err)
		}
	})
}

// A handler that ignores its context is left behind after the grace period. The rest of the run
// continues, and the error names the node.
func TestIgnoredTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := graph(map[string]core.HandlerFunc{
			"deaf": func(context.Context, core.Input) (core.Result, error) { <-release; return core.Result{}, nil },
			"b":    noop,
		}, []string{"deaf", "b"})
		timeout(time.Second)(w.Nodes[0])
		begin := time.Now()
		r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Concurrency: 1, Grace: 2 * time.Second})
		if got := time.Since(begin); got != 3*time.Second {
			t.Errorf("took %s", got)
		}
		if b, _ := r.Node("b"); b.Status != core.Success {
			t.Errorf("b is %s", b.Status)
		}
		stray, ok := errors.AsType[*core.StrayError](err)
		if !ok || fmt.Sprint(stray.Nodes) != "[deaf]" {
			t.Errorf("error %v", err)
		}
		close(release)
	})
}

func TestCancelAwaitsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		w := graph(map[string]core.HandlerFunc{
			"slow": func(ctx context.Context, _ core.Input) (core.Result, error) {
				running.Add(1)
				defer running.Add(-1)
				<-ctx.Done()
				time.Sleep(time.Second) // the handler cleans up
				return core.Result{}, nil
			},
			"after": noop,
		}, []string{"slow", "after"}, [2]string{"slow", "after"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		r, err := scheduler.Run(ctx, compile(t, w), nil, scheduler.Options{})
		if got := time.Since(begin); got != 61*time.Second || running.Load() != 0 {
			t.Errorf("returned after %s with %d nodes running", got, running.Load())
		}
		slow, _ := r.Node("slow")
		after, _ := r.Node("after")
		if r.Status != core.RunCancelled || slow.Status != core.Fail || slow.Failure.Class != core.ClassCanceled || after.Status != core.StatusNone {
			t.Errorf("run %s, slow %s, after %q", r.Status, slow.Status, after.Status)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestCancelBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ran := false
	w := one(func(ctx context.Context, _ core.Input) (core.Result, error) {
		ran = true
		return core.Result{}, ctx.Err()
	})
	r, err := scheduler.Run(ctx, compile(t, w), nil, scheduler.Options{})
	if r.Status != core.RunCancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("status %s, error %v, ran %t", r.Status, err, ran)
	}
}

// The end of the caller's context during a large fan-out stops it immediately, and what is done is
// kept.
func TestCancelInAFanOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fields(one(func(ctx context.Context, in core.Input) (core.Result, error) {
			select {
			case <-time.After(time.Second):
				return core.Write("out", []any{in.Index()}), nil
			case <-ctx.Done():
				return core.Result{}, ctx.Err()
			}
		}, forEach("list", 10)), "list")
		w.Nodes[0].Writes = []source.Text{{Value: "out"}}
		w.Fields = append(w.Fields, core.FieldDecl{Name: source.Text{Value: "out"}, Merge: source.Text{Value: "array_append"}, Default: value.Missing})
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		begin := time.Now()
		r, err := scheduler.Run(ctx, compile(t, w), map[string]any{"list": numbers(10_000)}, scheduler.Options{})
		if got := time.Since(begin); got != 3500*time.Millisecond || r.Status != core.RunCancelled || err == nil {
			t.Errorf("took %s, status %s, error %v", got, r.Status, err)
		}
		out, _ := r.State.Get("out")
		if list, _ := out.([]any); len(list) != 30 {
			t.Errorf("%d items are kept, want 30", len(list))
		}
	})
}

func TestFailRunStopsTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := graph(map[string]core.HandlerFunc{
			"bad": func(context.Context, core.Input) (core.Result, error) {
				time.Sleep(time.Second)
				return core.Result{}, errors.New("bad")
			},
			"slow": func(ctx context.Context, _ core.Input) (core.Result, error) {
				<-ctx.Done()
				return core.Result{}, ctx.Err()
			},
			"next": noop,
		}, []string{"bad", "slow", "next"}, [2]string{"slow", "next"})
		w.Nodes[0].OnError = &core.OnError{Policy: source.Text{Value: "fail_run"}}
		r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Concurrency: 2})
		slow, _ := r.Node("slow")
		next, _ := r.Node("next")
		if r.Status != core.RunFailed || slow.Failure.Class != core.ClassCanceled || next.Status != core.StatusNone {
			t.Errorf("run %s, slow %+v, next %q", r.Status, slow.Failure, next.Status)
		}
		if err == nil || !strings.HasPrefix(err.Error(), "node bad: bad") {
			t.Errorf("error %v", err)
		}
	})
}

// The limits hold: for nodes, for items, and overall.
func TestLimits(t *testing.T) {
	for _, c := range []struct{ nodes, items, inFlight, want int }{
		{1, 1, 0, 1}, {1, 4, 0, 4}, {2, 3, 0, 6}, {3, 3, 5, 5}, {8, 8, 2, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			var in, peak atomic.Int32
			work := func(context.Context, core.Input) (core.Result, error) {
				if n := in.Add(1); n > peak.Load() {
					peak.Store(n)
				}
				time.Sleep(time.Second)
				in.Add(-1)
				return core.Result{}, nil
			}
			w := fields(graph(map[string]core.HandlerFunc{"a": work, "b": work, "c": work}, []string{"a", "b", "c"}), "list")
			for _, n := range w.Nodes {
				forEach("list", c.items)(n)
			}
			_, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"list": numbers(20)}, scheduler.Options{Concurrency: c.nodes, MaxInFlight: c.inFlight})
			if want := int32(min(c.want, 3*c.items)); err != nil || peak.Load() != want {
				t.Errorf("%+v: peak %d, want %d, error %v", c, peak.Load(), want, err)
			}
		})
	}
}

// One slow item does not delay the short ones after it.
func TestQuickItemsAreNotStuckBehindASlowOne(t *testing.T) {
	var done atomic.Int32
	w := fields(one(func(_ context.Context, in core.Input) (core.Result, error) {
		if in.Index() == 500 {
			for deadline := time.Now().Add(5 * time.Second); done.Load() < 600 && time.Now().Before(deadline); {
				runtime.Gosched()
			}
			if done.Load() < 600 {
				return core.Result{}, errors.New("the others wait for this item")
			}
		}
		done.Add(1)
		return core.Result{}, nil
	}, forEach("list", 2)), "list")
	if _, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"list": numbers(2000)}, scheduler.Options{}); err != nil {
		t.Error(err)
	}
}

// TestHandlersThatWaitAfterShortOnes: when handlers take next to no time, one worker runs them
// alone. It must not hold up the others when one of them then waits: here two wait for each other.
func TestHandlersThatWaitAfterShortOnes(t *testing.T) {
	const n = 3000
	var meet sync.WaitGroup
	meet.Add(2)
	handlers := map[string]core.HandlerFunc{}
	var order []string
	for i := range n {
		h := core.HandlerFunc(noop)
		if i == n-20 || i == n-1 {
			h = func(context.Context, core.Input) (core.Result, error) {
				meet.Done()
				meet.Wait()
				return core.Result{}, nil
			}
		}
		id := fmt.Sprintf("n%04d", i)
		handlers[id], order = h, append(order, id)
	}
	if _, err := scheduler.Run(t.Context(), compile(t, graph(handlers, order)), nil, scheduler.Options{Concurrency: 8}); err != nil {
		t.Fatal(err)
	}
}

// TestShortHandlersAfterOneThatWaits: a worker that left a queue to the others because handlers take
// next to no time did not look whether one of the others was waiting. Here the first node waits
// until all others have run.
func TestShortHandlersAfterOneThatWaits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // with more, it happened in one run of twenty
	const n = 200
	for range 5 {
		var others sync.WaitGroup
		others.Add(n - 1)
		all := make(chan bool)
		go func() {
			others.Wait()
			close(all)
		}()
		handlers := map[string]core.HandlerFunc{}
		var order []string
		for i := range n {
			h := func(context.Context, core.Input) (core.Result, error) {
				others.Done()
				return core.Result{}, nil
			}
			if i == 0 {
				h = func(ctx context.Context, _ core.Input) (core.Result, error) {
					select {
					case <-all:
						return core.Result{}, nil
					case <-ctx.Done():
						return core.Result{}, ctx.Err()
					}
				}
			}
			id := fmt.Sprintf("n%04d", i)
			handlers[id], order = h, append(order, id)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := scheduler.Run(ctx, compile(t, graph(handlers, order)), nil, scheduler.Options{Concurrency: 8}); err != nil {
			t.Fatalf("the other nodes did not run: %v", err)
		}
	}
}

func TestTwoRunsOfOnePlanAtOnce(t *testing.T) {
	w := fields(one(func(_ context.Context, in core.Input) (core.Result, error) {
		v, _ := in.Get("x")
		return core.Write("x", append(v.([]any), "more")), nil
	}), "x")
	w.Nodes[0].Reads, w.Nodes[0].Writes = []source.Text{{Value: "x"}}, []source.Text{{Value: "x"}}
	p := compile(t, w)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			r, err := scheduler.Run(t.Context(), p, map[string]any{"x": []any{int64(i)}}, scheduler.Options{})
			if want := fmt.Sprintf(`{"x":[%d,"more"]}`, i); err != nil || value.JSON(r.State) != want {
				t.Errorf("state %s, want %s, error %v", value.JSON(r.State), want, err)
			}
		})
	}
	wg.Wait()
}

// A handler that changes its input changes nothing else.
func TestInputsAreReadOnly(t *testing.T) {
	vandal := func(_ context.Context, in core.Input) (core.Result, error) {
		v, _ := in.Get("x")
		v.([]any)[0] = "changed"
		a, _ := in.Arg("y")
		a.(*value.Object).Set("k", "changed")
		in.State()["x"].([]any)[0] = "changed"
		return core.Result{}, nil
	}
	w := fields(graph(map[string]core.HandlerFunc{"a": vandal, "b": vandal}, []string{"a", "b"}), "x", "y")
	for _, n := range w.Nodes {
		n.Reads = []source.Text{{Value: "x"}}
		n.Args = source.Tree(value.ObjectOf("y", "$.y"), source.Position{})
	}
	r, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"x": []any{"kept"}, "y": value.ObjectOf("k", "kept")}, scheduler.Options{})
	if want := `{"x":["kept"],"y":{"k":"kept"}}`; err != nil || value.JSON(r.State) != want {
		t.Errorf("state %s, error %v", value.JSON(r.State), err)
	}
}

func TestSlowAndPanickingListeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := graph(map[string]core.HandlerFunc{"a": noop, "b": noop}, []string{"a", "b"}, [2]string{"a", "b"})
		p := compile(t, w)
		n := 0
		r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Listener: func(core.Event) { n++; panic("listener") }})
		if err != nil || r.Status != core.RunSuccess || n != 1 {
			t.Errorf("panicking listener: %v, called %d times", err, n)
		}
		var seen []core.EventType
		var ended time.Duration
		begin := time.Now()
		r, err = scheduler.Run(t.Context(), p, nil, scheduler.Options{Grace: time.Hour, Listener: func(e core.Event) {
			time.Sleep(time.Second)
			seen = append(seen, e.Type)
		}})
		ended = r.Duration
		if err != nil || len(seen) == 0 || seen[len(seen)-1] != core.RunFinished {
			t.Errorf("slow listener: %v, events %v", err, seen)
		}
		if ended != 0 || time.Since(begin) < time.Duration(len(seen))*time.Second {
			t.Errorf("the run took %s because of its listener", ended)
		}
	})
}

// TestListenerThatDoesNotReturn: a listener outlived the run, and nothing reported that.
func TestListenerThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, n := make(chan struct{}), 0
		r, err := scheduler.Run(t.Context(), compile(t, one(noop)), nil, scheduler.Options{Listener: func(core.Event) { n++; <-release }})
		stray, ok := errors.AsType[*core.StrayError](err)
		if !ok || !stray.Listener || len(stray.Nodes) > 0 || err.Error() != "the listener is still busy with events of the run, 5 are left" || r.Status != core.RunSuccess {
			t.Errorf("run %s, error %v", r.Status, err)
		}
		close(release)
		synctest.Wait()
		if n != 5 {
			t.Errorf("it got %d events in the end, want 5", n)
		}
	})
}

// TestRunWaitsForASlowListener: the events of a million items waited in memory for a listener that
// wrote them to a file.
func TestRunWaitsForASlowListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const items = 60_000
		var done, seen, most atomic.Int64
		w := fields(one(func(context.Context, core.Input) (core.Result, error) {
			done.Add(1)
			return core.Result{}, nil
		}, forEach("list", 8)), "list")
		w.Fields[0].Default = numbers(items)
		_, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Grace: time.Hour, Backpressure: true, Listener: func(e core.Event) {
			if e.Type == core.ItemFinished {
				time.Sleep(time.Millisecond)
				most.Store(max(most.Load(), done.Load()-seen.Add(1)))
			}
		}})
		if err != nil || seen.Load() != items || most.Load() > 2<<14 {
			t.Errorf("%v: %d items seen, up to %d behind", err, seen.Load(), most.Load())
		}
	})
}

// TestRunDoesNotWaitForAStuckListener: a listener that waits for the run itself.
func TestRunDoesNotWaitForAStuckListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const items = 60_000
		ended, begin := make(chan struct{}), time.Now()
		w := fields(graph(map[string]core.HandlerFunc{"n": noop, "end": func(context.Context, core.Input) (core.Result, error) {
			close(ended)
			return core.Result{}, nil
		}}, []string{"n", "end"}, [2]string{"n", "end"}), "list")
		forEach("list", 8)(w.Nodes[0])
		w.Fields[0].Default = numbers(items)
		seen := 0
		_, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Grace: time.Hour, Backpressure: true, Listener: func(e core.Event) {
			if seen++; seen == 10 {
				<-ended
			}
		}})
		if took := time.Since(begin); err != nil || seen < 2*items || took > 2*time.Second {
			t.Errorf("%v: %d events after %s", err, seen, took)
		}
	})
}

// A run leaves no goroutine behind: synctest fails otherwise.
func TestNothingIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := fields(one(func(_ context.Context, in core.Input) (core.Result, error) {
			time.Sleep(time.Duration(in.Index()%7) * time.Millisecond)
			if in.Index()%5 == 0 {
				return core.Result{}, errors.New("odd")
			}
			return core.Send(in.Index()), nil
		}, forEach("list", 16), timeout(time.Second)), "list")
		w.Nodes[0].OnError = &core.OnError{Policy: source.Text{Value: "retry"}, Attempts: &source.Int{Value: 3}}
		r, _ := scheduler.Run(t.Context(), compile(t, w), map[string]any{"list": numbers(300)}, scheduler.Options{Listener: func(core.Event) {}})
		n, _ := r.Node("n")
		if n.Failed != 60 || n.Items != 300 {
			t.Errorf("%d of %d items failed", n.Failed, n.Items)
		}
	})
}

// An integer above 2^53 stays exact.
func TestLargeIntegersStayExact(t *testing.T) {
	w := fields(one(func(_ context.Context, in core.Input) (core.Result, error) {
		v, _ := in.Get("id")
		return core.Write("id", v.(int64)+1), nil
	}), "id")
	w.Nodes[0].Reads, w.Nodes[0].Writes = []source.Text{{Value: "id"}}, []source.Text{{Value: "id"}}
	r, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"id": int64(9007199254740993)}, scheduler.Options{})
	if v, _ := r.State.Get("id"); err != nil || v != int64(9007199254740994) {
		t.Errorf("id %v, error %v", v, err)
	}
}

func TestUndeclaredWriteStoresNothing(t *testing.T) {
	w := fields(one(func(context.Context, core.Input) (core.Result, error) {
		return core.Result{Delta: map[string]any{"x": 1, "y": 2}}, nil
	}), "x", "y")
	w.Nodes[0].Writes = []source.Text{{Value: "x"}}
	r, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{})
	if r.State.Len() != 0 || err == nil || !strings.Contains(err.Error(), "writes: [x, y]") {
		t.Errorf("state %s, error %v", value.JSON(r.State), err)
	}
}

func TestForEachOverNoArray(t *testing.T) {
	w := fields(one(noop, forEach("list", 1)), "list")
	r, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"list": "text"}, scheduler.Options{})
	if n, _ := r.Node("n"); n.Status != core.Fail || err == nil || !strings.Contains(err.Error(), "want an array") {
		t.Errorf("status %s, error %v", n.Status, err)
	}
}

// A source of a million rows reported its progress in two thousand lines. Progress should be
// reported at first, at the end if the size is known, and every 100 ms in between.
func TestProgressIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []int64
		w := one(func(_ context.Context, in core.Input) (core.Result, error) {
			for i := range int64(1000) {
				in.Progress(i+1, 1000)
				time.Sleep(time.Millisecond)
			}
			return core.Result{}, nil
		})
		if _, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Listener: func(e core.Event) {
			if e.Type == core.Progress {
				told = append(told, e.Done)
			}
		}}); err != nil {
			t.Fatal(err)
		}
		if want := []int64{1, 101, 201, 301, 401, 501, 601, 701, 801, 901, 1000}; !slices.Equal(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
	})
}

// Log lines and progress of a handler become events, numbered with the others.
// TestLateProgress: a report of a goroutine that a handler left behind is not attributed to the next
// node of the worker, nor are the reports of that node to the one before.
func TestLateProgress(t *testing.T) {
	next, reported := make(chan bool), make(chan bool)
	handlers := map[string]core.HandlerFunc{
		"a": func(_ context.Context, in core.Input) (core.Result, error) {
			go func() {
				defer close(reported)
				<-next
				in.Progress(1, 1)
			}()
			return core.Result{}, nil
		},
		"b": func(_ context.Context, in core.Input) (core.Result, error) {
			close(next)
			<-reported
			in.Progress(2, 2)
			return core.Result{}, nil
		},
	}
	var got []string
	w := graph(handlers, []string{"a", "b"}, [2]string{"a", "b"})
	_, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Concurrency: 1, Listener: func(e core.Event) {
		if e.Type == core.Progress {
			got = append(got, fmt.Sprint(e.Node, " ", e.Done))
		}
	}})
	if err != nil || strings.Join(got, ", ") != "a 1, b 2" {
		t.Errorf("progress %q, %v", got, err)
	}
}

func TestLogAndProgress(t *testing.T) {
	var events []core.Event
	w := one(func(_ context.Context, in core.Input) (core.Result, error) {
		in.Logger().With("table", "orders").Info("loading", "rows", 3)
		in.Progress(1, 3)
		return core.Result{}, nil
	})
	if _, err := scheduler.Run(t.Context(), compile(t, w), nil, scheduler.Options{Listener: func(e core.Event) { events = append(events, e) }}); err != nil {
		t.Fatal(err)
	}
	found := 0
	var n int64
	for i, e := range events {
		if e.Type.Numbered() {
			n++
		}
		if e.Seq != n {
			t.Errorf("event %d, %s, has number %d, want %d", i+1, e.Type, e.Seq, n)
		}
		switch {
		case e.Type == core.LogLine && e.Log == "loading" && value.JSON(e.Values) == `{"table":"orders","rows":3}`:
			found++
		case e.Type == core.Progress && e.Done == 1 && e.Of == 3 && e.Node == "n":
			found++
		}
	}
	if found != 2 {
		t.Errorf("%d of 2 events found in %+v", found, events)
	}
}
