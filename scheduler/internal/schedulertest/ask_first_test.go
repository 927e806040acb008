package schedulertest

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
)

// TestNestedRunAsksFirst runs a nested run that begins with a question to a person, while nothing
// else is in progress.
func TestNestedRunAsksFirst(t *testing.T) {
	for _, inner := range []*Node{{ID: "inner", Role: core.RoleHuman}, {ID: "inner", Pause: core.PauseBefore}} {
		g := &Graph{Nodes: []*Node{{ID: "outer", MaxFailures: -1, Sub: &Graph{Nodes: []*Node{inner}}}}}
		inner.MaxFailures = -1
		for _, s := range []Setting{{Concurrency: 1}, {Concurrency: 8, InFlight: 1}} {
			want := OracleRun(g)
			if faults := Differences(want, EngineRun(t, g, want, s)); len(faults) > 0 {
				t.Errorf("%s: %s\n%s", s, fmt.Sprint(faults), g)
			}
		}
	}
}
