package schedulertest

import "testing"

// TestGeneratedWalkShares checks that the properties of walks are meaningful.
func TestGeneratedWalkShares(t *testing.T) {
	var tally Tally
	for seed := range uint64(1000) {
		g := GenerateWalk(seed)
		tally.Add(FeaturesOf(g, OracleWalk(g, 1+seed, nil)))
	}
	t.Log(tally.String())
	for _, f := range []Feature{Cycles, Conditionals, WaitAll, FirstSuccess, KOfN, Quorum, GateJumps, Limits, Restarts, WalkRetries} {
		if s := tally.Share(f); s < 15 {
			t.Errorf("%s in %.1f %% of the graphs, want at least 15", f, s)
		}
	}
	for _, f := range []Feature{TransparentBad, FailedJoins, EarlyJoins, FailFasts, Ignored, Targets, ByCondition, ByLabel, BySuggestion,
		Unanswered, Breakers, NoRoutes, GateFailures, Blocked, Ends, Lifted, Refused} {
		if s := tally.Share(f); s < 4 {
			t.Errorf("%s in %.1f %% of the graphs, want at least 4", f, s)
		}
	}
}
