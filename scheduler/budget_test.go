package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store/memory"
)

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		name   string
		budget core.Budget
		calls  int64
	}{
		{"tokens", core.Budget{Tokens: 25}, 3},
		{"calls", core.Budget{Calls: 3}, 3},
		{"cost", core.Budget{Cost: 1.5}, 3},
		{"enough", core.Budget{Tokens: 61}, 6},
	} {
		for name, change := range map[string]func(*core.Workflow){
			"plain": nil,
			"skip":  func(w *core.Workflow) { w.Nodes[1].OnError = &core.OnError{Policy: source.Text{Value: "skip"}} },
			"handled": func(w *core.Workflow) {
				w.Edges = append(w.Edges, &core.Edge{From: w.Nodes[1].ID, To: w.Nodes[2].ID, On: source.Text{Value: "fail"}, Handles: &source.Located[bool]{Value: true}})
			},
			"retried": func(w *core.Workflow) {
				w.Nodes[1].OnError = &core.OnError{Policy: source.Text{Value: "retry"}, Attempts: number(t, "5")}
			},
		} {
			if name == "handled" && c.name == "enough" {
				continue // c is skipped then
			}
			t.Run(c.name+"/"+name, func(t *testing.T) {
				r, err := scheduler.Run(t.Context(), callers(t, 2, change), nil, scheduler.Options{Concurrency: 1, Budget: c.budget})
				if r.Usage.Calls != c.calls {
					t.Errorf("%d calls, want %d", r.Usage.Calls, c.calls)
				}
				if c.name == "enough" {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if r.Status != core.RunFailed || !errors.Is(err, scheduler.ErrBudget) || core.CategoryOf(err) != core.BudgetExhausted {
					t.Errorf("%s: %v", r.Status, err)
				}
			})
		}
	}
}

// calling is a kind whose nodes call a model once and use ten tokens each. The first call takes one
// second, the next two, and so on.
type calling struct{ asked, finished *atomic.Int64 }

func (calling) Name() string   { return "caller" }
func (calling) Keys() []string { return nil }
func (k calling) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Models: true, Handler: core.HandlerFunc(func(ctx context.Context, in core.Input) (core.Result, error) {
		m := core.MeterOf(ctx)
		if err := m.Ask(core.ModelCall{}); err != nil {
			return core.Result{}, err
		}
		select {
		case <-time.After(time.Duration(k.asked.Add(1)) * time.Second):
			k.finished.Add(1)
			m.Answered(core.ModelCall{Usage: core.Usage{Calls: 1, Input: 7, Output: 3, Cost: 0.5}})
			return core.Result{}, nil
		case <-ctx.Done():
			m.Answered(core.ModelCall{Err: ctx.Err()})
			return core.Result{}, ctx.Err()
		}
	})}, nil
}

// Calls that have begun within the budget end and are counted, however many are made concurrently,
// and no more calls begin than the budget allows.
func TestBudgetAtOnce(t *testing.T) {
	for _, c := range []struct {
		name               string
		budget             core.Budget
		concurrency, calls int64
		fails              bool
	}{
		{"calls", core.Budget{Calls: 3}, 8, 3, true},
		{"calls in two waves", core.Budget{Calls: 3}, 2, 3, true},
		{"just enough", core.Budget{Calls: 8}, 3, 8, false},
		{"tokens", core.Budget{Tokens: 25}, 2, 4, true},
		{"all within", core.Budget{Tokens: 25}, 8, 8, false},
		{"cost", core.Budget{Cost: 0.5}, 2, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := calling{new(atomic.Int64), new(atomic.Int64)}
				w := &core.Workflow{Name: source.Text{Value: "at_once"}}
				for i := range 8 {
					w.Nodes = append(w.Nodes, &core.Node{ID: source.Text{Value: fmt.Sprintf("n%d", i)}, Kind: source.Text{Value: "caller"}})
				}
				p, ds := plan.Compile(w, core.NewRegistry(append(std.Kinds(), k)...), plan.Options{})
				if p == nil {
					t.Fatal(ds)
				}
				r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Concurrency: int(c.concurrency), Budget: c.budget})
				if k.asked.Load() != c.calls || k.finished.Load() != c.calls || r.Usage.Calls != c.calls {
					t.Errorf("%d calls begun, %d finished, %d accounted for, want %d", k.asked.Load(), k.finished.Load(), r.Usage.Calls, c.calls)
				}
				if c.fails != errors.Is(err, scheduler.ErrBudget) || c.fails != (r.Status == core.RunFailed) {
					t.Errorf("%s: %v", r.Status, err)
				}
			})
		})
	}
}

// decision builds a walk with one decision for a model.
func decision(t *testing.T) *plan.Plan {
	t.Helper()
	p, ds := plan.Compile(routedOf(t, `
		a -> b when=x
		a -> c`), stages(t, nil), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	return p
}

// An attempt does not wait for its own calls, because one call may make another.
func TestBudgetWithinACall(t *testing.T) {
	p := decision(t)
	router := core.RouterFunc(func(ctx context.Context, _ core.RouteQuestion) (core.RouteAnswer, error) {
		m := core.MeterOf(ctx)
		return core.RouteAnswer{}, errors.Join(m.Ask(core.ModelCall{}), m.Ask(core.ModelCall{}))
	})
	r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Router: router, Budget: core.Budget{Calls: 1}})
	if r.Status != core.RunFailed || !errors.Is(err, scheduler.ErrBudget) {
		t.Errorf("%s: %v", r.Status, err)
	}
}

func TestBudgetOfWalk(t *testing.T) {
	p := decision(t)
	router := core.RouterFunc(func(ctx context.Context, _ core.RouteQuestion) (core.RouteAnswer, error) {
		return core.RouteAnswer{}, core.MeterOf(ctx).Ask(core.ModelCall{})
	})
	r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Router: router, Budget: core.Budget{Calls: 1}})
	if err != nil || r.Status != core.RunSuccess {
		t.Errorf("%s: %v", r.Status, err)
	}
	router = func(ctx context.Context, _ core.RouteQuestion) (core.RouteAnswer, error) {
		m := core.MeterOf(ctx)
		m.Answered(core.ModelCall{Usage: core.Usage{Calls: 1}})
		return core.RouteAnswer{}, m.Ask(core.ModelCall{})
	}
	r, err = scheduler.Run(t.Context(), p, nil, scheduler.Options{Router: router, Budget: core.Budget{Calls: 1}})
	if r.Status != core.RunFailed || !errors.Is(err, scheduler.ErrBudget) {
		t.Errorf("%s: %v", r.Status, err)
	}
	if a, _ := r.Node("a"); a.Usage.Calls != 1 || a.Status != core.Success {
		t.Errorf("node a: %+v", a)
	}
	if _, err = scheduler.Run(t.Context(), p, nil, scheduler.Options{}); !errors.Is(err, scheduler.ErrNoRouter) {
		t.Errorf("without a router: %v", err)
	}
	router = func(context.Context, core.RouteQuestion) (core.RouteAnswer, error) { panic("oh") }
	if r, err = scheduler.Run(t.Context(), p, nil, scheduler.Options{Router: router}); r.Status != core.RunFailed || !strings.Contains(err.Error(), "panic: oh") {
		t.Errorf("a router that panics: %v", err)
	}
}

// unreliable is a kind whose nodes call a model once and fail while the service is down.
type unreliable struct {
	asked *int
	down  *bool
}

func (unreliable) Name() string   { return "unreliable" }
func (unreliable) Keys() []string { return nil }
func (k unreliable) Compile(*core.Node, core.Env) (core.Compiled, source.Diagnostics) {
	return core.Compiled{Models: true, Handler: core.HandlerFunc(func(ctx context.Context, _ core.Input) (core.Result, error) {
		m := core.MeterOf(ctx)
		if err := m.Ask(core.ModelCall{}); err != nil {
			return core.Result{}, err
		}
		*k.asked++
		m.Answered(core.ModelCall{Usage: core.Usage{Calls: 1, Input: 7, Output: 3, Cost: 0.5}})
		if *k.down {
			return core.Result{}, errors.New("the service is down")
		}
		return core.Result{}, nil
	})}, nil
}

// TestBudgetOfAResumedRun: what the second attempt of a failed node had used was free once the run was
// resumed, because its answer is dropped and only the first attempt is in progress then.
func TestBudgetOfAResumedRun(t *testing.T) {
	asked, down := 0, true
	w := &core.Workflow{Name: source.Text{Value: "resumed"}, Nodes: []*core.Node{{ID: source.Text{Value: "a"}, Kind: source.Text{Value: "unreliable"},
		OnError: &core.OnError{Policy: source.Text{Value: "retry"}, Attempts: number(t, "2")}}}}
	p, ds := plan.Compile(w, core.NewRegistry(append(std.Kinds(), unreliable{&asked, &down})...), plan.Options{})
	if p == nil {
		t.Fatal(ds)
	}
	s := memory.New(nil)
	o := scheduler.Options{Run: "r", Budget: core.Budget{Calls: 5}, Recording: &scheduler.Recording{Store: s}}
	if _, err := scheduler.Run(t.Context(), p, nil, o); err == nil {
		t.Fatal("the service is up")
	}
	for process, want := range []int{4, 5, 5} {
		if _, err := resume(t, s, "r", p); asked != want || errors.Is(err, scheduler.ErrBudget) != (process > 0) {
			t.Errorf("resumed %d times: %d calls, want %d; error %v", process+1, asked, want, err)
		}
	}
	st, err := scheduler.OpenStored(t.Context(), s, "r")
	if err != nil {
		t.Fatal(err)
	}
	down = false
	if _, err := scheduler.Resume(t.Context(), st, p, scheduler.Options{Budget: core.Budget{Calls: 6}}); err != nil || asked != 6 {
		t.Errorf("with another limit: %d calls, error %v", asked, err)
	}
}
