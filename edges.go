package wavefold

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// link is an edge under construction. Its ends are numbers of nodes. fromNode is -1 if
// the id does not exist, which plan reports.
type link struct {
	edge         *edge // nil if a field implies the edge
	fromNode, to int
}

// edges adds the edges of the options, and those implied by fields: from the only
// writer of a field to each of its typed readers.
func (b *builder) edges() {
	ids := b.ids()
	writers := b.writers()
	most := 0
	for i, n := range b.nodes {
		most += len(b.settings[i].edges) + len(n.needs) + len(n.view)
	}
	links := make([]link, 0, most)
	for i, n := range b.nodes {
		first := len(links)
		declared := b.settings[i].edges
		for k := range declared {
			from, ok := ids[declared[k].from.Value]
			if !ok {
				from = -1
			}
			links = append(links, link{edge: &declared[k], fromNode: from, to: i})
		}
		for _, fields := range [][]AnyField{n.needs, n.view} {
			for _, f := range fields {
				s := specOf(f)
				if s == nil {
					continue
				}
				if w := writers[s.decl.Name.Value]; w.count == 1 && !b.connected(links[first:], w.first, i) {
					links = append(links, link{fromNode: w.first, to: i})
				}
			}
		}
	}
	links = b.acyclic(links)
	edges := make([]core.Edge, len(links))
	b.w.Edges = make([]*core.Edge, len(links))
	for i, l := range links {
		b.setEdge(&edges[i], l)
		b.w.Edges[i] = &edges[i]
	}
	b.unusedConditions(links)
}

// ids maps ids to nodes. The id of a pipeline or loop refers to its last node: a part
// that comes after one node of a unit comes after the whole unit.
func (b *builder) ids() map[string]int {
	ids := make(map[string]int, len(b.nodes))
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

// writers is the number of nodes that write a field, and the first of them.
type writers struct{ count, first int }

// writers returns the writers of each field.
func (b *builder) writers() map[string]writers {
	out := make(map[string]writers, len(b.w.Fields))
	for i, n := range b.w.Nodes {
		for _, name := range n.Writes {
			w := out[name.Value]
			if w.count == 0 {
				w.first = i
			}
			w.count++
			out[name.Value] = w
		}
	}
	return out
}

// connected reports whether an edge between two nodes exists, or is pointless: a node
// is not its own predecessor, and the nodes of a unit have their order.
func (b *builder) connected(links []link, from, to int) bool {
	return b.vertexOf[from] == b.vertexOf[to] || slices.ContainsFunc(links, func(l link) bool { return l.fromNode == from })
}

// setEdge fills in the edge of a link. The edge gets the conditions of its target, unless the
// link has its own.
func (b *builder) setEdge(e *core.Edge, l link) {
	to, from := b.nodes[l.to], source.Text{}
	if l.edge != nil {
		from = l.edge.from
	} else {
		from.Pos = to.id.Pos
	}
	if l.fromNode >= 0 {
		from.Value = b.nodes[l.fromNode].id.Value // an id of a unit means its last node
	}
	e.From, e.To, e.Implied, e.Pos = from, source.At(to.id.Value, from.Pos), l.edge == nil, from.Pos
	var c *conditions
	switch {
	case l.edge != nil && l.edge.own != nil:
		c = l.edge.own
	case l.fromNode >= 0 && b.vertexOf[l.fromNode] == b.vertexOf[l.to]:
		return // edges inside a unit have no conditions
	default:
		c = &b.conditionsOf(l.to).conditions
	}
	e.When, e.Else, e.On, e.Handles = c.when, c.isElse, c.on, c.handles
}

// conditionsOf returns the settings with the conditions of a node, or of the unit that
// contains it.
func (b *builder) conditionsOf(i int) *settings {
	if u, ok := b.units[b.vertexOf[i]]; ok {
		return &u.settings
	}
	return b.settings[i]
}

// unusedConditions reports a When, Else or On that applies to no edge.
func (b *builder) unusedConditions(links []link) {
	entered := make([]bool, b.vertices)
	for _, l := range links {
		entered[b.vertexOf[l.to]] = true
	}
	seen := make([]bool, b.vertices)
	for i := range b.nodes {
		v := b.vertexOf[i]
		if entered[v] || seen[v] {
			continue
		}
		seen[v] = true
		for _, u := range b.conditionsOf(i).applied {
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
	implied := func(l link) bool { return l.edge == nil }
	if !slices.ContainsFunc(links, implied) {
		return links
	}
	degree := make([]int, b.vertices)
	for _, l := range links {
		if l.fromNode >= 0 {
			degree[b.vertexOf[l.fromNode]]++
		}
	}
	out, room := make([][]int, b.vertices), make([]int, len(links))
	for v, n := range degree {
		out[v], room = room[:0:n], room[n:]
	}
	for _, l := range links {
		if l.fromNode >= 0 {
			out[b.vertexOf[l.fromNode]] = append(out[b.vertexOf[l.fromNode]], b.vertexOf[l.to])
		}
	}
	component := components(out)
	return slices.DeleteFunc(links, func(l link) bool {
		if !implied(l) {
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
