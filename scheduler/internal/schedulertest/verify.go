package schedulertest

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/scheduler/verify"
)

// Verify checks the events of a run of the engine against its graph, as `wavefold verify`
// does, and lists the violations.
func Verify(r *Run) []string { return violations(r.Plan, r.Events) }

func violations(p *plan.Plan, events []core.Event) []string {
	report, err := verify.Events(p, events)
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	for _, v := range report.Violations {
		faults = append(faults, v.String())
	}
	return faults
}
