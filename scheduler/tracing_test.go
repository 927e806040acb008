package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
)

// told is a tracer that records its calls.
type told struct {
	mu    sync.Mutex
	lines []string
}

type mark struct{}

func (t *told) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

func (t *told) StartRun(ctx context.Context, run, workflow string) (context.Context, func(*core.Report)) {
	t.note("run %s %s", run, workflow)
	return context.WithValue(ctx, mark{}, "run"), func(r *core.Report) { t.note("run ends: %s %v", r.Status, r.Err) }
}

func (t *told) StartAttempt(ctx context.Context, _ string, in core.Input) (context.Context, func(core.Status, *core.Failure)) {
	t.note("%s!%d in %v", in.Node(), in.Attempt(), ctx.Value(mark{}))
	return context.WithValue(ctx, mark{}, in.Node()), func(s core.Status, f *core.Failure) {
		t.note("%s!%d ends: %s %v", in.Node(), in.Attempt(), s, f)
	}
}

// TestTracerIsTold: the tracer is notified of the run and of each attempt, in its context,
// including a handler that ends its goroutine, and no secret is passed to it.
func TestTracerIsTold(t *testing.T) {
	var seen any
	w := graph(map[string]core.HandlerFunc{
		"look": func(ctx context.Context, _ core.Input) (core.Result, error) {
			seen = ctx.Value(mark{})
			return core.Result{}, nil
		},
		"leave": func(context.Context, core.Input) (core.Result, error) { runtime.Goexit(); return core.Result{}, nil },
		"fail": func(context.Context, core.Input) (core.Result, error) {
			return core.Result{}, errors.New("refused: s3cret-token")
		},
	}, []string{"look", "leave", "fail"})
	p := compile(t, w)
	p.Secrets = []core.Secret{{Name: text("TOKEN"), Read: func() (string, bool) { return "s3cret-token", true }}}
	tracer := &told{}
	_, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Run: "r1", Tracer: tracer})
	if err == nil || seen != "look" {
		t.Errorf("%v, the handler saw %v", err, seen)
	}
	got, want := strings.Join(tracer.lines, "\n"), `run r1 t
look!1 in run
look!1 ends: success <nil>
leave!1 in run
leave!1 ends: fail the handler ended its goroutine with runtime.Goexit
fail!1 in run
fail!1 ends: fail refused: ***
run ends: failed node leave: the handler ended its goroutine with runtime.Goexit (and 1 more failed)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// broken is a tracer that panics wherever it can, or returns nothing.
type broken struct{ in string }

func (b broken) StartRun(ctx context.Context, _, _ string) (context.Context, func(*core.Report)) {
	if b.in == "run" {
		panic("run")
	}
	return ctx, func(*core.Report) { panic("end of the run") }
}

func (b broken) StartAttempt(ctx context.Context, _ string, _ core.Input) (context.Context, func(core.Status, *core.Failure)) {
	switch b.in {
	case "attempt":
		panic("attempt")
	case "nothing":
		return ctx, nil
	}
	return ctx, func(core.Status, *core.Failure) { panic("end of the attempt") }
}

// TestTracerCannotHarm: a tracer that panics, or returns no function for the end.
func TestTracerCannotHarm(t *testing.T) {
	p := compile(t, fields(one(func(context.Context, core.Input) (core.Result, error) { return core.Write("x", 1), nil }, func(n *core.Node) {
		n.Writes, n.HasWrites = texts("x"), true
	}), "x"))
	for _, in := range []string{"run", "attempt", "nothing", "ends"} {
		r, err := scheduler.Run(t.Context(), p, nil, scheduler.Options{Tracer: broken{in}})
		if err != nil || value.JSON(r.State) != `{"x":1}` {
			t.Errorf("%s: %v, %s", in, err, value.JSON(r.State))
		}
	}
}
