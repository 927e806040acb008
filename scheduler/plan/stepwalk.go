package plan

import (
	"math"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/steps"
)

// NoNode is the Edge.ToNode of an edge that leads to the end of a walk.
const NoNode = -1

// Steps holds what only a walk of core.RouterSteps has.
type Steps struct {
	// Nodes are parallel to Plan.Nodes.
	Nodes []StepNode
	// Calls are the conditions of edges that are Go functions, by edge.
	Calls map[int32]core.Predicate
	// MaxMutations limits the changes of the graph of a run. Fixed reports whether outputs cannot
	// request changes.
	MaxMutations int
	Fixed        bool
	// live is what a run has changed, nil if the plan is not the plan of a single run.
	live *liveChanges
}

// StepNode is what the steps need to know of a node.
type StepNode struct {
	steps.Node
	// Budget limits the visits of the node. A walk that would exceed it continues at Exit or, if Exit
	// is "", at the transition with the key core.ErrorKey or the node core.ErrorNode.
	Budget int
	Exit   string
	// Critical ends the run when a visit fails.
	Critical bool
	// Calls are the edges whose conditions are Go functions, in the order of Node.Edges.
	Calls []int32
	// Removed reports that the run has removed the node.
	Removed bool
}

// stepRoots are the roots that conditions on the edges of a walk by steps can use.
const stepRoots = graphRoots | expressions.RootOutput | expressions.RootError | expressions.RootToolCalls |
	expressions.RootGuardsFailed | expressions.RootVisits

// stepCode returns the code of a finding about a walk by steps that other modes report with another code.
func stepCode(code source.Code) source.Code {
	if code == source.CodeDuplicateID {
		return source.CodeDuplicateNode
	}
	return code
}

// openState reports whether the state of a workflow has no declared fields, so that its only field
// is the context, whose members are whatever the nodes write.
func openState(w *core.Workflow) bool { return len(w.Fields) == 0 && !w.Lost.Has("schema") }

// stepConventions returns the rules for the nodes of a walk by steps.
func stepConventions(w *core.Workflow) core.Conventions {
	return core.Conventions{Context: openState(w), Late: true, Skips: true, Steps: true}
}

// stepWalk compiles a walk whose edges are chosen by seven steps.
func (c *compiler) stepWalk() {
	w, settings := c.p.Walk, c.walkSettings()
	w.Steps = &Steps{Nodes: make([]StepNode, len(c.w.Nodes))}
	c.p.maker = &nodeMaker{c.reg, c.opts}
	c.common.adds = c.p.maker
	if settings.MaxSteps == nil {
		w.MaxSteps = core.DefaultMaxRunVisits
	}
	w.Steps.MaxMutations = c.count(settings.MaxMutations, core.DefaultMaxMutations, documentPlace("max_mutations"))
	w.Steps.Fixed = settings.FixedGraph != nil && settings.FixedGraph.Value
	for i, d := range c.w.Nodes {
		c.stepNode(int32(i), d, settings)
	}
	c.stepEntry(settings)
	for _, e := range c.w.Edges {
		c.stepEdge(e, edgePlace(e))
	}
	for _, l := range settings.LoopUntil {
		c.loopUntil(l)
	}
	for i := range w.Steps.Nodes {
		w.Steps.Nodes[i].sort(w.Steps.Calls)
	}
	c.shadowed()
	c.stepsReached()
}

// stepNode compiles what the steps need to know of a node.
func (c *compiler) stepNode(i int32, d *core.Node, settings *core.Walk) {
	n, at := &c.p.Walk.Steps.Nodes[i], nodePlace(d.ID.Value)
	n.Index, n.Critical, n.Transitions, n.Default = i, d.Critical, d.Transitions, d.DefaultNext.Value
	n.Budget = core.DefaultNodeBudget
	if d.MaxVisits != nil {
		n.Budget = c.atLeastOne(d.MaxVisits, at.at("max_visits"))
	}
	n.Budget = lower(n.Budget, c.count(settings.MaxVisits, core.DefaultMaxNodeVisits, documentPlace("max_node_visits")))
	if d.ID.Value == core.EndNode {
		c.ds.Errorf(source.CodeReservedName, d.ID.Pos, "%s: the name stands for the end of the walk", at).WithHint("call the node something else")
	}
	seen := map[string]bool{}
	for _, t := range d.Transitions {
		key := at.at("transitions." + t.Key.Value)
		if seen[t.Key.Value] {
			c.ds.Errorf(source.CodeDuplicateKey, t.Key.Pos, "%s: appears twice", key)
		}
		seen[t.Key.Value] = true
		c.stepTarget(t.To, key)
	}
	if d.DefaultNext.Value != "" {
		c.stepTarget(d.DefaultNext, at.at("default_next"))
	}
	for _, to := range c.p.Walk.Nodes[i].Next {
		c.stepTarget(to, at)
	}
	if role := c.p.Walk.Nodes[i].Role; role != core.RoleStage && role != core.RoleHuman {
		c.ds.Errorf(source.CodeBadValue, d.Kind.Pos, "%s: a %s node has no place in a walk by steps", at, role)
	}
	if d.ForEach != nil {
		c.ds.Errorf(source.CodeBadValue, d.ForEach.Pos, "%s: for_each exists in dags only", at).WithHint("nest a dag (kind workflow)")
	}
	if d.Join != nil {
		c.ds.Errorf(source.CodeBadValue, d.Join.Pos, "%s: join exists in dags and for parallel nodes only", at)
	}
	if word := c.p.Nodes[i].Policy; word != PolicyDefault {
		c.ds.Errorf(source.CodeBadValue, d.OnError.Pos, "%s: on_error: a walk knows the policy retry only", at).
			WithHint("an edge on: error says what follows a failure, and critical ends the run")
	}
	c.p.Walk.Nodes[i].MaxVisits = 0 // admits checks Budget
}

// lower returns the lower one of two limits. The second is 0 if there is no second limit.
func lower(a, b int) int {
	if b > 0 {
		return min(a, b)
	}
	return a
}

// stepTarget checks the name of a node or of the end.
func (c *compiler) stepTarget(to source.Text, at place) (node int32, ok bool) {
	if to.Value == core.EndNode {
		return NoNode, true
	}
	i, ok := c.p.nodeIndex[to.Value]
	if !ok && c.invalid.open&expressions.RootNodes == 0 {
		c.hint(c.ds.Errorf(source.CodeUnknownTarget, to.Pos, "%s: there is no node %q", at, to.Value), to.Value, c.nodeIDs)
	}
	return i, ok
}

// stepEntry finds the node where the walk begins.
func (c *compiler) stepEntry(settings *core.Walk) {
	i, ok := c.p.nodeIndex[settings.Entry.Value]
	switch {
	case ok:
		c.p.Walk.Start = i
	case c.w.Lost.Has("entry") || c.invalid.open&expressions.RootNodes != 0:
	case settings.Entry.Value == "":
		c.ds.Errorf(source.CodeNoEntry, c.w.Pos, "the walk has no entry").WithHint("name the node that it begins at")
	default:
		c.hint(c.ds.Errorf(source.CodeUnknownEntry, settings.Entry.Pos, "entry: there is no node %q", settings.Entry.Value), settings.Entry.Value, c.nodeIDs)
	}
}

// stepEdge compiles an edge.
func (c *compiler) stepEdge(e *core.Edge, at place) {
	if e.On.Value != "" || e.Else || e.Handles != nil {
		c.ds.Errorf(source.CodeBadValue, e.Pos, "%s: on: %s, handles: and when: else exist in dags only", at, e.On.Value).WithHint("a walk by steps tests the result: on: error")
	}
	from, ok := c.stepSource(e, at)
	var to int32
	if e.Lost.Has("to") {
		ok = false
	} else if t, found := c.stepTarget(e.To, at); found {
		to = t
	} else {
		ok = false
	}
	i := int32(len(c.p.Edges))
	edge := steps.Edge{Index: i, To: to, Priority: e.Priority.Value}
	var when *expressions.Program
	switch {
	case e.When != nil && e.Cond != nil:
		c.ds.Errorf(source.CodeBadValue, e.Cond.Pos, "%s: an edge has either when or another condition", at)
	case e.When != nil || e.Lost.Has("when"):
		edge.Test, when = steps.Other, c.stepWhen(e.When, e.Lost.Has("when"), at)
	case e.Cond != nil:
		c.cond(e.Cond, &edge, i, at)
	}
	if !ok {
		c.invalid.edges = true
		return
	}
	c.p.Edges = append(c.p.Edges, Edge{FromNode: from, ToNode: to, When: when})
	c.p.edgeDecls = append(c.p.edgeDecls, e)
	c.p.Walk.Edges = append(c.p.Walk.Edges, WalkEdge{Label: e.Label.Value, Key: core.NormalLabel(e.Label.Value)})
	n := &c.p.Walk.Steps.Nodes[from]
	n.Edges = append(n.Edges, edge)
}

// stepSource finds the node that an edge leaves.
func (c *compiler) stepSource(e *core.Edge, at place) (int32, bool) {
	if e.Lost.Has("from") {
		return 0, false
	}
	i, ok := c.p.nodeIndex[e.From.Value]
	switch {
	case e.From.Value == core.EndNode:
		c.ds.Errorf(source.CodeUnknownSource, e.From.Pos, "%s: nothing leaves the end of the walk", at)
		return 0, false
	case !ok && c.invalid.open&expressions.RootNodes == 0:
		c.hint(c.ds.Errorf(source.CodeUnknownSource, e.From.Pos, "%s: there is no node %q", at, e.From.Value), e.From.Value, c.nodeIDs)
	}
	return i, ok
}

// stepWhen compiles a condition that is an expression.
func (c *compiler) stepWhen(text *source.Text, lost bool, at place) *expressions.Program {
	if text == nil || lost {
		return nil
	}
	var u References
	p := c.expression(*text, c.scope(stepRoots), at.at("when"), &u)
	if p != nil {
		c.ds = append(c.ds, p.ConstantFindings()...)
	}
	return p
}

// cond compiles a condition that is not an expression into the edge with index i.
func (c *compiler) cond(d *core.Cond, e *steps.Edge, i int32, at place) {
	if d.Kind.Value == "" {
		e.Test = steps.Other
		f := d.Func
		if f == nil {
			var ok bool
			if f, ok = c.reg.Condition(d.Ref.Value); !ok {
				c.ds.Errorf(source.CodeUnknownImpl, d.Ref.Pos, "%s: ref: no condition %q is registered", at, d.Ref.Value).
					WithHint("%s", message.Near(d.Ref.Value, c.reg.ConditionNames()))
				return
			}
		}
		calls := &c.p.Walk.Steps.Calls
		if *calls == nil {
			*calls = map[int32]core.Predicate{}
		}
		(*calls)[i] = f
		return
	}
	t, ok := steps.TestOf(d.Kind.Value)
	if !ok {
		e.Test = steps.Other
		c.ds.Errorf(source.CodeBadValue, d.Kind.Pos, "%s: on: unknown word %q", at, d.Kind.Value).WithHint("%s", message.Near(d.Kind.Value, core.CondKinds()))
		return
	}
	e.Test, e.Key, e.Min = t, d.Key.Value, core.DefaultConfidence
	if d.Min != nil {
		e.Min = d.Min.Value
	}
	if math.IsNaN(e.Min) || math.IsInf(e.Min, 0) {
		c.ds.Errorf(source.CodeBadValue, d.Min.Pos, "%s: min: want a number, got %v", at, e.Min)
	}
	if t != steps.Output {
		return
	}
	if d.Key.Value == "" {
		c.ds.Errorf(source.CodeMissingKey, d.Pos, "%s: on: output has no key", at).WithHint("name the member of the output that is compared")
	}
	v, err := value.Canonical(d.Value)
	if err != nil {
		c.ds.Errorf(source.CodeWrongType, d.Pos, "%s: value: %v", at, err)
	}
	e.Value = v
}

// Labels and priority of the edges of a LoopUntil.
const (
	loopPriority = 10
	exitLabel    = "exit_loop"
	loopLabel    = "loop"
)

// loopUntil compiles a loop: an edge to its exit, an edge back to the node, and the limit of the
// visits.
func (c *compiler) loopUntil(l *core.LoopUntil) {
	at := place{what: "loop_until", id: l.Node.Value}
	limit := core.DefaultLoopBudget
	if l.MaxIterations != nil {
		if limit = l.MaxIterations.Value; limit < 1 {
			c.ds.Errorf(source.CodeBadLoopBudget, l.MaxIterations.Pos, "%s: max_iterations: want at least 1, got %d", at, limit)
		}
	}
	if l.Until == nil && l.Cond == nil && !l.Lost.Has("until") {
		c.ds.Errorf(source.CodeMissingKey, l.Pos, "%s: has no condition", at).WithHint("until says when the loop ends")
	}
	if l.Lost.Has("node") || l.Lost.Has("exit_to") {
		c.invalid.edges = true
		return
	}
	i, ok := c.stepSource(&core.Edge{From: l.Node}, at)
	if !ok {
		c.invalid.edges = true
		return
	}
	n := &c.p.Walk.Steps.Nodes[i]
	if n.Exit != "" {
		c.ds.Errorf(source.CodeDuplicateID, l.Pos, "%s: the node has two loops", at)
		return
	}
	n.Exit = l.ExitTo.Value
	if d := c.w.Nodes[i].MaxVisits; d != nil {
		limit = min(limit, d.Value)
	}
	n.Budget = lower(limit, c.count(c.walkSettings().MaxVisits, core.DefaultMaxNodeVisits, documentPlace("max_node_visits")))
	exit := &core.Edge{From: l.Node, To: l.ExitTo, When: l.Until, Cond: l.Cond, Priority: source.Int{Value: loopPriority}, Pos: l.Pos}
	exit.Label.Value = exitLabel
	if l.Lost.Has("until") {
		exit.Lost = source.Lost{"when"}
	}
	back := &core.Edge{From: l.Node, To: l.Node, Pos: l.Pos}
	back.Label.Value = loopLabel
	c.stepEdge(exit, at)
	c.stepEdge(back, at)
}

// sort puts the edges in the order in which they are tried.
func (n *StepNode) sort(calls map[int32]core.Predicate) {
	steps.Sort(n.Edges)
	n.Calls = nil
	for i := range n.Edges {
		if calls[n.Edges[i].Index] != nil {
			n.Calls = append(n.Calls, n.Edges[i].Index)
		}
	}
}

// shadowed warns of edges that are never followed, and of conditions that are tried in the order of
// their declaration only.
func (c *compiler) shadowed() {
	type pair struct {
		to, priority int
	}
	for i := range c.p.Walk.Steps.Nodes {
		edges := c.p.Walk.Steps.Nodes[i].Edges
		free := slices.IndexFunc(edges, func(e steps.Edge) bool { return e.Test == steps.Always })
		seen := map[pair]bool{}
		for k := range edges {
			e := &edges[k]
			d := c.p.edgeDecls[e.Index]
			if free >= 0 && k > free && e.Priority < edges[free].Priority {
				c.ds.Warnf(source.CodeShadowedEdge, d.Pos, "%s: is never followed, because the edge to %s has a higher priority and no condition", edgePlace(d), c.p.TargetID(edges[free].Index)).
					WithHint("give it a higher priority, or that edge a condition")
			}
			if p := (pair{int(e.To), e.Priority}); e.Test != steps.Always {
				if seen[p] {
					c.ds.Warnf(source.CodeDuplicateCondition, d.Pos, "%s: another edge between the two nodes has a condition and the same priority", edgePlace(d)).
						WithHint("join the two conditions with ||, or give them different priorities")
				}
				seen[p] = true
			}
		}
	}
}

// stepsReached warns of nodes to which neither edges nor transitions lead. A route or a jump may.
func (c *compiler) stepsReached() {
	w := c.p.Walk
	if w.Start < 0 || c.invalid.edges || c.invalid.open&expressions.RootNodes != 0 {
		return
	}
	for i, ok := range c.p.stepGraph().Reachable(w.Start) {
		if !ok && c.p.Nodes[i].ID != core.ErrorNode {
			c.ds.Warnf(source.CodeUnreachable, c.w.Nodes[i].ID.Pos, "node %s: no edge or transition leads to it from the entry %s", c.p.Nodes[i].ID, c.p.Nodes[w.Start].ID).
				WithHint("only a route in an output, the code of a node or a jump can lead to it")
		}
	}
}

// stepGraph returns the edges, transitions and defaults as a graph.
func (p *Plan) stepGraph() core.Graph {
	g := p.graph()
	for i := range p.Walk.Steps.Nodes {
		n := &p.Walk.Steps.Nodes[i]
		add := func(name string) {
			if to, ok := p.nodeIndex[name]; ok {
				g[i] = append(g[i], core.Arc{To: to, Edge: -1})
			}
		}
		for _, t := range n.Transitions {
			add(t.To.Value)
		}
		add(n.Default)
		for _, to := range p.Walk.Nodes[i].Next {
			add(to.Value)
		}
	}
	return g
}

// TargetID returns the name of the node that an edge leads to, core.EndNode if it leads to the end of
// a walk.
func (p *Plan) TargetID(edge int32) string {
	if to := p.Edges[edge].ToNode; to != NoNode {
		return p.Nodes[to].ID
	}
	return core.EndNode
}

// withOpenInputs returns a workflow whose inputs are members of its context if it declares no fields.
func withOpenInputs(w *core.Workflow) *core.Workflow {
	if !openState(w) || w.OpenInputs {
		return w
	}
	open := *w
	open.OpenInputs = true
	return &open
}
