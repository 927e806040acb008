package schedulertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// TestReduce reduces a graph to the parts that an artificial fault needs: a failure and a
// node skipped because of it.
func TestReduce(t *testing.T) {
	fails := func(g *Graph) bool {
		out := OracleRun(g).Outcome
		return slices.ContainsFunc(g.Nodes, func(n *Node) bool { return out.Nodes[n.ID].Skip == SkipFailure })
	}
	reduced := 0
	for seed := range uint64(50) {
		g := Generate(seed, Shape{NoUnits: true})
		if !fails(g) {
			continue
		}
		before := g.String()
		small := Reduce(g, fails)
		if g.String() != before {
			t.Fatalf("seed %d: Reduce changed the graph it was given", seed)
		}
		// A node that fails by chance may need another one that provides its input.
		if len(small.Nodes) > 4 || len(small.Edges) > 3 || !fails(small) {
			t.Errorf("seed %d: not reduced:\n%s", seed, small)
		}
		reduced++
	}
	if reduced < 5 {
		t.Errorf("reduced %d graphs, want more to try", reduced)
	}
}

func TestGraphString(t *testing.T) {
	g := &Graph{Seed: 3, Fields: []Field{{Name: "f", Merge: "sum", Type: value.IntegerType, Default: int64(2)}},
		Nodes: []*Node{{ID: "a", MaxFailures: -1, Writes: []string{"f"}}, {ID: "b", Source: "$.f", MaxFailures: 1, Policy: "skip"}},
		Edges: []*Edge{{From: "a", To: "b", When: "$.f > 1", On: "done"}}}
	want := `# seed 3
state:
  f: {type: integer, merge: sum, default: 2}
graph:
  nodes:
    - {id: a, writes: [f]}
    - {id: b, for_each: {source: $.f, max_failures: 1}, on_error: {policy: skip}}
  edges:
    - {from: a, to: b, when: $.f > 1, on: done}
`
	if got := g.String(); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
