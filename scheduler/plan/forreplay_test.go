package plan_test

import (
	"testing"

	"github.com/wavefold/wavefold/core"
)

// A plan for replays judges results as before, also in the message that has the position of a node.
func TestForReplay(t *testing.T) {
	p := printed(t, "flow.yaml", fieldsDoc, fieldsInner, "")
	n, _ := p.Node("a")
	result := func() *core.Failure {
		r := core.Write("none", int64(1))
		_, failure := p.Accept(n, &r, nil)
		return failure
	}
	want := result()
	p.ForReplay()
	p.ForReplay()
	got := result()
	if want == nil || got == nil || got.Message != want.Message || n.Decl != nil || len(p.Workflow.Nodes) > 0 {
		t.Errorf("%v, want %v", got, want)
	}
}
