package cli

import (
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/explain"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// ending records why a walk that a model routes ended.
type ending struct{ rule, reason string }

// endingOf returns the ending of a run, nil for graphs of other kinds, and a listener that
// records it and passes the events on to next, which may be nil.
func endingOf(p *plan.Plan, next func(core.Event)) (*ending, func(core.Event)) {
	if _, ok := p.Router(); !ok {
		return nil, next
	}
	d := &ending{}
	return d, func(e core.Event) {
		if e.Type == core.EdgeChosen && e.To == core.End && e.Node == e.From { // of the run itself
			d.rule, d.reason = e.Step, e.Reason
		}
		if next != nil {
			next(e)
		}
	}
}

// text describes where the walk ended and why.
func (d *ending) text(p *plan.Plan, r *core.Report) string {
	if len(r.Path) == 0 {
		return "ended before its first node"
	}
	last := r.Path[len(r.Path)-1]
	where := "ended at " + last + ": "
	switch {
	case d != nil && d.rule != "":
		return where + explain.StepText(d.rule, d.reason)
	case r.Status == core.RunCancelled:
		return where + "it was cancelled"
	case failureClass(r) == core.ClassVisitLimit:
		return where + "the walk has made as many visits as it may"
	case endedByFailure(r):
		return where + "the run could not continue"
	}
	n, _ := p.Node(last)
	switch out := p.Leaving(n.Index); {
	case len(out) == 0:
		return where + "no edge leaves it"
	case len(out) == 1:
		return where + "the edge out of it is used up"
	default:
		return where + fmt.Sprintf("all %d edges out of it are used up", len(out))
	}
}

// endedByFailure reports whether a run ended because of a failure after which it could not
// continue.
func endedByFailure(r *core.Report) bool {
	e, ok := errors.AsType[*core.NodeError](r.Err)
	return ok && e.Failure.FailsRun
}
