package schedulertest

import (
	"testing"

	"github.com/wavefold/wavefold/internal/mutanttest"
)

// TestMutants requires that each mutant of the machine fails the properties that it names,
// and the checker of logs if events show the bug.
func TestMutants(t *testing.T) {
	mutanttest.Run(t, mutanttest.Suite{Archive: "testdata/mutants.txtar"})
}
