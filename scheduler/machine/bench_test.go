package machine

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// BenchmarkMachine measures the cost of the machine for nodes that do nothing: there is no
// goroutine and no clock, and each command is answered at once.
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
		w := &core.Workflow{Name: source.Text{Value: s.name}}
		for i := range nodes {
			w.Nodes = append(w.Nodes, &core.Node{ID: source.Text{Value: fmt.Sprint("n", i)}, Handler: core.HandlerFunc(nil)}) // the benchmark answers instead
			for _, p := range s.pred(i) {
				w.Edges = append(w.Edges, &core.Edge{From: source.Text{Value: fmt.Sprint("n", p)}, To: source.Text{Value: fmt.Sprint("n", i)}})
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

// BenchmarkExecution measures the cost of the machine for executions with input: plain nodes that
// read a field, items, rows and nested runs.
func BenchmarkExecution(b *testing.B) {
	const n = 1000
	text := func(s string) source.Text { return source.Text{Value: s} }
	list := core.FieldDecl{Name: text("list"), Default: make([]any, n)}
	node := func(id string) *core.Node {
		return &core.Node{ID: text(id), Reads: []source.Text{text("list")}, HasWrites: true, Handler: core.HandlerFunc(nil)}
	}
	plain := &core.Workflow{}
	for i := range n {
		plain.Nodes = append(plain.Nodes, node(fmt.Sprint("n", i)))
	}
	each := func(n *core.Node) *core.Node {
		n.ForEach = &core.ForEach{Source: text("$.list"), Concurrency: &source.Int{Value: 8}}
		return n
	}
	items := &core.Workflow{Nodes: []*core.Node{each(node("a"))}}
	rows := &core.Workflow{Nodes: []*core.Node{node("a")}, Pipelines: []*core.Pipeline{{ID: text("p"), Items: text("$.list"), Stages: []source.Text{text("a")}, Concurrency: &source.Int{Value: 8}}}}
	leaf := &core.Workflow{Name: text("inner"), Nodes: []*core.Node{{ID: text("leaf"), HasWrites: true, Handler: core.HandlerFunc(nil)}}}
	nestedItems := &core.Workflow{Nodes: []*core.Node{each(&core.Node{ID: text("a"), Kind: text("nested"), HasWrites: true})}}
	for _, s := range []struct {
		name string
		w    *core.Workflow
		note bool
	}{{"plain", plain, false}, {"items", items, false}, {"noted", items, true}, {"rows", rows, false}, {"nested", nestedItems, false}} {
		s.w.Name = text(s.name)
		s.w.Fields = []core.FieldDecl{list}
		p, ds := plan.Compile(s.w, core.NewRegistry(nestedKind{leaf}), plan.Options{})
		if p == nil {
			b.Fatal(ds)
		}
		b.Run("shape="+s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := New(p, nil, Options{Run: "r", Concurrency: 8, Events: s.note})
				if err != nil {
					b.Fatal(err)
				}
				var e Event
				var queue []Command
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
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/node")
		})
	}
}
