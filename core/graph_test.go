package core

import (
	"fmt"
	"testing"
)

// graphOf is a graph of pairs of nodes, such as "01 12 20".
func graphOf(nodes int, pairs ...string) Graph {
	g := make(Graph, nodes)
	for i, p := range pairs {
		from := int32(p[0] - '0')
		g[from] = append(g[from], Arc{To: int32(p[1] - '0'), Edge: int32(i)})
	}
	return g
}

func TestGraph(t *testing.T) {
	tests := []struct {
		g                           Graph
		reached, components, cycles string
	}{
		{graphOf(1), "[true]", "[0]", "[]"},
		{graphOf(3, "01", "12"), "[true true true]", "[2 1 0]", "[]"},
		{graphOf(3, "01", "12", "20"), "[true true true]", "[0 0 0]", "[[0 1 2]]"},
		{graphOf(3, "00", "12", "21"), "[true false false]", "[0 1 1]", "[[1 2]]"},
		// A short ring before a long one, an arc from a node to itself in it.
		{graphOf(4, "01", "12", "23", "30", "11", "10"), "[true true true true]", "[0 0 0 0]", "[[0 5]]"},
		{graphOf(4, "01", "10", "12", "23", "32"), "[true true true true]", "[1 1 0 0]", "[[0 1] [3 4]]"},
	}
	for _, tt := range tests {
		got := []string{fmt.Sprint(tt.g.Reachable(0)), fmt.Sprint(tt.g.Components()), fmt.Sprint(tt.g.Cycles())}
		if got[0] != tt.reached || got[1] != tt.components || got[2] != tt.cycles {
			t.Errorf("%v: got %q, want %q, %q, %q", tt.g, got, tt.reached, tt.components, tt.cycles)
		}
	}
}
