package scheduler_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
)

// TestEdgeIsJudgedOnce: the condition of an on: fail edge was evaluated and
// published a second time to note that the failure is handled.
func TestEdgeIsJudgedOnce(t *testing.T) {
	w := graph(map[string]core.HandlerFunc{
		"a": func(context.Context, core.Input) (core.Result, error) { return core.Result{}, errors.New("boom") },
		"b": noop,
	}, []string{"a", "b"}, [2]string{"a", "b"})
	when := text("$.x == 1")
	w.Edges[0].On, w.Edges[0].When = text("fail"), &when
	w = fields(w, "x")
	judged := 0
	r, err := scheduler.Run(t.Context(), compile(t, w), map[string]any{"x": 1}, scheduler.Options{Listener: func(e core.Event) {
		if e.Type == core.EdgeJudged {
			judged++
		}
	}})
	if a, _ := r.Node("a"); judged != 1 || !a.Handled || r.Status != core.RunPartial {
		t.Errorf("judged %d times, handled %t, run %s: %v", judged, a.Handled, r.Status, err)
	}
}
