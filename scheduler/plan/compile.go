package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/state"
)

// Options configure Compile.
type Options struct {
	// Env returns what the kinds of a workflow may use: its files, programs and other workflows. If
	// it is nil, they may use nothing.
	Env func(w *core.Workflow) core.Env
	// Lint reports parts that can run but are probably mistakes. It is called for nested workflows,
	// too. Except in tests it is lint.Check of scheduler/lint; if it is nil, nothing is reported.
	Lint func(f *Facts) source.Diagnostics
	// Strict treats warnings as errors.
	Strict bool
	// Modes are modes that a workflow may have in addition to the modes of the engine.
	Modes []*Mode
	// Routers are routers that a walk may name in addition to the routers of the engine.
	Routers []*Router
	// AddedKinds are the kinds, and the names of registered functions, of nodes that new runs of walks by
	// steps may add. The first one is the kind of a node that names none. A run that has started keeps its
	// list, see machine.Options.
	AddedKinds []string
	// Guard calls the methods of Go types that convert default values to JSON, which may never
	// return. If it is nil, they are called directly.
	Guard state.Guard
}

// Compile checks a workflow and returns its plan. The findings are all errors, warnings and hints,
// including those about reading the workflow and about nested workflows, limited by Capped. If one
// of them is an error (or, with Strict, a warning), the plan is nil. An error does not hide others,
// except those that follow from it, such as a reference to a name whose declaration is invalid. The
// cost is linear in the size of the workflow, except for the search for paths between nodes, which
// has a limit: for 100,000 nodes it takes a few seconds at worst.
func Compile(w *core.Workflow, reg *core.Registry, opts Options) (*Plan, source.Diagnostics) {
	c := newCompiler(w, reg, opts, &common{nested: []*frame{{w: w}}, frames: map[frameKey]*frame{}, seen: map[source.Diagnostic]bool{}})
	c.compile()
	c.p.adds = c.common.adds
	attribute(c.ds, w)
	ds := append(c.ds, c.nestedDs...)
	if ds.Failed(opts.Strict) {
		return nil, ds.Capped()
	}
	return c.p, ds.Capped()
}

// compiler holds the state of the compilation of one workflow.
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
	// given are the fields that the node around a nested workflow fills; nil at the root.
	given map[string]bool
	// again reports whether the node around a nested workflow runs more than once.
	again    bool
	invalid  invalid
	policies map[string]*workflowPolicy // the workflow's retry policies

	decl    []vertexDecl // vertices in declared order: nodes, pipelines, loops
	at      []int32      // vertex declaration -> canonical index
	declAt  []int32      // its inverse
	nodeUse []nodeUse
	edgeUse []*References // by compiled edge, nil if the edge has no condition
	cut     []EdgeFact    // edges to a cycle, see levels
	late    []lateRef
	// kindRefs are the strings by which kinds refer to fields and nodes, by node.
	kindRefs map[int32]kindRefs
	// optionalRefs are the nodes that kinds refer to only if they come before, by node.
	optionalRefs map[int32][]int32

	scopeNames *expressions.Scope // ids and inputs, collected once
	ids        []string
	streamUse  map[int32]*streamUse // by field
	// makes and takes are the streams that kinds write and read, by node.
	makes     map[int32]source.Text
	takes     map[int32][]string
	tables    tables
	checks    resultChecks
	unitIDs   map[string]source.Position
	warnings  []NodeWarning              // the warnings of kinds
	missing   []MissingSkills            // skills that do not exist
	inputUsed map[string]bool            // names that expressions read through $input
	anyInput  bool                       // whether some node may read any input
	prompts   []string                   // files of nodes that may refer to inputs
	promptsOf []string                   // files of the node being compiled, if it has a cache
	opaque    bool                       // it is not known what the handler of the node being compiled reads of its Input
	fieldUsed []bool                     // fields that something refers to
	secretAt  map[source.Text]bool       // references to secrets that the plan has already
	outEdges  map[string][]*core.Edge    // of a walk, by node
	agents    map[string]*core.AgentCall // of a flow, by node
	has       features
	fieldSeen marks
	nodeSeen  marks
	ownCode   func(source.Code) source.Code // replaces the codes of other modes; may be nil
	ints      arena[int32]
	// nodeRoots are the roots of the node being compiled. memberRoots are the additional roots of
	// members of pipelines and loops, by id.
	nodeRoots   expressions.Root
	memberRoots map[string]expressions.Root
	// nodeItem describes the $item of the node being compiled. memberItems are the fields whose
	// elements are the items of stages.
	nodeItem    source.Columns
	memberItems map[string]itemRows
}

// features report which features at least one node of the workflow has. Passes that look for such
// nodes are skipped if there is none.
type features struct {
	stdio    bool // Node.Stdout or Node.Stdin
	replaces bool // Node.replaces
	upserts  bool // Node.upserts
}

// common is shared by a workflow and the workflows nested in it.
type common struct {
	frames map[frameKey]*frame
	nested []*frame // being compiled, outermost first, the root included
	seen   map[source.Diagnostic]bool
	adds   *nodeMaker // of a walk by steps
}

// vertexDecl is a vertex that has no canonical index yet.
type vertexDecl struct {
	id      string
	unit    *Unit
	use     *unitUse // of units
	node    int32    // -1 for units
	level   int32
	shape   Shape
	last    bool // a unit without edges, which runs after the whole main graph
	broken  bool // a unit some of whose members are not known
	writes  []int32
	reads   []int32
	nodeRef []int32 // nodes that its start refers to through $nodes
}

// nodeUse lists what a node refers to: the fields that it reads, the declared ones first, the
// fields that its kind reads, and the nodes that it names. Each is listed once.
type nodeUse struct {
	reads []int32
	extra []int32
	nodes []int32
}

// unitUse holds what a unit itself refers to, and its declaration.
type unitUse struct {
	items, until References
	pipeline     *core.Pipeline
	loop         *core.Loop
	itemsTaken   bool // its items are a stream that has another reader, which is reported
}

func newCompiler(w *core.Workflow, reg *core.Registry, opts Options, shared *common) *compiler {
	c := &compiler{w: w, reg: reg, opts: opts, common: shared, ds: slices.Clone(w.Findings), p: &Plan{
		Name: w.Name.Value, Workflow: w, nodeIndex: make(map[string]int32, len(w.Nodes)),
	}}
	if opts.Env != nil {
		c.env = opts.Env(w)
	}
	c.env.Shapes = &source.Shapes{}
	return c
}

// compile fills the plan and checks it. After an error the plan is of no use, but the parts without
// errors are checked anyway.
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
	c.pausers()
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
	c.overlap(&c.w.Runtime)
	c.levels()
	c.order()
	c.adjacency()
	c.streamOrder()
	c.claims()
	c.markUpserts()
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
	c.durability(r.Durability)
}

func (c *compiler) durability(word source.Text) {
	var words []string
	for _, m := range core.DurabilityModes() {
		words = append(words, string(m))
	}
	if word.Value != "" && !slices.Contains(words, word.Value) {
		c.ds.Errorf(source.CodeBadValue, word.Pos, "runtime.durability: unknown word %q", word.Value).WithHint("%s", message.Near(word.Value, words))
		return
	}
	c.p.Durability = core.DurabilityMode(word.Value)
}

func (c *compiler) atLeastOne(n *source.Int, at place) int {
	if n.Value < 1 {
		c.ds.Errorf(source.CodeBadValue, n.Pos, "%s: want a whole number of at least 1, got %d", at, n.Value)
		return 1
	}
	return n.Value
}

// schema declares the state: the declared fields, then an implicit field for each input that has
// none.
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
		decls[i].Lost = append(slices.Clip(d.Lost), "name") // so that the field is invalid
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
		c.p.context, c.p.open = int32(i), c.p.Conventions.Steps
	}
	c.p.Schema, c.p.RunsUserCode, c.ds = s, s.HasUserCode(), append(c.ds, ds...)
	c.p.Writers = make([]int, len(s.Fields))
	c.fieldUsed = make([]bool, len(s.Fields))
	c.env.Schema = c.stateFields()
	if c.invalid.open&expressions.RootState != 0 {
		c.env.Schema = &expressions.Open{}
	}
	c.env.Columns, c.env.InputColumns = c.columns, c.inputColumns
	c.env.Tool, c.env.Tools = c.reg.Tool, c.reg.ToolNames()
}

// fields finds fields by name without a search of the list of names.
type fields struct{ *state.Schema }

// FieldSlot returns the index of a field in FieldNames.
func (f fields) FieldSlot(name string) (int, bool) { return f.Index(name) }

// scope returns the names that can be used in an expression.
func (c *compiler) scope(roots expressions.Root) expressions.Scope {
	if c.scopeNames == nil {
		c.scopeNames = &expressions.Scope{Fields: c.stateFields(), Nodes: c.nodeIDs(), Inputs: c.inputNames(), NodeSlot: c.nodeSlot, Rows: c.columns, InputRows: c.inputColumns}
	}
	s := *c.scopeNames
	s.Roots, s.Unknown = roots, c.invalid.has
	return s
}

func (c *compiler) nodeSlot(id string) (int, bool) {
	i, ok := c.p.nodeIndex[id]
	return int(i), ok
}

// Roots of conditions and sources, and additional roots for nodes with items and for the bodies of
// loops.
const (
	graphRoots = expressions.RootState | expressions.RootNodes | expressions.RootInput
	itemRoots  = expressions.RootItem | expressions.RootIndex
	roundRoots = expressions.RootIter | expressions.RootLoop
)
