package machine

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// BenchmarkMachine is what the machine alone costs per node that does nothing: no
// goroutine, no clock, each command answered at once.
func BenchmarkMachine(b *testing.B) {
	const nodes = 1000
	shapes := []struct {
		name string
		pred func(i int) []int
	}{
		{"chain", func(i int) []int {
			if i == 0 {
				return nil
			}
			return []int{i - 1}
		}},
		{"wide", func(i int) []int {
			if i == 0 {
				return nil
			}
			return []int{0}
		}},
	}
	for _, s := range shapes {
		w := &core.Workflow{Name: core.Text{Value: s.name}}
		for i := range nodes {
			w.Nodes = append(w.Nodes, &core.Node{ID: core.Text{Value: fmt.Sprint("n", i)}, Handler: core.HandlerFunc(nil)}) // the benchmark answers
			for _, p := range s.pred(i) {
				w.Edges = append(w.Edges, &core.Edge{From: core.Text{Value: fmt.Sprint("n", p)}, To: core.Text{Value: fmt.Sprint("n", i)}})
			}
		}
		p, ds := plan.Compile(w, nil, plan.Options{})
		if p == nil {
			b.Fatal(ds)
		}
		b.Run("shape="+s.name, func(b *testing.B) {
			b.ReportAllocs()
			room := make([]Command, 0, nodes)
			for b.Loop() {
				m, err := New(p, nil, Options{Run: "r", Concurrency: 8})
				if err != nil {
					b.Fatal(err)
				}
				var e Event
				queue := room[:0]
				for !m.Done() {
					for _, c := range m.Next() {
						if c.Op == OpRun {
							queue = append(queue, c)
						}
					}
					if len(queue) > 0 {
						e.ID = queue[0].ID
						queue = queue[1:]
						m.Apply(&e)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nodes, "ns/node")
		})
	}
}
