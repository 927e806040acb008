package schedulertest

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Reduce makes a graph smaller as long as fails returns true for it, and returns the
// smallest graph found. fails must return true for g and is called often; its argument is
// always a valid graph. The number of calls is one for each part of the graph, each time a
// part could be removed.
func Reduce(g *Graph, fails func(*Graph) bool) *Graph {
	for {
		smaller := step(g, fails)
		if smaller == nil {
			return g
		}
		g = smaller
	}
}

// step returns the first smaller graph that still fails, or nil if there is none.
func step(g *Graph, fails func(*Graph) bool) *Graph {
	for change := range g.changes() {
		c := g.Clone()
		if change(c) && c.compiles() && fails(c) {
			return c
		}
	}
	return nil
}

// compiles reports whether a reduced graph is still one that could be generated: conditions
// may mention a removed node, and a branch must have exactly one edge that leads to it.
func (g *Graph) compiles() bool {
	ways := map[string]int{}
	for _, e := range g.Edges {
		ways[e.To]++
	}
	for _, e := range g.Edges {
		if e.When == "" && ways[e.To] > 1 && g.node(e.From).Role == core.RoleParallel {
			return false
		}
	}
	w, reg := g.Workflow(&Recorder{})
	p, _ := plan.Compile(w, reg, plan.Options{})
	return p != nil
}

// changes yields changes that make the graph smaller, starting with those that remove most.
// A change returns false if it has no effect.
func (g *Graph) changes() func(yield func(func(*Graph) bool) bool) {
	var list []func(*Graph) bool
	add := func(f func(*Graph) bool) { list = append(list, f) }
	for i := range g.Pipelines {
		add(func(g *Graph) bool { return g.dropUnit(&g.Pipelines, i) })
	}
	for i := range g.Loops {
		add(func(g *Graph) bool { return g.dropUnit(&g.Loops, i) })
	}
	for i := range g.Nodes {
		add(func(g *Graph) bool { return g.dropNode(i) })
		add(func(g *Graph) bool { return g.Walk != nil && g.bypass(i) })
	}
	for i := range g.Edges {
		add(func(g *Graph) bool { g.Edges = slices.Delete(g.Edges, i, i+1); return true })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].When, "") && !g.strayElse() })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].Else, false) })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].On, "") && !g.Edges[i].Handles })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].Handles, false) })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].Label, "") })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].Weight, 0) })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].Restart, false) })
	}
	for i := range g.Nodes {
		list = append(list, nodeChanges(i, g.Nodes[i])...)
	}
	if g.Walk != nil {
		add(func(g *Graph) bool { return clearTo(&g.Walk.MaxRetries, 0) })
		add(func(g *Graph) bool { return clearTo(&g.Walk.MaxJumps, 0) })
		add(func(g *Graph) bool { return clearTo(&g.Walk.RepeatLimit, 0) })
		add(func(g *Graph) bool { return clearTo(&g.Walk.RetryTarget, "") })
		add(func(g *Graph) bool { return clearTo(&g.Walk.Fallback, "") })
	}
	for i := range g.Inputs {
		add(func(g *Graph) bool { g.Inputs = slices.Delete(g.Inputs, i, i+1); return true })
	}
	for i := range g.Fields {
		add(func(g *Graph) bool { return g.dropField(i) })
	}
	return func(yield func(func(*Graph) bool) bool) {
		for _, f := range list {
			if !yield(func(g *Graph) bool { return f(g) && !g.strayElse() }) {
				return
			}
		}
	}
}

// clearTo sets a part to its plain value.
func clearTo[T comparable](p *T, plain T) bool {
	changed := *p != plain
	*p = plain
	return changed
}

func nodeChanges(i int, n *Node) []func(*Graph) bool {
	list := []func(*Graph) bool{
		func(g *Graph) bool { return g.Walk == nil && clearTo(&g.Nodes[i].Role, core.RoleStage) },
		func(g *Graph) bool { return g.Nodes[i].Collect == "" && clearTo(&g.Nodes[i].Source, "") },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Collect, "") },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].MaxFailures, -1) },
		func(g *Graph) bool { g.Nodes[i].Outputs = nil; return clearTo(&g.Nodes[i].Sub, nil) },
		func(g *Graph) bool {
			g.Nodes[i].Race = false
			return g.Nodes[i].Role != core.RoleParallel && clearTo(&g.Nodes[i].Join, "")
		},
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Expires, 0) && g.Nodes[i].Policy == "" },
		func(g *Graph) bool { return g.Nodes[i].Policy == "" && clearTo(&g.Nodes[i].Attempts, 0) },
		func(g *Graph) bool { return g.Nodes[i].Policy == "" && clearTo(&g.Nodes[i].Preset, "") },
		func(g *Graph) bool {
			if g.Walk != nil { // at 100 nothing is written
				return clearTo(&g.Nodes[i].Silent, 100)
			}
			return clearTo(&g.Nodes[i].Silent, 0)
		},
	}
	list = append(list, clears(i, 0, func(n *Node) []*int {
		return []*int{&n.Priority, &n.Concurrency, &n.MaxParallel, &n.Fail, &n.Error, &n.Again, &n.Flaky, &n.Partial, &n.Skip, &n.Send, &n.Label, &n.Suggest, &n.Transient}
	})...)
	list = append(list, clears(i, "", func(n *Node) []*string {
		return []*string{&n.Policy, &n.Pause, &n.RetryTarget, &n.Fallback, &n.ErrorPolicy}
	})...)
	list = append(list, clears(i, false, func(n *Node) []*bool {
		return []*bool{&n.AllDone, &n.Race, &n.AllowPartial, &n.AutoStatus, &n.OnlyTransient, &n.Timeout, &n.Waits, &n.Gate}
	})...)
	for j := range n.Args {
		list = append(list, func(g *Graph) bool { g.Nodes[i].Args = slices.Delete(g.Nodes[i].Args, j, j+1); return true })
	}
	if n.Sub != nil {
		for change := range n.Sub.changes() {
			list = append(list, func(g *Graph) bool { return change(g.Nodes[i].Sub) })
		}
	}
	for j := range n.Reads {
		list = append(list, func(g *Graph) bool { g.Nodes[i].Reads = slices.Delete(g.Nodes[i].Reads, j, j+1); return true })
	}
	for j := range n.Writes {
		list = append(list, func(g *Graph) bool {
			n := g.Nodes[i]
			if n.Writes[j] == n.Collect {
				return false
			}
			n.Writes = slices.Delete(n.Writes, j, j+1)
			return true
		})
	}
	return list
}

// clears returns the changes that set a part of a node to its plain value.
func clears[T comparable](i int, plain T, parts func(*Node) []*T) (list []func(*Graph) bool) {
	for j := range parts(&Node{}) {
		list = append(list, func(g *Graph) bool { return clearTo(parts(g.Nodes[i])[j], plain) })
	}
	return list
}

// dropUnit removes a unit; its members become plain nodes.
func (g *Graph) dropUnit(list *[]*Unit, i int) bool {
	members := (*list)[i].Members
	*list = slices.Delete(*list, i, i+1)
	g.Edges = slices.DeleteFunc(g.Edges, func(e *Edge) bool {
		return slices.Contains(members, e.From) && slices.Contains(members, e.To)
	})
	return true
}

// dropNode removes a node with its edges. If the node is the last member of its unit, it
// also removes the unit.
func (g *Graph) dropNode(i int) bool {
	id := g.Nodes[i].ID
	if r := g.Nodes[i].Role; r == core.RoleStart || r == core.RoleExit {
		return false
	}
	g.Nodes = slices.Delete(g.Nodes, i, i+1)
	g.Edges = slices.DeleteFunc(g.Edges, func(e *Edge) bool { return e.From == id || e.To == id })
	empty := func(u *Unit) bool {
		u.Members = slices.DeleteFunc(u.Members, func(m string) bool { return m == id })
		return len(u.Members) == 0
	}
	g.Pipelines = slices.DeleteFunc(g.Pipelines, empty)
	g.Loops = slices.DeleteFunc(g.Loops, empty)
	return len(g.Nodes) > 0
}

// bypass removes a node of a walk and redirects its incoming edges to its successor.
func (g *Graph) bypass(i int) bool {
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

// dropField removes a field that occurs only in reads and writes.
func (g *Graph) dropField(i int) bool {
	name := g.Fields[i].Name
	if g.mentions(name) || g.Walk == nil && len(g.Fields) == 1 {
		return false
	}
	g.Fields = slices.Delete(g.Fields, i, i+1)
	g.Inputs = slices.DeleteFunc(g.Inputs, func(in Input) bool { return in.Field == name })
	return true
}

func (g *Graph) mentions(field string) bool {
	uses := func(text string) bool { return slices.Contains(pathNames(text), field) }
	return slices.ContainsFunc(g.Nodes, func(n *Node) bool {
		return slices.Contains(n.Reads, field) || slices.Contains(n.Writes, field) || uses(n.Source) ||
			slices.ContainsFunc(n.Args, func(a Arg) bool { return uses(a.Path) })
	}) || slices.ContainsFunc(g.Edges, func(e *Edge) bool { return uses(e.When) }) ||
		slices.ContainsFunc(slices.Concat(g.Pipelines, g.Loops), func(u *Unit) bool { return uses(u.Items) || uses(u.Until) })
}

// pathNames lists the fields that a condition or source names.
func pathNames(text string) []string {
	var names []string
	for i := 0; i+2 < len(text); i++ {
		if text[i:i+2] == "$." {
			p := &reader{rest: text[i+2:]}
			names = append(names, p.take(nameSet))
		}
	}
	return names
}

// strayElse reports whether there is an else edge whose source no longer has a conditional
// edge.
func (g *Graph) strayElse() bool {
	return slices.ContainsFunc(g.Edges, func(e *Edge) bool {
		return e.Else && !slices.ContainsFunc(g.Edges, func(o *Edge) bool { return o.From == e.From && o.When != "" })
	})
}
