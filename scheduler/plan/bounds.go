package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
)

// Bounds are the most that a run of a walk can do which a model routes, whatever the model
// answers: for each node, by its index, how often it is visited and after how many of these
// visits a model is asked. Steps and Calls are those of all nodes together. They are upper
// bounds: that many need not be possible.
type Bounds struct {
	Visits, Decisions []int
	Steps, Calls      int
}

// mostReach bounds the work of Bounds: where the bounded pairs, or the nodes, times the edges
// are more, it does with looser bounds.
const mostReach = 20_000_000

// Bounds returns what a run can do at most. A walk that no model routes has none.
//
// Edges without a bound make no ring, so between two edges that have one a walk visits a
// node once at most. It begins so many passes as bounded edges are followed, and one at the
// entry; a node is visited at most once in each pass that can come to it, and at most once
// in all if no way leads back to it.
func (p *Plan) Bounds() Bounds {
	w := p.Walk
	if w == nil || !w.Routed {
		return Bounds{}
	}
	b := Bounds{Visits: make([]int, len(p.Nodes)), Decisions: make([]int, len(p.Nodes))}
	most := w.MaxSteps
	if most == 0 {
		most = 1 << 30 // the document has switched the limit off
	}
	for i := range b.Visits {
		b.Visits[i] = most
	}
	pairs, free := w.pairs(p)
	next := p.graph()
	visitedOnce(b.Visits, next)
	if max(len(pairs), len(p.Nodes))*len(p.Edges) <= mostReach {
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

// rounds bounds the decisions at a node that has one edge without condition and bound, from
// which no way leads back: each decision but the last one follows another edge, and once
// those are used up there is nothing to decide.
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
	if out == nil || len(next)*len(p.Edges) > mostReach || next.Reached(to)[node] {
		return math.MaxInt
	}
	follows := map[int32]int{}
	sum := 0
	for _, e := range w.Nodes[node].Out {
		x := &w.Edges[e]
		most := min(x.MaxFollows, math.MaxInt32)
		if x.Pair == out.Pair && x != out {
			most = 1 // who follows it does not come back
		}
		if more := most - follows[x.Pair]; more > 0 {
			follows[x.Pair] += more
			sum += more
		}
	}
	return max(sum, 1)
}

// visitedOnce finds the nodes that no way leads back to.
func visitedOnce(visits []int, next core.Graph) {
	group := next.Groups()
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

// mayDecide reports whether a model may be asked after a visit of a node: not where no edge
// leaves it, or a single one that has no condition.
func (w *Walk) mayDecide(n *WalkNode) bool {
	return len(n.Out) > 1 || len(n.Out) == 1 && w.Edges[n.Out[0]].Condition != ""
}

// boundedPair is two nodes all edges between which have a bound.
type boundedPair struct {
	from, to int32
	follows  int
}

// pairs returns the pairs of nodes that can be followed so many times only, and the nodes
// that each node leads to by other edges.
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

// narrow lowers visits to what the passes allow. Fewer visits of a node mean fewer passes
// that begin behind it, so it goes on while that helps.
func narrow(visits []int, most int, entry int32, bounded []boundedPair, free core.Graph) {
	reach := make([][]bool, len(bounded))
	for i, b := range bounded {
		reach[i] = free.Reached(b.to)
	}
	first := free.Reached(entry)
	const rounds = 20 // after any number of them the bounds hold
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

// passes counts those that can come to a node; bounded is in order of its sources. A visit
// of a source begins one of them.
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
