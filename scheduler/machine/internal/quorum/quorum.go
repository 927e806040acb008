// Package quorum decides whether enough of several branches have succeeded. It counts only:
// what a branch is, and what follows from the decision, is the caller's.
package quorum

// Result is what a tally amounts to.
type Result uint8

// Results. A tally that is Won or Lost stays so, however the remaining branches end.
const (
	Pending Result = iota
	Won
	Lost
)

// String names the result.
func (r Result) String() string { return [...]string{"pending", "won", "lost"}[r] }

// Tally counts the branches of one decision. Ended includes Succeeded.
type Tally struct {
	Branches  int // all branches
	Need      int // how many must succeed
	Ended     int
	Succeeded int
}

// Complete reports whether every branch has ended.
func (t Tally) Complete() bool { return t.Ended >= t.Branches }

// Early is Won once Need branches have succeeded, and Lost once too few branches are left
// for that.
func (t Tally) Early() Result {
	switch {
	case t.Succeeded >= t.Need:
		return Won
	case t.Succeeded+t.Branches-t.Ended < t.Need:
		return Lost
	}
	return Pending
}

// AtEnd is Won once Need branches have succeeded, and Lost only when every branch has ended:
// for callers whose explanation of a loss depends on all branches.
func (t Tally) AtEnd() Result {
	switch {
	case t.Succeeded >= t.Need:
		return Won
	case t.Complete():
		return Lost
	}
	return Pending
}
