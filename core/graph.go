package core

import "slices"

// Graph is a directed graph: for each node, by its number, the arcs that leave it.
type Graph [][]Arc

// Arc is an edge of a Graph. Edge is the number by which the caller identifies it.
type Arc struct{ To, Edge int32 }

// Reached reports for each node whether it is one of the nodes from or can be reached from
// one.
func (g Graph) Reached(from ...int32) []bool {
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

// Groups numbers the strongly connected components: two nodes have the same number if each
// can be reached from the other. It is Tarjan's algorithm, with an explicit stack, so that
// long chains do not overflow Go's. It takes linear time.
func (g Graph) Groups() []int32 {
	s := groupSearch{graph: g, group: make([]int32, len(g)), order: make([]int32, len(g)), low: make([]int32, len(g))}
	for n := range g {
		if s.order[n] == 0 {
			s.from(int32(n))
		}
	}
	return s.group
}

type groupSearch struct {
	graph Graph
	group []int32
	order []int32 // the number in order of discovery, from 1, or grouped
	low   []int32 // the lowest order of the nodes that can be reached
	found []int32 // nodes without a component
	steps int32
	next  int32 // number of the next component
}

// grouped marks a node that belongs to a component: an arc to it closes no cycle.
const grouped = -1

type groupStep struct {
	node int32
	arc  int
}

func (s *groupSearch) enter(n int32) groupStep {
	s.steps++
	s.order[n], s.low[n] = s.steps, s.steps
	s.found = append(s.found, n)
	return groupStep{node: n}
}

func (s *groupSearch) from(root int32) {
	way := []groupStep{s.enter(root)}
	for len(way) > 0 {
		at := &way[len(way)-1]
		n := at.node
		if at.arc == len(s.graph[n]) {
			way = way[:len(way)-1]
			if s.low[n] == s.order[n] {
				s.close(n)
			}
			if len(way) > 0 {
				up := way[len(way)-1].node
				s.low[up] = min(s.low[up], s.low[n])
			}
			continue
		}
		to := s.graph[n][at.arc].To
		at.arc++
		switch s.order[to] {
		case 0:
			way = append(way, s.enter(to))
		case grouped:
		default:
			s.low[n] = min(s.low[n], s.order[to])
		}
	}
}

// close makes a component of n and the nodes discovered after it.
func (s *groupSearch) close(n int32) {
	for {
		last := s.found[len(s.found)-1]
		s.found = s.found[:len(s.found)-1]
		s.group[last], s.order[last] = s.next, grouped
		if last == n {
			break
		}
	}
	s.next++
}

// Rings returns, as edges, a shortest cycle through the first node of each strongly
// connected component that has several nodes, in order of these nodes. It ignores arcs from
// a node to itself.
func (g Graph) Rings() [][]int32 {
	s := ringSearch{graph: g, group: g.Groups(), by: make([]Arc, len(g)), from: make([]int32, len(g)), seen: make([]bool, len(g))}
	size := make([]int, len(g))
	for _, group := range s.group {
		size[group]++
	}
	var rings [][]int32
	for n, group := range s.group {
		if size[group] > 1 {
			size[group] = 0 // each component only once
			rings = append(rings, s.through(int32(n)))
		}
	}
	return rings
}

type ringSearch struct {
	graph Graph
	group []int32
	by    []Arc   // the arc by which a node was reached
	from  []int32 // the node which that arc leaves
	seen  []bool
}

// through returns a shortest cycle through n. It searches the component breadth first.
func (s *ringSearch) through(n int32) []int32 {
	for queue := []int32{n}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, a := range s.graph[at] {
			switch {
			case a.To == at:
			case a.To == n:
				return s.back(n, at, a)
			case s.group[a.To] == s.group[n] && !s.seen[a.To]:
				s.seen[a.To], s.by[a.To], s.from[a.To] = true, a, at
				queue = append(queue, a.To)
			}
		}
	}
	return nil // n is not in a component of several nodes
}

// back returns the cycle that ends with an arc from at to n.
func (s *ringSearch) back(n, at int32, last Arc) []int32 {
	ring := []int32{last.Edge}
	for ; at != n; at = s.from[at] {
		ring = append(ring, s.by[at].Edge)
	}
	slices.Reverse(ring)
	return ring
}
