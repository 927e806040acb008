package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
)

// Walk holds what a plan of the mode walk has in addition to its nodes and edges. Such a plan has
// one vertex, of the shape Walking, and its edges connect nodes.
type Walk struct {
	Start, Exit int32 // nodes
	Nodes       []WalkNode
	Edges       []WalkEdge // parallel to Plan.Edges
	Context     int32      // index of the field that holds the context
	// Router is the way in which edges are chosen.
	Router *Router
	// Routed reports whether a model picks the edges. If so, Start is the entry and there is no
	// Exit. Model is the model that the workflow names. Pairs is the number of distinct pairs of
	// nodes that edges connect.
	Routed bool
	Model  string
	Pairs  int
	// Steps holds what a walk by steps has in addition, nil for other walks.
	Steps *Steps
	// MaxSteps limits the visits of a run, 0 for no limit.
	MaxSteps int
	// Briefs reports whether nodes get a description of earlier stages.
	Briefs bool
	// MaxJumps limits how often an unsatisfied goal gate sends the walk back. RepeatLimit limits
	// how often the same failure may occur. StallTimeout limits the time without a sign of life, 0
	// for no limit.
	MaxJumps, RepeatLimit int
	StallTimeout          time.Duration
}

// WalkNode describes the role of a node in the walk.
type WalkNode struct {
	Role             core.Role
	GoalGate, Random bool
	MaxVisits        int     // 0: no limit
	Out              []int32 // outgoing edges, in declared order; of a parallel node only the ones with conditions
	Targets          []int32 // where the walk continues if nothing else determines it, in order of preference
	Parallel         *Parallel
	// Fidelity says how much the prompt of the node says about earlier stages, unless the edge
	// sets it.
	Fidelity string
	// ViewMembers are the members of its output that a router sees; nil means all.
	ViewMembers []string
	// Next are the nodes that its result may name, see core.Compiled.Next.
	Next []source.Text
}

// Parallel describes a node whose edges lead to branches.
type Parallel struct {
	Branches []int32 // nodes, in declared order of their edges
	Edges    []int32 // edges to the branches
	// WaitAll waits for all branches. Otherwise Need of them must succeed.
	WaitAll     bool
	Need        int
	MaxParallel int
	// FailFast cancels the other branches when one fails. Ignore reports whether failures of
	// branches are ignored.
	FailFast, Ignore bool
	Meet             int32 // the node where the branches meet, or -1 if there is none
	Join             string
}

// WalkEdge describes the role of an edge in the walk.
type WalkEdge struct {
	Label string // as written
	// Key is the form of the label in which labels are compared.
	Key                   string
	Weight                int
	LoopRestart, Freeform bool
	// Fidelity says how much the prompt of the target says about earlier stages. It is "" if the
	// edge does not set it.
	Fidelity string
	// Condition is the condition in plain language that a model evaluates, or "" if there is none.
	// MaxFollows limits how often edges between the pair of nodes may be followed before this edge
	// is no longer available; 0 means no limit. Pair is the index of the pair.
	Condition  string
	MaxFollows int
	Pair       int32
}

// beginWalk prepares the compilation of the nodes of a walk.
func (c *compiler) beginWalk() {
	c.p.Walk = &Walk{Nodes: make([]WalkNode, len(c.w.Nodes))}
	c.dagOnly()
}

// walkConventions returns the rules of a walk for nodes and their results.
func walkConventions(w *core.Workflow, o *Options) core.Conventions {
	r, _ := routerOf(w, o.Routers)
	if r.conventions != nil {
		return r.conventions(w)
	}
	rules := r.Conventions
	rules.Context = true
	return rules
}

// walkSettings returns the settings of a walk.
func (c *compiler) walkSettings() *core.Walk {
	if c.w.Walk == nil {
		return &core.Walk{}
	}
	return c.w.Walk
}

// walk compiles the rest of a walk once its nodes are compiled.
func (c *compiler) walk() {
	settings := c.walkSettings()
	w := c.p.Walk
	w.Start, w.Exit, w.Context = -1, -1, -1
	if i, ok := c.p.Schema.Index(core.ContextField); ok && c.p.Conventions.Context {
		w.Context = int32(i)
	}
	w.MaxJumps = c.count(settings.MaxJumps, core.DefaultMaxJumps, documentPlace("max_jumps"))
	w.RepeatLimit = c.count(settings.RepeatLimit, core.DefaultRepeatLimit, documentPlace("loop_restart_signature_limit"))
	w.StallTimeout = core.DefaultStallTimeout
	if settings.StallTimeout != nil {
		w.StallTimeout = c.notNegative(settings.StallTimeout, place{what: "graph"}.at("stall_timeout"))
	}
	w.MaxSteps = c.count(settings.MaxSteps, 0, documentPlace("max_steps"))
	c.walkVertex()
	var ok bool
	if w.Router, ok = routerOf(c.w, c.opts.Routers); ok {
		w.Router.Compile(&Build{c})
	} else {
		var names []string
		for _, r := range slices.Concat(routers, c.opts.Routers) {
			names = append(names, r.Name)
		}
		c.ds.Errorf(source.CodeBadValue, settings.Router.Pos, "router: unknown word %q", settings.Router.Value).
			WithHint("%s", message.Near(settings.Router.Value, names))
	}
	c.ownReads()
}

// outcomeWalk compiles a walk whose edges are chosen by the outcomes of visits.
func (c *compiler) outcomeWalk() {
	settings := c.walkSettings()
	c.walkEdges()
	c.walkNodes(settings)
	c.fidelities(settings)
	c.branches()
	c.walkEnds()
}

// ownReads determines the reads of each node in a mode in which no node comes before another.
func (c *compiler) ownReads() {
	g := gater{c: c, below: make([]int32, len(c.p.Schema.Fields))}
	for i := range c.p.Nodes {
		g.node(&c.p.Nodes[i])
	}
}

// count returns a number or its default; a negative number counts as 0.
func (c *compiler) count(n *source.Int, byDefault int, at place) int {
	switch {
	case n == nil:
		return byDefault
	case n.Value < 0:
		c.ds.Errorf(source.CodeBadValue, n.Pos, "%s: want at least 0, got %d", at, n.Value)
	}
	return max(0, n.Value)
}

// walkVertex makes all nodes one vertex.
func (c *compiler) walkVertex() {
	u := &Unit{ID: cmp.Or(c.p.Name, c.p.Mode.Graph), Concurrency: 1, LastClaim: -1}
	for i := range c.p.Nodes {
		c.p.Nodes[i].Vertex, c.p.Nodes[i].Member = 0, int32(i)
		u.Members = append(u.Members, int32(i))
	}
	p := c.p
	p.Vertices = []Vertex{{ID: u.ID, Node: -1, ElseGroup: -1, Join: -1, Shape: Walking, Unit: u}}
	p.Levels = []int32{0, 1}
	p.OutStart, p.InStart = []int32{0, 0}, []int32{0, 0}
	fields := len(p.Schema.Fields)
	p.Readers, p.WriterVertex, p.writerLevels = make([][]Reader, fields), make([][]int32, fields), make([][]int32, fields)
}

// walkEnds finds the start and the exit.
func (c *compiler) walkEnds() {
	w := c.p.Walk
	w.Start = c.only(core.RoleStart, source.CodeStartNode)
	w.Exit = c.only(core.RoleExit, source.CodeTerminalNode)
	for i := range c.p.Edges {
		e, d := &c.p.Edges[i], c.p.edgeDecls[i]
		if w.Nodes[e.ToNode].Role == core.RoleStart {
			c.ds.Errorf(source.CodeStartNoIncoming, d.Pos, "%s: leads to the start", edgePlace(d))
		}
		if w.Nodes[e.FromNode].Role == core.RoleExit {
			c.ds.Errorf(source.CodeExitNoOutgoing, d.Pos, "%s: leaves the exit", edgePlace(d))
		}
	}
}

// only returns the only node with a role.
func (c *compiler) only(role core.Role, code source.Code) int32 {
	found := int32(-1)
	for i := range c.p.Walk.Nodes {
		if c.p.Walk.Nodes[i].Role != role {
			continue
		}
		if found >= 0 {
			message.PointTo(c.ds.Errorf(code, c.w.Nodes[i].ID.Pos, "node %s: a walk has one %s", c.p.Nodes[i].ID, role), "first", c.w.Nodes[found].ID.Pos)
			continue
		}
		found = int32(i)
	}
	if found < 0 && c.invalid.open&expressions.RootNodes == 0 && !slices.Contains(c.invalid.nodes, true) {
		c.ds.Errorf(code, c.w.Pos, "the graph has no %s node", role)
	}
	return found
}

// Visited reports for each node of a walk whether a path leads to it from the start, along edges
// and to retry targets. It is nil in a dag, where no node is left out.
func (p *Plan) Visited() []bool {
	w := p.Walk
	if w == nil || w.Start < 0 {
		return nil
	}
	g := p.graph()
	for i := range w.Nodes {
		for _, to := range w.Nodes[i].Targets {
			g[i] = append(g[i], core.Arc{To: to, Edge: -1})
		}
	}
	return g.Reachable(w.Start)
}

// graph returns the edges of a walk as a graph, with their indexes in p.Edges.
func (p *Plan) graph() core.Graph {
	g := make(core.Graph, len(p.Nodes))
	for i := range p.Edges {
		e := &p.Edges[i]
		if e.ToNode != NoNode {
			g[e.FromNode] = append(g[e.FromNode], core.Arc{To: e.ToNode, Edge: int32(i)})
		}
	}
	return g
}

// dagOnly reports sections that are not allowed in a walk.
func (c *compiler) dagOnly() {
	const only = "%s %q: pipelines and loops exist in dags only"
	for _, p := range c.w.Pipelines {
		c.ds.Errorf(source.CodeBadValue, p.Pos, only, "pipeline", p.ID.Value)
	}
	for _, l := range c.w.Loops {
		c.ds.Errorf(source.CodeBadValue, l.Pos, only, "loop", l.ID.Value)
	}
	if i := c.w.Incremental; i != nil {
		c.ds.Errorf(source.CodeBadValue, i.Pos, "incremental: exists in dags only")
	}
}

// withContext adds the field that holds the context of a walk.
func (c *compiler) withContext(decls []core.FieldDecl, have map[string]bool) []core.FieldDecl {
	if have[core.ContextField] {
		i := slices.IndexFunc(decls, func(d core.FieldDecl) bool { return d.Name.Value == core.ContextField })
		c.ds.Errorf(source.CodeDuplicateID, decls[i].Name.Pos, "%q is the name of the field that holds the context of a walk", core.ContextField)
		return decls
	}
	return append(decls, core.FieldDecl{Name: source.At(core.ContextField, c.w.Pos), Type: &value.Type{Kind: value.ObjectType}, Default: &value.Object{}})
}
