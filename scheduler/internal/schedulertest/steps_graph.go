package schedulertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// StepsGraph is a walk by steps together with the results of its visits, as plain data like
// [Graph].
type StepsGraph struct {
	Seed     uint64
	Nodes    []*StepsNode // the first one is the entry
	Edges    []*StepsEdge
	Loops    []*StepsLoop
	MaxSteps int // the visits of a run, 0 for the default
	MaxNode  int // the visits of a node, 0 for the default
	// MaxMutations is -1 for the default; with 0 every change is rejected.
	MaxMutations int
	Fixed        bool     // outputs cannot change the graph
	Schema       bool     // the state has declared fields
	Kinds        []string // that may be added; the first one is the default
	// Added says how nodes behave that the run may add, by name.
	Added map[string]*StepsNode
}

// StepsNode is a node and its behaviour: chances in percent, drawn from a digest of the
// visit.
type StepsNode struct {
	ID          string
	Transitions []StepsTransition
	Default     string
	Critical    bool
	MaxVisits   int
	Attempts    int
	Writes      []string

	Tools, Route, Next, Fail, Guards, Mutate, Act, Set, Flaky, Silent, Text int
	// Talk is the chance of messages for the conversation, Before and After that a hook does something;
	// with 0 the node has no such hook.
	Talk, Before, After int
	// Sub and Dag are nested runs in place of a function.
	Sub *StepsGraph
	Dag *StepsDag
}

// StepsTransition leads to a node by a member of the output.
type StepsTransition struct{ Key, To string }

// StepsEdge is an edge; Cond says when it is followed.
type StepsEdge struct {
	From, To string
	Priority int
	Cond     StepsCond
}

// StepsLoop repeats a node until a condition holds; Max 0 means the default.
type StepsLoop struct {
	Node, Exit string
	Until      StepsCond
	Max        int
}

// StepsCond is a condition in one of its forms.
type StepsCond struct {
	// Form is "" for no condition, "data", "expression", "function", "named" (a function
	// that is registered) or "both" (a function with a name).
	Form string
	Kind string // of core.CondKinds, or visits or state for expressions
	Key  string
	// Value is compared with the member Key of the output or of the state, or with the
	// number of the visit.
	Value any
	Min   float64
	ID    string // of a function: its name, and what its answers are drawn from
}

// StepsVisit is the scripted result of a visit.
type StepsVisit struct {
	Output    any  // what is sent
	Sends     bool // whether anything is sent
	Writes    map[string]any
	Tools     []string
	Loop      *bool
	Err       string // "" or returned, panic, status: how the visit fails
	Failing   int    // attempts that fail before the one with this result
	Passed    []string
	Failed    []string
	Next      string
	Mutations []core.Mutation
	Messages  []any
	class     string // of the failure of a nested run
}

// String formats the graph.
func (g *StepsGraph) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d visits, %d of a node, %d mutations, fixed %t, schema %t, kinds %q\n", g.Seed, g.MaxSteps, g.MaxNode, g.MaxMutations, g.Fixed, g.Schema, g.Kinds)
	for _, n := range g.Nodes {
		plain := *n
		plain.Sub, plain.Dag = nil, nil
		fmt.Fprintf(&b, "  %+v\n%s", plain, n.nestedText())
	}
	for _, name := range sortedKeys(g.Added) {
		fmt.Fprintf(&b, "  may be added: %+v\n", *g.Added[name])
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  %s -> %s priority %d if %+v\n", e.From, e.To, e.Priority, e.Cond)
	}
	for _, l := range g.Loops {
		fmt.Fprintf(&b, "  loop %+v\n", *l)
	}
	return b.String()
}

// node returns how a node behaves.
func (g *StepsGraph) node(id string) *StepsNode {
	for _, n := range g.Nodes {
		if n.ID == id {
			return n
		}
	}
	return g.Added[id]
}

// stepsDice draws the parts of a graph or of a visit.
type stepsDice struct {
	*rand.Rand
	g *StepsGraph
}

func (d stepsDice) chance(percent int) bool { return d.IntN(100) < percent }

func pickOne[T any](d stepsDice, list ...T) T { return list[d.IntN(len(list))] }

// target names a node, or the end.
func (d stepsDice) target() string {
	if d.chance(5) {
		return core.EndNode
	}
	return d.g.Nodes[d.IntN(len(d.g.Nodes))].ID
}

// stepsMembers are the members of outputs that routes, conditions and transitions look at.
var stepsMembers = []string{"ok", "grade", "done", core.ErrorKey}

// member returns a value of such a member.
func (d stepsDice) member() any {
	return pickOne[any](d, true, false, int64(1), int64(3), 3.0, "true", "go", "", nil, value.ObjectOf("n", int64(1)))
}

// GenerateSteps returns the graph of a seed. It always compiles.
func GenerateSteps(seed uint64) *StepsGraph {
	g := &StepsGraph{Seed: seed, MaxMutations: -1, Added: map[string]*StepsNode{}}
	d := stepsDice{rand.New(rand.NewPCG(seed, 0x7374657073)), g}
	d.graph()
	d.nest(2)
	return g
}

// graph generates a graph without nested runs.
func (d stepsDice) graph() {
	g := d.g
	for i := range 2 + d.IntN(5) {
		g.Nodes = append(g.Nodes, d.node(fmt.Sprintf("n%d", i)))
	}
	if d.chance(25) {
		g.Nodes = append(g.Nodes, d.node(core.ErrorNode))
	}
	for _, name := range []string{"x0", "x1"} {
		g.Added[name] = d.node(name)
		g.Added[name].Transitions, g.Added[name].Attempts, g.Added[name].Writes = nil, 1, nil
	}
	for _, n := range g.Nodes {
		d.ways(n)
	}
	for range 1 + d.IntN(3*len(g.Nodes)/2) {
		d.edge(g.Nodes[d.IntN(len(g.Nodes))].ID)
	}
	if d.chance(15) { // many edges of one priority
		from := g.Nodes[d.IntN(len(g.Nodes))].ID
		for range 13 + d.IntN(28) {
			d.edge(from)
			g.Edges[len(g.Edges)-1].Priority = 0
		}
	}
	for _, n := range g.Nodes {
		if d.chance(20) {
			g.Loops = append(g.Loops, &StepsLoop{Node: n.ID, Exit: d.target(), Until: d.condition(), Max: d.IntN(4)})
		}
	}
	d.limits()
}

// limits sets the limits of the run.
func (d stepsDice) limits() {
	g := d.g
	if d.chance(50) {
		g.MaxSteps = 1 + d.IntN(12)
	}
	if d.chance(20) {
		g.MaxNode = 1 + d.IntN(3)
	}
	if d.chance(35) {
		g.MaxMutations = d.IntN(4)
	}
	g.Fixed, g.Schema = d.chance(15), d.chance(50)
	if d.chance(85) {
		g.Kinds = []string{"note", "other"}
	}
}

// node returns a node without edges.
func (d stepsDice) node(id string) *StepsNode {
	n := &StepsNode{ID: id, Attempts: 1, Critical: d.chance(20)}
	if d.chance(35) {
		n.MaxVisits = 1 + d.IntN(3)
	}
	if d.chance(30) {
		n.Attempts, n.Flaky = 2+d.IntN(2), 40
	}
	if d.chance(60) {
		n.Writes = pickOne(d, []string{"m"}, []string{"m", "sum"})
	}
	n.Tools, n.Route, n.Next, n.Fail = 25*d.IntN(2), 70*min(1, d.IntN(4)), 15*d.IntN(2), 40*d.IntN(2)
	n.Guards, n.Mutate, n.Act, n.Set = 40*d.IntN(2), 30*d.IntN(2), 35+35*d.IntN(2), 70
	n.Silent, n.Text = 30*d.IntN(2), 10*d.IntN(2)
	n.Talk, n.Before, n.After = 90*min(1, d.IntN(4)), 60*max(0, d.IntN(4)-2), 60*max(0, d.IntN(4)-2)
	return n
}

// ways sets the transitions and the default of a node.
func (d stepsDice) ways(n *StepsNode) {
	if d.chance(75) {
		for range 1 + d.IntN(4) {
			key := pickOne(d, append(stepsMembers, "approve")...)
			if strings.Contains(fmt.Sprint(n.Transitions), "{"+key+" ") {
				continue
			}
			n.Transitions = append(n.Transitions, StepsTransition{key, d.target()})
		}
	}
	if d.chance(75) {
		n.Default = d.target()
	}
}

func (d stepsDice) edge(from string) {
	e := &StepsEdge{From: from, To: d.target()}
	if d.chance(12) {
		e.To = from
	}
	if d.chance(40) {
		e.Priority = pickOne(d, 5, 10, 10, 20, -1)
	}
	if d.chance(90) {
		e.Cond = d.condition()
	}
	d.g.Edges = append(d.g.Edges, e)
}

// condition returns a condition of any form.
func (d stepsDice) condition() StepsCond {
	c := StepsCond{Form: pickOne(d, "data", "data", "expression", "expression", "function", "named", "both"), Min: core.DefaultConfidence}
	switch c.Form {
	case "function", "named", "both":
		c.ID = fmt.Sprintf("f%d", d.IntN(1000))
		return c
	case "expression":
		c.Kind = pickOne(d, append(core.CondKinds(), "visits", "state")...)
	default:
		c.Kind = pickOne(d, core.CondKinds()...)
		c.Min = pickOne(d, core.DefaultConfidence, 0, 0.5, 1)
	}
	switch c.Kind {
	case core.CondOutput:
		c.Key, c.Value = pickOne(d, stepsMembers...), pickOne[any](d, true, true, int64(1), int64(3), 3.0, "true", "go")
	case "visits", "state":
		c.Key, c.Value = "m", int64(1+d.IntN(3))
	}
	return c
}

// visit returns the result of a visit of a node, by its path and number.
func (g *StepsGraph) visit(n *StepsNode, path string, visit int) *StepsVisit {
	d := stepsDice{rand.New(rand.NewPCG(digest(g.Seed, path, fmt.Sprint(visit)), 1)), g}
	v := &StepsVisit{Writes: map[string]any{}}
	if n.Attempts > 1 && d.chance(n.Flaky) {
		v.Failing = 1 + d.IntN(3)
	}
	if d.chance(n.Fail) {
		v.Err = pickOne(d, "returned", "panic", "status", "status", "status")
	}
	if d.chance(n.Tools) {
		v.Tools = pickOne(d, []string{"search"}, []string{"search", "read", "search"})
	}
	if d.chance(30) {
		loop := d.chance(30)
		v.Loop = &loop
	}
	if d.chance(n.Guards) {
		v.Passed, v.Failed = []string{"short"}, pickOne(d, nil, []string{"polite"}, []string{"polite", "true"})
	}
	if d.chance(n.Next) {
		if v.Next = d.target(); d.chance(25) {
			v.Next = pickOne(d, "ghost", "x0")
		}
	}
	for range d.storm(n.Mutate) {
		v.Mutations = append(v.Mutations, d.mutation(n))
	}
	for _, name := range n.Writes {
		if d.chance(50) {
			v.Writes[name] = int64(d.IntN(5))
		}
	}
	if v.Sends = !d.chance(n.Silent); v.Sends {
		v.Output = d.output(n)
	}
	if d.chance(n.Talk) {
		v.Messages = []any{fmt.Sprintf("%s says %d", path, visit)}
	}
	return v
}

// storm returns the number of changes that a visit requests, which is sometimes much
// larger than any limit.
func (d stepsDice) storm(percent int) int {
	switch {
	case !d.chance(percent):
		return 0
	case d.chance(10):
		return 30
	}
	return 1 + d.IntN(2)
}

// anyNode names a node that may exist or be added later.
func (d stepsDice) anyNode() string {
	if d.chance(30) {
		return pickOne(d, "x0", "x1", "ghost")
	}
	return d.target()
}

// mutation returns a change that the code of a node requests.
func (d stepsDice) mutation(n *StepsNode) core.Mutation {
	switch d.IntN(12) {
	case 0, 1, 2, 3:
		return core.Mutation{Action: core.MutationAddEdge, From: d.anyNode(), To: d.anyNode()}
	case 4, 5, 6:
		e := d.g.Edges[d.IntN(len(d.g.Edges))]
		return core.Mutation{Action: core.MutationRemoveEdge, From: e.From, To: e.To}
	case 7, 8:
		for range 8 {
			if id := d.anyNode(); id != core.EndNode {
				return core.Mutation{Action: core.MutationRemoveNode, Node: id}
			}
		}
		return core.Mutation{Action: core.MutationRemoveNode, Node: "ghost"}
	case 9:
		return core.Mutation{Action: "explode", Node: n.ID}
	}
	return core.Mutation{Action: core.MutationAddNode, Config: d.config()}
}

// config describes a node to add, sometimes in a way that is rejected.
func (d stepsDice) config() *value.Object {
	o := value.ObjectOf("name", pickOne[any](d, "x0", "x0", "x0", "x1", "x1", "x1", "n0", core.EndNode, "", int64(3)))
	if d.chance(10) {
		o = value.NewObject(4)
	}
	if d.chance(30) {
		o.Set("type", pickOne(d, "note", "other", "forbidden"))
	}
	if d.chance(50) {
		o.Set("default_next", d.target())
	}
	if d.chance(30) {
		o.Set("transitions", value.ObjectOf(pickOne(d, stepsMembers...), d.target()))
	}
	if d.chance(30) {
		o.Set("max_iterations", int64(1+d.IntN(3)))
	}
	if d.chance(30) {
		o.Set("instructions", "be kind")
	}
	return o
}

// output returns what a visit sends.
func (d stepsDice) output(n *StepsNode) any {
	if d.chance(n.Text) {
		return pickOne[any](d, "route", "n1", int64(3), nil, []any{"n0"})
	}
	o := value.NewObject(6)
	for range 3 {
		if !d.chance(n.Set) {
			continue
		}
		key := pickOne(d, stepsMembers...)
		if len(n.Transitions) > 0 && d.chance(60) {
			key = n.Transitions[d.IntN(len(n.Transitions))].Key
		}
		o.Set(key, d.member())
	}
	if d.chance(40) {
		o.Set("confidence", pickOne[any](d, 0.7, 0.71, 0.69, int64(1), "0.9", 0.5))
	}
	for keys := 0; d.chance(n.Route) && (keys == 0 || d.chance(40)); keys++ {
		// The last keys decide only if no other one does, so they are more frequent.
		o.Set(core.RouteKeys[pickOne(d, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3)], d.named())
	}
	if d.chance(n.Act) {
		d.action(o)
	}
	if d.chance(20) { // a Go map counts as an object
		m := map[string]any{}
		for k, v := range o.All() {
			m[k] = v
		}
		return m
	}
	return o
}

// named returns the value of a member that may name the next node.
func (d stepsDice) named() any {
	if d.chance(65) {
		return d.target()
	}
	return pickOne[any](d, d.anyNode(), "approve", "approve", "", "N0", int64(1), " n0")
}

// action adds a request to change the graph to an output.
func (d stepsDice) action(o *value.Object) {
	what := pickOne[any](d, core.MutationSkipTo, core.MutationSkipTo, core.MutationRetryWith, core.MutationRetryWith, core.MutationAddEdge, core.MutationAddNode, core.MutationAddNode, core.MutationRemoveNode, "explode", int64(1))
	o.Set(core.GraphAction, what)
	add := func(key string, v any) {
		if !d.chance(8) {
			o.Set(key, v)
		}
	}
	switch what {
	case core.MutationSkipTo:
		add(core.ActionTarget, d.anyNode())
	case core.MutationRetryWith:
		add(core.ActionUpdate, pickOne[any](d, value.ObjectOf("m", int64(1+d.IntN(3))), value.ObjectOf("m", int64(d.IntN(3))), value.ObjectOf("sum", int64(2), "m", int64(1)), value.NewObject(0),
			value.ObjectOf("m", "text"), value.ObjectOf("m", int64(2), "more", true), "m"))
	case core.MutationAddEdge:
		add(core.ActionFrom, d.anyNode())
		add(core.ActionTo, d.anyNode())
	case core.MutationAddNode:
		config := d.config()
		add(core.ActionConfig, config)
		if name, _ := config.Get("name"); d.chance(50) {
			o.Set(core.RouteKeys[0], name)
		}
	}
}

// result returns the result of an attempt as a handler does.
func (v *StepsVisit) result(attempt int) (core.Result, error) {
	if attempt <= v.Failing {
		return core.Result{}, errors.New("connection reset by peer")
	}
	r := core.Result{Delta: v.Writes, Routing: &core.Routing{ToolCalls: v.Tools, ToolLoop: v.Loop, Next: v.Next,
		GuardsPassed: v.Passed, GuardsFailed: v.Failed, Mutations: v.Mutations, Messages: v.Messages}}
	if v.Sends {
		r.EdgeOutput, r.HasEdgeOutput = v.Output, true
	}
	switch v.Err {
	case "status":
		r.Status, r.Note = core.Fail, "no"
	case "returned":
		return r, core.Permanent(errors.New("broken"))
	case "panic":
		panic("wanted panic")
	}
	return r, nil
}

// answer is the answer of a condition that is a function; some panic.
func (g *StepsGraph) answer(id, node string, visit int) (holds, panics bool) {
	h := digest(g.Seed, "function", id, node, fmt.Sprint(visit))
	return h%10 < 4, h%10 >= 8
}
