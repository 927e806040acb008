package plan

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// Facts describe a compiled workflow to Options.Lint: its plan, what its parts refer to, and
// what is not known of it because of errors.
type Facts struct{ c *compiler }

// References are the fields and nodes that a part of a document refers to, in order of use; one
// may be listed twice.
type References struct{ Fields, Nodes []int32 }

// Spot is a place where a document refers to a field: the words that a finding begins with,
// and the position.
type Spot struct {
	At  string
	Pos source.Position
}

// EdgeFact is an edge with its declaration. The vertices of edges that were taken out of
// Plan.Edges, because they lead to a cycle, are numbered like those of the others.
type EdgeFact struct {
	Edge *Edge
	Decl *core.Edge
}

// Plan returns the plan. With errors among the findings parts of it are missing.
func (f *Facts) Plan() *Plan { return f.c.p }

// Nested reports whether the workflow is nested in another one.
func (f *Facts) Nested() bool { return f.c.given != nil }

// Given reports whether the node around a nested workflow fills a field.
func (f *Facts) Given(field string) bool { return f.c.given[field] }

// Decl returns the declaration of one of Plan.Edges.
func (f *Facts) Decl(edge int32) *core.Edge { return f.c.p.edgeDecls[edge] }

// NumEdges returns the number of edges between known vertices.
func (f *Facts) NumEdges() int { return len(f.c.p.Edges) + len(f.c.cut) }

// Edge returns one of the edges between known vertices. Those of Plan.Edges come first and
// have the same indexes.
func (f *Facts) Edge(i int) EdgeFact {
	p := f.c.p
	if i < len(p.Edges) {
		return EdgeFact{&p.Edges[i], p.edgeDecls[i]}
	}
	return f.c.cut[i-len(p.Edges)]
}

// Condition returns what the condition of one of Plan.Edges refers to; ok is false if the
// edge has none.
func (f *Facts) Condition(edge int32) (refs References, ok bool) {
	u := f.c.edgeUse[edge]
	if u == nil {
		return References{}, false
	}
	return *u, true
}

// Node returns what a node refers to. A field or node is listed once.
func (f *Facts) Node(n int32) References {
	u := &f.c.nodeUse[n]
	return References{u.reads, u.nodes}
}

// Reads returns the fields that a vertex reads, its members included.
func (f *Facts) Reads(v int32) []int32 { return f.decl(v).reads }

// Unit returns what a pipeline or loop itself refers to: in its items or its until.
func (f *Facts) Unit(v int32) (items, until References) {
	u := f.decl(v).use
	if u == nil {
		return References{}, References{}
	}
	return u.items, u.until
}

// Until returns the end condition of a loop as it is written.
func (f *Facts) Until(v int32) source.Text { return *f.decl(v).use.loop.Until }

func (f *Facts) decl(v int32) *vertexDecl { return &f.c.decl[f.c.declAt[v]] }

// VertexSpot returns the first place by which a vertex refers to a field.
func (f *Facts) VertexSpot(v, field int32) Spot {
	return f.c.vertexSpot(f.decl(v), expressions.RootState, f.name(field)).told()
}

// EdgeSpot returns where the condition of an edge refers to a field.
func (f *Facts) EdgeSpot(edge, field int32) Spot {
	return f.c.edgeSpot(int(edge), expressions.RootState, f.name(field)).told()
}

func (s spot) told() Spot { return Spot{s.at.String(), s.pos} }

func (f *Facts) name(field int32) string { return f.c.p.Schema.Fields[field].Name }

// NodeReads reports whether a node itself refers to a field.
func (f *Facts) NodeReads(n, field int32) bool {
	_, ok := f.c.findInNode(&f.c.p.Nodes[n], expressions.RootState, f.name(field))
	return ok
}

// Supplies reports whether the args of a node have the name of a field that the node reads,
// so that it takes the value from there.
func (f *Facts) Supplies(n, field int32) bool {
	node, name := &f.c.p.Nodes[n], f.name(field)
	if node.Args == nil || node.Args.root.keys == nil {
		return false
	}
	if strings.Contains(value.JSON(node.Decl.Args.Plain()), "$."+name) {
		return false // they read the field themselves
	}
	i := slices.Index(node.Args.root.keys, name)
	extra, _ := node.Extra()
	// A constant would have taken a plain name off what the kind reads.
	return i >= 0 && (!node.Args.root.members[i].constant() || !slices.Contains(extra, name))
}

// Writer returns a node that writes a field on behalf of a vertex, and where its document
// says so.
func (f *Facts) Writer(v, field int32) (node int32, pos source.Position) {
	x := &f.c.p.Vertices[v]
	node = x.Node
	if x.Unit != nil {
		own := &x.Unit.Own[x.Unit.OwnIndex(field)]
		node = x.Unit.Members[own.Members[0]]
	}
	pos, _ = findText(f.c.w.Nodes[node].Writes, f.name(field))
	return node, pos
}

// Repeated reports whether a node may be a member of a pipeline or loop.
func (f *Facts) Repeated(n int32) bool {
	return f.c.memberRoots[f.c.p.Nodes[n].ID]|f.c.invalid.members != 0
}

// Mentioned reports whether some part of the document refers to a field, directly or through
// $input, or whether its name is invalid.
func (f *Facts) Mentioned(field int32) bool {
	name := f.name(field)
	return f.c.fieldUsed[field] || f.c.inputUsed[name] || !isID(name)
}

// IsInput reports whether an input of that name is declared.
func (f *Facts) IsInput(name string) bool {
	_, ok := f.c.p.inputIndex[name]
	return ok
}

// AnyStart reports whether a run may be given a value for every field.
func (f *Facts) AnyStart() bool { return f.c.given == nil && !declaresInputs(f.c.w) }

// Outputs are the files and tables that nodes, and those nested in them, write.
func (f *Facts) Outputs() []Target { return f.c.p.outputs }

// Inputs are the files and tables that nodes, and those nested in them, read.
func (f *Facts) Inputs() []Target { return f.c.p.inputs }

// Warnings are those that kinds have about nodes.
func (f *Facts) Warnings() []NodeWarning { return f.c.warnings }

// MissingSkills are the skills of nodes that are not found.
func (f *Facts) MissingSkills() []MissingSkills { return f.c.missing }

// Tools are the names that skills may have.
func (f *Facts) Tools() []string { return f.c.env.Tools }

// Invalid reports what may exist in addition to what is known, because of errors.
type Invalid struct {
	Nodes, Inputs bool // further ones
	Members       bool // further members of pipelines and loops
	References    bool // further references to fields and nodes
	Edges         bool // edges between any two nodes
}

// Invalid reports what may exist in addition to what is known.
func (f *Facts) Invalid() Invalid {
	x := &f.c.invalid
	return Invalid{x.open&expressions.RootNodes != 0, x.open&expressions.RootInput != 0, x.members != 0, x.references, x.edges}
}

// WritesValid reports whether all fields are known that a node writes.
func (f *Facts) WritesValid(n int32) bool { return f.c.writesValid(f.c.w.Nodes[n]) }

// Valid reports whether all edges of a vertex are known.
func (f *Facts) Valid(v int32) bool {
	return f.c.invalid.vertices == nil || !f.c.invalid.vertices[v]
}

// KnowsBefore reports whether all is known that comes before a vertex.
func (f *Facts) KnowsBefore(v int32) bool { return f.c.invalid.knowsBefore(v) }

// Placed reports whether all is known that comes before and after a vertex.
func (f *Facts) Placed(v int32) bool { return f.c.invalid.placed(v) }

// MembersValid reports whether all members of a pipeline or loop are known.
func (f *Facts) MembersValid(v int32) bool { return !f.decl(v).broken }

// PolicyUsed reports whether a node or another policy names a retry policy, or the policy is
// invalid.
func (f *Facts) PolicyUsed(p *core.RetryPolicy) bool {
	o := f.c.own[p.Name.Value]
	return o == nil || o.decl != p || o.used
}

// NodeWarning is a warning of the kind of a node.
type NodeWarning struct {
	Node string
	core.KindWarning
}

// MissingSkills are skills of a node that are not found.
type MissingSkills struct {
	Node string
	core.MissingSkills
}
