package schedulertest

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
)

// TestPropertyCrash runs graphs with the engine in processes that crash at random records. A run must
// end as if there had been no crash.
func TestPropertyCrash(t *testing.T) {
	tally := map[string]int{}
	for _, tt := range crashShapes() {
		t.Run(tt.name, func(t *testing.T) {
			property(t, graphs()/tt.share, tt.generate, func(t *testing.T, g *Graph) []string {
				s, c := crashed(g)
				c.Tally = tally
				_, faults := crashFaults(t, g, s, c)
				return faults
			})
		})
	}
	checkTally(t, tally)
}

// TestPropertyCrashEverywhere is TestPropertyCrash for one crash after each record of a few graphs.
func TestPropertyCrashEverywhere(t *testing.T) {
	tally := map[string]int{}
	for _, tt := range crashShapes() {
		t.Run(tt.name, func(t *testing.T) {
			property(t, max(1, graphs()/tt.share/20), tt.generate, func(t *testing.T, g *Graph) []string {
				s, c := crashed(g)
				c.Times, c.Tally = 1, tally
				for c.First = 1; ; c.First++ {
					before := tally["crashes"]
					if _, faults := crashFaults(t, g, s, c); len(faults) > 0 || tally["crashes"] == before {
						return faults
					}
				}
			})
		})
	}
	checkTally(t, tally)
}

func checkTally(t *testing.T, tally map[string]int) {
	t.Helper()
	t.Log(tally)
	for _, what := range []string{"crashes", "kept", "repeated"} {
		if tally[what] == 0 && *seedFlag == 0 {
			t.Errorf("the graphs had no %s", what)
		}
	}
}

// crashShapes returns the shapes of graphs whose ends do not depend on timing or on the hostile driver.
func crashShapes() (list []journalShape) {
	for _, s := range journalShapes {
		if s.name != "stopped" && s.name != "races" && s.name != "expired" {
			list = append(list, s)
		}
	}
	return list
}

// crashed returns one of several ways to run a graph.
func crashed(g *Graph) (Setting, Crashes) {
	settings := []Setting{{Concurrency: 1}, {Concurrency: 8, Timing: 1 + g.Seed}, {Concurrency: 64, Timing: 2 + g.Seed}, {Concurrency: 8, InFlight: 3, Timing: 3 + g.Seed, Silent: true}}
	c := Crashes{Seed: g.Seed, Most: 2 + int(g.Seed%13), Times: 1 + int(g.Seed%7), Power: g.Seed%3 == 0, Mode: core.DurabilityFull}
	if g.Seed/4%2 == 0 {
		c.Mode = core.DurabilityBatch
	}
	return settings[g.Seed%4], c
}

func crashFaults(t *testing.T, g *Graph, s Setting, c Crashes) (*Run, []string) {
	want := oracleOf(g)
	got, faults := CrashRun(t, g, want, s, c)
	if want == nil {
		want = OracleWalk(g, 0, got.Events)
	}
	if faults = append(faults, Differences(want, got)...); len(faults) > 0 {
		faults = append([]string{fmt.Sprintf("%s %+v", s, c)}, faults...)
	}
	return got, faults
}
