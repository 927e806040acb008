package core

import (
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// Status is how the visit of a node ended. The zero Status means "never
// reached".
type Status uint8

// Node statuses. Retry is what a handler may return and nothing else: it lives inside
// the attempt loop, and no edge, event, report or $nodes ever shows it.
const (
	StatusNone     Status = iota
	Success               // finished normally
	PartialSuccess        // finished with a usable but incomplete result
	Fail                  // ended with an error
	Skipped               // not executed; the skip reason says why
	Retry                 // a handler asks to be run again
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

// StatusOf returns the status that a handler means by a word: one of success,
// partial_success, fail, skipped and retry, or succeeded, partially_succeeded and
// failed, which are other names of the first three.
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

// RunStatus is how a run ended.
type RunStatus string

// Run statuses. A run with skips and successes only is a success;
// partial_success means that failures happened and each was tolerated by an
// explicit policy or handled by an on: fail edge with handles: true.
const (
	RunSuccess   RunStatus = "success"
	RunPartial   RunStatus = "partial_success"
	RunFailed    RunStatus = "failed"
	RunPaused    RunStatus = "paused"
	RunCancelled RunStatus = "cancelled"
)

// Failure classes.
const (
	ClassError    = "error"    // the handler returned an error, or said that it failed
	ClassPanic    = "panic"    // the handler panicked; never retried
	ClassTimeout  = "timeout"  // an attempt ran longer than the node's timeout
	ClassCanceled = "canceled" // the run ended while the node was in flight
	ClassWrite    = "write"    // a result outside the write set or of the wrong type
	ClassMerge    = "merge"    // the state refused the write; never retried
	ClassInput    = "input"    // items, arguments or source of the wrong shape
	ClassUnit     = "unit"     // a pipeline or loop failed through one of its members

	// Of walks that could not go on.
	ClassNoRoute        = "no_route"        // a stage has no edge to follow, and it is not the exit
	ClassGoalGate       = "goal_gate"       // a goal gate is not satisfied at the exit, and there is nowhere to go back to
	ClassVisitLimit     = "visit_limit"     // a node was to be visited once more than it may
	ClassFailureCycle   = "failure_cycle"   // the same failure came back too often
	ClassRestartBlocked = "restart_blocked" // a failure that is not transient was to be carried over a loop_restart edge
	ClassStalled        = "stalled"         // there was no sign of life for too long
)
