package plan

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/expressions"
)

// invalid marks what errors leave unknown. An error is reported once, where it is; what
// depends on the part is marked here and not looked at again. Everything else is compiled
// and checked.
type invalid struct {
	// open are the roots with names that are not known, because a section could not be read.
	open expressions.Root
	// names are those with a declaration that is invalid: a name that is not well-formed, also
	// as it should be spelt, and the name of two nodes.
	names map[name]bool
	// nodes are those that may read and refer to more than is known.
	nodes []bool
	// vertices are those with an edge that is invalid, by declaration until they are in order;
	// before and after add those behind one and before one.
	vertices, before, after []bool
	// references reports whether a part may refer to more than is known, edges whether there
	// may be edges between any two nodes.
	references, edges bool
	// members are the roots that nodes get from pipelines and loops with invalid members.
	members expressions.Root
}

// name is a name behind a root.
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

// misspelt marks a name that is not well-formed, as it is and as it should be.
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

// has reports whether a reference to a name is invalid, although no such name is declared.
func (x *invalid) has(root expressions.Root, id string) bool {
	return x.open&root != 0 || x.names[name{root, id}]
}

// inputs reports whether a name of an input is invalid.
func (x *invalid) inputs() bool {
	for n := range x.names {
		if n.root == expressions.RootInput {
			return true
		}
	}
	return x.open&expressions.RootInput != 0
}

// node marks a node.
func (x *invalid) node(i int32) { x.nodes[i], x.references = true, true }

// runKeys are the keys of a node that its kind has no use for.
var runKeys = []string{"description", "phase", "on_error", "timeout", "join", "priority", "effects"}

// seen reports whether all is valid that a kind looks at in a node.
func seen(d *core.Node) bool {
	return !slices.ContainsFunc(d.Lost, func(key string) bool { return !slices.Contains(runKeys, key) })
}

// writesValid reports whether all fields are known that a node writes.
func (c *compiler) writesValid(d *core.Node) bool {
	return !d.Lost.Has("writes") && !slices.ContainsFunc(d.Writes, func(t source.Text) bool {
		_, ok := c.p.Schema.Index(t.Value)
		return !ok
	})
}

// invalidVertex marks a vertex with an edge that is invalid.
func (c *compiler) invalidVertex(v int32) {
	if c.invalid.vertices == nil {
		c.invalid.vertices = make([]bool, len(c.decl))
	}
	c.invalid.vertices[v] = true
}

// loose marks the vertices that may be part of a unit, and those to which an edge may lead
// that names no known node.
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

// spread finds the vertices that paths connect with one that is invalid: an edge that is not
// known may put anything before those behind it, and behind those before it.
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

// knowsBefore reports whether all is known that comes before a vertex.
func (x *invalid) knowsBefore(v int32) bool { return x.before == nil || !x.before[v] }

// placed reports whether all is known that comes before and after a vertex.
func (x *invalid) placed(v int32) bool {
	return x.vertices == nil || !x.before[v] && !x.after[v]
}
