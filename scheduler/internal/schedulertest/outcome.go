package schedulertest

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Outcome holds the results of a run that must not depend on timing.
type Outcome struct {
	Status core.RunStatus
	State  *value.Object // in declared order
	// Lost reports that a field has no value because a merge failed. Only the oracle sets
	// it.
	Lost  bool
	Nodes map[string]NodeOutcome
	Units map[string]UnitOutcome
	// Void reports whether an execution comes after the cut by max_failures: whether it
	// runs depends on timing, and its writes are dropped.
	Void func(Execution) bool
}

// NodeOutcome is the outcome of a node.
type NodeOutcome struct {
	Status core.Status
	Skip   Skip   // why it was skipped
	Cause  string // where the skip began
	Class  string // of the failure, see core.ClassError
	// Handled reports that a policy or an edge handled the failure.
	Handled bool
	// Changed reports that the node succeeded only because of allow_partial or auto_status,
	// for at least one of its executions.
	Changed bool
	// Attempts counts all attempts, Items the executions, Failed the failed executions.
	Attempts, Items, Failed int
	Output                  any // value.Missing if there is none
}

// UnitOutcome is the outcome of a pipeline or loop.
type UnitOutcome struct {
	Status core.Status
	Rows   int // rows or rounds
	Reason string
	Skip   Skip
}

// Skip is the reason why a node was skipped.
type Skip string

// Reasons of skips, in order of precedence.
const (
	SkipFailure   Skip = "failure"   // an upstream node failed
	SkipCondition Skip = "condition" // an incoming edge is false
	SkipAll       Skip = "skipped"   // all predecessors were skipped
	SkipJoin      Skip = "join"      // too few of its predecessors are live
	SkipLost      Skip = "lost"      // it lost a race
)
