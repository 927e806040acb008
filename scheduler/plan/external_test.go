package plan_test

import (
	"github.com/wavefold/wavefold/scheduler/lint"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// The documents in testdata also expect the findings of package lint.
func init() { plan.SetLint(lint.Check) }
