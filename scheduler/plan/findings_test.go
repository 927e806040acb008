package plan

import (
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/formatstest"
)

// TestFindings compiles the documents in testdata and compares all findings, including warnings and
// hints.
func TestFindings(t *testing.T) {
	formatstest.Findings(t, "testdata/*.txtar", func(file string, data []byte) source.Diagnostics {
		_, ds := files{file: string(data)}.compile(file, false)
		return ds
	})
}
