package plan

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// Facts describe a compiled workflow to Options.Lint: its plan, what its parts refer to, and what
// is unknown because of errors.
type Facts struct{ c *compiler }

// References are the fields and nodes that a part of a document refers to, in order of use. They
// may contain duplicates.
type References struct{ Fields, Nodes []int32 }

// Spot is a place where a document refers to a field: the words that a finding begins with, and the
// position.
type Spot struct {
	At  string
	Pos source.Position
}

// EdgeFact is an edge and its declaration. Edges that were removed from Plan.Edges because they
// lead to a cycle have valid vertices, too.
type EdgeFact struct {
	Edge *Edge
	Decl *core.Edge
}

// Plan returns the plan. If there are errors, parts of it are missing.
func (f *Facts) Plan() *Plan { return f.c.p }

// Nested reports whether the workflow is nested in another one.
func (f *Facts) Nested() bool { return f.c.given != nil }

// Given reports whether the node around a nested workflow fills a field.
func (f *Facts) Given(field string) bool { return f.c.given[field] }

// Decl returns the declaration of one of Plan.Edges.
func (f *Facts) Decl(edge int32) *core.Edge { return f.c.p.edgeDecls[edge] }

// Visit describes where a run of a mode that visits nodes continues after a visit of a node.
type Visit struct {
	Role core.Role
	// GoalGate reports whether the run must not end before the node has succeeded.
	GoalGate bool
	// Out are the edges that may be followed, without the ones to branches.
	Out []int32
	// Targets are the nodes where the run continues after a failure if no edge is followed.
	Targets []int32
	// Parallel reports whether edges lead to branches. Branches are their first nodes, and Meet is
	// the node where they meet, or -1 if there is none.
	Parallel bool
	Branches []int32
	Meet     int32
}

// Visit returns where a run continues after a visit of a node.
func (f *Facts) Visit(node int32) Visit {
	p := f.c.p
	if p.Walk == nil {
		return Visit{Out: p.Leaving(node), Meet: -1}
	}
	n := &p.Walk.Nodes[node]
	v := Visit{Role: n.Role, GoalGate: n.GoalGate, Out: n.Out, Targets: n.Targets, Meet: -1}
	if n.Parallel != nil {
		v.Parallel, v.Branches, v.Meet = true, n.Parallel.Branches, n.Parallel.Meet
	}
	return v
}

// Ends returns the nodes where a run begins and ends, -1 if there is no such node.
func (f *Facts) Ends() (start, exit int32) {
	if ends := f.c.p.Mode.Ends; ends != nil {
		return ends(f.c.p)
	}
	return -1, -1
}

// NumEdges returns the number of edges between known vertices.
func (f *Facts) NumEdges() int { return len(f.c.p.Edges) + len(f.c.cut) }

// Edge returns one of the edges between known vertices. The edges of Plan.Edges come first, with
// the same indexes.
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

// Node returns what a node refers to, without duplicates.
func (f *Facts) Node(n int32) References {
	u := &f.c.nodeUse[n]
	return References{u.reads, u.nodes}
}

// Reads returns the fields that a vertex and its members read.
func (f *Facts) Reads(v int32) []int32 { return f.decl(v).reads }

// Unit returns what a pipeline or loop itself refers to, in its items or its until.
func (f *Facts) Unit(v int32) (items, until References) {
	u := f.decl(v).use
	if u == nil {
		return References{}, References{}
	}
	return u.items, u.until
}

// Until returns the end condition of a loop as written.
func (f *Facts) Until(v int32) source.Text { return *f.decl(v).use.loop.Until }

func (f *Facts) decl(v int32) *vertexDecl { return &f.c.decl[f.c.declAt[v]] }

// VertexSpot returns the first place where a vertex refers to a field.
func (f *Facts) VertexSpot(v, field int32) Spot {
	return f.c.vertexSpot(f.decl(v), expressions.RootState, f.name(field)).exported()
}

// EdgeSpot returns the place where the condition of an edge refers to a field.
func (f *Facts) EdgeSpot(edge, field int32) Spot {
	return f.c.edgeSpot(int(edge), expressions.RootState, f.name(field)).exported()
}

func (s spot) exported() Spot { return Spot{s.at.String(), s.pos} }

func (f *Facts) name(field int32) string { return f.c.p.Schema.Fields[field].Name }

// NodeReads reports whether a node itself refers to a field.
func (f *Facts) NodeReads(n, field int32) bool {
	_, ok := f.c.findInNode(&f.c.p.Nodes[n], expressions.RootState, f.name(field))
	return ok
}

// Supplies reports whether the args of a node have a member with the name of a field that the node
// reads, so that the node takes the value from args.
func (f *Facts) Supplies(n, field int32) bool {
	node, name := &f.c.p.Nodes[n], f.name(field)
	if node.Args == nil || node.Args.root.keys == nil {
		return false
	}
	if strings.Contains(value.JSON(node.Decl.Args.Plain()), "$."+name) {
		return false // args read the field themselves
	}
	i := slices.Index(node.Args.root.keys, name)
	extra, _ := node.Extra()
	// If the argument were constant, the kind would not read a field of the plain name.
	return i >= 0 && (!node.Args.root.members[i].constant() || !slices.Contains(extra, name))
}

// Writer returns the node that writes a field for a vertex, and the position where its document
// says so.
func (f *Facts) Writer(v, field int32) (node int32, pos source.Position) {
	x := &f.c.p.Vertices[v]
	node = x.Node
	if x.Unit != nil {
		own := &x.Unit.Fields[x.Unit.FieldIndex(field)]
		node = x.Unit.Members[own.Members[0]]
	}
	pos, _ = findText(f.c.w.Nodes[node].Writes, f.name(field))
	return node, pos
}

// Repeated reports whether a node may be a member of a pipeline or loop.
func (f *Facts) Repeated(n int32) bool {
	return f.c.memberRoots[f.c.p.Nodes[n].ID]|f.c.invalid.members != 0
}

// Mentioned reports whether any part of the document refers to a field, directly or through $input,
// or whether the name of the field is invalid.
func (f *Facts) Mentioned(field int32) bool {
	name := f.name(field)
	return f.c.fieldUsed[field] || f.c.inputUsed[name] || !isID(name)
}

// IsInput reports whether an input of that name is declared.
func (f *Facts) IsInput(name string) bool {
	_, ok := f.c.p.inputIndex[name]
	return ok
}

// MayReadInput reports whether a node may read an input of that name in a way that Mentioned
// does not see.
func (f *Facts) MayReadInput(name string) bool { return f.c.mayReadInput(name) }

// AnyStart reports whether a run accepts a starting value for every field.
func (f *Facts) AnyStart() bool { return f.c.given == nil && !declaresInputs(f.c.w) }

// Outputs returns the files and tables that nodes and the nodes nested in them write.
func (f *Facts) Outputs() []Target { return f.c.p.outputs }

// Inputs returns the files and tables that nodes and the nodes nested in them read.
func (f *Facts) Inputs() []Target { return f.c.p.inputs }

// Warnings returns the warnings of kinds about nodes.
func (f *Facts) Warnings() []NodeWarning { return f.c.warnings }

// MissingSkills returns the skills of nodes that do not exist.
func (f *Facts) MissingSkills() []MissingSkills { return f.c.missing }

// Tools returns the valid names of skills.
func (f *Facts) Tools() []string { return f.c.env.Tools }

// Invalid reports what may exist in addition to what is known, because of errors.
type Invalid struct {
	Nodes, Inputs bool // further nodes and inputs
	Members       bool // further members of pipelines and loops
	References    bool // further references to fields and nodes
	Edges         bool // edges between any two nodes
}

// Invalid reports what may exist in addition to what is known.
func (f *Facts) Invalid() Invalid {
	x := &f.c.invalid
	return Invalid{x.open&expressions.RootNodes != 0, x.open&expressions.RootInput != 0, x.members != 0, x.references, x.edges}
}

// WritesValid reports whether all fields that a node writes are known.
func (f *Facts) WritesValid(n int32) bool { return f.c.writesValid(f.c.w.Nodes[n]) }

// Valid reports whether all edges of a vertex are known.
func (f *Facts) Valid(v int32) bool {
	return f.c.invalid.vertices == nil || !f.c.invalid.vertices[v]
}

// KnowsBefore reports whether everything that comes before a vertex is known.
func (f *Facts) KnowsBefore(v int32) bool { return f.c.invalid.knowsBefore(v) }

// Placed reports whether everything that comes before or after a vertex is known.
func (f *Facts) Placed(v int32) bool { return f.c.invalid.placed(v) }

// MembersValid reports whether all members of a pipeline or loop are known.
func (f *Facts) MembersValid(v int32) bool { return !f.decl(v).broken }

// PolicyUsed reports whether a node or another policy names a retry policy, or the policy is
// invalid.
func (f *Facts) PolicyUsed(p *core.RetryPolicy) bool {
	o := f.c.policies[p.Name.Value]
	return o == nil || o.decl != p || o.used
}

// NodeWarning is a warning of a kind about a node.
type NodeWarning struct {
	Node string
	core.KindWarning
}

// MissingSkills are skills of a node that do not exist.
type MissingSkills struct {
	Node string
	core.MissingSkills
}
