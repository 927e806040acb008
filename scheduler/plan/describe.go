package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wavefold/wavefold/core"
)

// Description is plain data that describes a plan for people and drawings, in canonical order. It
// belongs to the caller.
type Description struct {
	Name string `json:"name"`
	// Width is the largest number of vertices on a level.
	Width       int  `json:"width"`
	Concurrency int  `json:"concurrency,omitempty"` // 0: the caller sets the limit
	MaxInFlight int  `json:"max_in_flight,omitempty"`
	Barrier     bool `json:"barrier,omitempty"`
	// Levels holds the vertices of each level. In a walk, the level of a node is its distance from
	// the start, and nodes that cannot be reached are on the last level.
	Levels [][]VertexDescription `json:"levels"`
	// Edges are the edges between vertices, in a walk between nodes, in declared order.
	Edges []EdgeDescription `json:"edges"`
	// Mode describes how the graph is run.
	Mode ModeDescription `json:"-"`
	// Routing describes how a walk picks its edges; nil in other modes.
	Routing *WalkDescription `json:"walk,omitempty"`
	// Flow describes a flow; nil in other modes.
	Flow *FlowDescription `json:"flow,omitempty"`
	// Sources are the files that the text of nodes was read from, as far as the format reports
	// them.
	Sources []core.Source `json:"sources,omitempty"`
	// Nested is the number of runs of nested workflows in one run, if every node, item and row runs
	// once. It is at most MaxNested.
	Nested int64 `json:"nested,omitempty"`
	// Repeated reports that a nested workflow is described where it first appears.
	Repeated bool `json:"repeated,omitempty"`
	// Partial reports that the graph was too large to find every wait.
	Partial bool `json:"partial,omitempty"`
}

// ModeDescription describes the mode of a graph for drawing and printing.
type ModeDescription struct {
	// Name, Graph, Level and Visits are the fields of the Mode.
	Name, Graph, Level string
	Visits             bool
	// Start and Exit are the nodes where a run begins and ends, "" if there is no such node.
	Start, Exit string
}

// LevelName returns the name of a level.
func (m *ModeDescription) LevelName(level int) string {
	return fmt.Sprintf(cmp.Or(m.Level, modes[0].Level), level)
}

// VertexDescription describes a node, a fan-out, a pipeline or a loop.
type VertexDescription struct {
	// ID is the id of the node or unit.
	ID    string `json:"id"`
	Shape string `json:"shape"` // the result of Shape.String
	Level int    `json:"level"`
	Phase string `json:"phase,omitempty"`
	// Nodes holds the node itself, or the members of a unit in order.
	Nodes []NodeDescription `json:"nodes"`
	// Source is the list of items of a fan-out or pipeline. Concurrency limits the items in flight.
	// Collect is the field to which the results of the items are written as one list.
	Source      string `json:"source,omitempty"`
	Concurrency int    `json:"concurrency,omitempty"`
	Collect     string `json:"collect,omitempty"`
	// Until and MaxIters end a loop.
	Until    string `json:"until,omitempty"`
	MaxIters int    `json:"max_iters,omitempty"`
	// Last marks a unit without edges, which runs after the whole main graph.
	Last bool `json:"last,omitempty"`
	// AllDone reports whether the vertex runs regardless of how its predecessors ended.
	AllDone bool `json:"all_done,omitempty"`
	// Join describes which predecessors must succeed; nil if all of them must.
	Join *JoinDescription `json:"join,omitempty"`
	// Waits are the fields that the vertex waits for in addition to its edges.
	Waits []WaitDescription `json:"waits,omitempty"`
}

// JoinDescription describes how many predecessors of a vertex must succeed. The first ones count,
// in canonical order or, in a race, in the order of time.
type JoinDescription struct {
	Policy string `json:"policy"` // any, k_of_n or quorum
	Need   int    `json:"need"`
	Of     int    `json:"of"`
	Race   bool   `json:"race,omitempty"`
	// Order lists the predecessors in the order in which they are taken, unless the join is a race.
	Order []string `json:"order,omitempty"`
	// Losers are the vertices that may be cancelled when the race is decided.
	Losers []string `json:"losers,omitempty"`
}

// NodeDescription describes a node.
type NodeDescription struct {
	ID          string   `json:"id"`
	Kind        string   `json:"kind,omitempty"`
	Phase       string   `json:"phase,omitempty"`
	Description string   `json:"description,omitempty"`
	Reads       []string `json:"reads,omitempty"`  // all fields that it reads, the declared ones first
	Writes      []string `json:"writes,omitempty"` // the fields it may write
	After       []string `json:"after,omitempty"`  // nodes that it refers to through $nodes
	// Effects reports whether the work of the node is visible outside the run.
	Effects bool `json:"effects,omitempty"`
	// Retry describes the attempts of the node; nil if there is only one.
	Retry *RetryDescription `json:"retry,omitempty"`
	// AllowPartial and AutoStatus may change the status of a visit.
	AllowPartial bool `json:"allow_partial,omitempty"`
	AutoStatus   bool `json:"auto_status,omitempty"`
	// Pause is "before" or "after" if each execution waits until a person lets it continue, ""
	// otherwise.
	Pause string `json:"pause,omitempty"`
	// Cache describes for how long results are kept for later runs; nil if they are not.
	Cache *CacheDescription `json:"cache,omitempty"`
	// Join is the policy of a join that takes some of the predecessors, such as "any" or
	// "k_of_n(2), race".
	Join string `json:"join,omitempty"`
	// Environments are the environment variables of the programs of the node, if they do not
	// inherit all of them.
	Environments []core.Environment `json:"environments,omitempty"`
	// Inner describes the nested workflow of the node, if it has one.
	Inner *Description `json:"inner,omitempty"`
}

// RetryDescription describes the attempts of a node.
type RetryDescription struct {
	Preset   string `json:"preset,omitempty"` // the retry policy that the node names
	Attempts int    `json:"attempts"`
	// Waits are the delays after each attempt but the last, before jitter.
	Waits     []time.Duration `json:"waits_ns,omitempty"`
	Jitter    bool            `json:"jitter,omitempty"`
	Transient bool            `json:"transient,omitempty"` // only transient failures are retried
}

// Purposes of waits.
const (
	WaitDecide = "when"  // to evaluate the conditions of incoming edges
	WaitStart  = "reads" // to start
	WaitMerge  = "merge" // for a unit, to know whether its writes will be rejected
)

// WaitDescription describes that a vertex waits until a field is known. Writers are the nodes that
// write the field and do not come before the vertex in the graph.
type WaitDescription struct {
	Field string `json:"field"`
	For   string `json:"for"` // one of the Wait constants
	// Writers are the ids of at most 10 vertices; More is the number of the others.
	Writers []string `json:"writers"`
	More    int      `json:"more,omitempty"`
}

// EdgeDescription describes an edge between two nodes, as it was declared.
type EdgeDescription struct {
	From string `json:"from"`
	To   string `json:"to"`
	When string `json:"when,omitempty"`
	Else bool   `json:"else,omitempty"`
	On   string `json:"on,omitempty"` // fail or done
	// Handles reports whether an on: fail edge handles the failure.
	Handles bool `json:"handles,omitempty"`
	// Implied reports whether the Go builder added the edge for a typed reader.
	Implied bool `json:"implied,omitempty"`
	// Label is the text that is shown for the edge. A node of a walk may select an edge by its
	// label.
	Label string `json:"label,omitempty"`
	// Delegates marks an edge of a flow to a sub-agent, which no token follows.
	Delegates bool `json:"delegates,omitempty"`
	// The fields from here on are set for walks only. Among the edges that could be followed, the
	// one with the highest Weight is.
	Weight int `json:"weight,omitempty"`
	// LoopRestart starts the walk again at the target. Freeform takes the answers of a person that
	// match no other edge. Branch reports whether the edge leads from a parallel node to a branch.
	LoopRestart bool `json:"loop_restart,omitempty"`
	Freeform    bool `json:"freeform,omitempty"`
	Branch      bool `json:"branch,omitempty"`
	// MaxIterations limits how often the edges between the two nodes may be followed before this
	// edge no longer is, 0 for no limit. When is a condition in plain language, for a model.
	MaxIterations int `json:"max_iterations,omitempty"`
	// Priority orders the edges out of a node of a walk by steps, the highest first.
	Priority int `json:"priority,omitempty"`
}

// maxWriters limits the number of writers that a wait names.
const maxWriters = 10

// String returns "node", "for_each", "pipeline" or "loop".
func (s Shape) String() string { return [...]string{"node", "for_each", "pipeline", "loop", "walk"}[s] }

// Describe returns a description of the plan and of the plans nested in it. Each call builds a new
// one, which costs about as much as compiling the plan. A workflow that is nested in several places
// is described once, and the description is shared.
func (p *Plan) Describe() *Description { return p.describe(map[*Plan]*Description{}) }

// describe makes one description for each plan: a workflow that is nested in many places has one
// plan.
func (p *Plan) describe(known map[*Plan]*Description) *Description {
	if d, ok := known[p]; ok {
		return d
	}
	d := &Description{Name: p.Name, Concurrency: p.Concurrency, MaxInFlight: p.MaxInFlight, Barrier: p.Barrier,
		Edges: make([]EdgeDescription, len(p.Edges)), Levels: [][]VertexDescription{}, Sources: p.Workflow.Sources, Nested: p.Nested}
	for i := range p.Edges {
		e := &p.Edges[i]
		d.Edges[i] = EdgeDescription{From: p.Nodes[e.FromNode].ID, To: p.TargetID(int32(i)), Else: e.Else, Handles: e.Handles, Implied: p.edgeDecls[i].Implied, Label: p.edgeDecls[i].Label.Value}
		if e.When != nil {
			d.Edges[i].When = e.When.Source()
		}
		if e.On != OnSuccess {
			d.Edges[i].On = e.On.String()
		}
	}
	d.Mode = p.describeMode()
	if p.Mode.Visits {
		p.describeVisits(d, known)
	} else {
		p.describeLevels(d, known)
	}
	if p.Mode.Describe != nil {
		p.Mode.Describe(p, d)
	}
	for _, level := range d.Levels {
		d.Width = max(d.Width, len(level))
	}
	known[p] = d
	return d
}

func (p *Plan) describeMode() ModeDescription {
	m := ModeDescription{Name: string(p.Mode.Name), Graph: p.Mode.Graph, Level: p.Mode.Level, Visits: p.Mode.Visits}
	if p.Mode.Ends != nil {
		start, exit := p.Mode.Ends(p)
		if start >= 0 {
			m.Start = p.Nodes[start].ID
		}
		if exit >= 0 {
			m.Exit = p.Nodes[exit].ID
		}
	}
	return m
}

// describeVisits makes each node a vertex. Its level is its distance from the start.
func (p *Plan) describeVisits(d *Description, known map[*Plan]*Description) {
	for level, nodes := range p.distances() {
		d.Levels = append(d.Levels, nil)
		for _, n := range nodes {
			x := p.describeNode(&p.Nodes[n], known)
			d.Levels[level] = append(d.Levels[level], VertexDescription{ID: x.ID, Shape: Plain.String(), Level: level, Phase: x.Phase, Nodes: []NodeDescription{x}})
		}
	}
}

func (p *Plan) describeLevels(d *Description, known map[*Plan]*Description) {
	waits, complete := p.waits()
	d.Partial, d.Levels = !complete, make([][]VertexDescription, max(0, len(p.Levels)-1))
	for v := range p.Vertices {
		level := p.Vertices[v].Level
		d.Levels[level] = append(d.Levels[level], p.describeVertex(&p.Vertices[v], waits[v], known))
	}
}

// Once replaces every nested workflow by its name and its count, except where it appears first.
// Otherwise the description would grow with the number of nested runs when it is written out.
func (d *Description) Once() { d.once(map[*Description]bool{}) }

func (d *Description) once(seen map[*Description]bool) {
	for _, level := range d.Levels {
		for i := range level {
			for j := range level[i].Nodes {
				switch n := &level[i].Nodes[j]; {
				case n.Inner == nil:
				case seen[n.Inner]:
					n.Inner = &Description{Name: n.Inner.Name, Nested: n.Inner.Nested, Repeated: true, Levels: [][]VertexDescription{}, Edges: []EdgeDescription{}}
				default:
					seen[n.Inner] = true
					n.Inner.once(seen)
				}
			}
		}
	}
}

func (p *Plan) describeVertex(v *Vertex, waits []WaitDescription, known map[*Plan]*Description) VertexDescription {
	d := VertexDescription{ID: v.ID, Shape: v.Shape.String(), Level: int(v.Level), Last: v.Last, AllDone: v.AllDone, Waits: waits}
	if v.Join >= 0 {
		j := &p.Joins[v.Join]
		d.Join = &JoinDescription{Policy: j.Policy, Need: j.Need, Of: j.Count(), Race: j.Race}
		if j.Race {
			d.Join.Losers = p.vertexIDs(j.Losers)
		} else {
			for a := j.From; a < j.To; a++ {
				d.Join.Order = append(d.Join.Order, p.Vertices[p.JoinBranches[a].Source].ID)
			}
		}
	}
	if v.Unit == nil {
		n := &p.Nodes[v.Node]
		d.Phase, d.Nodes = n.Phase, []NodeDescription{p.describeNode(n, known)}
		if n.Source != nil {
			d.Source, d.Concurrency = n.Source.Text.Value, n.Concurrency
			if n.Collect >= 0 {
				d.Collect = p.Schema.Fields[n.Collect].Name
			}
		}
		return d
	}
	u := v.Unit
	d.Phase = u.Phase
	for _, m := range u.Members {
		d.Nodes = append(d.Nodes, p.describeNode(&p.Nodes[m], known))
	}
	if u.IsLoop {
		d.MaxIters = u.MaxIters
		if u.Until != nil {
			d.Until = u.Until.Source()
		}
		return d
	}
	d.Source, d.Concurrency = u.Items.Text.Value, u.Concurrency
	return d
}

func (p *Plan) describeNode(n *Node, known map[*Plan]*Description) NodeDescription {
	d := NodeDescription{ID: n.ID, Kind: n.Kind, Phase: n.Phase, Description: n.Decl.Description.Value,
		Reads: make([]string, len(n.OwnReads())), Writes: n.Writes, Effects: n.Effects, Environments: n.Environments(),
		Retry: n.describeRetry(), AllowPartial: n.AllowPartial, AutoStatus: n.AutoStatus, Pause: n.Pause.String(), Cache: n.describeCache()}
	if !p.Mode.Visits && takesSome(n.Decl.Join) { // in modes that visit nodes, only parallel nodes have joins
		if d.Join = joinText(n.Decl.Join); n.Decl.Join.Race {
			d.Join += ", race"
		}
	}
	for i, r := range n.OwnReads() {
		d.Reads[i] = p.Schema.Fields[r.Field].Name
	}
	for _, ref := range n.NodeRefs() {
		d.After = append(d.After, p.Nodes[ref].ID)
	}
	if n.Frame != nil {
		d.Inner = n.Frame.Plan.describe(known)
	}
	return d
}

func (n *Node) describeRetry() *RetryDescription {
	r := n.Retry
	if r.Attempts < 2 {
		return nil
	}
	d := &RetryDescription{Attempts: r.Attempts, Jitter: r.Jitter, Transient: r.Transient}
	if e := n.Decl.OnError; e != nil { // nil if the walk determines the attempts of the node
		d.Preset = e.Preset.Value
	}
	for k := 1; k < r.Attempts; k++ {
		d.Waits = append(d.Waits, r.Delay(k))
	}
	return d
}

// waits finds, for each vertex, the fields that it waits for although their writers do not come
// before it in the graph.
func (p *Plan) waits() (waits [][]WaitDescription, complete bool) {
	waits = make([][]WaitDescription, len(p.Vertices))
	var questions []Question
	var readers []Reader
	for f, list := range p.Readers {
		for _, r := range list {
			if r.Gate == GateKeep {
				continue
			}
			gate := r.Vertex
			switch r.Gate {
			case GateElse:
				gate += int32(len(p.Vertices))
			case GateBranch:
				gate = p.JoinBranches[r.Vertex].Source
			}
			questions = append(questions, Question{Gate: gate, Field: int32(f), Last: r.Threshold})
			readers = append(readers, r)
		}
	}
	s := &search{p: p, questions: questions, limit: maxWriters, visits: MaxVisits, certain: true}
	gaps, left := s.answers()
	for i := range gaps {
		if gaps[i].Count > 0 {
			p.addWait(waits, readers[i], p.describeWait(&questions[i], &gaps[i], readers[i]))
		}
	}
	return waits, left >= 0
}

// addWait adds a wait to the vertex that waits, once. An else group waits for every target of its
// conditions.
func (p *Plan) addWait(waits [][]WaitDescription, r Reader, w WaitDescription) {
	add := func(v int32) {
		if !slices.ContainsFunc(waits[v], func(x WaitDescription) bool { return x.Field == w.Field && x.For == w.For }) {
			waits[v] = append(waits[v], w)
		}
	}
	switch r.Gate {
	case GateElse:
	case GateBranch:
		add(p.Joins[p.JoinBranches[r.Vertex].Join].Vertex)
		return
	default:
		add(r.Vertex)
		return
	}
	for _, e := range p.ElseGroups[r.Vertex].Edges {
		add(p.Edges[e].To)
	}
}

func (p *Plan) describeWait(q *Question, x *Gap, r Reader) WaitDescription {
	w := WaitDescription{Field: p.Schema.Fields[q.Field].Name, For: WaitStart, More: int(x.Count) - len(x.Slots)}
	switch {
	case r.Gate != GateStart:
		w.For = WaitDecide
	case p.waitsToMerge(r.Vertex, q.Field, q.Last):
		w.For = WaitMerge
	}
	for _, slot := range x.Slots {
		w.Writers = append(w.Writers, p.Vertices[p.WriterVertex[q.Field][slot]].ID)
	}
	return w
}

// waitsToMerge reports whether a unit waits for a field because it writes the field, and not
// because it reads it.
func (p *Plan) waitsToMerge(v, field, threshold int32) bool {
	vertex := &p.Vertices[v]
	if vertex.Unit == nil || !p.Schema.Fields[field].MayReject {
		return false
	}
	for _, r := range vertex.Unit.Reads {
		if r.Field == field {
			return r.Threshold != threshold
		}
	}
	return true
}
