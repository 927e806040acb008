package wavefold_test

import (
	"context"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core/source"
)

// Items that write a field which keeps only one result caused two findings for one
// mistake.
func TestEachIntoAPlainField(t *testing.T) {
	in, out := wavefold.NewField[[]int]("in"), wavefold.NewField[[]int]("out")
	double := func(_ context.Context, i int) (int, error) { return 2 * i, nil }
	found := wavefold.New("each", wavefold.Each("twice", in, out, double)).Findings()
	if len(found) != 1 || found[0].Code != source.CodeMergeType {
		t.Errorf("%v, want %s alone", found, source.CodeMergeType)
	}
}
