package schedulertest

import "testing"

// Shares of small samples are luck: a construct of 3 % of the graphs may well be in 2 of 125.
const (
	sampleForShares = 1000 // graphs of the whole test, of which a property may take a part
	sampleForOnce   = 100  // runs in which a common construct occurs, whatever the seeds
	common          = 10   // percent
)

// checkShares requires that constructs occur in their least shares of the runs, in percent, if the sample
// is large enough to tell. In a smaller one, such as that of the race detector, each common construct must
// occur at least once.
func checkShares(t *testing.T, seen map[string]int, runs int, least map[string]int) {
	t.Helper()
	if *seedFlag != 0 || runs < sampleForOnce {
		return
	}
	enough := graphs() >= sampleForShares && !testing.Short()
	for _, what := range sortedKeys(least) {
		percent := least[what]
		switch {
		case enough && seen[what]*100 < percent*runs:
			t.Errorf("%s: %d of %d runs, want at least %d %%", what, seen[what], runs, percent)
		case percent >= common && seen[what] == 0:
			t.Errorf("%s: in none of %d runs", what, runs)
		}
	}
	for _, what := range sortedKeys(seen) {
		if _, known := least[what]; !known {
			t.Errorf("%s is counted, and no share of it is required", what)
		}
	}
}
