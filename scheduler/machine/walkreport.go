package machine

import (
	"time"

	"github.com/wavefold/wavefold/core"
)

// report returns the result of the visits of a node.
func (t *walk) report(node int32) core.NodeReport {
	r, f := &t.Nodes[node], t.f
	out := core.NodeReport{ID: t.id(node), Status: r.Last, Failure: r.Failure, Visits: r.Visits, Attempts: r.Attempts, Items: r.Visits,
		Started: time.Duration(r.Started), Duration: time.Duration(max(0, r.Ended-r.Started)), Output: f.output(node), Note: f.Notes[node],
		Usage: f.Usage[node]}
	switch r.Last {
	case core.Success, core.PartialSuccess, core.Skipped:
		out.Reason = r.Why
	case core.Fail:
		out.Handled = f.v[t.v].Status == core.Success // the walk has reached its exit anyway
	}
	return out
}
