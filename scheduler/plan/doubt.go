package plan

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
)

// A fault is reported once, where it is. What only follows from it is not: a name is
// not unknown if its declaration is there and has a slip, a read has a writer if the
// writer's list could not be read. So faulty parts stay in the workflow, later checks
// go on with what is known of them, and ask here where something is missing.

// unknown tells what a workflow may hold beyond what is known of it.
type unknown struct {
	nodes, fields, inputs, phases bool // further names
	reads, writes                 bool // further fields that nodes read and write
	edges                         bool // edges between any two nodes
	// members counts the nodes that belong to a pipeline or loop without its being
	// known which they are; roots are what they are given.
	members int
	roots   expressions.Root
	// targets tells that there are edges of which the end is not known.
	targets bool
	aliases map[alias]bool // see misspelt
	// misnamedInput reports that one of the aliases is an input's.
	misnamedInput bool
}

// many is a number of members that is not known.
const many = 2

// lost notes which sections could not be read.
func (c *compiler) lost() {
	l, u := c.w.Lost, &c.unknown
	u.nodes, u.phases, u.inputs = l.Has("nodes"), l.Has("phases"), l.Has("inputs")
	u.fields = l.Any("schema", "inputs") // an input declares a field
	u.reads, u.writes, u.edges = u.nodes, u.nodes, l.Has("edges")
	if l.Has("pipelines") {
		c.looseMembers(many, itemRoots)
	}
	if l.Has("loops") {
		c.looseMembers(many, roundRoots)
	}
}

// looseMembers notes that some nodes belong to a unit and are not known.
func (c *compiler) looseMembers(n int, roots expressions.Root) {
	c.unknown.members += n
	c.unknown.roots |= roots
}

// misspelt notes a name that is not well-formed, and how those may spell it who refer
// to it: as it should be, or only as far as it is a name.
func (u *unknown) misspelt(root expressions.Root, name string) {
	if u.aliases == nil {
		u.aliases = map[alias]bool{}
	}
	end := strings.IndexFunc(name, func(r rune) bool { return !isID("a" + string(r)) })
	u.misnamedInput = u.misnamedInput || root == expressions.RootInput
	u.aliases[alias{root, wellFormed(name)}] = true
	u.aliases[alias{root, name[:max(end, 0)]}] = true
}

// alias is a name behind a root.
type alias struct {
	root expressions.Root
	name string
}

// mayBe reports whether a name that is not known may be that of something.
func (u *unknown) mayBe(root expressions.Root, name string) bool {
	switch {
	case u.aliases[alias{root, name}]:
		return true
	case root == expressions.RootState:
		return u.fields
	case root == expressions.RootNodes:
		return u.nodes
	case root == expressions.RootInput:
		return u.inputs
	}
	return false
}

// runKeys are the keys of a node that say how it is run: its kind has no use for them.
var runKeys = []string{"description", "phase", "on_error", "timeout", "join", "priority", "effects"}

// seen reports whether all that a kind looks at in a node is known.
func seen(d *core.Node) bool {
	return !slices.ContainsFunc(d.Lost, func(key string) bool { return !slices.Contains(runKeys, key) })
}

// doubts tell of each vertex what is not known of its place in the order, by its
// declaration at first and by its canonical index once there is one.
type doubts struct {
	before doubtful // something may come before it beyond what is known
	after  doubtful // something may come after it
	choice doubtful // whether it runs may depend on a choice that is not known
}

// doubtful is a set of vertices, nil while nothing is doubtful.
type doubtful []bool

func (d doubtful) has(v int32) bool { return d != nil && d[v] }

// doubts returns the sets for something to be added.
func (c *compiler) doubts() *doubts {
	if n := len(c.decl); c.doubt.before == nil {
		c.doubt = doubts{make(doubtful, n), make(doubtful, n), make(doubtful, n)}
	}
	return &c.doubt
}

func (c *compiler) doubtAll(v int32) {
	d := c.doubts()
	d.before[v], d.after[v] = true, true
}

// loose marks the vertices that may be part of a unit, or stand for a node whose name
// is not known.
func (c *compiler) loose() {
	for i := range c.decl {
		d := &c.decl[i]
		switch {
		case c.unknown.edges,
			d.unit == nil && (c.unknown.members >= many || c.nameless[d.node]),
			d.unit != nil && d.broken:
			c.doubtAll(int32(i))
		}
	}
}

// settle gives the doubts their canonical places and hands them on along the edges:
// what comes before a vertex comes before all that follow it.
func (c *compiler) settle() {
	if c.doubt.before == nil {
		return
	}
	p := c.p
	for _, list := range []*doubtful{&c.doubt.before, &c.doubt.after, &c.doubt.choice} {
		old := *list
		*list = make(doubtful, len(old))
		for v, d := range c.declAt {
			(*list)[v] = old[d]
		}
	}
	for v := range int32(len(p.Vertices)) {
		for _, e := range p.InEdges(v) {
			from := p.Edges[e].From
			c.doubt.before[v] = c.doubt.before[v] || c.doubt.before[from]
			c.doubt.choice[v] = c.doubt.choice[v] || c.doubt.choice[from]
		}
	}
	for v := int32(len(p.Vertices)) - 1; v >= 0; v-- {
		for _, e := range p.InEdges(v) {
			if from := p.Edges[e].From; c.doubt.after[v] {
				c.doubt.after[from] = true
			}
		}
	}
}

// placed reports whether all is known of where a vertex stands.
func (c *compiler) placed(v int32) bool { return !c.doubt.before.has(v) && !c.doubt.after.has(v) }

// apart reports whether two vertices are known to be in no order, if no path is found.
func (c *compiler) apart(a, b int32) bool {
	return c.placed(a) && c.placed(b) && !c.doubt.choice.has(a) && !c.doubt.choice.has(b)
}
