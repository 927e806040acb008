package route

import (
	"testing"

	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestFields(t *testing.T) {
	nodestest.CheckDocs(t, Kind, nodestest.Nested{Path: "choices", Config: choiceConfig{}})
}
