package wavefold_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

// What exists in Go only cannot be saved, and the error names it.
func TestSaveOfWhatIsOnlyInGo(t *testing.T) {
	yes := func(*core.VisitResult) bool { return true }
	base := func(options ...wavefold.Option) *wavefold.Walk {
		return wavefold.NewWalk("w", wavefold.Do("a", idle, append(options, wavefold.Entry())...), wavefold.Do("b", idle)).Always("a", "b")
	}
	for want, w := range map[string]*wavefold.Walk{
		"edge b -> a: its condition is a Go function without a name":     base().When("b", "a", wavefold.CondFunc(yes)),
		"edge b -> b: its condition is a Go function without a name":     base().When("b", "b", wavefold.CondOutput(func(int) bool { return true })),
		"loop of b: its condition is a Go function without a name":       base().LoopUntil("b", wavefold.End, wavefold.CondFunc(yes), 3),
		"node a: a walk whose nodes have BeforeVisit or AfterVisit cann": base(wavefold.AfterVisit(func(context.Context, *core.VisitResult) error { return nil })),
		"node a: a walk whose nodes have BeforeVisit or AfterVisit can":  base(wavefold.BeforeVisit(func(context.Context, *core.HookState) error { return nil })),
	} {
		g := w.Graph()
		if err := g.Compile(); err != nil {
			t.Fatal(err)
		}
		if text, err := g.Save(); err == nil || text != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, %v, want %s", text, err, want)
		}
	}
}
