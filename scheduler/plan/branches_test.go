package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/dot"
)

// first is the index of n0 in a plan that forks compiles.
const first = 2

// forks compiles a walk of parallel nodes n0, n1 ... with the given edges.
func forks(t *testing.T, nodes int, edges [][2]int) (*Plan, source.Diagnostics) {
	t.Helper()
	var b strings.Builder
	b.WriteString("digraph g {\nstart exit\nnode [shape=component]\n")
	for i := range nodes {
		fmt.Fprintf(&b, "n%d [label=n]\n", i)
	}
	for _, e := range edges {
		fmt.Fprintf(&b, "n%d -> n%d\n", e[0], e[1])
	}
	b.WriteString("start -> n0\n}")
	w, ds := dot.Parse("", []byte(b.String()), dot.Options{})
	if err := ds.Err(false); err != nil {
		t.Fatal(err)
	}
	reg := core.NewRegistry(roleKind{"start", core.RoleStart}, roleKind{"exit", core.RoleExit}, roleKind{"parallel", core.RoleParallel})
	return Compile(w, reg, Options{Lint: lint})
}

// A parallel node that is a branch of itself is reported if and only if there is one. The branches
// of the others meet at the node that the definition gives.
func TestBranches(t *testing.T) {
	rings, met := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 2 + r.IntN(6)
		edges := make([][2]int, r.IntN(3*n))
		for i := range edges {
			for edges[i][0] == edges[i][1] {
				edges[i] = [2]int{r.IntN(n), r.IntN(n)}
			}
		}
		reach := make([][]bool, n)
		for i := range reach {
			reach[i] = make([]bool, n)
		}
		for _, e := range edges {
			reach[e[0]][e[1]] = true
		}
		for k := range n {
			for i := range n {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
				}
			}
		}
		ring := false
		for i := range n {
			ring = ring || reach[i][i]
		}
		p, ds := forks(t, n, edges)
		if ds.Has(source.CodeCycle) != ring {
			t.Fatalf("seed %d: a ring is reported: %v, there is one: %v\n%v\n%v", seed, !ring, ring, edges, ds)
		}
		if ring {
			rings++
			continue
		}
		for i := range n {
			var branches []int
			for _, e := range edges {
				if e[0] == i {
					branches = append(branches, e[1])
				}
			}
			want := -1
			for to := n - 1; to >= 0 && len(branches) > 0; to-- {
				if !slices.ContainsFunc(branches, func(b int) bool { return !slices.Contains(edges, [2]int{b, to}) }) {
					want = to
				}
			}
			got := int(p.Walk.Nodes[first+i].Parallel.Meet)
			if got >= 0 {
				met++
				got -= first
			}
			if got != want {
				t.Fatalf("seed %d: the branches of n%d meet at %d, want %d\n%v", seed, i, got, want, edges)
			}
		}
	}
	if rings < 50 || met < 50 {
		t.Errorf("%d graphs with a ring, %d meetings", rings, met)
	}
}

// There are 2^60 paths between the first and the last of these parallel nodes.
func TestManyWaysOfBranches(t *testing.T) {
	var edges [][2]int
	for i := 0; i < 120; i += 2 {
		for _, to := range []int{i + 2, i + 3} {
			edges = append(edges, [2]int{i, to}, [2]int{i + 1, to})
		}
	}
	if _, ds := forks(t, 122, edges); ds.Failed(false) {
		t.Error(ds)
	}
}
