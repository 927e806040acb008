package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestOwnPanicIsNotSwallowed: a panic of the machine while the lock was held ran the clean-up for
// handlers that end their goroutine. The clean-up took the lock again, so a broken invariant ended
// as a deadlock instead of a crash with a stack.
func TestOwnPanicIsNotSwallowed(t *testing.T) {
	handler := core.HandlerFunc(func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
	r := &run{ctx: t.Context(), parent: t.Context(), opts: Options{Grace: time.Hour}} // no machine: the answer to the command panics
	r.wake.L = &r.mu
	r.queue = []machine.Command{{Op: machine.OpRun, Plan: &plan.Plan{Workflow: &core.Workflow{}}, Node: &plan.Node{ID: "a", Handler: handler}}}
	r.waking = true
	defer func() {
		if recover() == nil {
			t.Error("the panic did not come through")
		}
	}()
	r.mu.Lock()
	r.work()
}

// TestCancelBetweenTakeAndStart: a frame was cancelled after a worker had taken its command and
// before the handler had a context. The context was then created afterwards and never cancelled.
func TestCancelBetweenTakeAndStart(t *testing.T) {
	var ended error
	handler := core.HandlerFunc(func(ctx context.Context, _ core.Input) (core.Result, error) {
		ended = ctx.Err()
		return core.Result{}, nil
	})
	r := &run{ctx: t.Context(), parent: t.Context(), opts: Options{Grace: time.Hour}}
	r.queue = []machine.Command{{Op: machine.OpRun, ID: machine.ID{Frame: 1}, Plan: &plan.Plan{Workflow: &core.Workflow{}},
		Node: &plan.Node{ID: "a", Handler: handler}, Call: &machine.Call{CallContext: &machine.CallContext{Path: "f"}}}}
	w := r.newWorker()
	r.take(w)
	r.cancelFrame(1)
	r.execute(w)
	if ended == nil {
		t.Error("the handler ran on under a context that had not ended")
	}
}

// TestNothingIsKeptForALostListener: events accumulated for the rest of the run after a listener
// had panicked.
func TestNothingIsKeptForALostListener(t *testing.T) {
	d := deliver("r", 0, func(core.Event) { panic("boom") }, nil)
	d.add(core.Event{})
	<-d.done
	d.add(core.Event{})
	if d.waiting > 0 {
		t.Errorf("%d events are kept", d.waiting)
	}
}

// TestEventsForASlowListener: endless logs of handlers were kept without limit.
func TestEventsForASlowListener(t *testing.T) {
	gate, listening := make(chan struct{}), make(chan struct{})
	var got []core.Event
	d := deliver("r", 0, func(e core.Event) {
		if e.Type == core.RunStarted {
			close(listening)
			<-gate
		}
		got = append(got, e)
	}, nil)
	d.add(core.Event{Type: core.RunStarted})
	<-listening
	for range longQueue {
		d.add(core.Event{Type: core.NodeStarted})
	}
	for i := range 1000 {
		d.add(core.Event{Type: core.LogLine})
		d.add(core.Event{Type: core.Progress, Node: "a", Item: core.Nth(i % 2), Done: int64(i)})
	}
	d.add(core.Event{Type: core.RunFinished})
	if n := d.waiting; n != longQueue+3 {
		t.Errorf("%d events are queued, want %d", n, longQueue+3)
	}
	close(gate)
	if left := d.close(time.Minute); left != 0 {
		t.Fatalf("%d events were not delivered", left)
	}
	end := got[longQueue+1:]
	if len(end) != 4 || end[0].Done != 998 || end[1].Done != 999 || end[2].Log != "1000 log records are missing here: the listener of the events is too slow" || end[3].Type != core.RunFinished {
		t.Errorf("it ends with %+v", end)
	}
	var n int64
	for i, e := range got {
		if e.Type.Numbered() {
			n++
		}
		if e.Seq != n {
			t.Fatalf("event %d, %s, has number %d, want %d", i+1, e.Type, e.Seq, n)
		}
	}
}
