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

// Walk is what a plan of the mode walk has beside its nodes and edges. Such a plan has one
// vertex, of the shape Walking; its edges lead between nodes.
type Walk struct {
	Start, Exit int32 // nodes
	Nodes       []WalkNode
	Edges       []WalkEdge // beside Plan.Edges
	Context     int32      // the field that holds the context
	// Routed tells that a model picks the edges. Start is the entry then, and there is no
	// Exit. Model is the one that the workflow asks for, Pairs how many different pairs of
	// nodes the edges join.
	Routed bool
	Model  string
	Pairs  int
	// MaxSteps is how many visits a run may make, 0 for any number.
	MaxSteps int
	// Briefs tells that a node is told what came before it.
	Briefs bool
	// MaxJumps is how often an unsatisfied goal gate sends the walk back. RepeatLimit is
	// how often the same failure may come. StallTimeout is how long there may be no sign
	// of life, 0 for ever.
	MaxJumps, RepeatLimit int
	StallTimeout          time.Duration
}

// WalkNode is what a node is to the walk.
type WalkNode struct {
	Role             core.Role
	GoalGate, Random bool
	MaxVisits        int     // 0: any number
	Out              []int32 // edges that leave it, in declared order; of a parallel node those with conditions
	Targets          []int32 // where the walk goes on if nothing else says so, best first
	Parallel         *Parallel
	// Fidelity is how much the node is told of what came before it, if the edge does not
	// say.
	Fidelity string
	// Shown are the members of what it sends that a router sees; nil for all.
	Shown []string
}

// Parallel is a node whose edges lead to branches.
type Parallel struct {
	Branches []int32 // nodes, in declared order of their edges
	Edges    []int32 // those edges
	// WaitAll waits for all branches; otherwise Need of them must succeed.
	WaitAll     bool
	Need        int
	MaxParallel int
	// FailFast ends the others when a branch fails; Ignore does not count failures.
	FailFast, Ignore bool
	Meet             int32 // the node where the branches meet, -1 for none
	Join             string
}

// WalkEdge is what an edge is to the walk.
type WalkEdge struct {
	Label string // as written
	// Key is the label as labels are compared.
	Key                   string
	Weight                int
	LoopRestart, Freeform bool
	// Fidelity is how much a node at its end is told, "" where the edge does not say.
	Fidelity string
	// Condition is the one that a model judges, in plain language, "" for none. MaxFollows
	// is how often the pair of nodes may be followed until the edge is spent, 0 for any
	// number; Pair is the pair's number.
	Condition  string
	MaxFollows int
	Pair       int32
}

// beginWalk prepares for the nodes of a walk.
func (c *compiler) beginWalk() {
	c.p.Walk = &Walk{Nodes: make([]WalkNode, len(c.w.Nodes))}
	c.dagOnly()
}

// walkConventions returns what a walk does with its nodes and their results.
func (c *compiler) walkConventions() core.Conventions {
	routed := c.modelRouted()
	return core.Conventions{Context: true, Late: true, Branches: true, Skips: true, Told: !routed, Shown: routed}
}

// walk compiles what is left of a walk once its nodes are compiled.
func (c *compiler) walk() {
	settings := c.w.Walk
	if settings == nil {
		settings = &core.Walk{}
	}
	context, _ := c.p.Schema.Index(core.ContextField)
	w := c.p.Walk
	w.Start, w.Exit, w.Context = -1, -1, int32(context)
	w.MaxJumps = c.count(settings.MaxJumps, core.DefaultMaxJumps, documentPlace("max_jumps"))
	w.RepeatLimit = c.count(settings.RepeatLimit, core.DefaultRepeatLimit, documentPlace("loop_restart_signature_limit"))
	w.StallTimeout = core.DefaultStallTimeout
	if settings.StallTimeout != nil {
		w.StallTimeout = c.notNegative(settings.StallTimeout, place{what: "graph"}.at("stall_timeout"))
	}
	w.MaxSteps = c.count(settings.MaxSteps, 0, documentPlace("max_steps"))
	c.walkVertex()
	switch router := settings.Router; router.Value {
	case core.RouterModel:
		w.Routed = true
		c.modelWalk(settings)
	case "", core.RouterOutcomes:
		c.walkEdges()
		c.walkNodes(settings)
		c.fidelities(settings)
		c.branches()
		c.walkEnds()
	default:
		c.ds.Errorf(source.CodeBadValue, router.Pos, "router: unknown word %q", router.Value).
			WithHint("%s", message.Near(router.Value, []string{core.RouterModel, core.RouterOutcomes}))
	}
	c.ownReads()
}

// ownReads resolves what each node reads where no node comes before another.
func (c *compiler) ownReads() {
	g := gater{c: c, below: make([]int32, len(c.p.Schema.Fields))}
	for i := range c.p.Nodes {
		g.node(&c.p.Nodes[i])
	}
}

// count reads a number that has a default; less than nothing is nothing.
func (c *compiler) count(n *source.Int, byDefault int, at place) int {
	switch {
	case n == nil:
		return byDefault
	case n.Value < 0:
		c.ds.Errorf(source.CodeBadValue, n.Pos, "%s: want at least 0, got %d", at, n.Value)
	}
	return max(0, n.Value)
}

// walkVertex makes one vertex of all nodes.
func (c *compiler) walkVertex() {
	u := &Unit{ID: cmp.Or(c.p.Name, c.p.Mode.Graph), Concurrency: 1, LastClaim: -1}
	for i := range c.p.Nodes {
		c.p.Nodes[i].Vertex, c.p.Nodes[i].Member = 0, int32(i)
		u.Members = append(u.Members, int32(i))
	}
	p := c.p
	p.Vertices = []Vertex{{ID: u.ID, Node: -1, Judge: -1, Join: -1, Shape: Walking, Unit: u}}
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

// only returns the one node of a role.
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

// Visited reports for each node of a walk whether a way leads to it from the start, by edges
// and by retry targets. It is nil in a dag, whose nodes all have their turn.
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
	return g.Reached(w.Start)
}

// graph holds the edges of a walk, numbered as in p.Edges.
func (p *Plan) graph() core.Graph {
	g := make(core.Graph, len(p.Nodes))
	for i := range p.Edges {
		e := &p.Edges[i]
		g[e.FromNode] = append(g[e.FromNode], core.Arc{To: e.ToNode, Edge: int32(i)})
	}
	return g
}

// dagOnly reports sections that a walk cannot have.
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
