package scheduler

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Action is what a replay does with a node.
type Action string

// Actions.
const (
	ActionKeep Action = "keep" // it has the result of the stored run
	ActionRun  Action = "run"
	ActionSkip Action = "skip"
)

// Step is what a replay does with a node of the graph of the run, or of a nested workflow: see Forecast.
type Step struct {
	Path   string `json:"path"`
	Action Action `json:"action"`
	// Maybe reports that it depends on nodes that run whether this one is skipped.
	Maybe bool `json:"maybe,omitempty"`
	// Effects reports that the node may run, and that it or a node inside it has effects outside the run.
	Effects bool   `json:"effects,omitempty"`
	Why     string `json:"why"`
}

// Forecast is what a replay would do.
type Forecast struct {
	// Steps are the nodes in canonical order. If the replay begins inside a nested workflow, the nodes of
	// this workflow follow the node that runs it. Steps without Maybe are certain.
	Steps []Step
	// Set are the fields that the replay sets, with the values that they had.
	Set []machine.Assigned
	// Warnings are about fields that are set without effect, or written later by nodes that do not run
	// again.
	Warnings []string
}

// Preview returns what Replay would do. Nothing runs or is stored.
func Preview(ctx context.Context, st *Stored, p *plan.Plan, f Fork, o Options) (*Forecast, error) {
	x, err := st.past(ctx, p, f, o.Recording != nil && o.Recording.Adopt)
	if err != nil {
		return nil, err
	}
	if o.Mock != nil {
		if err := x.mockable(); err != nil {
			return nil, err
		}
	}
	settings := x.settings()
	// Nodes that run must not keep others from being answered.
	settings.Concurrency = max(1, settings.Concurrency, p.Concurrency) + len(p.Nodes) - len(ran(x.kept))
	settings.MaxInFlight = math.MaxInt32
	memo, err := x.repeat(settings, nil)
	if err != nil {
		return nil, missingSecret(err)
	}
	if live, err := memo.Machine().PlanAt(""); err == nil { // with the nodes that the run has added
		x.plan = live
	}
	v := &preview{past: x, mock: o.Mock, from: f.From, report: memo.Machine().Report(), begun: map[string]bool{}}
	v.find(memo.Replay())
	v.findAhead()
	v.findReaders()
	set := memo.Machine().Assigned()
	return &Forecast{v.steps(), set[len(set)-len(f.Set):], x.warnings(memo.Machine().Root())}, nil
}

// warnings are about what the replay sets.
func (x *past) warnings(g machine.Graph) []string {
	var list []string
	for _, a := range x.fork.assignments() {
		_, any, err := a.Reads(x.plan)
		field, _, fieldErr := machine.FieldOf(x.plan, a.Path)
		if err != nil || fieldErr != nil {
			continue // the replay does not begin
		}
		if !any {
			list = append(list, fmt.Sprintf("nothing that runs again reads %s: setting it changes only the final state", a.Path))
		}
		if x.plan.Mode.Visits {
			continue
		}
		name, from := x.plan.Schema.Fields[field].Name, int(x.plan.Threshold(field, x.level()))
		for _, w := range x.plan.WriterVertex[field][from:] {
			if id := x.plan.Vertices[w].ID; !x.again[id] && slices.Contains(g.Merged(int(field)), w) {
				list = append(list, fmt.Sprintf("%s is kept and comes later: what it wrote to %s is merged with the value that is set", id, name))
			}
		}
	}
	return list
}

// level returns the level of the node, pipeline or loop where the replay begins.
func (x *past) level() int32 {
	if n, ok := x.plan.Node(x.fork.From); ok {
		return x.plan.Vertices[n.Vertex].Level
	}
	for v := range x.plan.Vertices {
		if u := x.plan.Vertices[v].Unit; u != nil && u.ID == x.fork.From {
			return x.plan.Vertices[v].Level
		}
	}
	return 0
}

// preview describes a machine that has been told what a replay shares with a stored run.
type preview struct {
	*past
	from   string
	mock   Mock // nil if nodes run
	report *core.Report
	reads  map[string]string // by node, pipeline or loop: a field that is set and that it can see
	begun  map[string]bool   // nodes that run next, and the nodes around them
	status map[string]core.Status
	parts  map[string]bool // see hasKept; nil before it is called
	ahead  []bool          // by node: a walk may come to it, from the visits that run next
}

// find finds the nodes that run next.
func (v *preview) find(r *journal.Replay) {
	for _, o := range r.Open() {
		if o.Op != machine.OpRun && o.Op != machine.OpTimer {
			continue
		}
		path := o.Path()
		if o.Node != nil {
			path = o.Call.Name(o.Node)
		}
		first, _, _ := strings.Cut(plan.PartPath(path), "/")
		v.begun[first] = true
	}
	v.status = map[string]core.Status{}
	for _, n := range v.report.Nodes() {
		v.status[n.ID] = n.Status
	}
}

// findAhead finds the nodes that a walk may visit again.
func (v *preview) findAhead() {
	if !v.plan.Mode.Visits {
		v.ahead = make([]bool, len(v.plan.Nodes))
		return
	}
	var next []int32
	for i := range v.plan.Nodes {
		if v.begun[v.plan.Nodes[i].ID] {
			next = append(next, int32(i))
		}
	}
	v.ahead = v.plan.Ahead(next)
}

// findReaders finds what can see the fields that are set.
func (v *preview) findReaders() {
	v.reads = map[string]string{}
	for _, a := range v.fork.assignments() {
		vertices, _, _ := a.Reads(v.plan) // an error was reported before
		for _, i := range vertices {
			if id := v.plan.Vertices[i].ID; v.reads[id] == "" {
				v.reads[id] = a.Path
			}
		}
	}
}

// vertexOf returns the id of a node, or of its pipeline or loop.
func (v *preview) vertexOf(id string) string {
	n, _ := v.plan.Node(id)
	return v.plan.Vertices[n.Vertex].ID
}

func (v *preview) steps() []Step {
	var list []Step
	effects := map[*plan.Plan]bool{}
	for _, n := range v.report.Nodes() {
		s := v.step(&n)
		def, _ := v.plan.Node(n.ID)
		s.Effects = s.Action == ActionRun && v.mock == nil && hasEffects(def, effects)
		switch {
		case v.mock == nil || s.Action != ActionRun || def.Frame != nil || def.Wait != nil:
		case v.mock.Has(n.ID):
			s.Why += "; the answer is in " + v.mock.Name()
		default:
			s.Why += "; it writes nothing, because " + v.mock.Name() + " has no answer"
		}
		list = append(list, s)
		if inner, inside := strings.CutPrefix(v.from, n.ID+"/"); inside && def.Frame != nil && v.mock == nil {
			list = v.inside(list, def.Frame.Plan, n.ID+"/", inner)
		}
	}
	return list
}

// inside adds the nodes of a nested workflow inside which the replay begins, at the path from. prefix is the path of
// the workflow. What a node of a fan-out runs is described once for all items.
func (v *preview) inside(list []Step, p *plan.Plan, prefix, from string) []Step {
	run := v.b.stored.run
	effects := map[*plan.Plan]bool{}
	for i := range p.Nodes {
		n := &p.Nodes[i]
		s := Step{Path: prefix + n.ID, Action: ActionRun}
		inner, deeper := strings.CutPrefix(from, n.ID+"/")
		switch unit := p.Vertices[n.Vertex].Unit; {
		case n.ID == from || deeper || unit != nil && unit.ID == from:
			s.Why = "the replay begins here"
		case v.again[s.Path]:
			s.Maybe, s.Why = true, "it can see the effect of "+v.from
		case p.Mode.Visits:
			s.Maybe, s.Why = true, "whether it is visited depends on the visits before it"
		case v.hasKept(s.Path):
			s.Action, s.Why = ActionKeep, "it has a result in run "+run
		default:
			s.Maybe, s.Why = true, "it has no result in run "+run
		}
		s.Effects = s.Action == ActionRun && hasEffects(n, effects)
		list = append(list, s)
		if deeper && n.Frame != nil {
			list = v.inside(list, n.Frame.Plan, s.Path+"/", inner)
		}
	}
	return list
}

// hasKept reports whether something is kept of a node at a path, or of nodes inside it.
func (v *preview) hasKept(path string) bool {
	if v.parts == nil {
		v.parts = map[string]bool{}
		for i := range v.kept {
			part := plan.PartPath(v.kept[i].Path)
			for end := len(part); end > 0; end = strings.LastIndexByte(part[:end], '/') {
				v.parts[part[:end]] = true
			}
		}
	}
	return v.parts[path]
}

// hasEffects reports whether a node or a node inside it has effects. seen has the nested workflows that
// were asked before.
func hasEffects(n *plan.Node, seen map[*plan.Plan]bool) bool {
	if n.Effects || n.Frame == nil {
		return n.Effects
	}
	in := n.Frame.Plan
	effects, ok := seen[in]
	for i := 0; !ok && !effects && i < len(in.Nodes); i++ {
		effects = hasEffects(&in.Nodes[i], seen)
	}
	seen[in] = effects
	return effects
}

func (v *preview) step(n *core.NodeReport) Step {
	run := v.b.stored.run
	a := v.assumed(n.ID)
	switch {
	case a != nil && a.Status == core.Skipped:
		return Step{Path: n.ID, Action: ActionSkip, Maybe: n.Status == core.StatusNone, Why: "its status is assumed"}
	case a != nil:
		return Step{Path: n.ID, Action: ActionKeep, Maybe: n.Status == core.StatusNone, Why: "its status is assumed: " + a.Status.String()}
	case n.Status == core.Skipped && n.Visits == 0: // in a walk, a later visit may run it
		return Step{Path: n.ID, Action: ActionSkip, Maybe: v.plan.Mode.Visits, Why: n.Reason}
	case n.Status != core.StatusNone && !v.begun[n.ID] && v.comesTo(n.ID):
		return Step{Path: n.ID, Action: ActionRun, Maybe: true, Why: "it has a result in run " + run + ", and may be visited again"}
	case n.Status == core.Fail && !v.begun[n.ID]:
		return Step{Path: n.ID, Action: ActionKeep, Why: "it failed in run " + run + ", and does not come after " + v.from}
	case n.Status != core.StatusNone && !v.begun[n.ID]:
		return Step{Path: n.ID, Action: ActionKeep, Why: "it has a result in run " + run}
	case v.isFrom(n.ID):
		s := Step{Path: n.ID, Action: ActionRun, Why: "the replay begins here"}
		s.Maybe = !v.begun[n.ID]
		return s
	case v.begun[n.ID] && v.reads[v.vertexOf(n.ID)] != "":
		return Step{Path: n.ID, Action: ActionRun, Why: "it can see " + v.reads[v.vertexOf(n.ID)] + ", which is set"}
	case v.begun[n.ID] && v.again[n.ID]:
		return Step{Path: n.ID, Action: ActionRun, Why: "it can see the effect of " + v.from}
	case v.begun[n.ID]:
		return Step{Path: n.ID, Action: ActionRun, Why: "it had not ended in run " + run}
	}
	return Step{Path: n.ID, Action: ActionRun, Maybe: true, Why: v.dependsOn(n.ID)}
}

// comesTo reports whether the walk may come to a node.
func (v *preview) comesTo(id string) bool {
	n, ok := v.plan.Node(id)
	return ok && v.ahead[n.Index]
}

// assumed returns the assumption about a node, or about its pipeline or loop.
func (v *preview) assumed(id string) *machine.Assumption {
	n, _ := v.plan.Node(id)
	u := v.plan.Vertices[n.Vertex].Unit
	for i := range v.fork.Assume {
		if a := &v.fork.Assume[i]; a.Node == id || u != nil && a.Node == u.ID {
			return a
		}
	}
	return nil
}

// isFrom reports whether the replay begins at a node, inside it, or at its pipeline or loop.
func (v *preview) isFrom(id string) bool {
	first, _, _ := strings.Cut(v.from, "/")
	if id == first {
		return true
	}
	n, _ := v.plan.Node(id)
	u := v.plan.Vertices[n.Vertex].Unit
	return u != nil && u.ID == first
}

// dependsOn says what decides whether a node runs.
func (v *preview) dependsOn(id string) string {
	if v.plan.Mode.Visits {
		return "whether it is visited depends on the visits before it"
	}
	n, _ := v.plan.Node(id)
	first := ""
	for _, e := range v.plan.InEdges(n.Vertex) {
		edge := &v.plan.Edges[e]
		from := v.plan.Vertices[edge.From].ID
		if v.status[from] != core.StatusNone {
			continue
		}
		if edge.When != nil || edge.Else {
			return fmt.Sprintf("it depends on the condition of the edge from %s, which has no result yet", from)
		}
		if first == "" {
			first = fmt.Sprintf("it depends on how %s ends", from)
		}
	}
	if first == "" {
		first = "it waits for values of nodes that run"
	}
	return first
}
