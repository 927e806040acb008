package core

import (
	"github.com/wavefold/wavefold/core/source"
)

// Join says when a node with several predecessors runs or, for a parallel node, how many of
// its branches must succeed.
type Join struct {
	// Policy is one of the Join constants. k_of_n and quorum apply both to nodes of a dag
	// and to parallel nodes of a walk.
	Policy source.Text
	// Count is the K of k_of_n.
	Count *source.Int
	// Fraction is the F of quorum, from 0 to 1.
	Fraction *source.Located[float64]
	// Race makes a node of a dag run as soon as enough predecessors have succeeded,
	// whichever they are, and cancels the others. Without it, the first predecessors in
	// canonical order are taken, so that the result does not depend on timing.
	Race bool
	Pos  source.Position
}

// Join policies.
const (
	JoinAll          = "all"           // dag, default: every predecessor
	JoinAllDone      = "all_done"      // dag: every predecessor, whatever its status
	JoinAny          = "any"           // dag: one predecessor
	JoinWaitAll      = "wait_all"      // parallel, default: every branch
	JoinFirstSuccess = "first_success" // parallel: one branch
	JoinKOfN         = "k_of_n"        // K of them
	JoinQuorum       = "quorum"        // the share F of them
)

// Word returns the policy. It returns "" for a nil Join.
func (j *Join) Word() string {
	if j == nil {
		return ""
	}
	return j.Policy.Value
}

// JoinOf returns a join with a policy that needs no count or fraction.
func JoinOf(policy source.Text) *Join { return &Join{Policy: policy, Pos: policy.Pos} }

// Parallel holds the settings of a node of RoleParallel other than its join.
type Parallel struct {
	// MaxParallel limits the branches in flight; nil means DefaultMaxParallel.
	MaxParallel *source.Int
	// ErrorPolicy is "" or "continue", "fail_fast" (the first branch that fails ends
	// the others) or "ignore" (branches that fail do not count against the node).
	ErrorPolicy source.Text
}
