package scheduler

import (
	"context"
	"testing"

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
	r := &run{ctx: t.Context(), parent: t.Context()} // no machine: the answer to the command panics
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
