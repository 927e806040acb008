package schedulertest

import (
	"testing"
)

// TestGeneratedShares checks that the property tests are meaningful: each feature occurs in
// enough of the generated graphs.
func TestGeneratedShares(t *testing.T) {
	var tally Tally
	for seed := range uint64(2000) {
		g := Generate(seed, Shape{})
		tally.Add(FeaturesOf(g, OracleRun(g)))
	}
	t.Log(tally.String())
	for _, f := range []Feature{CrossBranchReads, SetOnce, Failures, Retries, Units, WhenChains, Joins, Gates, Pauses} {
		if s := tally.Share(f); s < 15 {
			t.Errorf("%s in %.1f %% of the graphs, want at least 15", f, s)
		}
	}
	for _, f := range []Feature{Rejections, FanOuts, EmptyFanOuts, Cuts, Skips, OnEdges, Handled, Alerts, ElseEdges, AllDone, EdgeOutputs,
		Inner, UnitFailures, Isolated, Unordered, Partial, Nested, Statuses, Overflows, LostReads, Changed} {
		if s := tally.Share(f); s < 2 {
			t.Errorf("%s in %.1f %% of the graphs, want at least 2", f, s)
		}
	}
}
