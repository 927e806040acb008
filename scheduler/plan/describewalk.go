package plan

import (
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
)

// WalkDescription describes a walk.
type WalkDescription struct {
	Start string `json:"start"`
	Exit  string `json:"exit,omitempty"` // "" if a model picks the edges
	// Router is "model" if a model picks the edges, "steps" in a walk by steps, otherwise "". Model is the name of the model,
	// "" for the default. Calls is an upper bound on the number of questions to it, and MaxSteps
	// limits the visits, 0 for no limit.
	Router   string `json:"router,omitempty"`
	Model    string `json:"model,omitempty"`
	Calls    int    `json:"max_model_calls,omitempty"`
	MaxSteps int    `json:"max_steps,omitempty"`
	// MaxMutations limits the changes of the graph that a run of a walk by steps may make.
	MaxMutations int `json:"max_mutations,omitempty"`
	// Nodes describe the role of each node in the walk, in declared order.
	Nodes []WalkNodeDescription `json:"nodes"`
	// MaxJumps limits how often an unsatisfied goal gate sends the walk back. RepeatLimit limits
	// how often the same failure may occur, 0 for no limit. StallTimeout limits the time without a
	// sign of life, 0 for no limit.
	MaxJumps     int           `json:"max_jumps"`
	RepeatLimit  int           `json:"repeat_limit"`
	StallTimeout time.Duration `json:"stall_timeout_ns"`
}

// WalkNodeDescription describes the role of a node in a walk, in addition to its NodeDescription.
type WalkNodeDescription struct {
	ID string `json:"id"`
	// Label is the text that is shown instead of the id, or "" if there is none.
	Label string `json:"label,omitempty"`
	Role  string `json:"role"` // the string form of the core.Role
	// GoalGate reports whether the walk cannot exit before the node has succeeded.
	GoalGate bool `json:"goal_gate,omitempty"`
	// Random reports whether its edges are drawn at random, by weight.
	Random    bool `json:"random,omitempty"`
	MaxVisits int  `json:"max_visits,omitempty"` // 0: no limit
	// Visits and Decisions are upper bounds on the visits of the node and on the questions to the
	// model after them. They are set if a model picks the edges.
	Visits    int `json:"most_visits,omitempty"`
	Decisions int `json:"most_decisions,omitempty"`
	// Models reports whether its work calls a model. Shown are the members of its result that the
	// router sees, nil for all.
	Models bool     `json:"models,omitempty"`
	Shown  []string `json:"shown,omitempty"`
	// Targets are the nodes at which the walk continues after a failure that no edge handles, or
	// after an unsatisfied goal gate, in order of preference.
	Targets []string `json:"targets,omitempty"`
	// Told describes what the prompt of a node that asks a model says about earlier stages. It is
	// nil for all other nodes.
	Told *ToldDescription `json:"told,omitempty"`
	// Parallel describes the branches of a parallel node; nil for all other nodes.
	Parallel *ParallelDescription `json:"parallel,omitempty"`
	// Steps describes where a walk by steps continues after the node; nil in other walks.
	Steps *StepDescription `json:"steps,omitempty"`
	// Place is where the document draws the node, nil if it does not say.
	Place *core.FlowPlace `json:"-"`
}

// ParallelDescription describes the branches of a parallel node.
type ParallelDescription struct {
	Branches []string `json:"branches"` // in the declared order of their edges
	Join     string   `json:"join"`     // such as wait_all or k_of_n(2)
	Need     int      `json:"need,omitempty"`
	// MaxParallel limits the branches in flight.
	MaxParallel int `json:"max_parallel"`
	// FailFast cancels the other branches when one fails. Ignore reports whether failures of
	// branches are ignored.
	FailFast bool `json:"fail_fast,omitempty"`
	Ignore   bool `json:"ignore,omitempty"`
	// Meet is the node where the walk continues, "" if the branches have no node in common.
	Meet string `json:"meet,omitempty"`
}

// Visited describes the nodes of a mode that visits nodes, in declared order; it is nil in other
// modes. The nodes are copies.
func (d *Description) Visited() []WalkNodeDescription {
	switch {
	case d.Routing != nil:
		return slices.Clone(d.Routing.Nodes)
	case d.Flow != nil:
		return d.Flow.visited()
	case !d.Mode.Visits:
		return nil
	}
	var nodes []WalkNodeDescription
	for _, level := range d.Levels {
		for i := range level {
			nodes = append(nodes, WalkNodeDescription{ID: level[i].ID, Role: core.RoleStage.String()})
		}
	}
	return nodes
}

// describeWalk adds what only walks have.
func (p *Plan) describeWalk(d *Description) {
	w := p.Walk
	d.Routing = &WalkDescription{Start: p.Nodes[w.Start].ID, Nodes: make([]WalkNodeDescription, len(p.Nodes)),
		MaxSteps: w.MaxSteps, MaxJumps: w.MaxJumps, RepeatLimit: w.RepeatLimit, StallTimeout: w.StallTimeout}
	if w.Exit >= 0 {
		d.Routing.Exit = p.Nodes[w.Exit].ID
	}
	for _, level := range d.Levels {
		for i := range level {
			x := &level[i].Nodes[0]
			if n, _ := p.Node(x.ID); !w.Nodes[n.Index].runs() {
				x.Reads, x.Retry = nil, nil
			}
		}
	}
	for i := range p.Nodes {
		d.Routing.Nodes[i] = p.describeWalkNode(int32(i))
	}
	if describe := w.Router.describe; describe != nil {
		describe(p, d.Routing)
	}
	for i := range p.Edges {
		e, at := &w.Edges[i], &d.Edges[i]
		at.Weight, at.LoopRestart, at.Freeform = e.Weight, e.LoopRestart, e.Freeform
		at.MaxIterations = e.MaxFollows
		if e.Condition != "" {
			at.When = e.Condition
		}
		if w.Steps != nil {
			at.Priority, at.When, at.Label = p.edgeDecls[i].Priority.Value, p.CondText(int32(i)), e.Label
		}
		at.Branch = w.Nodes[p.Edges[i].FromNode].Parallel != nil && p.Edges[i].When == nil
	}
}

// describeRouted adds what only walks have whose edges a model picks.
func (p *Plan) describeRouted(d *WalkDescription) {
	b := p.Bounds()
	d.Router, d.Model, d.Calls = core.RouterModel, p.Walk.Model, b.Calls
	for i := range d.Nodes {
		n := &d.Nodes[i]
		n.Visits, n.Decisions, n.Shown, n.Models = b.Visits[i], b.Decisions[i], p.Walk.Nodes[i].ViewMembers, p.Nodes[i].Models
	}
}

// runs reports whether a node can fail. Other nodes only direct the walk.
func (n *WalkNode) runs() bool {
	return n.Role != core.RoleStart && n.Role != core.RoleExit && n.Role != core.RoleConditional
}

func (p *Plan) describeWalkNode(i int32) WalkNodeDescription {
	n := &p.Walk.Nodes[i]
	d := WalkNodeDescription{ID: p.Nodes[i].ID, Label: p.Nodes[i].Decl.Label.Value, Role: n.Role.String(), GoalGate: n.GoalGate,
		Random: n.Random, MaxVisits: n.MaxVisits}
	if n.runs() {
		for _, id := range p.nodeIDs(n.Targets) {
			if !slices.Contains(d.Targets, id) { // the targets of the walk may also be targets of the node
				d.Targets = append(d.Targets, id)
			}
		}
	}
	if b := n.Parallel; b != nil {
		d.Parallel = &ParallelDescription{Branches: p.nodeIDs(b.Branches), Join: b.Join, Need: b.Need, MaxParallel: b.MaxParallel, FailFast: b.FailFast, Ignore: b.Ignore}
		if b.Meet >= 0 {
			d.Parallel.Meet = p.Nodes[b.Meet].ID
		}
	}
	return d
}

// distances groups the nodes by their distance from the start. Nodes that cannot be reached are the
// last group.
func (p *Plan) distances() [][]int32 {
	g := p.graph()
	if p.Walk != nil && p.Walk.Steps != nil {
		g = p.stepGraph()
	}
	seen := make([]bool, len(p.Nodes))
	var levels [][]int32
	var found []int32
	if start, _ := p.Mode.Ends(p); start >= 0 {
		found = append(found, start)
	}
	for len(found) > 0 {
		var level, after []int32
		for _, n := range found {
			if seen[n] {
				continue
			}
			seen[n] = true
			level = append(level, n)
			for _, a := range g[n] {
				after = append(after, a.To)
			}
		}
		if level != nil {
			slices.Sort(level)
			levels = append(levels, level)
		}
		found = after
	}
	var rest []int32
	for n := range p.Nodes {
		if !seen[n] {
			rest = append(rest, int32(n))
		}
	}
	if rest != nil {
		levels = append(levels, rest)
	}
	return levels
}

func (p *Plan) nodeIDs(nodes []int32) []string {
	var ids []string
	for _, n := range nodes {
		ids = append(ids, p.Nodes[n].ID)
	}
	return ids
}
