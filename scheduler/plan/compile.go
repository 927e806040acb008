package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/state"
)

// Options are what Compile may ask of its caller.
type Options struct {
	// Env returns what the kinds of a workflow may ask of the world: its files,
	// programs and further workflows. nil means that there is nothing.
	Env func(w *core.Workflow) core.Env
	// Lint reports what the workflow can run and probably does not mean; nested workflows are
	// passed to it, too. It is lint.Check of scheduler/lint but in tests; nil reports
	// nothing.
	Lint func(f *Facts) source.Diagnostics
	// Strict reports warnings as reasons not to run.
	Strict bool
	// Modes are further modes that a workflow may have.
	Modes []*Mode
	// Guard calls the methods of Go types that write defaults as JSON, which may never
	// return; nil calls them in place.
	Guard state.Guard
}

// Compile checks a workflow and returns its plan. The findings hold everything
// that is wrong, errors, warnings and hints, those of reading it and of nested
// workflows included, Capped. With an error among them (or a warning, under Strict)
// the plan is nil. A fault does not hide others: only what follows from it, such as a
// name that would be known but for the fault, is left unsaid. The cost is
// linear in the size of the workflow, except that who comes before whom is
// followed through the graph with a bound: 100,000 nodes take a few seconds at
// worst.
func Compile(w *core.Workflow, reg *core.Registry, opts Options) (*Plan, source.Diagnostics) {
	c := newCompiler(w, reg, opts, &common{nested: []*frame{{w: w}}, frames: map[frameKey]*frame{}, seen: map[source.Diagnostic]bool{}})
	c.compile()
	attribute(c.ds, w)
	ds := append(c.ds, c.nestedDs...)
	if ds.Failed(opts.Strict) {
		return nil, ds.Capped()
	}
	return c.p, ds.Capped()
}

// compiler is the work in progress on one workflow.
type compiler struct {
	w      *core.Workflow
	reg    *core.Registry
	opts   Options
	env    core.Env
	ds     source.Diagnostics
	p      *Plan
	common *common
	// nestedDs are the findings about nested workflows.
	nestedDs source.Diagnostics
	// given tells which fields the node around a nested workflow fills; nil at
	// the root.
	given map[string]bool
	// again tells that the node around a nested workflow runs more than once.
	again   bool
	invalid invalid
	own     map[string]*ownRetry // the workflow's retry policies

	decl    []vertexDecl // vertices in declared order: nodes, pipelines, loops
	at      []int32      // vertex declaration -> canonical index
	declAt  []int32      // its inverse
	nodeUse []nodeUse
	edgeUse []*References // by compiled edge, nil for edges without a condition
	cut     []EdgeFact    // edges to a cycle, see levels
	late    []lateRef
	// kindRefs are the texts by which kinds refer to fields and nodes, by node.
	kindRefs map[int32]kindRefs
	// glances are the nodes that kinds refer to only if they come before, by node.
	glances map[int32][]int32

	scopeNames *expressions.Scope // ids and inputs, collected once
	ids        []string
	streamUse  map[int32]*streamUse // by field
	// makes and takes are what kinds say of streams, by node.
	makes     map[int32]source.Text
	takes     map[int32][]string
	tables    tables
	checks    resultChecks
	unitIDs   map[string]source.Position
	warnings  []NodeWarning           // those that kinds have
	missing   []MissingSkills         // those that are nowhere
	inputUsed map[string]bool         // names that expressions read through $input
	fieldUsed []bool                  // fields that something refers to
	secretAt  map[source.Text]bool    // references to secrets that are in the plan
	outEdges  map[string][]*core.Edge // of a walk, by node
	has       features
	fieldSeen marks
	nodeSeen  marks
	ints      arena[int32]
	// nodeRoots are the roots of the node being compiled, memberRoots those that
	// members of pipelines and loops have besides, by id.
	nodeRoots   expressions.Root
	memberRoots map[string]expressions.Root
	// nodeItem is what is known of the $item of the node being compiled, memberItems
	// names the fields whose elements are those of stages.
	nodeItem    source.Columns
	memberItems map[string]string
}

// features report what at least one node of the workflow has. Passes that look for such nodes are
// skipped if there is none.
type features struct {
	stdio    bool // Node.Stdout or Node.Stdin
	replaces bool // Node.replaces
	upserts  bool // Node.upserts
}

// common is shared by the workflows nested in one another.
type common struct {
	frames map[frameKey]*frame
	nested []*frame // being compiled, outermost first, the root included
	seen   map[source.Diagnostic]bool
}

// vertexDecl is a vertex before it has a canonical place.
type vertexDecl struct {
	id      string
	unit    *Unit
	use     *unitUse // of units
	node    int32    // -1 for units
	level   int32
	shape   Shape
	last    bool // a unit without edges: after the whole main graph
	broken  bool // a unit of which not all members are known
	writes  []int32
	reads   []int32
	nodeRef []int32 // nodes its start refers to through $nodes
}

// nodeUse is what a node refers to: the fields it reads, the declared ones
// first, those of its kind, and the nodes it names. Each stands once.
type nodeUse struct {
	reads []int32
	extra []int32
	nodes []int32
}

// unitUse is what a unit by itself refers to, and where it was written.
type unitUse struct {
	items, until References
	pipeline     *core.Pipeline
	loop         *core.Loop
	refused      bool // its items are a stream with another reader, which is reported
}

func newCompiler(w *core.Workflow, reg *core.Registry, opts Options, shared *common) *compiler {
	c := &compiler{w: w, reg: reg, opts: opts, common: shared, ds: slices.Clone(w.Findings), p: &Plan{
		Name: w.Name.Value, Workflow: w, nodeIndex: make(map[string]int32, len(w.Nodes)),
	}}
	if opts.Env != nil {
		c.env = opts.Env(w)
	}
	return c
}

// compile fills the plan and has it checked. After an error the plan is of no use, but the
// parts without one are checked anyway.
func (c *compiler) compile() {
	c.parts()
	if c.opts.Lint != nil {
		c.ds = append(c.ds, c.opts.Lint(&Facts{c})...)
	}
}

// parts compiles each part of the workflow.
func (c *compiler) parts() {
	c.sections()
	c.mode()
	c.runtime()
	c.schema()
	c.inputs()
	c.retryPolicies()
	c.nodes()
	c.p.Mode.Compile(&Build{c})
	c.columnReads()
}

// dag compiles the vertices and edges of a directed acyclic graph.
func (c *compiler) dag() {
	c.stdio()
	c.streams()
	c.units()
	c.edges()
	c.checkStreams()
	c.incremental()
	c.levels()
	c.order()
	c.adjacency()
	c.streamOrder()
	c.claims()
	c.keysMeet()
	c.gates()
}

func (c *compiler) runtime() {
	r := c.w.Runtime
	if r.Concurrency != nil {
		c.p.Concurrency = c.atLeastOne(r.Concurrency, documentPlace("runtime.concurrency"))
	} else if c.w.Document {
		c.p.Concurrency = 1
	}
	if r.MaxInFlight != nil {
		c.p.MaxInFlight = c.atLeastOne(r.MaxInFlight, documentPlace("runtime.max_in_flight"))
	}
	switch r.Schedule.Value {
	case "", "dataflow":
	case "barrier":
		c.p.Barrier = true
	default:
		c.ds.Errorf(source.CodeBadValue, r.Schedule.Pos, "runtime.schedule: unknown word %q", r.Schedule.Value).
			WithHint("dataflow or barrier")
	}
}

func (c *compiler) atLeastOne(n *source.Int, at place) int {
	if n.Value < 1 {
		c.ds.Errorf(source.CodeBadValue, n.Pos, "%s: want a whole number of at least 1, got %d", at, n.Value)
		return 1
	}
	return n.Value
}

// schema declares the state: the fields as written, then an implicit one for
// each input that has no field.
func (c *compiler) schema() {
	decls := append([]core.FieldDecl(nil), c.w.Fields...)
	have := make(map[string]bool, len(decls))
	for _, f := range decls {
		have[f.Name.Value] = true
	}
	for _, in := range c.w.Inputs {
		if !have[in.Name.Value] && !c.w.OpenInputs {
			have[in.Name.Value] = true
			decls = append(decls, core.FieldDecl{Name: in.Name, Type: in.Type, Default: value.Missing, Lost: in.Lost, Pos: in.Pos})
		}
	}
	for i, d := range decls {
		if isID(d.Name.Value) {
			continue
		}
		c.invalid.misspelt(expressions.RootState, d.Name.Value)
		c.invalid.misspelt(expressions.RootInput, d.Name.Value)
		if i < len(c.w.Fields) {
			c.badID("state field", d.Name)
		} else {
			c.badID("input", d.Name)
		}
	}
	if c.p.Conventions.Context {
		decls = c.withContext(decls, have)
	}
	s, ds := state.NewSchema(decls, c.opts.Guard)
	if i, ok := s.Index(core.ContextField); ok && c.p.Conventions.Context {
		s.Fields[i].MakeContext()
		c.p.context = int32(i)
	}
	c.p.Schema, c.p.Foreign, c.ds = s, s.HasUserCode(), append(c.ds, ds...)
	c.p.Writers = make([]int, len(s.Fields))
	c.fieldUsed = make([]bool, len(s.Fields))
	c.env.Schema = fields{s}
	if c.invalid.open&expressions.RootState != 0 {
		c.env.Schema = &expressions.Open{}
	}
	c.env.Columns = c.columns
	c.env.Tool, c.env.Tools = c.reg.Tool, c.reg.ToolNames()
}

// fields lets expressions find a field without looking through all names.
type fields struct{ *state.Schema }

// FieldSlot returns the index of a field in FieldNames.
func (f fields) FieldSlot(name string) (int, bool) { return f.Index(name) }

// scope returns the names that exist at a place.
func (c *compiler) scope(roots expressions.Root) expressions.Scope {
	if c.scopeNames == nil {
		c.scopeNames = &expressions.Scope{Fields: fields{c.p.Schema}, Nodes: c.nodeIDs(), Inputs: c.inputNames(), NodeSlot: c.nodeSlot, Rows: c.columns}
	}
	s := *c.scopeNames
	s.Roots, s.Unknown = roots, c.invalid.has
	return s
}

func (c *compiler) nodeSlot(id string) (int, bool) {
	i, ok := c.p.nodeIndex[id]
	return int(i), ok
}

// Roots that exist in conditions and sources; further ones in what a node is
// given that has items, or that is the body of a loop.
const (
	graphRoots = expressions.RootState | expressions.RootNodes | expressions.RootInput
	itemRoots  = expressions.RootItem | expressions.RootIndex
	roundRoots = expressions.RootIter | expressions.RootLoop
)
