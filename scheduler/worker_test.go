package scheduler

import (
	"context"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestOwnPanicIsNotSwallowed: a panic of the machine, raised while the lock was
// held, ran into the clean-up for handlers that end their goroutine. That took
// the lock once more, and a broken invariant ended as a silent hang instead of
// a crash with its stack.
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

// TestCancelBetweenTakeAndStart: a frame was cancelled after a worker had taken
// its command and before the handler had a context. The context was then made
// anew, and nobody cancelled it.
func TestCancelBetweenTakeAndStart(t *testing.T) {
	var ended error
	handler := core.HandlerFunc(func(ctx context.Context, _ core.Input) (core.Result, error) {
		ended = ctx.Err()
		return core.Result{}, nil
	})
	r := &run{ctx: t.Context(), parent: t.Context(), opts: Options{Grace: time.Hour}}
	r.queue = []machine.Command{{Op: machine.OpRun, ID: machine.ID{Frame: 1}, Plan: &plan.Plan{Workflow: &core.Workflow{}},
		Node: &plan.Node{ID: "a", Handler: handler}, Call: &machine.Call{Path: "f"}}}
	w := r.newWorker()
	r.take(w)
	r.cancelFrame(1)
	r.execute(w)
	if ended == nil {
		t.Error("the handler ran on under a context that had not ended")
	}
}

// TestNothingIsKeptForALostListener: events piled up for the rest of the run
// after a listener had panicked.
func TestNothingIsKeptForALostListener(t *testing.T) {
	d := deliver(func(core.Event) { panic("boom") })
	d.add(core.Event{})
	<-d.done
	d.add(core.Event{})
	if len(d.queue) > 0 {
		t.Errorf("%d events are kept", len(d.queue))
	}
}
