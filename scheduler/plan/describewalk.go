package plan

import (
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
)

// WalkDescription tells about a walk.
type WalkDescription struct {
	Start string `json:"start"`
	Exit  string `json:"exit,omitempty"` // "" where a model picks the edges
	// Router is model where a model picks the edges, else "". Model is the one that is asked
	// for, "" for the default; Calls is how often it is asked at most, and MaxSteps how many
	// visits there may be, 0 for any number.
	Router   string `json:"router,omitempty"`
	Model    string `json:"model,omitempty"`
	Calls    int    `json:"max_model_calls,omitempty"`
	MaxSteps int    `json:"max_steps,omitempty"`
	// Nodes tell what each node is to the walk, in declared order.
	Nodes []WalkNodeDescription `json:"nodes"`
	// MaxJumps is how often an unsatisfied goal gate sends the walk back. RepeatLimit is
	// how often the same failure may come, 0 for any number. StallTimeout is how long
	// there may be no sign of life, 0 for ever.
	MaxJumps     int           `json:"max_jumps"`
	RepeatLimit  int           `json:"repeat_limit"`
	StallTimeout time.Duration `json:"stall_timeout_ns"`
}

// WalkNodeDescription tells what a node is to a walk, beside its NodeDescription.
type WalkNodeDescription struct {
	ID string `json:"id"`
	// Label is what people read in place of the id, "" for none.
	Label string `json:"label,omitempty"`
	Role  string `json:"role"` // as core.Role spells it
	// GoalGate keeps the walk from its exit until the node has succeeded.
	GoalGate bool `json:"goal_gate,omitempty"`
	// Random tells that its edges are drawn, by weight.
	Random    bool `json:"random,omitempty"`
	MaxVisits int  `json:"max_visits,omitempty"` // 0: any number
	// Visits and Decisions are how often the node can be visited at most, and a model asked
	// where to go on from it; where a model picks the edges.
	Visits    int `json:"most_visits,omitempty"`
	Decisions int `json:"most_decisions,omitempty"`
	// Models tells that its work calls a model. Shown are the members of its result that
	// the router is shown, nil for all.
	Models bool     `json:"models,omitempty"`
	Shown  []string `json:"shown,omitempty"`
	// Targets are where the walk goes on after a failure that no edge takes up, or an
	// unsatisfied goal gate, best first.
	Targets []string `json:"targets,omitempty"`
	// Told is what a node that asks a model is told of what came before it, nil for all
	// others.
	Told *ToldDescription `json:"told,omitempty"`
	// Parallel tells about the branches of a parallel node, nil for all others.
	Parallel *ParallelDescription `json:"parallel,omitempty"`
}

// ParallelDescription tells about the branches of a parallel node.
type ParallelDescription struct {
	Branches []string `json:"branches"` // in declared order of their edges
	Join     string   `json:"join"`     // such as wait_all or k_of_n(2)
	Need     int      `json:"need,omitempty"`
	// MaxParallel is how many branches may be under way at once.
	MaxParallel int `json:"max_parallel"`
	// FailFast ends the others when a branch fails; Ignore does not count failures.
	FailFast bool `json:"fail_fast,omitempty"`
	Ignore   bool `json:"ignore,omitempty"`
	// Meet is where the walk goes on, "" if the branches have no node in common.
	Meet string `json:"meet,omitempty"`
}

// Visited describes the nodes of a mode that visits them, in declared order; nil for other
// modes. The nodes are copies.
func (d *Description) Visited() []WalkNodeDescription {
	switch {
	case d.Ways != nil:
		return slices.Clone(d.Ways.Nodes)
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

// describeWalk adds what only a walk has.
func (p *Plan) describeWalk(d *Description) {
	w := p.Walk
	d.Ways = &WalkDescription{Start: p.Nodes[w.Start].ID, Nodes: make([]WalkNodeDescription, len(p.Nodes)),
		MaxSteps: w.MaxSteps, MaxJumps: w.MaxJumps, RepeatLimit: w.RepeatLimit, StallTimeout: w.StallTimeout}
	if !w.Routed {
		d.Ways.Exit = p.Nodes[w.Exit].ID
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
		d.Ways.Nodes[i] = p.describeWalkNode(int32(i))
	}
	if w.Routed {
		p.describeRouted(d.Ways)
	} else {
		p.describeTold(d.Ways)
	}
	for i := range p.Edges {
		e, at := &w.Edges[i], &d.Edges[i]
		at.Weight, at.LoopRestart, at.Freeform = e.Weight, e.LoopRestart, e.Freeform
		at.MaxIterations = e.MaxFollows
		if e.Condition != "" {
			at.When = e.Condition
		}
		at.Branch = w.Nodes[p.Edges[i].FromNode].Parallel != nil && p.Edges[i].When == nil
	}
}

// describeRouted adds what there is to tell where a model picks the edges.
func (p *Plan) describeRouted(d *WalkDescription) {
	b := p.Bounds()
	d.Router, d.Model, d.Calls = core.RouterModel, p.Walk.Model, b.Calls
	for i := range d.Nodes {
		n := &d.Nodes[i]
		n.Visits, n.Decisions, n.Shown, n.Models = b.Visits[i], b.Decisions[i], p.Walk.Nodes[i].Shown, p.Nodes[i].Models
	}
}

// runs reports whether a node can fail: the others only direct the walk.
func (n *WalkNode) runs() bool {
	return n.Role != core.RoleStart && n.Role != core.RoleExit && n.Role != core.RoleConditional
}

func (p *Plan) describeWalkNode(i int32) WalkNodeDescription {
	n := &p.Walk.Nodes[i]
	d := WalkNodeDescription{ID: p.Nodes[i].ID, Label: p.Nodes[i].Decl.Label.Value, Role: n.Role.String(), GoalGate: n.GoalGate,
		Random: n.Random, MaxVisits: n.MaxVisits}
	if n.runs() {
		for _, id := range p.nodeIDs(n.Targets) {
			if !slices.Contains(d.Targets, id) { // the walk's may be those of the node
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

// distances returns the nodes by their distance from the start, and then the nodes that
// cannot be reached.
func (p *Plan) distances() [][]int32 {
	g := p.graph()
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
