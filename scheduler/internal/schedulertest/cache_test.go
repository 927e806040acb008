package schedulertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store/memory"
)

// compileCached compiles a graph in which each node that can have a cache has one.
func compileCached(t *testing.T, g *Graph, rec *Recorder) *plan.Plan {
	t.Helper()
	without := map[string]bool{}
	for {
		w, reg := g.Workflow(rec)
		for _, n := range w.Nodes {
			if !without[n.ID.Value] {
				n.Cache = &core.Cache{Version: source.Text{Value: n.ID.Value}} // what the node does depends on its id
			}
		}
		p, ds := plan.Compile(w, reg, plan.Options{})
		if p != nil && !ds.Failed(false) {
			return p
		}
		before := len(without)
		for _, d := range ds {
			for _, n := range w.Nodes {
				if strings.Contains(d.Message, "node "+n.ID.Value+": cache") {
					without[n.ID.Value] = true
				}
			}
		}
		if len(without) == before {
			t.Fatalf("graph does not compile: %v\n%s", ds, g)
		}
	}
}

// TestPropertyCache: a run that finds the results of another one ends with the same state, statuses and route, and
// executions that failed are repeated.
func TestPropertyCache(t *testing.T) {
	hits := 0
	for _, tt := range journalShapes {
		if tt.name == "stopped" || tt.name == "races" || tt.name == "expired" { // whose ends depend on timing
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			property(t, graphs()/tt.share, tt.generate, func(t *testing.T, g *Graph) (faults []string) {
				synctest.Test(t, func(t *testing.T) {
					s := memory.New(nil)
					var cold *core.Report
					for _, id := range []string{"cold", "warm"} {
						rec := &Recorder{Timing: 1 + g.Seed}
						o := scheduler.Options{Run: id, Concurrency: 1 + int(g.Seed%7), Interviewer: rec.continues(g), Recording: &scheduler.Recording{Store: s}}
						report, err := scheduler.Run(context.Background(), compileCached(t, g, rec), g.Values(), o)
						if report == nil {
							t.Fatal(err)
						}
						if id == "cold" {
							cold = report
							continue
						}
						if visitsAgain(cold) {
							return
						}
						again, found := unlikeCold(cold, report)
						faults, hits = append(faults, again...), hits+found
					}
				})
				return faults
			})
		})
	}
	t.Logf("%d nodes were found", hits)
	if *seedFlag == 0 && hits == 0 {
		t.Error("no node was found")
	}
}

// visitsAgain reports whether a walk has visited a node more than once. What generated nodes do depends on
// the visit, which is not part of the keys.
func visitsAgain(r *core.Report) bool {
	return slices.ContainsFunc(r.Nodes(), func(n core.NodeReport) bool { return n.Visits > 1 })
}

// unlikeCold lists how a run that could find results differs from the run that made them, and counts the nodes of
// which it found some.
func unlikeCold(cold, warm *core.Report) (faults []string, hits int) {
	if a, b := value.JSON(cold.State), value.JSON(warm.State); a != b {
		faults = append(faults, fmt.Sprintf("the state is %s, and %s without results", b, a))
	}
	if cold.Status != warm.Status || fmt.Sprint(cold.Path) != fmt.Sprint(warm.Path) {
		faults = append(faults, fmt.Sprintf("the run is %s by %v, and %s by %v without results", warm.Status, warm.Path, cold.Status, cold.Path))
	}
	for _, n := range warm.Nodes() {
		c, _ := cold.Node(n.ID)
		if c.Status != n.Status || c.Items != n.Items || c.Failed != n.Failed || c.Visits != n.Visits {
			faults = append(faults, fmt.Sprintf("%s is %s (%d items, %d failed, %d visits), and %s (%d, %d, %d) without results",
				n.ID, n.Status, n.Items, n.Failed, n.Visits, c.Status, c.Items, c.Failed, c.Visits))
		}
		found := strings.Contains(n.Reason, core.CachedReason)
		if found {
			hits++
		}
		rejected := n.Failure != nil && n.Failure.Class == core.ClassMerge // a result that was found, by the state
		if rejected {
			continue
		}
		if found && n.Status == core.Fail || c.Status == core.Fail && c.Attempts > 0 && n.Attempts == 0 {
			faults = append(faults, fmt.Sprintf("%s failed without running: %s", n.ID, n.Reason))
		}
	}
	return faults, hits
}
