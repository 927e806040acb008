package schedulertest

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// StepsLog is what must be the same however a walk by steps is run.
type StepsLog struct {
	Walk    []string // a line for each visit, each transition and the end
	Changes []string // accepted and rejected changes of the graph
	State   string
	// Panicked lists the edges whose condition panicked when step 4 looked at it.
	Panicked []string
	// Results lists what the events say of the result of each visit.
	Results []string
	// Marks names what has happened besides, for the shares of constructs. Only the oracle notes it.
	Marks map[string]bool
}

// mark notes that something has happened.
func (l *StepsLog) mark(what string, yes bool) {
	if yes {
		l.Marks[what] = true
	}
}

// OracleSteps runs a walk by steps according to the rules, in the simplest way.
func OracleSteps(g *StepsGraph) *StepsLog {
	o := newStepsOracle(g, &StepsLog{Marks: map[string]bool{}})
	end, _ := o.walk()
	o.log.Walk = append(o.log.Walk, end)
	all := value.NewObject(2)
	for k, v := range o.state { // sortedJSON sorts them
		all.Set(k, v)
	}
	o.log.State = sortedJSON(all)
	return o.log
}

func newStepsOracle(g *StepsGraph, log *StepsLog) *stepsOracle {
	o := &stepsOracle{g: g, graph: newOracleGraph(g), state: map[string]any{}, visits: map[string]int{}, log: log, left: 10}
	if g.MaxMutations >= 0 {
		o.left = g.MaxMutations
	}
	return o
}

// oracleGraph is the graph of one run.
type oracleGraph struct {
	nodes []*oracleNode
	edges []StepsEdge // in the order in which they were added
	// gone holds the removed nodes in their last form: after a visit that removes its own node, the walk
	// continues by the transitions and the default that the node had.
	gone map[string]*oracleNode
}

type oracleNode struct {
	id          string
	transitions []StepsTransition
	next        string
	critical    bool
	limit       int
	loop        *StepsLoop
	attempts    int
	writes      []string
	does        *StepsNode // its hooks and what is nested in it, nil for a node that the run has added
}

func newOracleGraph(g *StepsGraph) *oracleGraph {
	out := &oracleGraph{gone: map[string]*oracleNode{}}
	for _, n := range g.Nodes {
		limit := n.MaxVisits
		if limit == 0 {
			limit = 10
		}
		out.nodes = append(out.nodes, &oracleNode{id: n.ID, transitions: n.Transitions, next: n.Default, critical: n.Critical, limit: limit,
			attempts: n.Attempts, writes: n.Writes, does: n})
	}
	for _, e := range g.Edges {
		out.edges = append(out.edges, *e)
	}
	for _, l := range g.Loops {
		n := out.node(l.Node)
		limit := l.Max
		if limit == 0 {
			limit = 5
		}
		if own := g.node(l.Node).MaxVisits; own > 0 { // it replaces the default of the node only
			limit = min(limit, own)
		}
		n.loop, n.limit = l, limit
		out.edges = append(out.edges, StepsEdge{From: l.Node, To: l.Exit, Priority: 10, Cond: l.Until}, StepsEdge{From: l.Node, To: l.Node})
	}
	return out
}

func (g *oracleGraph) node(id string) *oracleNode {
	for _, n := range g.nodes {
		if n.id == id {
			return n
		}
	}
	return nil
}

// names reports whether a text names a node or the end.
func (g *oracleGraph) names(id string) bool { return id == core.EndNode || g.node(id) != nil }

type stepsOracle struct {
	g      *StepsGraph
	graph  *oracleGraph
	state  map[string]any
	visits map[string]int
	path   []string
	left   int // changes that may still be made
	log    *StepsLog
	prefix string // of the names of nodes in a nested run
	talk   []any  // the messages of the visits that the next one continues
}

// oracleVisit is a visit that has ended.
type oracleVisit struct {
	id     string
	n      *oracleNode
	v      *StepsVisit
	count  int
	failed bool
	output any
	jump   string
	update *value.Object // of the state, which comes with the jump
	class  string        // of the failure
	after  int           // the number of attempts
}

// object returns the output if it is an object.
func (v *oracleVisit) object() *value.Object {
	o, _ := v.output.(*value.Object)
	return o
}

func (v *oracleVisit) member(key string) (any, bool) {
	if v.object() == nil {
		return nil, false
	}
	return v.object().Get(key)
}

// divert returns where the token goes instead of a node whose visits are used up. ok is false if
// there is no such node.
func (o *stepsOracle) divert(to string) (target string, diverted, ok bool) {
	seen := map[string]bool{}
	for to != core.EndNode {
		n := o.graph.node(to)
		if n == nil { // it was removed: no node handles that the visits are used up
			return core.EndNode, diverted, false
		}
		most := 25
		if o.g.MaxNode > 0 {
			most = o.g.MaxNode
		}
		if o.visits[to] < min(most, n.limit) {
			return to, diverted, true
		}
		if seen[to] {
			return core.EndNode, true, false
		}
		seen[to], diverted = true, true
		at := slices.IndexFunc(n.transitions, func(t StepsTransition) bool { return t.Key == "error" })
		switch {
		case n.loop != nil:
			to = n.loop.Exit
		case at >= 0:
			to = n.transitions[at].To
		case o.graph.node("__error__") != nil:
			to = "__error__"
		default:
			return core.EndNode, true, false
		}
	}
	return to, diverted, true
}

// write writes a field, or a member of the context.
func (o *stepsOracle) write(name string, v any) {
	old, exists := o.state[name].(int64)
	if n, ok := v.(int64); ok && o.g.Schema && name == "sum" && exists {
		v = old + n
	}
	o.state[name] = v
}

// change makes the changes that a visit requests: first the changes of the code, then the change of
// the output.
func (o *stepsOracle) change(v *oracleVisit) {
	made := func(action any, ok bool) {
		what := "rejected"
		if ok {
			what = "accepted"
			o.left--
		}
		name, ok := action.(string)
		if !ok { // the generator has no other type
			name = "integer"
		}
		o.log.Changes = append(o.log.Changes, fmt.Sprintf("%s%s#%d %s %s", o.prefix, v.id, v.count, what, name))
	}
	for _, m := range v.v.Mutations {
		made(m.Action, o.left > 0 && !o.g.Fixed && o.mutate(m))
	}
	action, ok := v.member("_graph_action")
	if !ok || o.g.Fixed {
		return
	}
	made(action, o.left > 0 && o.act(v, action))
}

// mutate makes a change of the code; false means that it is not possible.
func (o *stepsOracle) mutate(m core.Mutation) bool {
	g := o.graph
	switch m.Action {
	case "add_edge":
		return o.addEdge(m.From, m.To)
	case "remove_edge":
		before := len(g.edges)
		g.edges = slices.DeleteFunc(g.edges, func(e StepsEdge) bool { return e.From == m.From && e.To == m.To })
		return len(g.edges) < before
	case "add_node":
		return o.addNode(m.Config)
	case "remove_node":
		n := g.node(m.Node)
		if n == nil {
			return false
		}
		g.gone[n.id] = n
		g.nodes = slices.DeleteFunc(g.nodes, func(n *oracleNode) bool { return n.id == m.Node })
		g.edges = slices.DeleteFunc(g.edges, func(e StepsEdge) bool { return e.From == m.Node || e.To == m.Node })
		return true
	}
	return false
}

// act performs the action that an output requests.
func (o *stepsOracle) act(v *oracleVisit, action any) bool {
	textOf := func(key string) string {
		s, _ := v.member(key)
		name, _ := s.(string)
		return name
	}
	objectOf := func(key string) *value.Object {
		s, _ := v.member(key)
		object, _ := s.(*value.Object)
		return object
	}
	switch action {
	case "skip_to":
		to := textOf("_target")
		if !o.graph.names(to) {
			return false
		}
		v.jump = to
		return true
	case "retry_with":
		update := objectOf("_context_update")
		if update == nil {
			return false
		}
		for k, x := range update.All() {
			if _, integer := x.(int64); o.g.Schema && (!integer || k != "m" && k != "sum") {
				return false
			}
		}
		v.jump, v.update = v.id, update
		return true
	case "add_edge":
		return o.addEdge(textOf("_from"), textOf("_to"))
	case "add_node":
		return o.addNode(objectOf("_node_config"))
	}
	return false
}

func (o *stepsOracle) addEdge(from, to string) bool {
	if o.graph.node(from) == nil || !o.graph.names(to) {
		return false
	}
	o.graph.edges = append(o.graph.edges, StepsEdge{From: from, To: to})
	return true
}

func (o *stepsOracle) addNode(config *value.Object) bool {
	if config == nil || len(o.g.Kinds) == 0 {
		return false
	}
	get := func(key string) any { v, _ := config.Get(key); return v }
	name, _ := get("name").(string)
	if name == "" || o.graph.names(name) {
		return false
	}
	if kind, ok := config.Get("type"); ok && !slices.ContainsFunc(o.g.Kinds, func(k string) bool { return k == kind }) {
		return false
	}
	n := &oracleNode{id: name, limit: 10, attempts: 1}
	if max, ok := get("max_iterations").(int64); ok {
		n.limit = int(max)
	}
	n.next, _ = get("default_next").(string)
	if list, ok := get("transitions").(*value.Object); ok {
		for k, to := range list.All() {
			n.transitions = append(n.transitions, StepsTransition{k, to.(string)})
		}
	}
	o.graph.nodes = append(o.graph.nodes, n)
	return true
}

// resolve returns where the walk continues, and the step that has decided.
func (o *stepsOracle) resolve(v *oracleVisit) (to, step string) {
	if v.n = o.graph.node(v.id); v.n == nil { // the visit may have replaced or removed its own node
		v.n = o.graph.gone[v.id]
	}
	if v.jump != "" {
		return v.jump, core.StepJump
	}
	if len(v.v.Tools) > 0 && (v.v.Loop == nil || *v.v.Loop) {
		return v.n.id, core.StepToolLoop
	}
	for _, key := range []string{"route", "_next", "next_step", "goto"} {
		named, _ := v.member(key)
		name, _ := named.(string)
		if name == "" {
			continue
		}
		if o.graph.names(name) {
			return name, core.StepRoute
		}
		for _, t := range v.n.transitions {
			if t.Key == name && o.graph.names(t.To) {
				return t.To, core.StepRoute
			}
		}
	}
	if v.v.Next != "" {
		return v.v.Next, core.StepNextNode
	}
	if e := o.edge(v); e != nil {
		return e.To, core.StepEdge
	}
	for _, t := range v.n.transitions {
		x, _ := v.member(t.Key)
		if s, ok := x.(string); x == true || ok && s != "" {
			return t.To, core.StepTransition
		}
	}
	if v.n.next != "" {
		return v.n.next, core.StepDefault
	}
	return core.EndNode, core.StepEnd
}

// edge returns the edge to follow, or nil.
func (o *stepsOracle) edge(v *oracleVisit) *StepsEdge {
	var out []StepsEdge
	for _, e := range o.graph.edges {
		if e.From == v.n.id {
			out = append(out, e)
		}
	}
	for len(out) > 0 {
		best := 0
		for i := range out {
			a, b := out[i], out[best]
			if a.Priority > b.Priority || a.Priority == b.Priority && a.Cond.Form != "" && b.Cond.Form == "" {
				best = i
			}
		}
		if e := out[best]; o.holds(&e, v) {
			return &e
		}
		out = slices.Delete(out, best, best+1)
	}
	return nil
}

// holds reports whether the condition of an edge holds.
func (o *stepsOracle) holds(e *StepsEdge, v *oracleVisit) bool {
	c := e.Cond
	switch c.Form {
	case "":
		return true
	case "function", "named", "both":
		holds, panics := o.g.answer(c.ID, v.n.id, v.count)
		if panics {
			o.log.Panicked = append(o.log.Panicked, fmt.Sprintf("%s%s#%d to %s", o.prefix, v.id, v.count, e.To))
		}
		return holds && !panics
	}
	switch c.Kind {
	case "tool_called":
		return len(v.v.Tools) > 0
	case "no_tool_call":
		return len(v.v.Tools) == 0
	case "error":
		return v.failed
	case "guard_failed":
		return len(v.v.Failed) > 0
	case "output":
		x, ok := v.member(c.Key)
		return ok && sameValue(x, c.Value)
	case "confidence":
		x, _ := v.member("confidence")
		n, ok := numeric(x)
		least, _ := numeric(c.Min)
		return ok && n.Cmp(least) >= 0
	case "visits":
		return int64(v.count) == c.Value
	case "state":
		return sameValue(o.state[c.Key], c.Value)
	}
	return false
}

func numeric(v any) (*big.Float, bool) {
	switch v := v.(type) {
	case int64:
		return new(big.Float).SetInt64(v), true
	case float64:
		return big.NewFloat(v), true
	}
	return nil, false
}

// sameValue compares two simple values; numbers of different types can be equal.
func sameValue(a, b any) bool {
	x, ok := numeric(a)
	if y, also := numeric(b); ok && also {
		return x.Cmp(y) == 0
	}
	switch a.(type) {
	case bool, string:
		return a == b
	}
	return false
}
