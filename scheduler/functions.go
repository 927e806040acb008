package scheduler

import (
	"context"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// functions calls the Go functions of a node of a walk by steps: a hook, or the conditions of edges.
// A function that does not return is left behind when the grace period of the run has passed.
func (x *executor) functions(o *machine.Outcome) {
	switch f := x.c.Call.Functions; {
	case f.Before:
		x.before(o)
	case f.After:
		x.after(f, o)
	default:
		answers := make([]byte, len(f.Edges))
		for i := range answers {
			answers[i] = machine.AnswerPanicked
		}
		x.conditions(f, answers)
		o.Route = &machine.Route{Visited: &machine.Visited{Answers: string(answers)}}
	}
}

// conditions calls the conditions in order, each in time. The conditions of one visit share a
// goroutine, until one of them does not return.
func (x *executor) conditions(f *machine.FunctionCall, answers []byte) {
	for next := 0; next < len(answers); {
		results := make(chan byte, len(answers)-next) // so that no condition waits for the reader
		visit := f.Visit
		go func(from int) {
			for _, edge := range f.Edges[from:] {
				results <- holds(x.p.Function(edge), visit)
			}
		}(next)
		for waiting := true; waiting && next < len(answers); next++ {
			timer := time.NewTimer(x.run.opts.Grace)
			select {
			case answers[next] = <-results:
			case <-timer.C:
				waiting = false
			}
			timer.Stop()
		}
	}
}

// before calls the hook Before of a node. Its answer are the writes.
func (x *executor) before(o *machine.Outcome) {
	n := x.c.Node
	s, err := machine.Shared(x.p, n, x.c.Call, -1, func() bool { return x.ctx.Err() != nil })
	if err != nil {
		return
	}
	state := core.NewHookState(func(name string) (any, bool) { return hookValue(x.p, s.View, name) })
	if !x.hook("Before", func(ctx context.Context) error { return n.Decl.Before(ctx, state) }) {
		return
	}
	names, values := state.Changes()
	if len(names) == 0 {
		return
	}
	update := value.NewObject(len(names))
	for _, name := range names {
		v, err := value.Canonical(values[name])
		if err != nil {
			x.warn("Before", err)
			return
		}
		update.Set(name, v)
	}
	if o.Writes, err = x.p.AcceptUpdate(update); err != nil {
		o.Writes = nil
		x.warn("Before", err)
	}
}

// hookValue returns a value of the state that a node sees.
func hookValue(p *plan.Plan, view core.View, name string) (any, bool) {
	if v, ok := view.Get(name); ok || !p.Open() {
		return v, ok
	}
	context, _ := view.Get(core.ContextField)
	o, _ := context.(*value.Object)
	return o.Get(name)
}

// after calls the hook After of a node. Its answer is the result as the hook has left it.
func (x *executor) after(f *machine.FunctionCall, o *machine.Outcome) {
	r := f.Visit
	if !x.hook("After", func(ctx context.Context) error { return x.c.Node.Decl.After(ctx, &r) }) {
		return
	}
	v, err := value.Canonical(r.Output)
	if err != nil {
		x.warn("After", err)
		return
	}
	o.Output, o.HasOutput, o.Failure = v, v != nil || f.Visit.Output != nil, r.Failure
	o.Route = &machine.Route{Visited: machine.VisitedOf(&r)}
}

// hook calls a hook and reports whether it succeeded in time.
func (x *executor) hook(name string, f func(context.Context) error) bool {
	ctx, cancel := context.WithTimeoutCause(x.ctx, x.run.opts.Grace, errTimeout)
	defer cancel()
	done := make(chan error, 1) // so that a late hook does not wait for the reader
	go func() { done <- hooked(ctx, f) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		default:
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		x.warn(name, err)
	}
	return err == nil
}

// warn logs that a hook failed, which is otherwise ignored.
func (x *executor) warn(hook string, err error) {
	in := core.NewInput(x.run.opts.Run, x.c.Call.Name(x.c.Node), 0, core.Shared{Logs: x.logs()})
	in.Logger().Warn("the hook "+hook+" failed and is ignored", "error", err.Error())
}

// holds calls a condition.
func holds(p core.Predicate, r core.VisitResult) (answer byte) {
	defer func() {
		if recover() != nil {
			answer = machine.AnswerPanicked
		}
	}()
	if p(&r) {
		return machine.AnswerTrue
	}
	return machine.AnswerFalse
}

// hooked calls a hook.
func hooked(ctx context.Context, f func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return f(ctx)
}
