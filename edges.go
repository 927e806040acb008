package wavefold

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// link is an edge under construction. Its ends are numbers of nodes. fromNode is -1 if
// the id does not exist, which plan reports.
type link struct {
	edge
	fromNode, to int
	implied      bool
}

// edges adds the edges of the options, and those implied by fields: from the only
// writer of a field to each of its typed readers.
func (b *builder) edges() {
	ids := b.ids()
	writers := b.writers()
	var links []link
	for i, n := range b.nodes {
		first := len(links)
		for _, e := range b.settings[i].edges {
			from, ok := ids[e.from.Value]
			if ok {
				e.from.Value = b.nodes[from].id.Value
			} else {
				from = -1
			}
			links = append(links, link{edge: e, fromNode: from, to: i})
		}
		for _, s := range specs(slices.Concat(n.needs, n.view)) {
			if w := writers[s.decl.Name.Value]; len(w) == 1 && !b.connected(links[first:], w[0], i) {
				from := source.At(b.nodes[w[0]].id.Value, n.id.Pos)
				links = append(links, link{edge: edge{from: from}, fromNode: w[0], to: i, implied: true})
			}
		}
	}
	for _, l := range b.acyclic(links) {
		b.w.Edges = append(b.w.Edges, b.newEdge(l))
	}
	b.unusedConditions()
}

// ids maps ids to nodes. The id of a pipeline or loop refers to its last node: a part
// that comes after one node of a unit comes after the whole unit.
func (b *builder) ids() map[string]int {
	ids := map[string]int{}
	for i, n := range b.nodes {
		if _, ok := ids[n.id.Value]; !ok {
			ids[n.id.Value] = i
		}
	}
	for i := range b.nodes {
		u, ok := b.units[b.vertexOf[i]]
		if !ok {
			continue
		}
		if at, taken := ids[u.id.Value]; !taken || b.vertexOf[at] == b.vertexOf[i] && b.nodes[at].id.Value != u.id.Value {
			ids[u.id.Value] = i
		}
	}
	return ids
}

// writers returns the nodes that write each field.
func (b *builder) writers() map[string][]int {
	out := map[string][]int{}
	for i, n := range b.w.Nodes {
		for _, name := range n.Writes {
			out[name.Value] = append(out[name.Value], i)
		}
	}
	return out
}

// connected reports whether an edge between two nodes exists, or is pointless: a node
// is not its own predecessor, and the nodes of a unit have their order.
func (b *builder) connected(links []link, from, to int) bool {
	return b.vertexOf[from] == b.vertexOf[to] || slices.ContainsFunc(links, func(l link) bool { return l.fromNode == from })
}

// newEdge converts a link to an edge. The edge gets the conditions of its target,
// unless the link has its own.
func (b *builder) newEdge(l link) *core.Edge {
	e := &core.Edge{From: l.from, To: source.At(b.nodes[l.to].id.Value, l.from.Pos), When: l.when, Else: l.isElse, On: l.on, Handles: l.handles, Implied: l.implied, Pos: l.from.Pos}
	if l.when == nil && !l.isElse && l.on.Value == "" && l.handles == nil {
		c := b.conditions(l.to)
		if l.fromNode < 0 || b.vertexOf[l.fromNode] != b.vertexOf[l.to] { // edges inside a unit have no conditions
			e.When, e.Else, e.On, e.Handles = c.when, c.isElse, c.on, c.handles
		}
	}
	return e
}

// conditions returns the settings with the conditions of a node, or of the unit that
// contains it.
func (b *builder) conditions(i int) *settings {
	if u, ok := b.units[b.vertexOf[i]]; ok {
		return &u.settings
	}
	return b.settings[i]
}

// unusedConditions reports a When, Else or On that applies to no edge.
func (b *builder) unusedConditions() {
	entered := make([]bool, b.vertices)
	ids := map[string]int{}
	for i, n := range b.nodes {
		ids[n.id.Value] = i
	}
	for _, e := range b.w.Edges {
		if to, ok := ids[e.To.Value]; ok {
			entered[b.vertexOf[to]] = true
		}
	}
	seen := make([]bool, b.vertices)
	for i := range b.nodes {
		v := b.vertexOf[i]
		if entered[v] || seen[v] {
			continue
		}
		seen[v] = true
		for _, u := range b.conditions(i).applied {
			if edgeOptions[u.name] {
				b.ds.Errorf(source.CodeBadValue, u.pos, "node %s: %s has no edge to apply to: no node comes before it", b.nodes[i].id.Value, u.name).
					WithHint("add wavefold.After(...)")
			}
		}
	}
}

// acyclic removes implied edges that would close a cycle. If two parts each read a
// field that the other writes, the first one in declaration order sees the starting
// value. So within a strongly connected component, implied edges from a later part to
// an earlier one are removed.
func (b *builder) acyclic(links []link) []link {
	out := make([][]int, b.vertices)
	for _, l := range links {
		if l.fromNode >= 0 {
			out[b.vertexOf[l.fromNode]] = append(out[b.vertexOf[l.fromNode]], b.vertexOf[l.to])
		}
	}
	component := components(out)
	return slices.DeleteFunc(links, func(l link) bool {
		if !l.implied {
			return false
		}
		from, to := b.vertexOf[l.fromNode], b.vertexOf[l.to]
		return from > to && component[from] == component[to]
	})
}

// components numbers the strongly connected components of a graph: two vertices have the
// same number if and only if each can be reached from the other (Tarjan's algorithm).
func components(out [][]int) []int {
	t := &tarjan{out: out, index: make([]int, len(out)), low: make([]int, len(out)), component: make([]int, len(out))}
	for v := range out {
		if t.index[v] == 0 {
			t.visit(v)
		}
	}
	return t.component
}

type tarjan struct {
	out                   [][]int
	index, low, component []int // index and component are numbered from 1; 0 means not visited, or not assigned
	stack                 []int
	next, found           int
}

func (t *tarjan) visit(v int) {
	t.next++
	t.index[v], t.low[v] = t.next, t.next
	t.stack = append(t.stack, v)
	for _, w := range t.out[v] {
		switch {
		case t.index[w] == 0:
			t.visit(w)
			t.low[v] = min(t.low[v], t.low[w])
		case t.component[w] == 0:
			t.low[v] = min(t.low[v], t.index[w])
		}
	}
	if t.low[v] != t.index[v] {
		return
	}
	t.found++
	for {
		w := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.component[w] = t.found
		if w == v {
			return
		}
	}
}
