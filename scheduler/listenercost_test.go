//go:build !race

package scheduler_test

import (
	"strconv"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// TestCostOfAListener: each event took three allocations and three kilobytes. The race detector
// changes the number of allocations.
func TestCostOfAListener(t *testing.T) {
	const n = 1000
	nodes := map[string]core.HandlerFunc{}
	var names []string
	for i := range n {
		name := "n" + strconv.Itoa(i)
		nodes[name] = noop
		names = append(names, name)
	}
	each := graph(map[string]core.HandlerFunc{"n": noop}, []string{"n"})
	each.Nodes[0].ForEach = &core.ForEach{Source: text("$.x"), Concurrency: &source.Int{Value: 4}}
	for _, tt := range []struct {
		name   string
		p      *plan.Plan
		events int
		inputs map[string]any
	}{
		{"nodes", compile(t, graph(nodes, names)), 3 * n, nil},
		{"items", compile(t, fields(each, "x")), 2 * n, map[string]any{"x": make([]any, n)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := func(listener func(core.Event)) float64 {
				return testing.AllocsPerRun(20, func() {
					if _, err := scheduler.Run(t.Context(), tt.p, tt.inputs, scheduler.Options{Concurrency: 4, Listener: listener}); err != nil {
						t.Fatal(err)
					}
				})
			}
			heard := 0
			silent, with := run(nil), run(func(core.Event) { heard++ })
			if heard < 20*tt.events {
				t.Fatalf("only %d events", heard)
			}
			if more := (with - silent) / float64(tt.events); more > 0.1 {
				t.Errorf("an event takes %.2f allocations", more)
			}
		})
	}
}
