package scheduler

import (
	"context"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// tracing calls the run's tracer, if there is one. As a listener, it is code at the edge
// of the run: a panic of its loses what it was told and nothing else. It is shown no
// secret in a report or a failure.
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

// run begins a run in the context it returns.
func (t tracing) run(ctx context.Context, id, workflow string) (inner context.Context, end func(*core.Report)) {
	inner = ctx
	var ended func(*core.Report)
	if t.tracer != nil {
		harmless(func() { inner, ended = t.tracer.StartRun(ctx, id, workflow) })
	}
	return inner, func(r *core.Report) {
		if ended != nil {
			harmless(func() { ended(t.Report(r)) })
		}
	}
}

// attempt begins an attempt in the context it returns. Its end takes the outcome; nil
// is that of a handler that did not return to its caller.
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

// harmless calls code whose panic is of no consequence.
func harmless(f func()) {
	defer func() { _ = recover() }()
	f()
}
