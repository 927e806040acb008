package plan

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// checkRouted checks the graph of a walk whose edges a model picks. The entry and the ends of its
// edges must be nodes, every node must be reachable, no cycle may be endless, and it must be clear
// where a node without a choice leads. Conditions are in plain language, so they limit nothing.
func (c *compiler) checkRouted() {
	r := &routedGraph{c: c, size: len(c.w.Nodes)}
	r.resolve()
	c.ambiguous(r)
	c.unbounded(r)
	c.deadEnds(r)
	c.unreached(r)
	c.checks.report(c)
}

// resultChecks are the checks that nodes make of their results, by node, and the references to
// these checks.
type resultChecks struct {
	names map[string][]string
	refs  []checkRef
}

type checkRef struct {
	from string
	core.CheckRef
}

// note records the checks of a node.
func (r *resultChecks) note(id string, made core.Compiled) {
	if made.Checks != nil {
		if r.names == nil {
			r.names = map[string][]string{}
		}
		r.names[id] = made.Checks
	}
	for _, ref := range made.CheckRefs {
		r.refs = append(r.refs, checkRef{id, ref})
	}
}

// report reports references to checks that a node does not make.
func (r *resultChecks) report(c *compiler) {
	for _, ref := range r.refs {
		known := r.names[ref.Node]
		if _, ok := c.p.nodeIndex[ref.Node]; known == nil || !ok || c.invalid.names[name{expressions.RootNodes, ref.Node}] || slices.Contains(known, ref.Name.Value) {
			continue
		}
		c.ds.Errorf(source.CodeUnknownField, ref.Name.Pos, "%s: node %s has no check %q", nodePlace(ref.from).at(ref.Key), ref.Node, ref.Name.Value).
			WithHint("%s", source.UnknownKeyHint(ref.Name.Value, known))
	}
}

// routedGraph holds the edges of a walk routed by a model, without those to or from unknown nodes.
type routedGraph struct {
	c     *compiler
	size  int
	edges []routedEdge
	entry int32 // -1 if there is none
	// open reports that the entry or an end of an edge is not known. Then a node may be reachable
	// although no known edge leads to it.
	open bool
}

type routedEdge struct {
	from, to int32
	decl     *core.Edge
}

// resolve finds the nodes of the entry and of the edges.
func (r *routedGraph) resolve() {
	r.findEntry()
	for _, e := range r.c.w.Edges {
		from, ok1 := r.end(e, e.From, "from", source.CodeUnknownEdgeSource)
		to, ok2 := r.end(e, e.To, "to", source.CodeUnknownEdgeTarget)
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
	var entry source.Text
	if c.w.Walk != nil {
		entry = c.w.Walk.Entry
	}
	i, ok := c.p.nodeIndex[entry.Value]
	switch {
	case ok:
		r.entry = i
	case c.w.Lost.Has("entry") || c.invalid.open&expressions.RootNodes != 0:
	case entry.Value == "":
		c.ds.Errorf(source.CodeMissingEntry, c.w.Pos, "the walk has no entry").WithHint("name the node that it begins at")
	default:
		c.hint(c.ds.Errorf(source.CodeMissingEntry, entry.Pos, "entry: there is no node %q", entry.Value), entry.Value, c.nodeIDs)
	}
	r.open = r.entry < 0 || c.invalid.open&expressions.RootNodes != 0 || c.invalid.edges
}

// end finds the node at an end of an edge and reports a node that does not exist.
func (r *routedGraph) end(e *core.Edge, id source.Text, key string, code source.Code) (int32, bool) {
	c := r.c
	if e.Lost.Has(key) {
		return 0, false
	}
	i, ok := c.p.nodeIndex[id.Value]
	if !ok && c.invalid.open&expressions.RootNodes == 0 {
		c.hint(c.ds.Errorf(code, id.Pos, "%s: %s: there is no node %q", edgePlace(e), key, id.Value), id.Value, c.nodeIDs)
	}
	return i, ok
}

// unconditional reports whether an edge is followed without a decision.
func unconditional(e *core.Edge) bool {
	return !e.Lost.Has("when") && (e.When == nil || strings.TrimSpace(e.When.Value) == "")
}

// ambiguous reports nodes with more than one outgoing edge without a condition.
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
		c.ds.Errorf(source.CodeAmbiguousEdges, list[1].Pos, "node %s: %d edges out of it have no condition, to %s, and only one can be followed", n.ID.Value, len(list), source.Named(targets)).
			WithHint("give all of them but one a condition (when); what shall be done at once needs parallel: true")
	}
}

// unbounded reports edges without a limit from a node to itself, and one cycle for each group of
// nodes that edges without a limit connect in both directions.
func (c *compiler) unbounded(r *routedGraph) {
	free := r.graph(func(e *routedEdge) bool {
		switch {
		case e.decl.MaxIterations != nil || e.decl.Lost.Has("max_iterations"):
			return false
		case e.from == e.to:
			c.ds.Errorf(source.CodeSelfLoop, e.decl.Pos, "%s: leads from a node to itself and has no bound", edgePlace(e.decl)).
				WithHint("add max_iterations")
			return false
		}
		return true
	})
	for _, ring := range free.Cycles() {
		names := make([]string, 0, len(ring)+1)
		for _, i := range ring {
			names = append(names, c.p.Nodes[r.edges[i].from].ID)
		}
		names = append(names, names[0])
		c.ds.Errorf(source.CodeUnboundedCycle, r.edges[ring[0]].decl.Pos, "the ring %s has no bound", message.Arrows(names, maxNames)).
			WithHint("give one of its edges max_iterations; a condition is not a bound")
	}
}

// deadEnds warns of cycles in which the walk may get stuck: all edges out of a node stay in the
// cycle and reach their limits at some time, while the exit is at another node.
func (c *compiler) deadEnds(r *routedGraph) {
	out := r.graph(every)
	group := out.Components()
	leaves := map[int32]bool{}
	for _, e := range r.edges {
		if group[e.from] != group[e.to] {
			leaves[group[e.from]] = true
		}
	}
	for n, arcs := range out {
		leads := func(a core.Arc) bool {
			return r.edges[a.Edge].decl.MaxIterations == nil || group[a.To] != group[n] || int(a.To) == n
		}
		if len(arcs) == 0 || !leaves[group[n]] || slices.ContainsFunc(arcs, leads) {
			continue
		}
		c.ds.Warnf(source.CodeDeadEnd, r.edges[arcs[0].Edge].decl.Pos, "node %s: when the edges back are used up the run ends here, in the middle of the ring", c.p.Nodes[n].ID).
			WithHint("put max_iterations on an edge that leads to %s, and add an edge without a condition", c.p.Nodes[n].ID)
	}
}

// unreached reports nodes to which no path leads, regardless of conditions and limits.
func (c *compiler) unreached(r *routedGraph) {
	if r.open {
		return
	}
	seen := r.graph(every).Reachable(r.entry)
	entry := c.p.Nodes[r.entry].ID
	for i, ok := range seen {
		if !ok {
			c.ds.Errorf(source.CodeUnreachableNode, c.w.Nodes[i].ID.Pos, "node %s: no way leads to it from the entry %s", c.p.Nodes[i].ID, entry).
				WithHint("add an edge that leads to it, or remove it")
		}
	}
}

// graph returns some of the edges as a graph, with their indexes in r.edges.
func (r *routedGraph) graph(with func(e *routedEdge) bool) core.Graph {
	g := make(core.Graph, r.size)
	for i := range r.edges {
		if e := &r.edges[i]; with(e) {
			g[e.from] = append(g[e.from], core.Arc{To: e.to, Edge: int32(i)})
		}
	}
	return g
}

func every(*routedEdge) bool { return true }

// modelRouted reports whether the workflow is a walk whose edges a model picks, or a dag that was
// made from one.
func modelRouted(w *core.Workflow) bool {
	return w.Walk != nil && w.Walk.Router.Value == core.RouterModel
}

// isNodeID reports whether a string is a valid id of a node.
func (c *compiler) isNodeID(s string) bool {
	if isID(s) || modelRouted(c.w) && isRoutedID(s) {
		return true
	}
	m := c.p.Mode
	return m != nil && m.nodes.id != nil && m.nodes.id(s)
}

// isRoutedID reports whether a string is a valid id of a node in a walk whose edges a model picks:
// letters, digits, underscores and dashes.
func isRoutedID(s string) bool {
	for i := range len(s) {
		if b := s[i]; b != '-' && (b < '0' || b > '9') && !isID(s[i:i+1]) {
			return false
		}
	}
	return s != ""
}
