package scheduler

import (
	"context"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// Execute carries out one OpRun command outside of Run, as a worker of a
// distributed engine does: it calls the handler, under the node's timeout, and
// returns the answer for the machine. It blocks until the handler returns.
// Times in the answer count from the call. What the node replaces is in place when it
// returns: a distributed engine that has items replace files has to see to their order.
func Execute(ctx context.Context, runID string, c *machine.Command) *machine.Event {
	r := &run{opts: Options{Run: runID, Grace: DefaultGrace}, ctx: ctx, parent: ctx, started: time.Now(), bare: core.Shared{Run: runID, Dir: c.Plan.Workflow.Dir}}
	r.remote = true
	r.over = true // there is no machine to tell about a handler that ignores its timeout
	r.wake.L, r.left.L = &r.mu, &r.mu
	w := &worker{}
	w.begin(c)
	r.execute(w)
	r.closeSources()
	return w.answer()
}
