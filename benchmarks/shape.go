package benchmarks

import (
	"math/rand/v2"
	"strconv"
)

// Shape is a graph with one root, as lists of successors.
type Shape struct {
	Name string
	Succ [][]int32
	// Indegree counts the predecessors of each node.
	Indegree []int32
}

// Len returns the number of nodes.
func (s *Shape) Len() int { return len(s.Succ) }

func newShape(name string, n int) *Shape {
	return &Shape{Name: name, Succ: make([][]int32, n), Indegree: make([]int32, n)}
}

func (s *Shape) edge(from, to int) {
	s.Succ[from] = append(s.Succ[from], int32(to))
	s.Indegree[to]++
}

// Chain returns n nodes in a line.
func Chain(n int) *Shape {
	s := newShape("chain", n)
	for i := range n - 1 {
		s.edge(i, i+1)
	}
	return s
}

// Wide returns a root, n independent nodes and a join.
func Wide(n int) *Shape {
	s := newShape("wide", n+2)
	for i := 1; i <= n; i++ {
		s.edge(0, i)
		s.edge(i, n+1)
	}
	return s
}

// Layered returns a root, layers of the given width in which each node has three
// predecessors in the previous layer, and a join.
func Layered(layers, width int) *Shape {
	s := newShape("layered", layers*width+2)
	r := rand.New(rand.NewPCG(1, 2))
	for l := range layers {
		for w := range width {
			node := 1 + l*width + w
			if l == 0 {
				s.edge(0, node)
				continue
			}
			for _, p := range r.Perm(width)[:min(3, width)] {
				s.edge(1+(l-1)*width+p, node)
			}
		}
	}
	for w := range width {
		s.edge(1+(layers-1)*width+w, layers*width+1)
	}
	return s
}

// Tree returns a binary tree of n nodes that branches from its root.
func Tree(n int) *Shape {
	s := newShape("tree", n)
	for i := 1; i < n; i++ {
		s.edge((i-1)/2, i)
	}
	return s
}

// Diamonds returns a chain of k diamonds.
func Diamonds(k int) *Shape {
	s := newShape("diamonds", 3*k+1)
	for i := range k {
		top := 3 * i
		s.edge(top, top+1)
		s.edge(top, top+2)
		s.edge(top+1, top+3)
		s.edge(top+2, top+3)
	}
	return s
}

// NodeName returns the id of the i-th node in the graphs of the benchmarks.
func NodeName(i int) string { return "n" + strconv.Itoa(i) }
