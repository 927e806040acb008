package scheduler_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// each returns a workflow of one fan-out over $.list that appends the results of its items to
// $.out.
func each(h func(ctx context.Context, i int64) error, change ...func(*core.Node)) *core.Workflow {
	w := fields(one(func(ctx context.Context, in core.Input) (core.Result, error) {
		i, _ := in.Item()
		return core.Write("out", []any{i}), h(ctx, i.(int64))
	}, change...), "list")
	w.Nodes[0].Writes = []source.Text{text("out")}
	w.Fields = append(w.Fields, core.FieldDecl{Name: text("out"), Merge: text("array_append"), Default: value.Missing})
	return w
}

func written(r *core.Report) int {
	out, _ := r.State.Get("out")
	list, _ := out.([]any)
	return len(list)
}

// TestFailRunWithinARange: the item that stopped the run ended the fan-out before the outcomes of
// the items after it in the same answer had been handled. These were lost, and failures among them
// were counted twice.
func TestFailRunWithinARange(t *testing.T) {
	w := each(func(context.Context, int64) error { return nil }, forEach("list", 1), func(n *core.Node) {
		n.OnError = &core.OnError{Policy: text("fail_run")}
	})
	p := compile(t, w)
	m, err := machine.New(p, value.ObjectOf("list", numbers(100)), machine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for !m.Done() {
		for _, c := range m.Next() {
			switch c.Op {
			case machine.OpFinish:
				n, _ := c.Report.Node("n")
				begun := n.Attempts
				if ok := written(c.Report); n.Failed+ok != begun || ok < 3 || begun >= 100 {
					t.Errorf("%d items failed and %d wrote, want %d together", n.Failed, ok, begun)
				}
			case machine.OpRun:
				m.Apply(stopping(p, c.ID))
			}
		}
	}
}

// stopping answers ranges: items succeed, except for the two in the middle of the first range with
// at least four items, which fail.
func stopping(p *plan.Plan, id machine.ID) *machine.Event {
	e := &machine.Event{ID: id, Items: make([]machine.Outcome, id.To-id.From)}
	out, _ := p.Schema.Index("out")
	for i := range e.Items {
		e.Items[i].Writes = []plan.Write{{Field: int32(out), Value: []any{int64(i)}}}
		if len(e.Items) >= 4 && (i == 1 || i == 2) {
			e.Items[i] = machine.Outcome{Failure: &core.Failure{Message: "boom"}}
		}
	}
	return e
}

// TestGoexitInARange: all items that happened to share a range with an item that ended its
// goroutine failed with it.
func TestGoexitInARange(t *testing.T) {
	p := compile(t, each(func(_ context.Context, i int64) error {
		if i == 700 {
			runtime.Goexit()
		}
		return nil
	}, forEach("list", 1)))
	r, _ := scheduler.Run(t.Context(), p, map[string]any{"list": numbers(1000)}, scheduler.Options{})
	if n, _ := r.Node("n"); n.Failed != 1 || written(r) != 999 {
		t.Errorf("%d items failed and %d wrote, want 1 and 999", n.Failed, written(r))
	}
}

// TestStuckItemInARange: the same for an item that ignored its timeout.
func TestStuckItemInARange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		release := make(chan struct{})
		defer close(release)
		p := compile(t, each(func(_ context.Context, i int64) error {
			ran.Add(1)
			if i == 700 {
				<-release
			}
			return nil
		}, forEach("list", 1), timeout(time.Second)))
		r, err := scheduler.Run(t.Context(), p, map[string]any{"list": numbers(1000)}, scheduler.Options{})
		if n, _ := r.Node("n"); n.Failed != 1 || written(r) != 999 || ran.Load() != 1000 {
			t.Errorf("%d items failed, %d wrote and %d ran, want 1, 999 and 1000", n.Failed, written(r), ran.Load())
		}
		if _, ok := errors.AsType[*core.StrayError](err); !ok {
			t.Errorf("error %v", err)
		}
	})
}

// TestDeafItemInACancelledRange: all items of a range failed if one of them ignored the
// cancellation of the run, including those that had been completed.
func TestDeafItemInACancelledRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		p := compile(t, each(func(_ context.Context, i int64) error {
			if i == 700 {
				<-release
			}
			return nil
		}, forEach("list", 1)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := scheduler.Run(ctx, p, map[string]any{"list": numbers(1000)}, scheduler.Options{})
		n, _ := r.Node("n")
		if written(r) != 700 || n.Failed != 1 || n.Attempts != 701 || !strings.HasPrefix(n.Failure.Message, "1 of 1000 items failed, 299 did not begin, first item 700: ignored") {
			t.Errorf("%d items wrote, %d failed, %d attempts: %v", written(r), n.Failed, n.Attempts, n.Failure)
		}
		if _, ok := errors.AsType[*core.StrayError](err); !ok || r.Duration != time.Second+scheduler.DefaultGrace {
			t.Errorf("took %s: %v", r.Duration, err)
		}
	})
}

// TestCancelOutlivesNoTimeout: a cancelled handler was left behind after the grace period, but Run
// still waited for the node's own timeout.
func TestCancelOutlivesNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		p := compile(t, one(func(context.Context, core.Input) (core.Result, error) {
			<-release
			return core.Result{}, nil
		}, timeout(time.Hour)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := scheduler.Run(ctx, p, nil, scheduler.Options{})
		if took := time.Since(start); took != time.Second+scheduler.DefaultGrace {
			t.Errorf("returned after %s: %v", took, err)
		}
	})
}

// TestExecuteOutlivesItsWatch: the timer for a handler that ignored its timeout used the machine,
// which Execute does not have, and crashed the process.
func TestExecuteOutlivesItsWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := compile(t, one(func(context.Context, core.Input) (core.Result, error) {
			time.Sleep(time.Hour)
			return core.Result{}, nil
		}, timeout(time.Second)))
		m, err := machine.New(p, nil, machine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := scheduler.Execute(t.Context(), &m.Next()[0], scheduler.Options{Run: "r"})
		if err != nil {
			t.Fatal(err)
		}
		if e.Outcome.Failure == nil || e.Outcome.Failure.Class != core.ClassTimeout {
			t.Errorf("failure %v", e.Outcome.Failure)
		}
	})
}
