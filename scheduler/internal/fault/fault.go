// Package fault names mistakes that can be planted into the machine, so that
// tests can show that they would be found. Nothing outside of scheduler can set
// one.
package fault

// Fault is a planted mistake. The zero Fault is none.
type Fault uint8

// Mistakes.
const (
	None Fault = iota
	// ArrivalOrderFold folds writes in the order they arrive in.
	ArrivalOrderFold
	// DroppedStateDependency starts a node before the writers of its reads are
	// resolved.
	DroppedStateDependency
	// LiveFanOutView shows each item the state of the moment it starts.
	LiveFanOutView
	// SkipBeforeResolved skips a node at the first predecessor that did not
	// succeed, before the others are resolved.
	SkipBeforeResolved
	// LostRetryWrite drops the writes of a node that succeeded after a retry.
	LostRetryWrite
	// ArrivalOrderJoin lets a join take the predecessors that are first in time, as only
	// a race may.
	ArrivalOrderJoin
	// ArrivalOrderPlace puts results in place in the order in which they are ready.
	ArrivalOrderPlace

	// Of walks.

	// EdgeInFileOrder takes the first of the edges that could be followed, not the best.
	EdgeInFileOrder
	// ForgottenGate looks at the goal gate that was visited last only.
	ForgottenGate
	// LostRetryBudget leaves later visits of a node one attempt.
	LostRetryBudget
	// KeptLoserWrites merges what branches wrote that were given up.
	KeptLoserWrites
	// OpaqueConditional shows the edges of a conditional its own success.
	OpaqueConditional
	// KeptContext carries the context over a restart.
	KeptContext
)
