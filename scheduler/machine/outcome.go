package machine

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// This file decides what an attempt that has ended means: either another attempt follows, or
// the visit is over and the settings of the node may change its outcome.

// lacking is the failure of a node that has no handler.
func lacking(n *plan.Node) *core.Failure {
	msg := n.Lacks
	if msg == "" {
		msg = fmt.Sprintf("kind %q has no handler", n.Kind)
	}
	return &core.Failure{Class: core.ClassError, Message: msg, Permanent: true}
}

// again reports whether an attempt that ended like that is followed by another.
func (f *frame) shouldRetry(n *plan.Node, attempt int32, o *Outcome) bool {
	return (o.Failure != nil || o.Status == core.Retry) && !f.Stopped && mayRetry(n, attempt, o)
}

// mayRetry reports whether the node allows another attempt after one that did not end well.
func mayRetry(n *plan.Node, attempt int32, o *Outcome) bool {
	return int(attempt) < n.Retry.Attempts && (o.Failure == nil || n.Retry.Again(o.Failure))
}

// verdict is the outcome of a visit of which o was the last attempt: it says what a
// request for another one comes to, then what auto_status makes of it. A failure leaves
// nothing else of the attempt, except in a walk, where what the node said beside it
// counts. A visit that the end of the run cut short came to nothing that a setting could
// change. o stays as it is.
func (f *frame) visitOutcome(n *plan.Node, attempt int32, o *Outcome) *Outcome {
	switch {
	case o.Failure != nil || o.Status == core.Retry:
	case n.AutoStatus && o.Status == core.PartialSuccess:
	default:
		return o
	}
	if f.Stopped && o.Status != core.PartialSuccess && mayRetry(n, attempt, o) {
		if o.Failure != nil {
			return &Outcome{Failure: o.Failure}
		}
		return &Outcome{Failure: cancelled()}
	}
	end := *o
	if end.Failure == nil && end.Status == core.Retry {
		denyRetry(n, attempt, &end)
	}
	if n.AutoStatus {
		applyAutoStatus(&end)
	}
	if end.Failure != nil && !f.p.Mode.Visits {
		return &Outcome{Failure: end.Failure}
	}
	return &end
}

// failsRun reports whether an outcome is a failure after which the run must not go on.
func failsRun(o *Outcome) bool { return o.Failure != nil && o.Failure.FailsRun }

// refuse ends a visit that asked for an attempt it does not get.
func denyRetry(n *plan.Node, attempt int32, o *Outcome) {
	why := fmt.Sprintf("still asked to be run again after attempt %d of %d", attempt, n.Retry.Attempts)
	switch {
	case o.Note != "" && n.Retry.Attempts <= 1: // nobody spoke of attempts
		why = o.Note
	case o.Note != "":
		why += ": " + o.Note
	}
	if n.AllowPartial {
		o.Status, o.Why = core.PartialSuccess, "allow_partial: "+why
		return
	}
	o.Failure = &core.Failure{Class: core.ClassError, Message: why}
	if c := core.CategoryOfText(o.Note); c != core.Deterministic {
		o.Failure.Category = c
	}
}

// lift is auto_status: what is no success becomes one, with all that the last attempt
// wrote and sent. It does not stand above the state, which refuses what it refuses, nor
// above the end of the run.
func applyAutoStatus(o *Outcome) {
	switch fail := o.Failure; {
	case fail == nil && o.Why != "":
		o.Why = "auto_status: " + o.Why
	case fail == nil && o.Status == core.PartialSuccess:
		o.Why = "auto_status: it ended partial_success"
	case fail == nil, fail.Class == core.ClassCanceled, fail.Class == core.ClassMerge && fail.Node == "":
		return
	default:
		o.Why = "auto_status: it failed: " + fail.Message
	}
	o.Status, o.Failure = core.Success, nil
}

// changes counts the items, rows or rounds of a node that ended otherwise than their last
// attempts.
type changes struct {
	Count int    `json:"count,omitempty"`
	First int    `json:"first,omitempty"`
	Why   string `json:"why,omitempty"` // of the first
}

// add counts one if there is a reason. Rows may end in any order.
func (c *changes) add(at int, why string) {
	if why == "" {
		return
	}
	if c.Count++; c.Count == 1 || at < c.First {
		c.First, c.Why = at, why
	}
}

// text words the changes, "" for none; what is the word for one of what is counted.
func (c *changes) text(what string) string {
	switch c.Count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s %d: %s", what, c.First, c.Why)
	}
	return fmt.Sprintf("%d %ss, first %s %d: %s", c.Count, what, what, c.First, c.Why)
}
