package dataset

import (
	"testing"

	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestFields(t *testing.T) {
	nodestest.CheckDocs(t, Kind, nodestest.Nested{Path: "source", Config: sourceKeys{}}, nodestest.Nested{Path: "checks", Config: rowcheck.Check{}})
}
