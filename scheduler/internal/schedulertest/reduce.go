package schedulertest

import (
	"slices"

	"github.com/wavefold/wavefold/scheduler/plan"
)

// reducible is a graph that can be cut down: a [Graph] or a [WalkGraph].
type reducible[G any] interface {
	Clone() G
	changes() func(yield func(func(G) bool) bool)
	compiles() bool
}

// Reduce makes a graph smaller as long as fails still holds for it and returns
// the smallest one found. fails must be true for g and is called often; a graph
// it is given is valid. The cost is one call for each part of the graph and
// each time a part could be dropped.
func Reduce[G reducible[G]](g G, fails func(G) bool) G {
	for {
		smaller, ok := step(g, fails)
		if !ok {
			return g
		}
		g = smaller
	}
}

// step returns the first smaller graph that still fails, if there is one.
func step[G reducible[G]](g G, fails func(G) bool) (smaller G, ok bool) {
	for change := range g.changes() {
		c := g.Clone()
		if change(c) && c.compiles() && fails(c) {
			return c, true
		}
	}
	return smaller, false
}

// compiles tells whether a reduced graph is still one: a node that a condition
// mentions may be gone.
func (g *Graph) compiles() bool {
	w, reg := g.Workflow(&Recorder{})
	p, _ := plan.Compile(w, reg, plan.Options{})
	return p != nil
}

// changes yields ways to make the graph smaller, those that drop most first. A
// change reports false when it would change nothing.
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
	}
	for i := range g.Edges {
		add(func(g *Graph) bool { g.Edges = slices.Delete(g.Edges, i, i+1); return true })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].When, "") && !g.strayElse() })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].Else, false) })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].On, "") && !g.Edges[i].Handles })
		add(func(g *Graph) bool { return clearTo(&g.Edges[i].Handles, false) })
	}
	for i := range g.Nodes {
		list = append(list, nodeChanges(i, g.Nodes[i])...)
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
		func(g *Graph) bool { return g.Nodes[i].Collect == "" && clearTo(&g.Nodes[i].Source, "") },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Collect, "") },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].MaxFailures, -1) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Priority, 0) },
		func(g *Graph) bool { g.Nodes[i].Outputs = nil; return clearTo(&g.Nodes[i].Sub, nil) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Concurrency, 0) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Policy, "") },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].AllDone, false) },
		func(g *Graph) bool { g.Nodes[i].Race = false; return clearTo(&g.Nodes[i].Join, "") },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Race, false) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].AllowPartial, false) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].AutoStatus, false) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].OnlyTransient, false) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Timeout, false) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Expires, 0) && g.Nodes[i].Policy == "" },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Fail, 0) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Transient, 0) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Partial, 0) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Send, 0) },
		func(g *Graph) bool { return clearTo(&g.Nodes[i].Silent, 0) },
	}
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

// dropUnit removes a unit; its members become plain nodes.
func (g *Graph) dropUnit(list *[]*Unit, i int) bool {
	members := (*list)[i].Members
	*list = slices.Delete(*list, i, i+1)
	g.Edges = slices.DeleteFunc(g.Edges, func(e *Edge) bool {
		return slices.Contains(members, e.From) && slices.Contains(members, e.To)
	})
	return true
}

// dropNode removes a node with its edges; the last member takes its unit along.
func (g *Graph) dropNode(i int) bool {
	id := g.Nodes[i].ID
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

// dropField removes a field that only reads and writes mention.
func (g *Graph) dropField(i int) bool {
	name := g.Fields[i].Name
	if g.mentions(name) || len(g.Fields) == 1 {
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

// strayElse reports an else edge whose source has no condition any more.
func (g *Graph) strayElse() bool {
	return slices.ContainsFunc(g.Edges, func(e *Edge) bool {
		return e.Else && !slices.ContainsFunc(g.Edges, func(o *Edge) bool { return o.From == e.From && o.When != "" })
	})
}
