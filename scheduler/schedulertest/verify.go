package schedulertest

import (
	"fmt"

	"github.com/wavefold/wavefold/scheduler/verify"
)

// Verify checks the events of a run of the engine against its graph, as
// `wavefold verify` does, and lists the violations.
func Verify(r *Run) []string {
	c := verify.New(r.Plan)
	for i := range r.Events {
		if err := c.Add(i+1, &r.Events[i]); err != nil {
			return []string{err.Error()}
		}
	}
	var faults []string
	for _, v := range c.Finish().Violations {
		faults = append(faults, fmt.Sprintf("line %d: %s %v/%v/%d: %s: %s", v.Line, v.Node, v.Item, v.Round, v.Attempt, v.Rule, v.Message))
	}
	return faults
}
