package quorum_test

import (
	"testing"

	"github.com/wavefold/wavefold/scheduler/machine/internal/quorum"
)

func TestTally(t *testing.T) {
	const pending, won, lost = quorum.Pending, quorum.Won, quorum.Lost
	for _, tt := range []struct {
		name         string
		tally        quorum.Tally // branches, need, ended, succeeded
		early, atEnd quorum.Result
	}{
		{"nothing is needed", quorum.Tally{3, 0, 0, 0}, won, won},
		{"nothing is needed of nothing", quorum.Tally{0, 0, 0, 0}, won, won},
		{"there are no branches", quorum.Tally{0, 1, 0, 0}, lost, lost},
		{"nothing has ended", quorum.Tally{3, 2, 0, 0}, pending, pending},
		{"one is missing", quorum.Tally{3, 2, 1, 1}, pending, pending},
		{"as many as needed", quorum.Tally{3, 2, 2, 2}, won, won},
		{"more than needed", quorum.Tally{3, 2, 3, 3}, won, won},
		{"a failure that can be afforded", quorum.Tally{3, 2, 1, 0}, pending, pending},
		{"the last one wins", quorum.Tally{3, 2, 3, 2}, won, won},
		{"a failure too many", quorum.Tally{3, 2, 2, 0}, lost, pending},
		{"a failure too many after a success", quorum.Tally{4, 3, 3, 1}, lost, pending},
		{"all have ended, too few well", quorum.Tally{3, 2, 3, 1}, lost, lost},
		{"more are needed than there are", quorum.Tally{3, 4, 0, 0}, lost, pending},
		{"any of many, all fail", quorum.Tally{5, 1, 5, 0}, lost, lost},
		{"all of many, one fails", quorum.Tally{5, 5, 1, 0}, lost, pending},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.tally.Early(); got != tt.early {
				t.Errorf("Early of %+v is %s, want %s", tt.tally, got, tt.early)
			}
			if got := tt.tally.AtEnd(); got != tt.atEnd {
				t.Errorf("AtEnd of %+v is %s, want %s", tt.tally, got, tt.atEnd)
			}
		})
	}
}

// A decision must be certain: no outcome of the other branches may change it, and an undecided
// tally must still be able to reach each result.
func TestDecisionsAreCertain(t *testing.T) {
	const most = 6
	for branches := range most {
		for need := range most + 1 {
			for ended := range branches + 1 {
				for succeeded := range ended + 1 {
					tally := quorum.Tally{Branches: branches, Need: need, Ended: ended, Succeeded: succeeded}
					worst := tally
					worst.Ended = branches
					best := worst
					best.Succeeded += branches - ended
					want := quorum.Pending
					if worst.AtEnd() == best.AtEnd() {
						want = worst.AtEnd()
					}
					if got := tally.Early(); got != want {
						t.Errorf("Early of %+v is %s, want %s", tally, got, want)
					}
					if got := tally.AtEnd(); got != want && (got != quorum.Pending || tally.Complete()) {
						t.Errorf("AtEnd of %+v is %s, want %s or pending", tally, got, want)
					}
				}
			}
		}
	}
}
