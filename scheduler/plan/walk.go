package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
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
	// Shown are the members of what it sends that a router sees; nil for all.
	Shown []string
}

// Parallel is a node whose edges lead to branches.
type Parallel struct {
	Branches []int32 // nodes, in declared order of their edges
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
	// Says is the condition that a model judges, "" for none. MaxFollows is how often the
	// pair of nodes may be followed until the edge is spent, 0 for any number; Pair is the
	// pair's number.
	Says       string
	MaxFollows int
	Pair       int32
}

// walking reports whether the workflow is a walk.
func (c *compiler) walking() bool { return c.w.Mode == core.ModeWalk }

// walkRoots are the roots that exist on the edges of a walk.
const walkRoots = graphRoots | expressions.RootOutcome | expressions.RootPreferredLabel | expressions.RootOutput |
	expressions.RootError | expressions.RootVisits

// walk compiles what is left of a walk once its nodes are compiled.
func (c *compiler) walk() {
	settings := c.w.Walk
	if settings == nil {
		settings = &core.Walk{}
	}
	context, _ := c.p.Schema.Index(core.ContextField)
	w := c.p.Walk
	w.Start, w.Exit, w.Context = -1, -1, int32(context)
	w.MaxJumps = c.count(settings.MaxJumps, core.DefaultMaxJumps, "max_jumps")
	w.RepeatLimit = c.count(settings.RepeatLimit, core.DefaultRepeatLimit, "loop_restart_signature_limit")
	w.StallTimeout = core.DefaultStallTimeout
	if settings.StallTimeout != nil {
		w.StallTimeout = c.notNegative(settings.StallTimeout, place{what: "graph"}.at("stall_timeout"))
	}
	w.MaxSteps = c.count(settings.MaxSteps, 0, "max_steps")
	c.walkVertex()
	if w.Routed = settings.Router.Value == core.RouterModel; w.Routed {
		c.modelWalk(settings)
	} else {
		c.walkEdges()
		c.walkNodes(settings)
		c.branches()
		c.walkEnds()
		c.reachable()
	}
	g := gater{c: c, below: make([]int32, len(c.p.Schema.Fields))}
	for i := range c.p.Nodes {
		g.node(&c.p.Nodes[i])
	}
}

// count reads a number that has a default; less than nothing is nothing.
func (c *compiler) count(n *core.Int, byDefault int, key string) int {
	switch {
	case n == nil:
		return byDefault
	case n.Value < 0:
		c.ds.Errorf(core.CodeBadValue, n.Pos, "%s: want at least 0, got %d", key, n.Value)
	}
	return max(0, n.Value)
}

// walkVertex makes the one vertex there is: a unit of all nodes.
func (c *compiler) walkVertex() {
	u := &Unit{ID: cmp.Or(c.p.Name, "walk"), Concurrency: 1}
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

func (c *compiler) walkEdges() {
	w := c.p.Walk
	for _, e := range c.w.Edges {
		at := edgePlace(e)
		from, ok1 := c.edgeEnd(e.From, e.Lost.Has("from"), at)
		to, ok2 := c.edgeEnd(e.To, e.Lost.Has("to"), at)
		if e.On.Value != "" || e.Else {
			c.ds.Errorf(core.CodeBadValue, e.Pos, "%s: on: and when: else exist in dags only", at).WithHint("a walk tests outcome in when")
		}
		when := c.walkWhen(e, at)
		if !ok1 || !ok2 {
			continue
		}
		i := int32(len(c.p.Edges))
		c.p.Edges = append(c.p.Edges, Edge{FromNode: from, ToNode: to, When: when})
		c.p.edgeDecls = append(c.p.edgeDecls, e)
		w.Edges = append(w.Edges, WalkEdge{Label: e.Label.Value, Key: core.NormalLabel(e.Label.Value), Weight: e.Weight.Value,
			LoopRestart: e.LoopRestart, Freeform: e.Freeform})
		n := &w.Nodes[from]
		if n.Role == core.RoleParallel && e.When == nil {
			n.Parallel.Branches = append(n.Parallel.Branches, to)
			continue
		}
		n.Out = append(n.Out, i)
	}
}

// walkWhen compiles the condition of an edge.
func (c *compiler) walkWhen(e *core.Edge, at place) *expressions.Program {
	if e.When == nil || e.Lost.Has("when") {
		return nil
	}
	var (
		u uses
		p *expressions.Program
	)
	if tree, ok := e.Parsed.(*expressions.Tree); ok {
		p = c.expressionTree(tree, *e.When, c.scope(walkRoots), at.at("when"), &u)
	} else {
		p = c.expression(*e.When, c.scope(walkRoots), at.at("when"), &u)
	}
	if p != nil {
		c.ds = append(c.ds, p.ConstantFindings()...)
	}
	return p
}

func (c *compiler) walkNodes(settings *core.Walk) {
	common := c.count(settings.MaxVisits, 0, "max_node_visits")
	last := slices.Concat(c.target(settings.RetryTarget, place{what: "graph"}.at("retry_target")),
		c.target(settings.FallbackRetryTarget, place{what: "graph"}.at("fallback_retry_target")))
	for i, d := range c.w.Nodes {
		n, at := &c.p.Walk.Nodes[i], nodePlace(d.ID.Value)
		n.GoalGate, n.Random = d.GoalGate, d.Random
		n.MaxVisits = common
		if d.MaxVisits != nil {
			n.MaxVisits = c.count(d.MaxVisits, 0, at.at("max_visits").String())
		}
		n.Targets = slices.Concat(c.target(d.RetryTarget, at.at("retry_target")), c.target(d.FallbackRetryTarget, at.at("fallback_retry_target")), last)
		if d.ForEach != nil {
			c.ds.Errorf(core.CodeBadValue, d.ForEach.Pos, "%s: for_each exists in dags only", at).WithHint("let a parallel node lead to the branches, or nest a dag (kind workflow)")
		}
		if word := c.p.Nodes[i].Policy; word != PolicyDefault {
			c.ds.Errorf(core.CodeBadValue, d.OnError.Pos, "%s: on_error: a walk knows the policy retry only", at).WithHint("an edge with a condition on outcome, or retry_target, says what follows a failure")
		}
		if d.Join != nil && n.Role != core.RoleParallel {
			c.ds.Errorf(core.CodeBadValue, d.Join.Pos, "%s: join belongs to parallel nodes of a walk", at)
		}
		c.walkOut(n, d, at)
	}
}

// target looks a retry target up; one that does not exist is passed over.
func (c *compiler) target(id core.Text, at place) []int32 {
	if id.Value == "" {
		return nil
	}
	i, ok := c.p.nodeIndex[id.Value]
	if !ok {
		c.hint(c.ds.Warnf(core.CodeRetryTargetExists, id.Pos, "%s: there is no node %q, so it is passed over", at, id.Value), id.Value, c.nodeIDs)
		return nil
	}
	return []int32{i}
}

// walkOut checks the edges out of a node together.
func (c *compiler) walkOut(n *WalkNode, d *core.Node, at place) {
	conditions, freeform := 0, 0
	for _, e := range n.Out {
		if c.p.edgeDecls[e].When != nil {
			conditions++
		}
		if c.p.Walk.Edges[e].Freeform {
			freeform++
		}
	}
	if conditions > 0 && conditions == len(n.Out) && n.Role != core.RoleParallel && !c.oneHolds(n.Out) {
		c.ds.Warnf(core.CodeAllConditionalEdges, d.ID.Pos, "%s: every edge out of it has a condition; where none holds, the run fails", at).
			WithHint("add an edge without a condition")
	}
	if freeform > 1 {
		c.ds.Errorf(core.CodeFreeformEdgeCount, d.ID.Pos, "%s: has %d freeform edges, of which an answer could take only one", at, freeform)
	}
	if n.Random && conditions > 0 {
		c.ds.Errorf(core.CodeRandomSelection, d.ID.Pos, "%s: picks its edge at random, so its edges cannot have conditions", at)
	}
	if n.GoalGate && len(n.Targets) == 0 {
		c.ds.Warnf(core.CodeGoalGateHasRetry, d.ID.Pos, "%s: is a goal gate, and there is nowhere to go back to when it is not satisfied", at).
			WithHint("add retry_target")
	}
}

// oneHolds reports whether one of the conditions on edges holds in any case.
func (c *compiler) oneHolds(edges []int32) bool {
	list := make([]*expressions.Program, len(edges))
	for i, e := range edges {
		if list[i] = c.p.Edges[e].When; list[i] == nil {
			return false // it could not be read
		}
	}
	return expressions.OneHolds(list)
}

// parallel compiles what the branches must come to.
func (c *compiler) parallel(p *Parallel, d *core.Node, at place) {
	p.Meet, p.MaxParallel = -1, core.DefaultMaxParallel
	if d.Parallel != nil {
		if m := d.Parallel.MaxParallel; m != nil {
			p.MaxParallel = max(1, m.Value)
		}
		switch word := d.Parallel.ErrorPolicy; word.Value {
		case "", "continue":
		case "fail_fast":
			p.FailFast = true
		case "ignore":
			p.Ignore = true
		default:
			c.ds.Errorf(core.CodeBadValue, word.Pos, "%s: error_policy: unknown word %q", at, word.Value).
				WithHint("%s", near(word.Value, []string{"continue", "fail_fast", "ignore"}))
		}
	}
	n := len(p.Branches)
	switch word := d.Join.Word(); word {
	case "", core.JoinWaitAll:
		p.WaitAll, p.Join = true, core.JoinWaitAll
	case core.JoinFirstSuccess:
		p.Need, p.Join = 1, word
	case core.JoinKOfN:
		p.Need, p.Join = c.atLeast(d.Join, n, at), joinText(d.Join)
	case core.JoinQuorum:
		p.Need, p.Join = c.quorum(d.Join, n, at), joinText(d.Join)
	default:
		c.ds.Errorf(core.CodeBadValue, d.Join.Policy.Pos, "%s: join_policy: unknown word %q", at, word).
			WithHint("%s", near(word, []string{core.JoinWaitAll, core.JoinFirstSuccess, core.JoinKOfN, core.JoinQuorum}))
	}
}

// walkEnds finds the start and the exit.
func (c *compiler) walkEnds() {
	w := c.p.Walk
	w.Start = c.only(core.RoleStart, core.CodeStartNode, "start")
	w.Exit = c.only(core.RoleExit, core.CodeTerminalNode, "exit")
	for i := range c.p.Edges {
		e, d := &c.p.Edges[i], c.p.edgeDecls[i]
		if w.Nodes[e.ToNode].Role == core.RoleStart {
			c.ds.Errorf(core.CodeStartNoIncoming, d.Pos, "%s: leads to the start", edgePlace(d))
		}
		if w.Nodes[e.FromNode].Role == core.RoleExit {
			c.ds.Errorf(core.CodeExitNoOutgoing, d.Pos, "%s: leaves the exit", edgePlace(d))
		}
	}
}

// only returns the one node of a role.
func (c *compiler) only(role core.Role, code core.Code, word string) int32 {
	found := int32(-1)
	for i := range c.p.Walk.Nodes {
		if c.p.Walk.Nodes[i].Role != role {
			continue
		}
		if found >= 0 {
			pointTo(c.ds.Errorf(code, c.w.Nodes[i].ID.Pos, "node %s: a walk has one %s", c.p.Nodes[i].ID, word), "first", c.w.Nodes[found].ID.Pos)
			continue
		}
		found = int32(i)
	}
	if found < 0 && !c.unknown.nodes && len(c.mute) == 0 {
		c.ds.Errorf(code, c.w.Pos, "the graph has no %s node", word)
	}
	return found
}

// reachable reports the nodes to which no way leads from the start.
func (c *compiler) reachable() {
	w := c.p.Walk
	if w.Start < 0 || c.unknown.nodes || c.unknown.targets {
		return
	}
	out, start := group(len(c.p.Nodes), len(c.p.Edges), func(i int) int32 { return c.p.Edges[i].FromNode }, func(i int) int32 { return c.p.Edges[i].ToNode })
	seen := make([]bool, len(c.p.Nodes))
	seen[w.Start] = true
	queue := []int32{w.Start}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for _, to := range slices.Concat(out[start[n]:start[n+1]], w.Nodes[n].Targets) {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	for i, ok := range seen {
		switch {
		case ok:
		case int32(i) == w.Exit:
			c.ds.Warnf(core.CodeReachability, c.w.Nodes[i].ID.Pos, "node %s: no way leads to the exit, so no run can succeed", c.p.Nodes[i].ID)
		default:
			c.ds.Warnf(core.CodeReachability, c.w.Nodes[i].ID.Pos, "node %s: no way leads to it from the start", c.p.Nodes[i].ID)
		}
	}
}

// tooMuch is how far a share may lie above a whole number of branches and still mean it:
// products of fractions are not exact.
const tooMuch = 1e-9

// atLeast is the K of k_of_n over n predecessors or branches.
func (c *compiler) atLeast(j *core.Join, n int, at place) int {
	if j.Count == nil {
		c.ds.Errorf(core.CodeMissingKey, j.Pos, "%s: k_of_n: needs a number", at).WithHint("such as k_of_n(2)")
		return 0
	}
	if j.Count.Value > n {
		c.ds.Warnf(core.CodeJoin, j.Count.Pos, "%s: k_of_n(%d) can never be reached with %d", at, j.Count.Value, n)
	}
	return max(0, j.Count.Value)
}

// quorum is the K that a share of n predecessors or branches amounts to.
func (c *compiler) quorum(j *core.Join, n int, at place) int {
	if j.Fraction == nil {
		c.ds.Errorf(core.CodeMissingKey, j.Pos, "%s: quorum: needs a number", at).WithHint("such as quorum(0.5)")
		return 0
	}
	if f := j.Fraction.Value; f < 0 || f > 1 || math.IsNaN(f) {
		c.ds.Warnf(core.CodeJoin, j.Fraction.Pos, "%s: quorum(%v): want a share from 0 to 1", at, f)
	}
	return share(j.Fraction.Value, n)
}

// share is how many of n a fraction of them is, rounded up.
func share(f float64, n int) int {
	k := math.Ceil(f*float64(n) - tooMuch)
	switch {
	case !(k > 0):
		return 0
	case k > float64(n):
		return n + 1 // more than there are
	}
	return int(k)
}

// joinText spells a join that has a number.
func joinText(j *core.Join) string {
	switch {
	case j.Count != nil && j.Word() == core.JoinKOfN:
		return fmt.Sprintf("%s(%d)", core.JoinKOfN, j.Count.Value)
	case j.Fraction != nil && j.Word() == core.JoinQuorum:
		return fmt.Sprintf("%s(%v)", core.JoinQuorum, j.Fraction.Value)
	}
	return j.Word()
}

// dagOnly reports sections that a walk cannot have.
func (c *compiler) dagOnly() {
	const only = "%s %q: pipelines and loops exist in dags only"
	for _, p := range c.w.Pipelines {
		c.ds.Errorf(core.CodeBadValue, p.Pos, only, "pipeline", p.ID.Value)
	}
	for _, l := range c.w.Loops {
		c.ds.Errorf(core.CodeBadValue, l.Pos, only, "loop", l.ID.Value)
	}
	if i := c.w.Incremental; i != nil {
		c.ds.Errorf(core.CodeBadValue, i.Pos, "incremental: exists in dags only")
	}
}

// withContext adds the field that holds the context of a walk.
func (c *compiler) withContext(decls []core.FieldDecl, have map[string]bool) []core.FieldDecl {
	if have[core.ContextField] {
		i := slices.IndexFunc(decls, func(d core.FieldDecl) bool { return d.Name.Value == core.ContextField })
		c.ds.Errorf(core.CodeDuplicateID, decls[i].Name.Pos, "%q is the name of the field that holds the context of a walk", core.ContextField)
		return decls
	}
	return append(decls, core.FieldDecl{Name: core.At(core.ContextField, c.w.Pos), Type: &core.Type{Kind: core.ObjectType}, Default: &core.Object{}})
}

// seesContext adds the context to what a node of a walk reads.
func seesContext(reads []core.Text) []core.Text {
	if slices.ContainsFunc(reads, func(t core.Text) bool { return t.Value == core.ContextField }) {
		return reads
	}
	return append(slices.Clip(reads), core.Text{Value: core.ContextField})
}

// retries is the attempt loop of a node that says nothing of retries itself.
func (c *compiler) retries() *Retry {
	if !c.walking() || c.w.Walk == nil || c.w.Walk.MaxRetries == nil || c.w.Walk.MaxRetries.Value <= 0 {
		return once
	}
	r, _ := Preset("standard")
	r.Attempts = c.w.Walk.MaxRetries.Value + 1
	return &r
}

// walkType finds the handler of a node whose type is no kind: a function that is
// registered under that name, else none, which is told when the node is visited.
func (c *compiler) walkType(n *Node, d *core.Node, at place) bool {
	if _, ok := c.reg.Kind(d.Kind.Value); ok || d.Kind.Value == "" || d.Lost.Has("kind") {
		return false
	}
	if d.Asks {
		c.p.Walk.Nodes[n.Index].Role = core.RoleHuman
	}
	switch h, ok := c.reg.Tool(d.Kind.Value); {
	case ok:
		n.Handler = c.bind(h, d)
	case d.Lacks != "":
		n.Lacks = d.Lacks
	default:
		c.hint(c.ds.Warnf(core.CodeTypeKnown, d.Kind.Pos, "%s: nobody has registered a handler for type %q, so it fails when it is visited", at, d.Kind.Value), d.Kind.Value, c.reg.KindNames)
		n.Lacks = fmt.Sprintf("no handler is registered for type %q: register a Go function of that name, or a kind", d.Kind.Value)
	}
	return true
}

// bind tells a function the node it works for, if it wants to know.
func (c *compiler) bind(h core.Handler, d *core.Node) core.Handler {
	b, ok := h.(core.Binder)
	if !ok {
		return h
	}
	h, ds := b.Bind(d, c.env)
	c.ds = append(c.ds, ds...)
	return h
}

// role notes what a node is to the walk; false reports one that there is only in walks.
func (c *compiler) role(n *Node, made core.Compiled, at place) bool {
	if !c.walking() {
		if made.Role != core.RoleStage {
			c.ds.Errorf(core.CodeBadValue, n.Decl.Kind.Pos, "%s: kind %s exists in walks only", at, n.Kind)
			return false
		}
		return true
	}
	if made.Stream.Value != "" {
		c.ds.Errorf(core.CodeStream, made.Stream.Pos, "%s: streams exist in dags only", at)
	}
	w := &c.p.Walk.Nodes[n.Index]
	if w.Role = made.Role; w.Role == core.RoleParallel {
		w.Parallel = &Parallel{}
	}
	n.Asks = made.Role == core.RoleHuman
	return true
}

// edgesOf returns the edges that leave a node, in declared order.
func (c *compiler) edgesOf(d *core.Node) []*core.Edge {
	if c.outEdges == nil {
		c.outEdges = map[string][]*core.Edge{}
		for _, e := range c.w.Edges {
			c.outEdges[e.From.Value] = append(c.outEdges[e.From.Value], e)
		}
	}
	if list, ok := c.outEdges[d.ID.Value]; ok {
		return list
	}
	return []*core.Edge{}
}
