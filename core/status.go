package core

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// Status is the status of a node's visit. The zero Status means "never reached".
type Status uint8

// Node statuses. Only handlers return Retry: it never leaves the attempt loop, so edges,
// events, reports and $nodes never have it.
const (
	StatusNone     Status = iota
	Success               // finished normally
	PartialSuccess        // finished with a usable but incomplete result
	Fail                  // ended with an error
	Skipped               // not executed; the skip reason says why
	Retry                 // a handler requests another attempt
)

var statusNames = [...]string{"", "success", "partial_success", "fail", "skipped", "retry"}

// String returns the status as documents and events spell it.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// statusValues holds the statuses as values.
var statusValues = [...]any{StatusNone: value.Missing, Success: "success", PartialSuccess: "partial_success", Fail: "fail", Skipped: "skipped"}

// Value returns the value of $nodes.ID.status: the name of the status, or value.Missing for
// StatusNone. It does not allocate.
func (s Status) Value() any {
	if int(s) < len(statusValues) {
		return statusValues[s]
	}
	return s.String()
}

// MarshalText writes the status by name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a status by name.
func (s *Status) UnmarshalText(b []byte) error {
	i := slices.Index(statusNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("unknown status %q", b)
	}
	*s = Status(i)
	return nil
}

// StatusOf returns the status that a handler means by a word: success, partial_success,
// fail, skipped or retry, or one of the synonyms succeeded, partially_succeeded and failed.
func StatusOf(word string) (s Status, ok bool) {
	switch word {
	case "":
		return StatusNone, false
	case "succeeded":
		return Success, true
	case "partially_succeeded":
		return PartialSuccess, true
	case "failed":
		return Fail, true
	}
	return s, s.UnmarshalText([]byte(word)) == nil
}

// Succeeded reports whether the status is success or partial_success.
func (s Status) Succeeded() bool { return s == Success || s == PartialSuccess }

// RunStatus is the status of a run.
type RunStatus string

// Run statuses. A run with only skips and successes is a success. partial_success means
// that there were failures, and each was tolerated by an explicit policy or handled by an
// on: fail edge with handles: true.
const (
	RunSuccess   RunStatus = "success"
	RunPartial   RunStatus = "partial_success"
	RunFailed    RunStatus = "failed"
	RunPaused    RunStatus = "paused"
	RunCancelled RunStatus = "cancelled"
)

// Failure classes.
const (
	ClassError    = "error"    // the handler returned an error or the status fail
	ClassPanic    = "panic"    // the handler panicked; never retried
	ClassTimeout  = "timeout"  // an attempt ran longer than the node's timeout
	ClassCanceled = "canceled" // the run ended while the node was in flight
	ClassWrite    = "write"    // a result outside the write set or of the wrong type
	ClassMerge    = "merge"    // a merge rejected the write; never retried
	ClassInput    = "input"    // items, arguments or source have the wrong shape
	ClassUnit     = "unit"     // a pipeline or loop failed through one of its members

	// The classes below belong to walks that could not continue.
	ClassNoRoute        = "no_route"        // a stage has no edge to follow, and it is not the exit
	ClassGoalGate       = "goal_gate"       // a goal gate is not satisfied at the exit, and there is no node to return to
	ClassMaxIterations  = "max_iterations"  // a walk by steps has made as many visits as it may
	ClassNodeBudget     = "node_budget"     // the visits of a node of a walk by steps are used up, and no node handles that
	ClassUnknownNode    = "unknown_node"    // a walk by steps was sent to a node that the graph does not have
	ClassVisitLimit     = "visit_limit"     // a node has reached its limit of visits
	ClassFailureCycle   = "failure_cycle"   // the same failure occurred too often
	ClassRestartBlocked = "restart_blocked" // a loop_restart edge cannot be followed after a failure that is not transient
	ClassStalled        = "stalled"         // the run showed no sign of progress for too long
)

// ReasonSetByReplay is the reason in the event of a field that a replay has given another value.
const ReasonSetByReplay = "set by the replay"

// AssumedReason is the reason in the events of a node of a replay that has a status without running.
func AssumedReason(status string) string { return status + " is assumed" }
