package plan

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// fielded gives every node of a graph a field to write, and lets it read the fields that reads
// returns.
func fielded(w *core.Workflow, merge string, field func(i int) int, reads func(i int) []int) *core.Workflow {
	top := 0
	for i := range w.Nodes {
		top = max(top, field(i))
	}
	for f := range top + 1 {
		w.Fields = append(w.Fields, core.FieldDecl{Name: fieldName(f), Merge: source.Text{Value: merge}, Default: value.Missing})
	}
	for i, n := range w.Nodes {
		n.Writes = []source.Text{fieldName(field(i))}
		for _, f := range reads(i) {
			n.Reads = append(n.Reads, fieldName(f))
		}
	}
	return w
}

func fieldName(f int) source.Text { return source.Text{Value: fmt.Sprintf("f%d", f)} }

// BenchmarkCompile measures the cost per node of checking and compiling a layered graph: without
// state, with a field per node that is read one layer or three layers later, and with one list that
// all nodes write and read.
func BenchmarkCompile(b *testing.B) {
	const width = 100
	none := func(int) []int { return nil }
	self := func(i int) int { return i }
	back := func(layers int) func(int) []int {
		return func(i int) []int {
			if i < layers*width {
				return nil
			}
			return []int{i - layers*width}
		}
	}
	shapes := []struct {
		name  string
		state func(w *core.Workflow) *core.Workflow
	}{
		{"none", func(w *core.Workflow) *core.Workflow { return w }},
		{"written", func(w *core.Workflow) *core.Workflow { return fielded(w, "", self, none) }},
		{"near", func(w *core.Workflow) *core.Workflow { return fielded(w, "", self, back(1)) }},
		{"far", func(w *core.Workflow) *core.Workflow { return fielded(w, "", self, back(3)) }},
		{"shared", func(w *core.Workflow) *core.Workflow {
			return fielded(w, "array_append", func(int) int { return 0 }, func(int) []int { return []int{0} })
		}},
		{"columns", func(w *core.Workflow) *core.Workflow {
			return fielded(w, "", func(i int) int { return i % width }, func(i int) []int { return []int{i % width} })
		}},
	}
	for _, s := range shapes {
		for _, layers := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("state=%s/nodes=%d", s.name, layers*width), func(b *testing.B) {
				w := s.state(layered(layers, width))
				b.ReportAllocs()
				for b.Loop() {
					if p, ds := Compile(w, nil, Options{Lint: lint}); p == nil {
						b.Fatal(ds)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(layers*width), "ns/node")
			})
		}
	}
}
