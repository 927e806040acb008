package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
)

// Bounds are upper bounds on what a run of a walk can do if a model picks its edges, whatever the
// model answers. Visits and Decisions are, by the index of the node, the number of visits and the
// number of visits after which the model is asked. Steps and Calls are the totals over all nodes. A
// run need not be able to reach the bounds.
type Bounds struct {
	Visits, Decisions []int
	Steps, Calls      int
}

// maxReach limits the work of Bounds. If the number of edges times the number of bounded pairs or
// of nodes is larger, the bounds are less tight.
const maxReach = 20_000_000

// Bounds returns upper bounds on the work of a run. They are empty if no model picks the edges.
//
// The edges without a limit form no cycle, so a walk visits a node at most once between two
// edges that have a limit. The part of the walk between two such edges is a pass. There is one
// pass for the entry, and one each time that an edge with a limit is followed. A node is visited
// at most once in each pass that can reach it, and at most once in all if no path leads back to it.
func (p *Plan) Bounds() Bounds {
	w := p.Walk
	if w == nil || !w.Routed {
		return Bounds{}
	}
	b := Bounds{Visits: make([]int, len(p.Nodes)), Decisions: make([]int, len(p.Nodes))}
	most := w.MaxSteps
	if most == 0 {
		most = 1 << 30 // the document has turned off the limit
	}
	for i := range b.Visits {
		b.Visits[i] = most
	}
	pairs, free := w.pairs(p)
	next := p.graph()
	visitedOnce(b.Visits, next)
	if max(len(pairs), len(p.Nodes))*len(p.Edges) <= maxReach {
		narrow(b.Visits, most, w.Start, pairs, free)
	}
	for i := range p.Nodes {
		b.Steps = min(most, b.Steps+b.Visits[i])
		if w.mayDecide(&w.Nodes[i]) {
			b.Decisions[i] = min(b.Visits[i], p.rounds(int32(i), next))
			b.Calls = min(most, b.Calls+b.Decisions[i])
		}
	}
	return b
}

// rounds returns an upper bound on the decisions at a node that has one edge without a condition
// and a limit, from whose target no path leads back. Each decision but the last follows another
// edge, and no decision is left when those have reached their limits.
func (p *Plan) rounds(node int32, next core.Graph) int {
	w := p.Walk
	var out *WalkEdge
	to := int32(-1)
	for _, e := range w.Nodes[node].Out {
		if x := &w.Edges[e]; x.MaxFollows == 0 {
			if out != nil || x.Condition != "" {
				return math.MaxInt
			}
			out, to = x, p.Edges[e].ToNode
		}
	}
	if out == nil || len(next)*len(p.Edges) > maxReach || next.Reachable(to)[node] {
		return math.MaxInt
	}
	follows := map[int32]int{}
	sum := 0
	for _, e := range w.Nodes[node].Out {
		x := &w.Edges[e]
		most := min(x.MaxFollows, math.MaxInt32)
		if x.Pair == out.Pair && x != out {
			most = 1 // after the other edge the walk does not come back
		}
		if more := most - follows[x.Pair]; more > 0 {
			follows[x.Pair] += more
			sum += more
		}
	}
	return max(sum, 1)
}

// visitedOnce sets the bound of the nodes to which no path leads back to 1.
func visitedOnce(visits []int, next core.Graph) {
	group := next.Components()
	size := make(map[int32]int, len(next))
	for _, g := range group {
		size[g]++
	}
	for n, arcs := range next {
		loops := slices.ContainsFunc(arcs, func(a core.Arc) bool { return int(a.To) == n })
		if size[group[n]] == 1 && !loops {
			visits[n] = 1
		}
	}
}

// mayDecide reports whether a model may be asked after a visit of a node. It is not asked if no
// edge leaves the node, or only one that has no condition.
func (w *Walk) mayDecide(n *WalkNode) bool {
	return len(n.Out) > 1 || len(n.Out) == 1 && w.Edges[n.Out[0]].Condition != ""
}

// boundedPair is a pair of nodes such that all edges between them have a limit.
type boundedPair struct {
	from, to int32
	follows  int
}

// pairs returns the pairs of nodes whose edges all have a limit. In free it returns the targets of
// all other edges, by source.
func (w *Walk) pairs(p *Plan) (bounded []boundedPair, free core.Graph) {
	type pair struct {
		at    boundedPair
		free  bool
		known bool
	}
	all := make([]pair, w.Pairs)
	for i := range w.Edges {
		e := &w.Edges[i]
		x := &all[e.Pair]
		x.known = true
		x.at.from, x.at.to = p.Edges[i].FromNode, p.Edges[i].ToNode
		x.at.follows = max(x.at.follows, e.MaxFollows)
		x.free = x.free || e.MaxFollows == 0
	}
	free = make(core.Graph, len(p.Nodes))
	for _, x := range all {
		switch {
		case !x.known:
		case x.free:
			free[x.at.from] = append(free[x.at.from], core.Arc{To: x.at.to})
		default:
			bounded = append(bounded, x.at)
		}
	}
	slices.SortStableFunc(bounded, func(a, b boundedPair) int { return cmp.Compare(a.from, b.from) })
	return bounded, free
}

// narrow lowers the bounds on visits to what the passes allow. A lower bound for one node means
// fewer passes that begin after it, so narrow repeats this while it helps.
func narrow(visits []int, most int, entry int32, bounded []boundedPair, free core.Graph) {
	reach := make([][]bool, len(bounded))
	for i, b := range bounded {
		reach[i] = free.Reachable(b.to)
	}
	first := free.Reachable(entry)
	const rounds = 20 // the bounds are correct after any number of rounds
	for range rounds {
		changed := false
		for n := range visits {
			if most := passes(int32(n), visits, most, first, bounded, reach); most < visits[n] {
				visits[n], changed = most, true
			}
		}
		if !changed {
			return
		}
	}
}

// passes returns an upper bound on the number of passes that can reach a node. Each visit of a
// source begins at most one pass. bounded is sorted by source.
func passes(n int32, visits []int, most int, first []bool, bounded []boundedPair, reach [][]bool) int {
	sum := 0
	if first[n] {
		sum = 1
	}
	for i := 0; i < len(bounded); {
		from, follows := bounded[i].from, 0
		for ; i < len(bounded) && bounded[i].from == from; i++ {
			if reach[i][n] {
				follows = min(most, follows+min(most, bounded[i].follows))
			}
		}
		sum = min(most, sum+min(follows, visits[from]))
	}
	return sum
}
