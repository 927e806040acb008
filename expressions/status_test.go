package expressions

import (
	"slices"
	"testing"

	"github.com/wavefold/wavefold/core"
)

// The language does not import core, so it has its own list of statuses.
func TestStatusNames(t *testing.T) {
	var want []string
	for s := core.StatusNone + 1; s < core.Retry; s++ { // no node is resolved as core.Retry
		want = append(want, s.String())
	}
	if !slices.Equal(statusNames, want) {
		t.Errorf("the statuses are %q, want %q as in core", statusNames, want)
	}
	if got := statusType.Enum; len(got) != len(want) || slices.ContainsFunc(want, func(s string) bool { return !slices.Contains(got, any(s)) }) {
		t.Errorf("the type of a status is %q, want %q", got, want)
	}
}
