package plan

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// routed checks the graph of a walk that a model routes: that its entry and the ends of its
// edges are nodes, that every node can be reached, that no ring goes on for ever, and that
// it is clear where a node without a choice leads. Conditions are plain language, so they
// bound nothing.
func (c *compiler) routed() {
	r := &routedGraph{c: c, size: len(c.w.Nodes)}
	r.resolve()
	c.ambiguous(r)
	c.unbounded(r)
	c.deadEnds(r)
	c.unreached(r)
}

// routedGraph are the edges of such a walk whose ends are known.
type routedGraph struct {
	c     *compiler
	size  int
	edges []routedEdge
	entry int32 // -1 for none
	// open tells that the entry or an end of an edge is not known: then a node may be reached
	// although nothing seems to lead to it.
	open bool
}

type routedEdge struct {
	from, to int32
	decl     *core.Edge
}

// resolve finds the nodes that the entry and the edges name.
func (r *routedGraph) resolve() {
	r.findEntry()
	for _, e := range r.c.w.Edges {
		from, ok1 := r.end(e, e.From, "from", core.CodeUnknownEdgeSource)
		to, ok2 := r.end(e, e.To, "to", core.CodeUnknownEdgeTarget)
		if !ok1 || !ok2 {
			r.open = true
			continue
		}
		r.edges = append(r.edges, routedEdge{from, to, e})
	}
}

func (r *routedGraph) findEntry() {
	c := r.c
	r.entry = -1
	var entry core.Text
	if c.w.Walk != nil {
		entry = c.w.Walk.Entry
	}
	i, ok := c.p.nodeIndex[entry.Value]
	switch {
	case ok:
		r.entry = i
	case c.w.Lost.Has("entry") || c.unknown.nodes:
	case entry.Value == "":
		c.ds.Errorf(core.CodeMissingEntry, c.w.Pos, "the walk has no entry").WithHint("name the node that it begins at")
	default:
		c.hint(c.ds.Errorf(core.CodeMissingEntry, entry.Pos, "entry: there is no node %q", entry.Value), entry.Value, c.nodeIDs)
	}
	r.open = r.entry < 0 || c.unknown.nodes || c.unknown.edges
}

// end finds the node at an end of an edge and reports one that does not exist.
func (r *routedGraph) end(e *core.Edge, id core.Text, key string, code core.Code) (int32, bool) {
	c := r.c
	if e.Lost.Has(key) {
		return 0, false
	}
	i, ok := c.p.nodeIndex[id.Value]
	if !ok && !c.unknown.nodes {
		c.hint(c.ds.Errorf(code, id.Pos, "%s: %s: there is no node %q", edgePlace(e), key, id.Value), id.Value, c.nodeIDs)
	}
	return i, ok
}

// unconditional reports whether an edge is followed without asking anybody.
func unconditional(e *core.Edge) bool {
	return !e.Lost.Has("when") && (e.When == nil || strings.TrimSpace(e.When.Value) == "")
}

// ambiguous reports nodes out of which more than one edge has no condition.
func (c *compiler) ambiguous(r *routedGraph) {
	plain := map[string][]*core.Edge{}
	for _, e := range c.w.Edges {
		if unconditional(e) && !e.Lost.Has("from") {
			plain[e.From.Value] = append(plain[e.From.Value], e)
		}
	}
	for _, n := range c.w.Nodes {
		list := plain[n.ID.Value]
		if len(list) < 2 {
			continue
		}
		targets := make([]string, len(list))
		for i, e := range list {
			targets[i] = e.To.Value
		}
		c.ds.Errorf(core.CodeAmbiguousEdges, list[1].Pos, "node %s: %d edges out of it have no condition, to %s, and only one can be followed", n.ID.Value, len(list), listed(targets)).
			WithHint("give all of them but one a condition (when)")
	}
}

// listed joins names; of many the rest is counted.
func listed(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}

// unbounded reports edges from a node to itself without a bound, and one ring for each
// group of nodes that edges without a bound connect in both directions.
func (c *compiler) unbounded(r *routedGraph) {
	var free []routedEdge
	for _, e := range r.edges {
		switch {
		case e.decl.MaxIterations != nil || e.decl.Lost.Has("max_iterations"):
		case e.from == e.to:
			c.ds.Errorf(core.CodeSelfLoop, e.decl.Pos, "%s: leads from a node to itself and has no bound", edgePlace(e.decl)).
				WithHint("add max_iterations")
		default:
			free = append(free, e)
		}
	}
	out := outOf(r.size, free)
	for _, ring := range rings(out, groups(out)) {
		names := make([]string, 0, len(ring)+1)
		for _, e := range ring {
			names = append(names, c.p.Nodes[e.from].ID)
		}
		names = append(names, names[0])
		c.ds.Errorf(core.CodeUnboundedCycle, ring[0].decl.Pos, "the ring %s has no bound", arrows(names, maxNames)).
			WithHint("give one of its edges max_iterations; a condition is no bound")
	}
}

// deadEnds warns of rings in which the walk ends half-way: all edges out of a node lead on
// in the ring and are used up at some time, while the way out is at another node.
func (c *compiler) deadEnds(r *routedGraph) {
	out := outOf(r.size, r.edges)
	group := groups(out)
	leaves := map[int32]bool{}
	for _, e := range r.edges {
		if group[e.from] != group[e.to] {
			leaves[group[e.from]] = true
		}
	}
	for n, edges := range out {
		stays := func(e routedEdge) bool {
			return e.decl.MaxIterations != nil && group[e.to] == group[n] && int(e.to) != n
		}
		if len(edges) == 0 || !leaves[group[n]] || slices.ContainsFunc(edges, func(e routedEdge) bool { return !stays(e) }) {
			continue
		}
		c.ds.Warnf(core.CodeDeadEnd, edges[0].decl.Pos, "node %s: when the edges back are used up the run ends here, in the middle of the ring", c.p.Nodes[n].ID).
			WithHint("put max_iterations on an edge that leads to %s, and an edge without a condition beside it", c.p.Nodes[n].ID)
	}
}

// unreached reports nodes that no way leads to. Conditions and bounds are passed over.
func (c *compiler) unreached(r *routedGraph) {
	if r.open {
		return
	}
	out := outOf(r.size, r.edges)
	seen := make([]bool, r.size)
	seen[r.entry] = true
	queue := []int32{r.entry}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, e := range out[n] {
			if !seen[e.to] {
				seen[e.to] = true
				queue = append(queue, e.to)
			}
		}
	}
	entry := c.p.Nodes[r.entry].ID
	for i, ok := range seen {
		if !ok {
			c.ds.Errorf(core.CodeUnreachableNode, c.w.Nodes[i].ID.Pos, "node %s: no way leads to it from the entry %s", c.p.Nodes[i].ID, entry).
				WithHint("add an edge that leads to it, or remove it")
		}
	}
}

// outOf lists the edges that leave each node, in declared order.
func outOf(nodes int, edges []routedEdge) [][]routedEdge {
	out := make([][]routedEdge, nodes)
	for _, e := range edges {
		out[e.from] = append(out[e.from], e)
	}
	return out
}

// groups numbers the strongly connected groups of a graph: two nodes have one number if
// a way leads from each to the other. It is Tarjan's search, begun at every node, with
// its own stack, so that long chains do not exhaust Go's.
func groups(out [][]routedEdge) []int32 {
	s := groupSearch{out: out, group: make([]int32, len(out)), order: make([]int32, len(out)), low: make([]int32, len(out))}
	for n := range out {
		if s.order[n] == 0 {
			s.from(int32(n))
		}
	}
	return s.group
}

type groupSearch struct {
	out   [][]routedEdge
	group []int32
	order []int32 // when a node was found, from 1; done when it has its group
	low   []int32 // the first node found that can be reached from it
	found []int32 // nodes without a group
	steps int32
	next  int32 // number of the next group
}

// done marks a node that has its group: a way to it closes no ring.
const done = -1

type groupStep struct {
	node int32
	edge int
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
		if at.edge == len(s.out[n]) {
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
		to := s.out[n][at.edge].to
		at.edge++
		switch s.order[to] {
		case 0:
			way = append(way, s.enter(to))
		case done:
		default:
			s.low[n] = min(s.low[n], s.order[to])
		}
	}
}

// close makes a group of what was found since n, and n.
func (s *groupSearch) close(n int32) {
	for {
		last := s.found[len(s.found)-1]
		s.found = s.found[:len(s.found)-1]
		s.group[last], s.order[last] = s.next, done
		if last == n {
			break
		}
	}
	s.next++
}

// rings returns a shortest ring through the first node of each group that has more than
// one, in order of these nodes. A graph without edges from a node to itself is expected.
func rings(out [][]routedEdge, group []int32) [][]routedEdge {
	size := make(map[int32]int)
	for _, g := range group {
		size[g]++
	}
	var found [][]routedEdge
	by := make([]routedEdge, len(out))
	seen := make([]bool, len(out))
	for n, g := range group {
		if size[g] > 1 {
			size[g] = 0 // once
			found = append(found, ringThrough(int32(n), out, group, by, seen))
		}
	}
	return found
}

// ringThrough searches a group breadth first. by keeps the edge by which a node was found.
func ringThrough(n int32, out [][]routedEdge, group []int32, by []routedEdge, seen []bool) []routedEdge {
	for queue := []int32{n}; len(queue) > 0; queue = queue[1:] {
		for _, e := range out[queue[0]] {
			switch {
			case e.to == n:
				ring := []routedEdge{e}
				for at := e.from; at != n; at = by[at].from {
					ring = append(ring, by[at])
				}
				slices.Reverse(ring)
				return ring
			case group[e.to] == group[n] && !seen[e.to]:
				seen[e.to], by[e.to] = true, e
				queue = append(queue, e.to)
			}
		}
	}
	return nil // not in a group of several
}

// modelRouted reports whether the workflow is a walk that a model routes.
func (c *compiler) modelRouted() bool {
	return c.walking() && c.w.Walk != nil && c.w.Walk.Router.Value == core.RouterModel
}

// isNodeID reports whether a name can be that of a node.
func (c *compiler) isNodeID(s string) bool { return isID(s) || c.modelRouted() && isRoutedID(s) }

// isRoutedID reports whether a name can be that of a node in a walk that a model routes:
// letters, digits, underscore and dash.
func isRoutedID(s string) bool {
	for i := range len(s) {
		if b := s[i]; b != '-' && (b < '0' || b > '9') && !isID(s[i:i+1]) {
			return false
		}
	}
	return s != ""
}
