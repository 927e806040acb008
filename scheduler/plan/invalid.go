package plan

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
)

// invalid records what errors leave unknown. An error is reported once, where it is. The parts that
// depend on it are marked here and not checked again. All other parts are compiled and checked.
type invalid struct {
	// open are the roots that may have further names, because a section could not be read.
	open expressions.Root
	// names are the names with an invalid declaration: malformed names, also in their corrected
	// form, and names that two nodes have.
	names map[name]bool
	// nodes are the nodes that may have further reads and references.
	nodes []bool
	// vertices are the vertices with an invalid edge, by declaration until the vertices are in
	// canonical order. before and after also contain the vertices after and before those.
	vertices, before, after []bool
	// references reports whether a part may have further references, edges whether there may be
	// edges between any two nodes.
	references, edges bool
	// members are the roots that nodes may get from pipelines and loops with invalid members.
	members expressions.Root
}

// name is a name and its root.
type name struct {
	root expressions.Root
	name string
}

// sections marks the sections that could not be read.
func (c *compiler) sections() {
	l, x := c.w.Lost, &c.invalid
	x.nodes = make([]bool, len(c.w.Nodes))
	for _, s := range []struct {
		lost bool
		root expressions.Root
	}{
		{l.Has("nodes"), expressions.RootNodes}, {l.Has("inputs"), expressions.RootInput},
		{l.Any("schema", "inputs"), expressions.RootState}, // an input declares a field
	} {
		if s.lost {
			x.open |= s.root
		}
	}
	x.references, x.edges = l.Has("nodes"), l.Has("edges")
	if l.Has("pipelines") {
		x.members |= itemRoots
	}
	if l.Has("loops") {
		x.members |= roundRoots
	}
}

// misspelt marks a malformed name and its corrected form.
func (x *invalid) misspelt(root expressions.Root, id string) {
	end := strings.IndexFunc(id, func(r rune) bool { return !isID("a" + string(r)) })
	x.mark(root, wellFormed(id))
	x.mark(root, id[:max(end, 0)])
}

func (x *invalid) mark(root expressions.Root, id string) {
	if x.names == nil {
		x.names = map[name]bool{}
	}
	x.names[name{root, id}] = true
}

// has reports whether a name may be declared, although its declaration is not known.
func (x *invalid) has(root expressions.Root, id string) bool {
	return x.open&root != 0 || x.names[name{root, id}]
}

// inputs reports whether the name of an input is invalid.
func (x *invalid) inputs() bool {
	for n := range x.names {
		if n.root == expressions.RootInput {
			return true
		}
	}
	return x.open&expressions.RootInput != 0
}

// node marks a node that may have further references.
func (x *invalid) node(i int32) { x.nodes[i], x.references = true, true }

// writesValid reports whether all fields that a node writes are known.
func (c *compiler) writesValid(d *core.Node) bool {
	return !d.Lost.Has("writes") && !slices.ContainsFunc(d.Writes, func(t source.Text) bool {
		_, ok := c.p.Schema.Index(t.Value)
		return !ok
	})
}

// invalidVertex marks a vertex with an invalid edge.
func (c *compiler) invalidVertex(v int32) {
	if c.invalid.vertices == nil {
		c.invalid.vertices = make([]bool, len(c.decl))
	}
	c.invalid.vertices[v] = true
}

// loose marks the vertices that may be members of a unit, and the possible targets of edges that
// name no known node.
func (c *compiler) loose() {
	members := c.w.Lost.Any("pipelines", "loops")
	for _, d := range c.w.Pipelines {
		members = members || d.Lost.Has("stages")
	}
	for _, d := range c.w.Loops {
		members = members || d.Lost.Has("body")
	}
	for i := range c.decl {
		d := &c.decl[i]
		if c.invalid.edges || d.unit != nil && d.broken ||
			d.unit == nil && (members || c.w.Nodes[d.node].Lost.Has("id") || c.invalid.names[name{expressions.RootNodes, d.id}]) {
			c.invalidVertex(int32(i))
		}
	}
}

// spread finds the vertices that paths connect with an invalid one. An unknown edge may put any
// vertex before the ones after it, and after the ones before it.
func (c *compiler) spread() {
	x, p := &c.invalid, c.p
	if x.vertices == nil {
		return
	}
	x.before, x.after = slices.Clone(x.vertices), slices.Clone(x.vertices)
	for v := range int32(len(p.Vertices)) {
		for _, e := range p.InEdges(v) {
			x.before[v] = x.before[v] || x.before[p.Edges[e].From]
		}
	}
	for v := int32(len(p.Vertices)) - 1; v >= 0; v-- {
		for _, e := range p.InEdges(v) {
			x.after[p.Edges[e].From] = x.after[p.Edges[e].From] || x.after[v]
		}
	}
}

// knowsBefore reports whether everything that comes before a vertex is known.
func (x *invalid) knowsBefore(v int32) bool { return x.before == nil || !x.before[v] }

// placed reports whether everything that comes before or after a vertex is known.
func (x *invalid) placed(v int32) bool {
	return x.vertices == nil || !x.before[v] && !x.after[v]
}
