package scheduler

import (
	"context"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// tracing calls the tracer of the run, if there is one. Like a listener, the tracer is code outside
// the run: if it panics, that notification is lost, and there is no other effect. Secrets in
// reports and failures are masked for it.
type tracing struct {
	tracer core.Tracer
	secret.Masker
}

func newTracing(t core.Tracer, secrets []core.Secret) tracing {
	if t == nil {
		return tracing{}
	}
	return tracing{t, secret.MaskerOf(secrets)}
}

// run begins a run in the context that it returns. end is nil if there is nothing to be told at the
// end.
func (t tracing) run(ctx context.Context, id, workflow string) (inner context.Context, end func(*core.Report)) {
	if t.tracer == nil {
		return ctx, nil
	}
	return t.startRun(ctx, id, workflow)
}

func (t tracing) startRun(ctx context.Context, id, workflow string) (inner context.Context, end func(*core.Report)) {
	inner = ctx
	var ended func(*core.Report)
	harmless(func() { inner, ended = t.tracer.StartRun(ctx, id, workflow) })
	if ended == nil {
		return inner, nil
	}
	return inner, func(r *core.Report) { harmless(func() { ended(t.Report(r)) }) }
}

// attempt begins an attempt in the context that it returns. Its end gets the outcome, nil for a
// handler that did not return to its caller.
func (t tracing) attempt(ctx context.Context, n *plan.Node, in core.Input) (inner context.Context, end func(*machine.Outcome)) {
	inner = ctx
	var ended func(core.Status, *core.Failure)
	harmless(func() { inner, ended = t.tracer.StartAttempt(ctx, n.Kind, in) })
	return inner, func(o *machine.Outcome) {
		if ended == nil {
			return
		}
		status, failure := core.Success, exited()
		if o != nil {
			failure = o.Failure
			status = max(o.Status, core.Success)
		}
		if failure != nil {
			status = core.Fail
		}
		harmless(func() { ended(status, t.Failure(failure)) })
	}
}

// harmless calls a function and ignores a panic.
func harmless(f func()) {
	defer func() { _ = recover() }()
	f()
}
