package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// edges resolves the edges and connects the declared vertices. Edges between
// two members of one unit are checked and dropped.
func (c *compiler) edges() {
	for _, e := range c.w.Edges {
		subject := "edge " + e.From.Value + " -> " + e.To.Value
		from, ok1 := c.nodeRef(e.From, subject)
		to, ok2 := c.nodeRef(e.To, subject)
		if !ok1 || !ok2 {
			continue
		}
		a, b := &c.p.Nodes[from], &c.p.Nodes[to]
		if a.Vertex == b.Vertex && a.Member >= 0 && from != to {
			c.insideUnit(e, a, b, subject)
			continue
		}
		edge := Edge{From: a.Vertex, To: b.Vertex, FromNode: from, ToNode: to, Else: e.Else, On: c.on(e, subject)}
		var use uses
		if e.When != nil && !e.Else {
			p, ds := expressions.Compile(*e.When, c.scope(expressions.RootState|expressions.RootNodes|expressions.RootInput), subject+": when")
			c.ds = append(c.ds, ds...)
			if !ds.Failed(false) {
				edge.When = p
				use.program(p)
			}
		}
		c.p.Edges = append(c.p.Edges, edge)
		c.p.edgeDecls = append(c.p.edgeDecls, e)
		c.edgeUse = append(c.edgeUse, use)
		c.decl[a.Vertex].succ = append(c.decl[a.Vertex].succ, b.Vertex)
		c.decl[b.Vertex].pred = append(c.decl[b.Vertex].pred, a.Vertex)
	}
	c.joins()
	c.elseEdges()
}

func (c *compiler) on(e *core.Edge, subject string) On {
	switch e.On.Value {
	case "", "success":
		return OnSuccess
	case "fail":
		return OnFail
	case "done":
		return OnDone
	}
	c.ds.Errorf(core.CodeBadValue, e.On.Pos, "%s: on: unknown word %q", subject, e.On.Value).
		WithHint("%s", near(e.On.Value, []string{"success", "fail", "done"}))
	return OnSuccess
}

func (c *compiler) insideUnit(e *core.Edge, a, b *Node, subject string) {
	unit := c.decl[a.Vertex].id
	switch {
	case a.Member > b.Member:
		c.ds.Errorf(core.CodeUnitEdge, e.Pos, "%s: runs against the order of the members of %s", subject, unit)
	case e.When != nil || e.Else || e.On.Value != "":
		c.ds.Errorf(core.CodeUnitEdge, e.Pos, "%s: an edge inside %s cannot have a condition", subject, unit)
	}
}

func (c *compiler) joins() {
	for _, n := range c.w.Nodes {
		switch n.Join.Value {
		case "", "all", "all_done":
		default:
			c.ds.Errorf(core.CodeBadValue, n.Join.Pos, "node %s: join: unknown word %q", n.ID.Value, n.Join.Value).
				WithHint("all or all_done")
		}
	}
}

// elseEdges checks that a source has at most one else edge, and that there is
// a condition it is the opposite of.
func (c *compiler) elseEdges() {
	for i := range c.p.Edges {
		if !c.p.Edges[i].Else {
			continue
		}
		conditions, elses := 0, 0
		for j := range c.p.Edges {
			if c.p.Edges[j].From != c.p.Edges[i].From {
				continue
			}
			if c.p.Edges[j].Else {
				elses++
			} else if c.p.Edges[j].When != nil {
				conditions++
			}
		}
		e := &c.p.Edges[i]
		subject := "edge " + c.p.Nodes[e.FromNode].ID + " -> " + c.p.Nodes[e.ToNode].ID
		if conditions == 0 {
			c.ds.Errorf(core.CodeElse, c.edgePos(i), "%s: when: else, but no other edge out of %s has a condition", subject, c.p.Nodes[e.FromNode].ID)
		}
	}
}

// edgePos returns the position of a compiled edge.
func (c *compiler) edgePos(i int) core.Position {
	e := &c.p.Edges[i]
	for _, d := range c.w.Edges {
		if d.From.Value == c.p.Nodes[e.FromNode].ID && d.To.Value == c.p.Nodes[e.ToNode].ID && d.Else == e.Else {
			return d.Pos
		}
	}
	return core.Position{}
}

// levels finds cycles and gives each vertex its level: the longest path to it
// from a root. It reports whether the graph is acyclic.
func (c *compiler) levels() bool {
	pending := make([]int, len(c.decl))
	var queue []int32
	for i := range c.decl {
		if pending[i] = len(c.decl[i].pred); pending[i] == 0 {
			queue = append(queue, int32(i))
		}
	}
	done := 0
	for ; done < len(queue); done++ {
		v := &c.decl[queue[done]]
		for _, s := range v.succ {
			c.decl[s].level = max(c.decl[s].level, v.level+1)
			if pending[s]--; pending[s] == 0 {
				queue = append(queue, s)
			}
		}
	}
	if done < len(c.decl) {
		c.reportCycle(pending)
		return false
	}
	c.lastUnits()
	return true
}

// lastUnits puts units that no edge enters or leaves behind the whole main
// graph: pipelines in declared order, then loops, each on a level of its own.
func (c *compiler) lastUnits() {
	level := int32(-1)
	for i := range c.decl {
		v := &c.decl[i]
		if v.last = v.unit != nil && len(v.pred) == 0 && len(v.succ) == 0; !v.last {
			level = max(level, v.level)
		}
	}
	for i := range c.decl {
		if c.decl[i].last {
			level++
			c.decl[i].level = level
		}
	}
}

// reportCycle prints one whole cycle among the vertices that were left over.
func (c *compiler) reportCycle(pending []int) {
	start := slices.IndexFunc(pending, func(n int) bool { return n > 0 })
	seen := map[int32]int{}
	var path []int32
	v := int32(start)
	for {
		if at, ok := seen[v]; ok {
			path = path[at:]
			break
		}
		seen[v] = len(path)
		path = append(path, v)
		for _, p := range c.decl[v].pred { // backwards: every one left has such a predecessor
			if pending[p] > 0 {
				v = p
				break
			}
		}
	}
	slices.Reverse(path)
	least := slices.Index(path, slices.Min(path))
	path = append(path[least:], path[:least]...)
	c.cycleFinding(append(path, path[0]))
}

// cycleFinding words the cycle with the nodes at the ends of its edges, so that
// a way through a unit shows the members it enters and leaves by.
func (c *compiler) cycleFinding(path []int32) {
	code, pos := core.CodeCycle, core.Position{}
	var names []string
	unit := ""
	for i := 0; i+1 < len(path); i++ {
		for j := range c.p.Edges {
			e := &c.p.Edges[j]
			if e.From != path[i] || e.To != path[i+1] {
				continue
			}
			from, to := c.p.Nodes[e.FromNode].ID, c.p.Nodes[e.ToNode].ID
			if len(names) == 0 || names[len(names)-1] != from {
				names = append(names, from)
			}
			names = append(names, to)
			if d := c.w.Edges[slices.IndexFunc(c.w.Edges, func(d *core.Edge) bool { return d.From.Value == from && d.To.Value == to })]; !pos.IsValid() {
				pos = d.Pos
			}
			break
		}
		if v := &c.decl[path[i]]; v.unit != nil {
			code, unit = core.CodeUnitCycle, v.id
		}
	}
	text := strings.Join(names, " -> ")
	if code == core.CodeUnitCycle {
		c.ds.Errorf(code, pos, "a way leads out of %q and back into it: %s", unit, text).
			WithHint("a pipeline or loop runs as one: no node can lie between two of its members")
		return
	}
	c.ds.Errorf(code, pos, "the graph has a cycle: %s", text).WithHint("repeat work with a loop; edges must not lead back")
}

// order numbers the vertices canonically and moves them into the plan.
func (c *compiler) order() {
	sorted := make([]int32, len(c.decl))
	for i := range sorted {
		sorted[i] = int32(i)
	}
	// The declarations stand in canonical order within a level: nodes, then
	// pipelines, then loops, each as declared.
	slices.SortStableFunc(sorted, func(a, b int32) int { return cmp.Compare(c.decl[a].level, c.decl[b].level) })
	c.at = make([]int32, len(c.decl))
	c.p.Vertices = make([]Vertex, len(c.decl))
	for canonical, d := range sorted {
		v := &c.decl[d]
		c.at[d] = int32(canonical)
		for len(c.p.Levels) <= int(v.level) {
			c.p.Levels = append(c.p.Levels, int32(canonical))
		}
		c.p.Vertices[canonical] = Vertex{ID: v.id, Shape: v.shape, Level: v.level, Node: v.node, Unit: v.unit, Judge: -1, Last: v.last}
	}
	c.p.Levels = append(c.p.Levels, int32(len(c.decl)))
	for i := range c.p.Nodes {
		c.p.Nodes[i].Vertex = c.at[c.p.Nodes[i].Vertex]
	}
	for id, i := range c.p.unitIndex { // every entry is renumbered alike
		c.p.unitIndex[id] = c.at[i]
	}
	for i := range c.p.Edges {
		e := &c.p.Edges[i]
		e.From, e.To = c.at[e.From], c.at[e.To]
	}
	for i, d := range c.w.Nodes {
		v := &c.p.Vertices[c.p.Nodes[i].Vertex]
		v.AllDone = v.AllDone || d.Join.Value == "all_done"
	}
	c.rank()
}

// rank orders starts by priority, if any node has one.
func (c *compiler) rank() {
	priority := make([]int, len(c.p.Vertices))
	used := false
	for i, d := range c.w.Nodes {
		v := c.p.Nodes[i].Vertex
		priority[v] = max(priority[v], d.Priority.Value)
		used = used || d.Priority.Value != 0
	}
	if !used {
		return
	}
	c.p.ByRank = make([]int32, len(priority))
	for i := range c.p.ByRank {
		c.p.ByRank[i] = int32(i)
	}
	slices.SortStableFunc(c.p.ByRank, func(a, b int32) int { return cmp.Compare(priority[b], priority[a]) })
	c.p.Rank = make([]int32, len(priority))
	for r, v := range c.p.ByRank {
		c.p.Rank[v] = int32(r)
	}
}
