package wavefold

import (
	"math/rand/v2"
	"testing"
)

func TestComponents(t *testing.T) {
	// The definition: two vertices are in the same component if each reaches the other.
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		n := 1 + r.IntN(9)
		out := make([][]int, n)
		for range r.IntN(2 * n) {
			v := r.IntN(n)
			out[v] = append(out[v], r.IntN(n))
		}
		reach := make([][]bool, n)
		for v := range reach {
			reach[v] = make([]bool, n)
			mark(out, v, reach[v])
		}
		got := components(out)
		for a := range n {
			for b := range n {
				if same := got[a] == got[b]; same != (reach[a][b] && reach[b][a]) {
					t.Fatalf("seed %d: %v: %d and %d in one circle: %v", seed, out, a, b, same)
				}
			}
		}
	}
}

func mark(out [][]int, v int, seen []bool) {
	if seen[v] {
		return
	}
	seen[v] = true
	for _, w := range out[v] {
		mark(out, w, seen)
	}
}
