//go:build !race

package benchmarks

import "testing"

// A node of a layered graph, which has three predecessors, takes 20 allocations to declare
// and compile, in addition to 4 of the program that declares it.
func TestBuildAllocations(t *testing.T) {
	s := Layered(100, 10)
	run := build(s).Start(t)
	run() // the lines of the program are resolved once
	if got := testing.AllocsPerRun(5, run) / float64(s.Len()); got > 24 {
		t.Errorf("%.1f allocations a node, want at most 24", got)
	}
}
