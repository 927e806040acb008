package machine_test

import (
	"testing"

	"github.com/wavefold/wavefold/internal/mutanttest"
)

// TestMutants requires that a script fails for each mutant. The properties of schedulertest find
// none of them.
func TestMutants(t *testing.T) {
	mutanttest.Run(t, mutanttest.Suite{Archive: "testdata/mutants.txtar"})
}
