package corpus

import (
	"testing"

	"github.com/wavefold/wavefold/internal/mutanttest"
)

// TestMutants requires that a document of the corpus notices each check that is taken away.
func TestMutants(t *testing.T) {
	n := mutanttest.Run(t, mutanttest.Suite{Archive: "testdata/mutants.txtar", Tests: []string{"TestMistakes", "TestCorrect"}})
	if n < 20 {
		t.Errorf("there are %d mutants, want at least 20", n)
	}
}
