package core

import (
	"github.com/wavefold/wavefold/core/source"
)

// Join says when a node with several predecessors runs, or, of a parallel node, what
// its branches must come to.
type Join struct {
	// Policy is one of the Join constants; those for nodes of a dag and those for
	// parallel nodes of a walk share k_of_n and quorum.
	Policy source.Text
	// Count is the K of k_of_n.
	Count *source.Int
	// Fraction is the F of quorum, from 0 to 1.
	Fraction *source.Located[float64]
	// Race makes a node of a dag run as soon as enough predecessors have succeeded,
	// whichever they are, and gives the others up. Without it the first ones in
	// canonical order are taken, so that time decides nothing.
	Race bool
	Pos  source.Position
}

// Join policies.
const (
	JoinAll          = "all"           // dag, default: every predecessor
	JoinAllDone      = "all_done"      // dag: every predecessor, whatever became of it
	JoinAny          = "any"           // dag: one predecessor
	JoinWaitAll      = "wait_all"      // parallel, default: every branch
	JoinFirstSuccess = "first_success" // parallel: one branch
	JoinKOfN         = "k_of_n"        // K of them
	JoinQuorum       = "quorum"        // the share F of them
)

// Word returns the policy, "" of a nil Join.
func (j *Join) Word() string {
	if j == nil {
		return ""
	}
	return j.Policy.Value
}

// JoinOf returns a join with a policy that needs no number.
func JoinOf(policy source.Text) *Join { return &Join{Policy: policy, Pos: policy.Pos} }

// Parallel is what a node of the role RoleParallel has beside its join.
type Parallel struct {
	// MaxParallel is how many branches may be under way at once; nil means
	// DefaultMaxParallel.
	MaxParallel *source.Int
	// ErrorPolicy is "" or "continue", "fail_fast" (the first branch that fails ends
	// the others) or "ignore" (branches that fail do not count against the node).
	ErrorPolicy source.Text
}
