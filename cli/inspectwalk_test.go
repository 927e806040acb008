package cli

import (
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
)

// A resumed run begins visits again that it has not kept: they and the visits after them count once.
func TestWalkedPath(t *testing.T) {
	var path walkedPath
	for _, e := range []core.Event{
		{Node: "a", Visit: 1}, {Node: "a", Visit: 1, Attempt: 2}, {Node: "b", Visit: 1}, {Node: "a", Visit: 2}, {Node: "a/in", Visit: 1},
		{Node: "b", Visit: 1}, {Node: "a", Visit: 2}, {Node: "a", Visit: 3},
	} {
		e.Type = core.NodeStarted
		path.add(&e)
	}
	if got := joinRepeats(path.nodes()); !slices.Equal(got, []string{"a", "b", "a ×2"}) {
		t.Errorf("the path is %q", got)
	}
}
