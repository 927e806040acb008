package plan

import (
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/formatstest"
)

// TestFindings compiles the documents under testdata and compares the findings,
// warnings and hints included.
func TestFindings(t *testing.T) {
	formatstest.Findings(t, "testdata/*.txtar", func(file string, data []byte) source.Diagnostics {
		_, ds := files{file: string(data)}.compile(file, false)
		return ds
	})
}
