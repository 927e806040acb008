// Package quorum decides whether enough of several branches have succeeded. It works on counts
// only.
package quorum

// Result is the result of a tally.
type Result uint8

// Results. Won and Lost are final, however the remaining branches end.
const (
	Pending Result = iota
	Won
	Lost
)

// String returns the name of the result.
func (r Result) String() string { return [...]string{"pending", "won", "lost"}[r] }

// Tally counts the branches of one decision. Ended includes Succeeded.
type Tally struct {
	Branches  int // number of branches
	Need      int // number of branches that must succeed
	Ended     int
	Succeeded int
}

// Complete reports whether every branch has ended.
func (t Tally) Complete() bool { return t.Ended >= t.Branches }

// Early returns Won once Need branches have succeeded, and Lost once too few branches are left
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

// AtEnd returns Won once Need branches have succeeded, and Lost only when every branch has ended.
// It is for callers whose explanation of a loss depends on all branches.
func (t Tally) AtEnd() Result {
	switch {
	case t.Succeeded >= t.Need:
		return Won
	case t.Complete():
		return Lost
	}
	return Pending
}
