package machine

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// missingHandler returns the failure of a node without a handler.
func missingHandler(n *plan.Node) *core.Failure {
	msg := n.Lacks
	if msg == "" {
		msg = fmt.Sprintf("kind %q has no handler", n.Kind)
	}
	return &core.Failure{Class: core.ClassError, Message: msg, Permanent: true}
}

// shouldRetry reports whether another attempt follows an attempt with outcome o.
func (f *frame) shouldRetry(n *plan.Node, attempt int32, o *Outcome) bool {
	return (o.Failure != nil || o.Status == core.Retry) && !f.Stopped && mayRetry(n, attempt, o)
}

// mayRetry reports whether the retry policy of the node allows another attempt after o.
func mayRetry(n *plan.Node, attempt int32, o *Outcome) bool {
	return int(attempt) < n.Retry.Attempts && (o.Failure == nil || n.Retry.Again(o.Failure))
}

// visitOutcome returns the outcome of a visit whose last attempt had outcome o. It decides about
// a request for another attempt, and then applies auto_status. A failure drops the rest of the
// outcome, except in a walk, where the note and the output of a failed node count. If the end of
// the run cut the visit short, no setting changes its outcome. visitOutcome does not modify o.
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

// failsRun reports whether an outcome is a failure that ends the run.
func failsRun(o *Outcome) bool { return o.Failure != nil && o.Failure.FailsRun }

// denyRetry ends a visit that asked for an attempt that it does not get.
func denyRetry(n *plan.Node, attempt int32, o *Outcome) {
	why := fmt.Sprintf("still asked to be run again after attempt %d of %d", attempt, n.Retry.Attempts)
	switch {
	case o.Note != "" && n.Retry.Attempts <= 1: // the node has no retries, so attempts are not mentioned
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

// applyAutoStatus turns a failure or partial success into a success, with all that the last
// attempt wrote and sent. It does not change a rejection by the state or a cancellation.
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

// changes counts the items, rows or rounds of a node whose status a setting changed.
type changes struct {
	Count int    `json:"count,omitempty"`
	First int    `json:"first,omitempty"`
	Why   string `json:"why,omitempty"` // of First
}

// add counts a change if there is one. Rows may end in any order.
func (c *changes) add(at int, why string) {
	if why == "" {
		return
	}
	if c.Count++; c.Count == 1 || at < c.First {
		c.First, c.Why = at, why
	}
}

// text describes the changes, or "" if there are none. what is the word for the things counted,
// such as "item".
func (c *changes) text(what string) string {
	switch c.Count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s %d: %s", what, c.First, c.Why)
	}
	return fmt.Sprintf("%d %ss, first %s %d: %s", c.Count, what, what, c.First, c.Why)
}
