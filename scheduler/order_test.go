package scheduler

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// The nodes b0 to b3 become ready in the opposite order. A worker that starts each node as soon as it
// is ready would access the plan out of order, and its nodes would not be in the cache.
func TestReadyNodesStartInTheOrderOfThePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock does not advance, so no time is measured
		var order []string
		h := core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			order = append(order, in.Node())
			return core.Result{}, nil
		})
		const n = 4
		w := &core.Workflow{}
		for _, layer := range []string{"a", "b"} {
			for i := range n {
				w.Nodes = append(w.Nodes, &core.Node{ID: source.Text{Value: fmt.Sprint(layer, i)}, Handler: h, HasWrites: true})
			}
		}
		for i := range n {
			w.Edges = append(w.Edges, &core.Edge{From: w.Nodes[i].ID, To: w.Nodes[2*n-1-i].ID})
		}
		p, found := plan.Compile(w, nil, plan.Options{})
		if p == nil {
			t.Fatal(found)
		}
		r := newRun(t.Context(), p, Options{Run: "r"})
		r.poolSize.mean = 1 // one worker
		var err error
		if r.m, err = machine.New(p, nil, machine.Options{Run: "r", Concurrency: n}); err != nil {
			t.Fatal(err)
		}
		if _, err = r.drive(); err != nil {
			t.Fatal(err)
		}
		// b0 follows the last of the first layer, with which the worker asked for the others.
		if got, want := strings.Join(order, " "), "a0 a1 a2 a3 b1 b2 b3 b0"; got != want {
			t.Errorf("order %s, want %s", got, want)
		}
	})
}
