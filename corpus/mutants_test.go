package corpus

import (
	"testing"

	"github.com/wavefold/wavefold/internal/mutanttest"
)

// TestMutants checks that a document of the corpus detects the removal of each check.
func TestMutants(t *testing.T) {
	n := mutanttest.Run(t, mutanttest.Suite{Archive: "testdata/mutants.txtar", Tests: []string{"TestMistakes", "TestCorrect"}})
	if n < 20 {
		t.Errorf("there are %d mutants, want at least 20", n)
	}
}
