package schedulertest

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// changes yields ways to make the graph smaller, those that drop most first.
func (g *WalkGraph) changes() func(yield func(func(*WalkGraph) bool) bool) {
	var list []func(*WalkGraph) bool
	add := func(f func(*WalkGraph) bool) { list = append(list, f) }
	for i := range g.Nodes {
		add(func(g *WalkGraph) bool { return g.dropNode(i) })
		add(func(g *WalkGraph) bool { return g.bypass(i) })
	}
	for i := range g.Edges {
		add(func(g *WalkGraph) bool { g.Edges = slices.Delete(g.Edges, i, i+1); return true })
		add(func(g *WalkGraph) bool { return clearTo(&g.Edges[i].When, "") })
		add(func(g *WalkGraph) bool { return clearTo(&g.Edges[i].Label, "") })
		add(func(g *WalkGraph) bool { return clearTo(&g.Edges[i].Weight, 0) })
		add(func(g *WalkGraph) bool { return clearTo(&g.Edges[i].Restart, false) })
	}
	for i := range g.Nodes {
		list = append(list, walkNodeChanges(i, g.Nodes[i])...)
	}
	add(func(g *WalkGraph) bool { return clearTo(&g.MaxRetries, 0) })
	add(func(g *WalkGraph) bool { return clearTo(&g.MaxJumps, 0) })
	add(func(g *WalkGraph) bool { return clearTo(&g.RepeatLimit, 0) })
	add(func(g *WalkGraph) bool { return clearTo(&g.RetryTarget, "") })
	add(func(g *WalkGraph) bool { return clearTo(&g.Fallback, "") })
	for i, f := range g.Fields {
		used := slices.ContainsFunc(g.Nodes, func(n *WalkNode) bool { return slices.Contains(n.Reads, f.Name) || slices.Contains(n.Writes, f.Name) })
		if !used {
			add(func(g *WalkGraph) bool { g.Fields = slices.Delete(g.Fields, i, i+1); return true })
		}
	}
	return slices.Values(list)
}

func walkNodeChanges(i int, n *WalkNode) []func(*WalkGraph) bool {
	var list []func(*WalkGraph) bool
	number := func(part func(*WalkNode) *int) {
		list = append(list, func(g *WalkGraph) bool { return clearTo(part(g.Nodes[i]), 0) })
	}
	word := func(part func(*WalkNode) *string) {
		list = append(list, func(g *WalkGraph) bool { return clearTo(part(g.Nodes[i]), "") })
	}
	flag := func(part func(*WalkNode) *bool) {
		list = append(list, func(g *WalkGraph) bool { return clearTo(part(g.Nodes[i]), false) })
	}
	word(func(n *WalkNode) *string { return &n.Preset })
	word(func(n *WalkNode) *string { return &n.RetryTarget })
	word(func(n *WalkNode) *string { return &n.Fallback })
	word(func(n *WalkNode) *string { return &n.ErrorPolicy })
	number(func(n *WalkNode) *int { return &n.Attempts })
	number(func(n *WalkNode) *int { return &n.MaxParallel })
	flag(func(n *WalkNode) *bool { return &n.Waits })
	flag(func(n *WalkNode) *bool { return &n.AllowPartial })
	flag(func(n *WalkNode) *bool { return &n.AutoStatus })
	flag(func(n *WalkNode) *bool { return &n.Gate })
	for _, part := range []func(*WalkNode) *int{
		func(n *WalkNode) *int { return &n.Fail }, func(n *WalkNode) *int { return &n.Error }, func(n *WalkNode) *int { return &n.Again },
		func(n *WalkNode) *int { return &n.Flaky }, func(n *WalkNode) *int { return &n.Partial }, func(n *WalkNode) *int { return &n.Skip },
		func(n *WalkNode) *int { return &n.Label }, func(n *WalkNode) *int { return &n.Suggest }, func(n *WalkNode) *int { return &n.Transient },
	} {
		number(part)
	}
	list = append(list, func(g *WalkGraph) bool { return clearTo(&g.Nodes[i].Silent, 100) })
	for j := range n.Reads {
		list = append(list, func(g *WalkGraph) bool { g.Nodes[i].Reads = slices.Delete(g.Nodes[i].Reads, j, j+1); return true })
	}
	for j := range n.Writes {
		list = append(list, func(g *WalkGraph) bool { g.Nodes[i].Writes = slices.Delete(g.Nodes[i].Writes, j, j+1); return true })
	}
	return list
}

// dropNode removes a node with its edges.
func (g *WalkGraph) dropNode(i int) bool {
	id := g.Nodes[i].ID
	if r := g.Nodes[i].Role; r == core.RoleStart || r == core.RoleExit {
		return false
	}
	g.Nodes = slices.Delete(g.Nodes, i, i+1)
	g.Edges = slices.DeleteFunc(g.Edges, func(e *WalkEdge) bool { return e.From == id || e.To == id })
	return true
}

// bypass removes a node and leads its edges to where it would have gone on.
func (g *WalkGraph) bypass(i int) bool {
	id := g.Nodes[i].ID
	out := g.out(id)
	if len(out) == 0 || out[0].To == id {
		return false
	}
	for _, e := range g.Edges {
		if e.To == id {
			e.To = out[0].To
		}
	}
	return g.dropNode(i)
}
