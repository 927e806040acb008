package schedulertest

import "github.com/wavefold/wavefold/core"

// Outcome is all of a run that must not depend on timing.
type Outcome struct {
	Status core.RunStatus
	State  *core.Object // in declared order
	// Lost tells that a field has no value because a merge failed. Only the
	// oracle says so.
	Lost  bool
	Nodes map[string]NodeOutcome
	Units map[string]UnitOutcome
	// Void tells the executions after the cut of max_failures: whether they ran
	// depends on timing, what they wrote is dropped.
	Void func(Execution) bool
}

// NodeOutcome is how a node ended.
type NodeOutcome struct {
	Status core.Status
	Skip   Skip   // why it was skipped
	Cause  string // where the skip began
	Class  string // of the failure, see core.ClassError
	// Handled tells a failure that a policy or an edge took care of.
	Handled bool
	// Changed tells that it did well only because allow_partial or auto_status says so,
	// for one of its executions at least.
	Changed bool
	// Attempts counts all executions and their retries, Items the executions,
	// Failed those of them that failed.
	Attempts, Items, Failed int
	Output                  any // core.Missing for none
}

// UnitOutcome is how a pipeline or loop ended.
type UnitOutcome struct {
	Status core.Status
	Rows   int // rows or rounds
	Reason string
	Skip   Skip
}

// Skip is why a node was skipped.
type Skip string

// Reasons of skips, the first that applies.
const (
	SkipFailure   Skip = "failure"   // something upstream failed
	SkipCondition Skip = "condition" // an incoming edge is false
	SkipAll       Skip = "skipped"   // nothing that was not skipped leads here
	SkipJoin      Skip = "join"      // too few of its predecessors are live
	SkipLost      Skip = "lost"      // it lost a race
)
