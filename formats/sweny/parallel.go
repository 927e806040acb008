package sweny

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// maxParallel limits the number of nodes of such a document, because each node lists
// all its ancestors.
const maxParallel = 500

// parallel converts the walk to a dag. An edge without a condition becomes a
// dependency. A node with conditional edges is followed by a node that asks the run's
// router which of them applies. That node is followed by one node for each edge, of
// which one runs and the others are skipped. A join thus runs once the edges that were
// chosen have completed. A false condition directly on an edge into the join would skip
// it.
func (l *loader) parallel() {
	w := l.w
	if n := len(w.Nodes); n > maxParallel {
		l.ds.Errorf(source.CodeLimit, l.doc.Pos, "parallel: the document has %d nodes, at most %d are run so", n, maxParallel)
		return
	}
	w.Mode = core.ModeDAG
	concurrency := source.At(max(1, len(w.Nodes)), l.doc.Pos)
	w.Runtime.Concurrency = &concurrency // so that a plain fan-out does not run sequentially
	s := &splitter{loader: l, index: map[string]int32{}, usedIDs: map[string]bool{}}
	for i, n := range w.Nodes {
		s.index[n.ID.Value], s.usedIDs[n.ID.Value] = int32(i), true
	}
	s.connect()
	s.split()
}

// splitter converts the edges of a walk to edges of a dag.
type splitter struct {
	*loader
	index   map[string]int32
	usedIDs map[string]bool // ids in use
	edges   []*core.Edge    // edges between existing nodes
	out     core.Graph      // the edge numbers are indexes of edges
}

// connect finds the ends of the edges. It reports errors in the terms of the format, as
// for a walk.
func (s *splitter) connect() {
	s.out = make(core.Graph, len(s.w.Nodes))
	whole := true
	for _, e := range s.w.Edges {
		from, ok1 := s.end(e, e.From, "from", source.CodeUnknownEdgeSource)
		to, ok2 := s.end(e, e.To, "to", source.CodeUnknownEdgeTarget)
		switch {
		case !ok1 || !ok2:
			whole = false
		case from == to:
			s.reportCycle(e, []string{e.From.Value, e.From.Value})
		default:
			s.out[from] = append(s.out[from], core.Arc{To: to, Edge: int32(len(s.edges))})
			s.edges = append(s.edges, e)
		}
	}
	entry, ok := s.index[s.doc.Entry.Value]
	switch {
	case !ok && !s.doc.Lost.Has("entry") && !s.doc.Lost.Has("nodes"):
		s.ds.Errorf(source.CodeMissingEntry, s.doc.Entry.Pos, "entry: there is no node %q", s.doc.Entry.Value).
			WithHint("%s", s.suggestNode(s.doc.Entry.Value))
	case ok && whole && !s.w.Lost.Has("edges"):
		for i, reached := range s.out.Reachable(entry) {
			if !reached {
				n := s.w.Nodes[i]
				s.ds.Errorf(source.CodeUnreachableNode, n.ID.Pos, "node %s: no way leads to it from the entry %s", n.ID.Value, s.doc.Entry.Value).
					WithHint("add an edge that leads to it, or remove it")
			}
		}
	}
	s.removeCycles()
}

// suggestNode suggests a node with a similar name, if there are few findings. Searching
// for many names would take too long.
func (s *splitter) suggestNode(id string) string {
	const maxFindings = 100
	if len(s.ds) > maxFindings {
		return ""
	}
	ids := make([]string, len(s.w.Nodes))
	for i, n := range s.w.Nodes {
		ids[i] = n.ID.Value
	}
	return source.DidYouMean(id, ids)
}

func (s *splitter) end(e *core.Edge, id source.Text, key string, code source.Code) (int32, bool) {
	if e.Lost.Has(key) {
		return 0, false
	}
	i, ok := s.index[id.Value]
	if !ok && !s.doc.Lost.Has("nodes") {
		s.ds.Errorf(code, id.Pos, "edge %s -> %s: %s: there is no node %q", e.From.Value, e.To.Value, key, id.Value).
			WithHint("%s", s.suggestNode(id.Value))
	}
	return i, ok
}

// removeCycles reports cycles, even if they are bounded, and removes their edges.
func (s *splitter) removeCycles() {
	group := s.out.Components()
	for _, cycle := range s.out.Cycles() {
		names := []string{s.edges[cycle[0]].From.Value}
		for _, i := range cycle {
			names = append(names, s.edges[i].To.Value)
		}
		s.reportCycle(s.edges[cycle[0]], names)
	}
	for from, arcs := range s.out {
		s.out[from] = slices.DeleteFunc(arcs, func(a core.Arc) bool { return group[a.To] == group[from] })
	}
}

func (s *splitter) reportCycle(e *core.Edge, names []string) {
	const maxNames = 20
	if len(names) > maxNames {
		names = append(append(slices.Clone(names[:maxNames-1]), "…"), names[len(names)-1])
	}
	s.ds.Errorf(source.CodeUnboundedCycle, e.Pos, "with parallel each node runs once, so the ring %s cannot be run, whatever its bounds", strings.Join(names, " -> ")).
		WithHint("run the document without parallel, or remove the edge back")
}

// split replaces the edges out of nodes with conditional edges.
func (s *splitter) split() {
	s.w.Edges = nil
	before := s.ancestors()
	for i, n := range slices.Clone(s.w.Nodes) {
		s.setContextNodes(n, before[i])
		plain, chosen := s.choices(int32(i))
		s.w.Edges = append(s.w.Edges, plain...)
		if len(chosen) > 0 {
			s.route(n, chosen, append(before[i], int32(i)))
		}
	}
}

// choices separates the edges out of a node that are always followed from the edges
// among which the router chooses. A single unconditional edge among conditional ones is
// the fallback choice. Several unconditional edges are a plain fan-out.
func (s *splitter) choices(node int32) (plain, chosen []*core.Edge) {
	for _, a := range s.out[node] {
		e := s.edges[a.Edge]
		if e.When == nil && !e.Lost.Has("when") {
			plain = append(plain, e)
		} else {
			chosen = append(chosen, e)
		}
	}
	if len(plain) == 1 && len(chosen) > 0 {
		return nil, append(chosen, plain[0])
	}
	return plain, chosen
}

// ancestors returns the ancestors of each node in declaration order.
func (s *splitter) ancestors() [][]int32 {
	before := make([][]int32, len(s.out))
	for i := range s.out {
		for j, reached := range s.out.Reachable(int32(i)) {
			if reached && j != i {
				before[j] = append(before[j], int32(i))
			}
		}
	}
	return before
}

// setContextNodes sets the nodes whose results a node is given, because a dag has no
// shared context.
func (s *splitter) setContextNodes(n *core.Node, before []int32) {
	if len(before) == 0 {
		return
	}
	list := &source.Value{Kind: source.ArrayValue, Pos: n.Pos}
	for _, i := range before {
		id := s.w.Nodes[i].ID
		list.Items = append(list.Items, stringTree(source.At(id.Value, n.Pos)))
	}
	n.Config.Set(source.At("context_nodes", n.Pos), list)
}

// route adds a node that chooses between the conditional edges of n, and a node on each
// of these edges.
func (s *splitter) route(n *core.Node, chosen []*core.Edge, before []int32) {
	pos := n.Pos
	object := func() *source.Value { return &source.Value{Kind: source.ObjectValue, Pos: pos} }
	text := func(t string) *source.Value { return stringTree(source.At(t, pos)) }
	config := object()
	choices := &source.Value{Kind: source.ArrayValue, Pos: pos}
	for _, e := range chosen {
		c := object()
		c.Set(source.At("target", pos), text(e.To.Value))
		if name := s.w.Nodes[s.index[e.To.Value]].Label; name.Value != "" {
			c.Set(source.At("name", pos), stringTree(name))
		}
		if e.When != nil {
			c.Set(source.At("when", pos), stringTree(*e.When))
		}
		choices.Items = append(choices.Items, c)
	}
	config.Set(source.At("choices", pos), choices)
	config.Set(source.At("node", pos), text(n.ID.Value))
	if m := s.doc.Model; m.Value != "" {
		config.Set(source.At("model", pos), stringTree(m))
	}
	shows := object()
	for _, i := range before {
		of := s.w.Nodes[i]
		members := &source.Value{Kind: source.ArrayValue, Pos: pos}
		for _, m := range of.ViewMembers {
			members.Items = append(members.Items, text(m.Value))
		}
		shows.Set(source.At(of.ID.Value, pos), members)
	}
	config.Set(source.At("shows", pos), shows)
	r := &core.Node{ID: s.id(n.ID.Value+"_route", pos), Kind: source.At("route", pos), Config: config, HasWrites: true, Pos: pos}
	s.w.Nodes = append(s.w.Nodes, r)
	s.w.Edges = append(s.w.Edges, &core.Edge{From: n.ID, To: r.ID, Pos: pos})
	for i, e := range chosen {
		pass := &core.Node{ID: s.id(n.ID.Value+"_to_"+e.To.Value, e.Pos), Kind: source.At("pass", e.Pos), Label: source.At("to "+e.To.Value, e.Pos),
			Handler: core.HandlerFunc(doNothing), HasWrites: true, Pos: e.Pos}
		when := source.At(fmt.Sprintf("$nodes.%s.output == %d", r.ID.Value, i), e.Pos)
		s.w.Nodes = append(s.w.Nodes, pass)
		s.w.Edges = append(s.w.Edges, &core.Edge{From: r.ID, To: pass.ID, When: &when, Label: edgeLabel(e), Pos: e.Pos}, &core.Edge{From: pass.ID, To: e.To, Pos: e.Pos})
	}
}

// edgeLabel returns the label of a chosen edge: its condition, or a fixed text if it
// has none.
func edgeLabel(e *core.Edge) source.Text {
	if e.When == nil {
		return source.At("none of the others", e.Pos)
	}
	return *e.When
}

// id returns an unused node id that can be used in conditions.
func (s *splitter) id(like string, pos source.Position) source.Text {
	name := strings.ReplaceAll(like, "-", "_")
	if name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	id := name
	for i := 2; s.usedIDs[id]; i++ {
		id = fmt.Sprintf("%s_%d", name, i)
	}
	s.usedIDs[id] = true
	return source.At(id, pos)
}

// doNothing is the handler of the nodes on edges.
func doNothing(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil }
