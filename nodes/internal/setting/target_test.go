package setting

import (
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestOf(t *testing.T) {
	tests := []struct {
		node string
		into string
		want string
		find string
	}{
		{`{}`, "", "", ""},
		{`{"writes": []}`, "", "", ""},
		{`{"writes": ["a"]}`, "", "a", ""},
		{`{"writes": ["a", "b"]}`, "b", "b", "1:13: warning: node n: a node with into: b writes no other field, field \"a\" stays as it is [UNUSED]\n"},
		{`{"writes": ["b"]}`, "b", "b", ""},
		{`{"writes": ["a", "b"]}`, "", "", "1:13: warning: node n: several writes are declared, so the result goes along the edges only (name the field with into: a) [MISSING_KEY]\n"},
		{`{"writes": ["name"]}`, "nmae", "", "5:6: error: node n: into: field \"nmae\" is not among the node's writes (did you mean \"name\"?) [UNKNOWN_FIELD]\n"},
		{`{}`, "a", "", "5:6: error: node n: into: field \"a\" is not among the node's writes (add it: writes: [a]) [UNKNOWN_FIELD]\n"},
	}
	for _, tt := range tests {
		got, ds := TargetOf(nodestest.Node(t, tt.node), source.At(tt.into, source.Position{Line: 5, Column: 6}), "node n")
		if got.Field != tt.want || nodestest.Findings(ds) != tt.find {
			t.Errorf("%s into %q: got %q, %swant %q, %s", tt.node, tt.into, got.Field, nodestest.Findings(ds), tt.want, tt.find)
		}
	}
}

func TestResult(t *testing.T) {
	if got := nodestest.Text(Target{"a"}.Result("x")); got != `{"a":"x"}` {
		t.Errorf("got %s", got)
	}
	if got := nodestest.Text(Target{}.Result(nil)); got != `{} -> null` {
		t.Errorf("got %s", got)
	}
}
