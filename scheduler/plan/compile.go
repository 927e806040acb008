package plan

import (
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/state"
)

// Options are what Compile may ask of its caller.
type Options struct {
	// Env returns what the kinds of a workflow may ask of the world: its files,
	// programs and further workflows. nil means that there is nothing.
	Env func(w *core.Workflow) core.Env
	// Strict reports warnings as reasons not to run.
	Strict bool
}

// maxFrames bounds how deep workflows nest.
const maxFrames = 32

// Compile checks a workflow and returns its plan. The findings hold everything
// that is wrong, errors and warnings, sorted by position; with an error among
// them (or a warning, under Strict) the plan is nil.
func Compile(w *core.Workflow, reg *core.Registry, opts Options) (*Plan, core.Diagnostics) {
	p, ds := compile(w, reg, opts, 0)
	ds = ds.Sorted()
	if ds.Failed(opts.Strict) {
		return nil, ds
	}
	return p, ds
}

// compiler is the work in progress on one workflow.
type compiler struct {
	w    *core.Workflow
	reg  *core.Registry
	opts Options
	env  core.Env
	ds   core.Diagnostics
	p    *Plan
	// depth counts nested workflows.
	depth int

	decl []vertexDecl // vertices in declared order: nodes, pipelines, loops
	at   []int32      // vertex declaration -> canonical index
	// uses of conditions, by edge; of nodes and units by declaration.
	edgeUse []uses
	nodeUse []nodeUse
	names   *expressions.Scope // ids and inputs, collected once
}

// vertexDecl is a vertex before it has a canonical place.
type vertexDecl struct {
	id      string
	shape   Shape
	node    int32
	unit    *Unit
	decl    int // place among its class
	level   int32
	last    bool // a unit without edges: after the whole main graph
	succ    []int32
	pred    []int32
	writes  []int32
	reads   []int32
	pos     core.Position
	nodeRef []int32 // nodes its start refers to through $nodes
}

// nodeUse is what a node refers to, by part.
type nodeUse struct {
	view  []int32 // declared reads
	args  uses    // args and source
	extra []int32 // fields of the kind
	nodes []int32 // nodes of the kind
}

func compile(w *core.Workflow, reg *core.Registry, opts Options, depth int) (*Plan, core.Diagnostics) {
	c := &compiler{w: w, reg: reg, opts: opts, depth: depth, p: &Plan{
		Name: w.Name.Value, Workflow: w, nodeIndex: map[string]int{}, unitIndex: map[string]int32{},
	}}
	if opts.Env != nil {
		c.env = opts.Env(w)
	}
	c.runtime()
	c.schema()
	c.nodes()
	c.units()
	c.edges()
	if c.ds.Failed(false) {
		return nil, c.ds // the graph below needs sound references
	}
	if !c.levels() {
		return nil, c.ds
	}
	c.order()
	c.adjacency()
	c.gates()
	c.check()
	return c.p, c.ds
}

func (c *compiler) runtime() {
	r := c.w.Runtime
	if r.Concurrency != nil {
		c.p.Concurrency = c.atLeastOne(*r.Concurrency, "runtime.concurrency")
	} else if c.w.Document {
		c.p.Concurrency = 1
	}
	if r.MaxInFlight != nil {
		c.p.MaxInFlight = c.atLeastOne(*r.MaxInFlight, "runtime.max_in_flight")
	}
	switch r.Schedule.Value {
	case "", "dataflow":
	case "barrier":
		c.p.Barrier = true
	default:
		c.ds.Errorf(core.CodeBadValue, r.Schedule.Pos, "runtime.schedule: unknown word %q", r.Schedule.Value).
			WithHint("dataflow or barrier")
	}
}

func (c *compiler) atLeastOne(n core.Int, subject string) int {
	if n.Value < 1 {
		c.ds.Errorf(core.CodeBadValue, n.Pos, "%s: want a whole number of at least 1, got %d", subject, n.Value)
		return 1
	}
	return n.Value
}

// schema declares the state: the fields as written, then an implicit one for
// each input that has no field.
func (c *compiler) schema() {
	decls := append([]core.FieldDecl(nil), c.w.Fields...)
	have := map[string]bool{}
	for _, f := range decls {
		have[f.Name.Value] = true
	}
	for _, in := range c.w.Inputs {
		if !have[in.Name.Value] {
			decls = append(decls, core.FieldDecl{Name: in.Name, Type: in.Type, Default: core.Missing, Pos: in.Pos})
		}
	}
	for _, d := range decls {
		if !isID(d.Name.Value) {
			c.badID("state field", d.Name)
		}
	}
	s, ds := state.NewSchema(decls)
	c.p.Schema, c.ds = s, append(c.ds, ds...)
	c.p.Writers = make([]int, len(s.Fields))
	c.env.Schema = s
	c.env.Tool, c.env.Tools = c.reg.Tool, c.reg.ToolNames()
}

// fieldIndex looks a field up and reports it when it is not declared.
func (c *compiler) fieldIndex(name core.Text, subject string) (int, bool) {
	i, ok := c.p.Schema.Index(name.Value)
	if !ok {
		c.ds.Errorf(core.CodeUnknownField, name.Pos, "%s: state field %q is not declared", subject, name.Value).
			WithHint("%s", near(name.Value, c.p.Schema.FieldNames()))
	}
	return i, ok
}

// near suggests a name, or lists the few there are.
func near(word string, names []string) string {
	if s := core.DidYouMean(word, names); s != "" {
		return s
	}
	switch {
	case len(names) == 0:
		return "none is defined"
	case len(names) <= 12:
		return "defined: " + join(names)
	}
	return fmt.Sprintf("%d are defined", len(names))
}

func join(names []string) string {
	s := ""
	for i, n := range names {
		if i > 0 {
			s += ", "
		}
		s += n
	}
	return s
}

// scope returns the names that exist at a place.
func (c *compiler) scope(roots expressions.Root) expressions.Scope {
	if c.names == nil {
		c.names = &expressions.Scope{Fields: c.p.Schema, Nodes: c.nodeIDs(), Inputs: c.inputDecls()}
	}
	s := *c.names
	s.Roots = roots
	return s
}

func (c *compiler) nodeIDs() []string {
	ids := make([]string, len(c.w.Nodes))
	for i, n := range c.w.Nodes {
		ids[i] = n.ID.Value
	}
	return ids
}

// inputDecls are the names behind $input: the declared inputs, or every field
// when the document has no inputs section.
func (c *compiler) inputDecls() []core.InputDecl {
	if c.w.HasInputs || len(c.w.Inputs) > 0 {
		return c.w.Inputs
	}
	var out []core.InputDecl
	for i := range c.p.Schema.Fields {
		f := &c.p.Schema.Fields[i]
		out = append(out, core.InputDecl{Name: core.Text{Value: f.Name}, Type: f.Type, Default: core.Missing})
	}
	return out
}

// isID reports whether a name is letters, digits and underscore, not starting
// with a digit.
func isID(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

func (c *compiler) badID(what string, id core.Text) {
	d := c.ds.Errorf(core.CodeBadID, id.Pos, "%s %q: a name is letters, digits and underscore, not starting with a digit", what, id.Value)
	fixed := []byte(id.Value)
	for i, b := range fixed {
		if !isID("a" + string(rune(b))) {
			fixed[i] = '_'
		}
	}
	if isID(string(fixed)) {
		d.WithHint("for example %q", string(fixed))
	}
}
