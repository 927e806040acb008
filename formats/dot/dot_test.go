package dot

import (
	"testing"
	"testing/fstest"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/internal/formatstest"
)

// folder is the folder of the test documents.
var folder = fstest.MapFS{
	"prompts/plan.md": {Data: []byte("Plan for $goal.\nThen {{ wrong }}.\n")},
	"prompts/goal.md": {Data: []byte("Ship it.\n")},
	"child.dot":       {Data: []byte("digraph child { start -> exit }")},
	"binary.dat":      {Data: []byte("a\xff")},
}

func TestFindings(t *testing.T) {
	formatstest.Findings(t, "testdata/findings/*.txtar", func(file string, data []byte) source.Diagnostics {
		_, ds := Parse(file, data, Options{Files: folder})
		return ds
	})
}
