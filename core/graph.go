package core

import "slices"

// Graph is a directed graph: for each node, by its number, the arcs that leave it.
type Graph [][]Arc

// Arc is an edge of a Graph. Edge is the number by which the caller identifies it.
type Arc struct{ To, Edge int32 }

// Reachable reports for each node whether it is one of the nodes in from or can be reached
// from one of them.
func (g Graph) Reachable(from ...int32) []bool {
	seen := make([]bool, len(g))
	for _, n := range from {
		seen[n] = true
	}
	for queue := from; len(queue) > 0; queue = queue[1:] {
		for _, a := range g[queue[0]] {
			if !seen[a.To] {
				seen[a.To] = true
				queue = append(queue, a.To)
			}
		}
	}
	return seen
}

// Components numbers the strongly connected components: two nodes have the same number if
// each can be reached from the other. It is Tarjan's algorithm, with an explicit stack, so that
// long chains do not overflow Go's. It takes linear time.
func (g Graph) Components() []int32 {
	s := componentSearch{graph: g, component: make([]int32, len(g)), order: make([]int32, len(g)), low: make([]int32, len(g))}
	for n := range g {
		if s.order[n] == 0 {
			s.from(int32(n))
		}
	}
	return s.component
}

type componentSearch struct {
	graph     Graph
	component []int32
	order     []int32 // the number in order of discovery, from 1, or inComponent
	low       []int32 // the lowest order of the nodes that can be reached
	stack     []int32 // nodes without a component
	steps     int32
	next      int32 // number of the next component
}

// inComponent marks a node that belongs to a component: an arc to it closes no cycle.
const inComponent = -1

type componentStep struct {
	node int32
	arc  int
}

func (s *componentSearch) enter(n int32) componentStep {
	s.steps++
	s.order[n], s.low[n] = s.steps, s.steps
	s.stack = append(s.stack, n)
	return componentStep{node: n}
}

func (s *componentSearch) from(root int32) {
	path := []componentStep{s.enter(root)}
	for len(path) > 0 {
		at := &path[len(path)-1]
		n := at.node
		if at.arc == len(s.graph[n]) {
			path = path[:len(path)-1]
			if s.low[n] == s.order[n] {
				s.close(n)
			}
			if len(path) > 0 {
				up := path[len(path)-1].node
				s.low[up] = min(s.low[up], s.low[n])
			}
			continue
		}
		to := s.graph[n][at.arc].To
		at.arc++
		switch s.order[to] {
		case 0:
			path = append(path, s.enter(to))
		case inComponent:
		default:
			s.low[n] = min(s.low[n], s.order[to])
		}
	}
}

// close makes a component of n and the nodes discovered after it.
func (s *componentSearch) close(n int32) {
	for {
		last := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		s.component[last], s.order[last] = s.next, inComponent
		if last == n {
			break
		}
	}
	s.next++
}

// Cycles returns, as edges, a shortest cycle through the first node of each strongly
// connected component that has several nodes, in order of these nodes. It ignores arcs from
// a node to itself.
func (g Graph) Cycles() [][]int32 {
	s := cycleSearch{graph: g, component: g.Components(), by: make([]Arc, len(g)), from: make([]int32, len(g)), seen: make([]bool, len(g))}
	size := make([]int, len(g))
	for _, component := range s.component {
		size[component]++
	}
	var cycles [][]int32
	for n, component := range s.component {
		if size[component] > 1 {
			size[component] = 0 // each component only once
			cycles = append(cycles, s.through(int32(n)))
		}
	}
	return cycles
}

type cycleSearch struct {
	graph     Graph
	component []int32
	by        []Arc   // the arc by which a node was reached
	from      []int32 // the node which that arc leaves
	seen      []bool
}

// through returns a shortest cycle through n. It searches the component breadth first.
func (s *cycleSearch) through(n int32) []int32 {
	for queue := []int32{n}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, a := range s.graph[at] {
			switch {
			case a.To == at:
			case a.To == n:
				return s.back(n, at, a)
			case s.component[a.To] == s.component[n] && !s.seen[a.To]:
				s.seen[a.To], s.by[a.To], s.from[a.To] = true, a, at
				queue = append(queue, a.To)
			}
		}
	}
	return nil // n is not in a component of several nodes
}

// back returns the cycle that ends with an arc from at to n.
func (s *cycleSearch) back(n, at int32, last Arc) []int32 {
	cycle := []int32{last.Edge}
	for ; at != n; at = s.from[at] {
		cycle = append(cycle, s.by[at].Edge)
	}
	slices.Reverse(cycle)
	return cycle
}
