package schedulertest

import (
	"testing"

	"github.com/wavefold/wavefold/internal/mutanttest"
)

// TestMutants requires that each mistake of the machine is found by the properties that exist
// for it, and by the checker of logs if events show it.
func TestMutants(t *testing.T) {
	mutanttest.Run(t, mutanttest.Suite{Archive: "testdata/mutants.txtar"})
}
