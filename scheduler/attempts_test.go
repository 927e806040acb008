package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
)

// answers is a handler that returns the answers of a list, one for each attempt. An answer is a
// status or an error.
func answers(list ...any) core.HandlerFunc {
	return func(_ context.Context, in core.Input) (core.Result, error) {
		switch a := list[min(in.Attempt(), len(list))-1].(type) {
		case error:
			return core.Result{}, a
		case core.Result:
			return a, nil
		default:
			return core.Result{Status: a.(core.Status)}, nil
		}
	}
}

func allowPartial(n *core.Node) { n.AllowPartial = true }
func autoStatus(n *core.Node)   { n.AutoStatus = true }

// logged runs a workflow and lists its events about attempts and their ends.
func logged(t *testing.T, w *core.Workflow, inputs map[string]any) (list []string, r *core.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		r, err = scheduler.Run(context.Background(), compile(t, w), inputs, scheduler.Options{Listener: func(e core.Event) {
			switch e.Type {
			case core.NodeRetrying, core.NodeFinished, core.NodeFailed, core.ItemFinished, core.ItemFailed:
				text := fmt.Sprintf("%s %s: %s", e.Type, e.Status, e.Reason)
				if e.Error != nil {
					text += " [" + e.Error.Message + "]"
				}
				list = append(list, text)
			}
		}})
		if r == nil {
			t.Fatal(err)
		}
	})
	return list, r
}

// Rules 1, 5, 7: events and the report explain why a status was changed, and a request for another
// attempt is never a status.
func TestChangesAreTold(t *testing.T) {
	busy := core.Result{Status: core.Retry, Note: "busy"}
	for _, tt := range []struct {
		name   string
		w      *core.Workflow
		events []string
		status core.Status
		reason string
	}{
		{"a request", one(answers(busy, core.Success), retry(3, "")),
			[]string{"node.retrying : attempt 1 of 3 asked to be run again: busy", "node.finished success: "}, core.Success, ""},
		{"no attempt left", one(answers(core.Retry), retry(2, "")),
			[]string{"node.retrying : attempt 1 of 2 asked to be run again", "node.failed fail: still asked to be run again after attempt 2 of 2 [still asked to be run again after attempt 2 of 2]"}, core.Fail, ""},
		{"allow_partial", one(answers(errors.New("boom"), busy), retry(2, ""), allowPartial),
			[]string{"node.retrying : attempt 1 of 2 failed [boom]", "node.finished partial_success: allow_partial: still asked to be run again after attempt 2 of 2: busy"},
			core.PartialSuccess, "allow_partial: still asked to be run again after attempt 2 of 2: busy"},
		{"auto_status", one(answers(errors.New("boom")), autoStatus), []string{"node.finished success: auto_status: it failed: boom"}, core.Success, "auto_status: it failed: boom"},
		{"auto_status of a partial success", one(answers(core.PartialSuccess), autoStatus), []string{"node.finished success: auto_status: it ended partial_success"},
			core.Success, "auto_status: it ended partial_success"},
		{"both", one(answers(core.Retry), autoStatus, allowPartial), []string{"node.finished success: auto_status: allow_partial: still asked to be run again after attempt 1 of 1"},
			core.Success, "auto_status: allow_partial: still asked to be run again after attempt 1 of 1"},
		{"a returned fail", one(answers(core.Result{Status: core.Fail, Note: "no such order"}), retry(3, "")), []string{"node.failed fail: no such order [no such order]"}, core.Fail, ""},
		{"items", fields(one(func(_ context.Context, in core.Input) (core.Result, error) {
			if in.Index() == 1 {
				return core.Result{}, errors.New("boom")
			}
			return core.Result{}, nil
		}, autoStatus, forEach("x", 1)), "x"), []string{"item.finished success: ", "item.finished success: auto_status: it failed: boom", "item.finished success: ",
			"node.finished success: item 1: auto_status: it failed: boom"}, core.Success, "item 1: auto_status: it failed: boom"},
		{"rows", pipeline(one(answers(errors.New("boom")), autoStatus)), []string{"item.finished success: auto_status: it failed: boom", "item.finished success: auto_status: it failed: boom",
			"item.finished success: auto_status: it failed: boom"}, core.Success, "3 rows, first row 0: auto_status: it failed: boom"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var inputs map[string]any
			if len(tt.w.Fields) > 0 {
				inputs = map[string]any{"x": numbers(3)}
			}
			list, r := logged(t, tt.w, inputs)
			if !slices.Equal(list, tt.events) {
				t.Errorf("got  %q\nwant %q", list, tt.events)
			}
			if n, _ := r.Node("n"); n.Status != tt.status || n.Reason != tt.reason {
				t.Errorf("status %s, reason %q, want %s, %q", n.Status, n.Reason, tt.status, tt.reason)
			}
		})
	}
}

// Each further attempt can read the error of the attempt before it, even if the node is given
// nothing else, and if several items failed together.
func TestFurtherAttemptsReadTheError(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change []func(*core.Node)
		fields []string
		want   []string
	}{
		{"a node without reads", nil, nil, []string{"", "boom 0"}},
		{"items", []func(*core.Node){forEach("x", 1)}, []string{"x"}, []string{"", "", "", "", "", "", "boom 0", "boom 1", "boom 2", "boom 3", "boom 4", "boom 5"}},
	} {
		for _, events := range []bool{true, false} {
			t.Run(fmt.Sprint(tt.name, events), func(t *testing.T) {
				var got []string
				fails := func(_ context.Context, in core.Input) (core.Result, error) {
					got = append(got, in.Previous())
					if in.Attempt() == 1 {
						return core.Result{}, fmt.Errorf("boom %d", max(0, in.Index()))
					}
					return core.Result{}, nil
				}
				w := one(fails, append(tt.change, retry(2, ""))...)
				var inputs map[string]any
				if tt.fields != nil {
					w, inputs = fields(w, tt.fields...), map[string]any{"x": numbers(6)}
				}
				synctest.Test(t, func(t *testing.T) {
					o := scheduler.Options{}
					if events {
						o.Listener = func(core.Event) {}
					}
					if _, err := scheduler.Run(context.Background(), compile(t, w), inputs, o); err != nil {
						t.Fatal(err)
					}
				})
				if slices.Sort(got); !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
	}
}

// pipeline makes the node n the stage of a pipeline over x.
func pipeline(w *core.Workflow) *core.Workflow {
	w.Pipelines = []*core.Pipeline{{ID: text("p"), Items: text("$.x"), Stages: []source.Text{text("n")}}}
	return fields(w, "x")
}

// Rule 10: an attempt that takes too long is retried; auto_status applies to timeouts.
func TestTimeoutsAreTriedAgain(t *testing.T) {
	slow := func(ctx context.Context, in core.Input) (core.Result, error) {
		if in.Attempt() == 1 {
			<-ctx.Done()
			return core.Result{}, ctx.Err()
		}
		return core.Result{}, nil
	}
	for _, tt := range []struct {
		name     string
		change   func(*core.Node)
		attempts int
	}{{"retry", retry(3, ""), 2}, {"auto_status", autoStatus, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, err := scheduler.Run(context.Background(), compile(t, one(slow, timeout(time.Second), tt.change)), nil, scheduler.Options{})
				if n, _ := r.Node("n"); n.Status != core.Success || n.Attempts != tt.attempts {
					t.Errorf("%s after %d attempts: %v", n.Status, n.Attempts, err)
				}
			})
		})
	}
}

// A request for another attempt by a bare node must not be lost in the shortcut for bare nodes.
func TestRequestsOfBareNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &core.Workflow{Name: text("bare")}
		for i := range 100 {
			h := core.HandlerFunc(noop)
			if i%2 == 1 {
				h = answers(core.Retry, core.Success)
			}
			n := &core.Node{ID: text(fmt.Sprint("n", i)), HasWrites: true, Handler: h}
			retry(2, "")(n)
			w.Nodes = append(w.Nodes, n)
		}
		r, err := scheduler.Run(context.Background(), compile(t, w), nil, scheduler.Options{Concurrency: 4})
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range r.Nodes() {
			if n.Status != core.Success || n.Attempts != 1+i%2 {
				t.Errorf("%s: %s after %d attempts", n.ID, n.Status, n.Attempts)
			}
		}
	})
}

// In a run that is stopped, a request for another attempt does not count as the last one: the item
// was cancelled between two attempts.
func TestRequestsOfAStoppedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		w := one(func(context.Context, core.Input) (core.Result, error) {
			cancel()
			return core.Result{Status: core.Retry}, nil
		}, retry(3, ""), allowPartial, autoStatus)
		r, _ := scheduler.Run(ctx, compile(t, w), nil, scheduler.Options{})
		if n, _ := r.Node("n"); n.Status != core.Fail || n.Failure.Class != core.ClassCanceled {
			t.Errorf("%s: %+v", n.Status, n.Failure)
		}
	})
}

// Rules 2, 4, 8: which failures are retried, under the default policy and under one that retries
// transient failures only.
func TestWhatIsTriedAgain(t *testing.T) {
	onlyTransient := func(n *core.Node) { retry(3, "")(n); n.OnError.RetryOn = text("transient") }
	boom, reset := errors.New("boom"), errors.New("connection reset by peer")
	for _, tt := range []struct {
		name   string
		answer any
		plain  int
		picky  int
	}{
		{"an error", boom, 3, 1},
		{"a lost connection", reset, 3, 3},
		{"an error that says it may go", core.Retryable(boom), 3, 3},
		{"a lost connection that says it will not come back", core.Permanent(reset), 1, 1},
		{"an error with a wait", core.RetryAfter(boom, time.Second), 3, 3},
		{"an error of a category", core.Categorized(reset, core.BudgetExhausted), 3, 1},
		{"a result outside of the write set", core.Write("x", 1), 3, 1},
		{"a request", core.Retry, 3, 3},
		{"a returned fail", core.Result{Status: core.Fail, Note: "timeout"}, 1, 1},
		{"a success", core.Success, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, c := range []struct {
				change func(*core.Node)
				want   int
			}{{retry(3, ""), tt.plain}, {onlyTransient, tt.picky}, {func(*core.Node) {}, 1}} {
				synctest.Test(t, func(t *testing.T) {
					r, _ := scheduler.Run(context.Background(), compile(t, one(answers(tt.answer), c.change)), nil, scheduler.Options{})
					if n, _ := r.Node("n"); n.Attempts != c.want {
						t.Errorf("%d attempts, want %d: %v", n.Attempts, c.want, n.Failure)
					}
				})
			}
		})
	}
}

// Rule 10 under such a policy: a timeout is transient.
func TestTimeoutsAreTransient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ core.Input) (core.Result, error) {
			<-ctx.Done()
			return core.Result{}, errors.New("boom")
		}
		change := func(n *core.Node) { retry(3, "")(n); n.OnError.RetryOn = text("transient") }
		r, _ := scheduler.Run(context.Background(), compile(t, one(hang, timeout(time.Second), change)), nil, scheduler.Options{})
		if n, _ := r.Node("n"); n.Attempts != 3 || n.Failure.Class != core.ClassTimeout {
			t.Errorf("%d attempts: %+v", n.Attempts, n.Failure)
		}
	})
}

// The presets in virtual time: every delay is the delay of the formula times a factor of at least
// 0.5 and below 1.5, and the factors differ.
func TestPresetsWait(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		preset string
		waits  []time.Duration
	}{
		{"none", nil},
		{"standard", []time.Duration{200 * ms, 400 * ms, 800 * ms, 1600 * ms}},
		{"aggressive", []time.Duration{500 * ms, 1000 * ms, 2000 * ms, 4000 * ms}},
		{"linear", []time.Duration{500 * ms, 500 * ms}},
		{"patient", []time.Duration{2000 * ms, 6000 * ms}},
	} {
		t.Run(tt.preset, func(t *testing.T) {
			spread := map[float64]bool{}
			for range 5 {
				synctest.Test(t, func(t *testing.T) {
					var at []time.Time
					h := func(context.Context, core.Input) (core.Result, error) {
						at = append(at, time.Now())
						return core.Result{}, errors.New("boom")
					}
					w := one(h, func(n *core.Node) { n.OnError = &core.OnError{Policy: text("retry"), Preset: text(tt.preset)} })
					_, _ = scheduler.Run(context.Background(), compile(t, w), nil, scheduler.Options{})
					if len(at) != len(tt.waits)+1 {
						t.Fatalf("%d attempts, want %d", len(at), len(tt.waits)+1)
					}
					for i, want := range tt.waits {
						got := at[i+1].Sub(at[i])
						if got < want/2 || got >= want+want/2 {
							t.Errorf("wait %d is %s, want %s and its half", i+1, got, want)
						}
						spread[float64(got)/float64(want)] = true
					}
				})
			}
			if len(tt.waits) > 0 && len(spread) < 5 {
				t.Errorf("the waits are spread by %d factors only", len(spread))
			}
		})
	}
}
