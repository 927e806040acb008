package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// Mode is a way of running a graph: how a workflow is compiled for it, and how the graph is described and
// drawn. The machine finds the planner that runs the graph by the name of the mode. Modes are values;
// Options.Modes adds modes to the modes of the engine.
type Mode struct {
	// Name is the mode of a workflow.
	Name core.Mode
	// Graph is the word for a graph of the mode. Level is the name of a level in a description,
	// with %d for its number.
	Graph, Level string
	// Visits reports whether nodes are visited, each any number of times, along edges that are
	// followed one at a time. If so, a run has a path, edges connect nodes and are counted, and all
	// nodes belong to one vertex. Otherwise a node runs at most once.
	Visits bool
	// Goal reports whether a run has a goal, the input core.InputGoal.
	Goal bool
	// Functions reports whether a node of an unknown kind runs the function that is registered
	// under the name of the kind.
	Functions bool
	// Marked reports whether a run begins at a node that the document marks.
	Marked bool
	// Final reports whether a run that has failed has nothing to run again when it is resumed.
	Final bool
	// Compile adds the vertices and edges to a plan whose nodes and schema have been compiled.
	Compile func(b *Build)
	// Ends returns the nodes where a run begins and ends, -1 if there is no such node. Ends is nil
	// if a run begins with every node that has no predecessors.
	Ends func(p *Plan) (start, exit int32)
	// Describe adds to a description what only this mode has. It may be nil.
	Describe func(p *Plan, d *Description)
	// Conventions returns the rules for the nodes of a workflow and their results. It may be nil.
	Conventions func(w *core.Workflow, o *Options) core.Conventions

	nodes nodeSteps
}

// nodeSteps are the steps of a mode while nodes are compiled. Each may be nil.
type nodeSteps struct {
	begin       func(c *compiler)
	settings    func(c *compiler, n *Node, d *core.Node, at place) References // such as for_each
	unknownKind func(c *compiler, n *Node, d *core.Node, at place) bool       // reports whether it has compiled the node
	reads       func(c *compiler, declared []source.Text) []source.Text       // the fields that a node reads
	edges       func(c *compiler, d *core.Node) []*core.Edge
	retries     func(c *compiler) *Retry // for nodes without a retry policy
	role        func(c *compiler, n *Node, made core.Compiled, at place) bool
	id          func(id string) bool // reports whether a string that is not a name is an id nevertheless
	idRule      string               // says for id what an id is
	agent       func(c *compiler, d *core.Node) *core.AgentCall
	preflight   func(w *core.Workflow) source.Diagnostics
}

// modes are the modes of the engine. The first is the default.
var modes = []*Mode{
	{
		Name: core.ModeDAG, Graph: "graph", Level: "level %d",
		Compile: func(b *Build) { b.c.dag() },
		nodes:   nodeSteps{settings: (*compiler).dagNode},
	},
	{
		Name: core.ModeWalk, Graph: "walk", Level: "%d from the start", Visits: true, Goal: true, Functions: true, Marked: true,
		Compile:  func(b *Build) { b.c.walk() },
		Ends:     func(p *Plan) (start, exit int32) { return p.Walk.Start, p.Walk.Exit },
		Describe: (*Plan).describeWalk, Conventions: walkConventions,
		nodes: nodeSteps{begin: (*compiler).beginWalk, unknownKind: (*compiler).walkType, reads: (*compiler).walkReads, edges: (*compiler).edgesOf,
			retries: (*compiler).walkRetries, role: (*compiler).walkRole},
	},
	{
		Name: core.ModeFlow, Graph: "flow", Level: "%d from the start", Visits: true, Marked: true, Final: true,
		Compile:  func(b *Build) { b.c.flow() },
		Ends:     func(p *Plan) (start, exit int32) { return p.Flow.Start, -1 },
		Describe: (*Plan).describeFlow, Conventions: func(*core.Workflow, *Options) core.Conventions { return core.Conventions{Context: true} },
		nodes: nodeSteps{begin: (*compiler).beginFlow, settings: (*compiler).flowSettings, unknownKind: (*compiler).flowNode, id: isFlowID, idRule: flowIDRule,
			agent: (*compiler).flowAgent, preflight: (*core.Workflow).Preflight},
	},
}

// ModeOf returns the mode of a workflow among the modes of the engine, the default mode if the name
// is not known.
func ModeOf(w *core.Workflow) *Mode {
	m, _ := modeNamed(w.Mode, nil)
	return m
}

func modeNamed(name core.Mode, more []*Mode) (*Mode, bool) {
	if name == "" {
		return modes[0], true
	}
	for _, m := range slices.Concat(modes, more) {
		if m.Name == name {
			return m, true
		}
	}
	return modes[0], false
}

// Router is a way of choosing the edges of a walk: how a walk that names it is compiled and described.
// The machine finds the router that chooses by the name. Routers are values, as modes are;
// Options.Routers adds routers to the routers of the engine.
type Router struct {
	// Name is the router of a workflow, in its settings of a walk.
	Name string
	// Conventions are the rules for the nodes of a walk and their results. Context is always set.
	Conventions core.Conventions
	// Compile adds the edges, and sets where the walk starts and exits.
	Compile func(b *Build)

	describe    func(p *Plan, d *WalkDescription)       // may be nil
	conventions func(w *core.Workflow) core.Conventions // replaces Conventions unless it is nil
	code        func(source.Code) source.Code           // replaces the codes of other modes; may be nil
	adapt       func(w *core.Workflow) *core.Workflow   // returns the workflow to compile; nil means that it is not changed
}

// routers are the routers of the engine. The first is the default.
var routers = []*Router{
	{
		Name: core.RouterOutcomes, Conventions: core.Conventions{Late: true, Branches: true, Skips: true, Briefing: true, Exit: true},
		Compile: func(b *Build) { b.c.outcomeWalk() }, describe: (*Plan).describeTold,
	},
	{
		Name: core.RouterModel, Conventions: core.Conventions{Late: true, Branches: true, Skips: true, HasRouter: true},
		Compile: func(b *Build) { b.c.modelWalk() }, describe: (*Plan).describeRouted, adapt: withOpenInputs,
	},
	{
		Name: core.RouterSteps, Compile: func(b *Build) { b.c.stepWalk() }, describe: (*Plan).describeSteps,
		conventions: stepConventions, code: stepCode, adapt: withOpenInputs,
	},
}

// routerOf returns the router of a walk, the default router if it names none or an unknown one.
func routerOf(w *core.Workflow, more []*Router) (r *Router, ok bool) {
	if w.Walk == nil || w.Walk.Router.Value == "" {
		return routers[0], true
	}
	for _, r := range slices.Concat(routers, more) {
		if r.Name == w.Walk.Router.Value {
			return r, true
		}
	}
	return routers[0], false
}

// HasStart reports whether a run of a workflow has a node to begin with. A drawing has nodes but
// may mark none of them.
func HasStart(w *core.Workflow) bool {
	if ModeOf(w).Marked && (w.Walk == nil || w.Walk.Entry.Value == "") {
		return slices.ContainsFunc(w.Nodes, func(n *core.Node) bool { return n.Kind.Value == "start" })
	}
	return len(w.Nodes) > 0
}

// Build is a plan under construction, as it is passed to the Compile function of a mode.
type Build struct{ c *compiler }

// Plan returns the plan, whose nodes and schema are complete.
func (b *Build) Plan() *Plan { return b.c.p }

// WalkEdges compiles the edges of a walk, whose conditions are expressions.
func (b *Build) WalkEdges() { b.c.walkEdges() }

// Visits makes all nodes one vertex, with edges between nodes whose conditions are expressions.
func (b *Build) Visits() {
	c := b.c
	c.walkVertex()
	for _, e := range c.w.Edges {
		at := edgePlace(e)
		from, ok1 := c.edgeEnd(e.From, e.Lost.Has("from"), at)
		to, ok2 := c.edgeEnd(e.To, e.Lost.Has("to"), at)
		when := c.walkWhen(e, at)
		if ok1 && ok2 {
			c.p.Edges = append(c.p.Edges, Edge{FromNode: from, ToNode: to, When: when})
			c.p.edgeDecls = append(c.p.edgeDecls, e)
		}
	}
	c.ownReads()
}

// mode finds the mode of the workflow.
func (c *compiler) mode() {
	m, ok := modeNamed(c.w.Mode, c.opts.Modes)
	if !ok {
		c.ds.Errorf(source.CodeBadValue, c.w.Pos, "mode: unknown word %q", string(c.w.Mode)).WithHint("%s, %s or %s", core.ModeDAG, core.ModeWalk, core.ModeFlow)
	}
	c.p.Mode = m
	if r, ok := routerOf(c.w, c.opts.Routers); ok && m.Name == core.ModeWalk {
		c.ownCode = r.code
		if r.adapt != nil {
			c.w = r.adapt(c.w)
			c.p.Workflow = c.w
		}
	}
	if m.nodes.begin != nil {
		m.nodes.begin(c)
	}
	c.p.Conventions = c.conventionsOf(c.w)
	c.env.ConventionsOf = c.conventionsOf
}

// Preflight adds to the findings of compiling a workflow the first problem that the rules of its mode find
// before a run, whether it keeps the workflow from running or not. It takes the place of findings about later
// rules.
func Preflight(w *core.Workflow, ds source.Diagnostics) source.Diagnostics {
	check := ModeOf(w).nodes.preflight
	if check == nil {
		return ds
	}
	first := check(w)
	if len(first) == 0 {
		return ds
	}
	later := w.FlowErrors()
	return append(slices.DeleteFunc(ds, func(d source.Diagnostic) bool {
		return slices.ContainsFunc(later, func(e source.Diagnostic) bool { return e.Code == d.Code && e.Pos == d.Pos })
	}), first...)
}

// conventionsOf returns the rules of the mode of a workflow for its nodes and their results.
func (c *compiler) conventionsOf(w *core.Workflow) core.Conventions {
	if m, _ := modeNamed(w.Mode, c.opts.Modes); m.Conventions != nil {
		return m.Conventions(w, &c.opts)
	}
	return core.Conventions{}
}

// Router returns the model that picks the edges, "" for the default model. ok is false if no model
// does.
func (p *Plan) Router() (model string, ok bool) {
	if p.Walk == nil || !p.Walk.Routed {
		return "", false
	}
	return p.Walk.Model, true
}

// Branches returns the nodes that begin the branches of a visited parallel node.
func (p *Plan) Branches(node int32) []int32 {
	if p.Walk == nil || p.Walk.Nodes[node].Parallel == nil {
		return nil
	}
	return p.Walk.Nodes[node].Parallel.Branches
}

// Leaving returns the edges that leave a node, in declared order.
func (p *Plan) Leaving(node int32) []int32 {
	var edges []int32
	for i := range p.Edges {
		if p.Edges[i].FromNode == node {
			edges = append(edges, int32(i))
		}
	}
	return edges
}
