package transform

import (
	"testing"

	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestFields(t *testing.T) {
	nodestest.CheckDocs(t, Kind,
		nodestest.Nested{Path: "steps", Config: stepConfig{}}, nodestest.Nested{Path: "steps.join", Config: joinConfig{}},
		nodestest.Nested{Path: "group", Config: groupConfig{}}, nodestest.Nested{Path: "window", Config: windowConfig{}},
		nodestest.Nested{Path: "checks", Config: rowcheck.Check{}})
}
