package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/steps"
)

// liveChanges are the changes of the plan of a run in comparison to the plan of the workflow.
type liveChanges struct {
	added   map[string]int32 // nodes that the run has added, by name
	changes []core.Mutation  // what was changed, in order
}

// nodeMaker compiles the nodes that a run adds.
type nodeMaker struct {
	reg  *core.Registry
	opts Options
}

// AddedKinds returns Options.AddedKinds if runs of the plan can add nodes, else nil.
func (p *Plan) AddedKinds() []string {
	if p.adds == nil {
		return nil
	}
	return p.adds.opts.AddedKinds
}

// UnknownKinds returns those of kinds that no added node can have, because the program has neither a kind nor
// a function of that name.
func (p *Plan) UnknownKinds(kinds []string) (unknown []string) {
	if p.adds == nil {
		return nil
	}
	for _, name := range kinds {
		_, isKind := p.adds.reg.Kind(name)
		if _, isTool := p.adds.reg.Tool(name); !isKind && !isTool {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// Changed returns the plan of a run of a walk by steps that has changed its graph, or the reason why
// the change is not possible. allowed are the kinds, and the names of registered functions, of nodes that
// may be added; the first one is the kind of a node that names none. p does not change. It costs a copy of
// the parts that change.
func (p *Plan) Changed(m core.Mutation, allowed []string) (*Plan, error) {
	if m.Action == core.MutationAddNode {
		if err := mayAdd(&m, allowed); err != nil {
			return nil, err
		}
	}
	return p.changed(m)
}

// mayAdd checks that a node is of an allowed kind, and completes its description if it names none.
func mayAdd(m *core.Mutation, allowed []string) error {
	key := core.NodeConfigKeys()[1]
	kind, given := m.Config.Get(key)
	name, isText := kind.(string)
	switch {
	case len(allowed) == 0:
		return fmt.Errorf("this program does not allow added nodes")
	case m.Config == nil || given && !isText:
		return nil // nodeDecl reports it
	case name == "":
		m.Config = m.Config.Copy(1)
		m.Config.Set(key, allowed[0])
	case !slices.Contains(allowed, name):
		return fmt.Errorf("nodes of type %q are not among the types that may be added: %s", name, strings.Join(allowed, ", "))
	}
	return nil
}

// changed makes a change. An added node has a type.
func (p *Plan) changed(m core.Mutation) (*Plan, error) {
	q := p.copyForRun()
	var err error
	switch m.Action {
	case core.MutationAddNode:
		err = q.addNode(m.Config)
	case core.MutationRemoveNode:
		err = q.removeNode(m.Node)
	case core.MutationAddEdge:
		err = q.addEdge(m.From, m.To)
	case core.MutationRemoveEdge:
		err = q.removeEdge(m.From, m.To)
	default:
		err = fmt.Errorf("there is no change %q", m.Action)
	}
	if err != nil {
		return nil, err
	}
	live := q.Walk.Steps.live
	live.changes = append(slices.Clip(live.changes), m)
	return q, nil
}

// copyForRun returns a plan that shares all lists with p.
func (p *Plan) copyForRun() *Plan {
	q, w, s, live := *p, *p.Walk, *p.Walk.Steps, liveChanges{}
	if s.live != nil {
		live = *s.live
	}
	q.Walk, w.Steps, s.live = &w, &s, &live
	return &q
}

// Changes returns the changes of the graph of the plan of a run, nil for other plans. Added nodes have types.
func (p *Plan) Changes() []core.Mutation {
	if p.Walk == nil || p.Walk.Steps == nil || p.Walk.Steps.live == nil {
		return nil
	}
	return p.Walk.Steps.live.changes
}

// With returns the plan of a run that has made changes of its graph, which are those of Changes, and p itself
// without changes.
func (p *Plan) With(changes []core.Mutation) (*Plan, error) {
	for _, m := range changes {
		q, err := p.changed(m)
		if err != nil {
			return nil, err
		}
		p = q
	}
	return p, nil
}

// Lookup returns the index of a node of the graph, without the nodes that the run has removed.
func (p *Plan) Lookup(name string) (node int32, ok bool) {
	i, ok := p.find(name)
	return i, ok && !p.Walk.Steps.Nodes[i].Removed
}

// find returns the index of a node, which the run may have removed.
func (p *Plan) find(name string) (int32, bool) {
	if i, ok := p.nodeIndex[name]; ok {
		return i, true
	}
	if p.Walk == nil || p.Walk.Steps == nil || p.Walk.Steps.live == nil {
		return 0, false
	}
	i, ok := p.Walk.Steps.live.added[name]
	return i, ok
}

// StepsOf returns what the steps know of a node.
func (p *Plan) StepsOf(node int32) *StepNode { return &p.Walk.Steps.Nodes[node] }

// Function returns the condition of an edge that is a Go function.
func (p *Plan) Function(edge int32) core.Predicate { return p.Walk.Steps.Calls[edge] }

// ends finds the nodes at the ends of an edge to add or remove.
func (p *Plan) ends(from, to string) (f, t int32, err error) {
	f, ok := p.Lookup(from)
	if !ok {
		return 0, 0, fmt.Errorf("there is no node %q", from)
	}
	if to == core.EndNode {
		return f, NoNode, nil
	}
	if t, ok = p.Lookup(to); !ok {
		return 0, 0, fmt.Errorf("there is no node %q", to)
	}
	return f, t, nil
}

// addEdge adds an unconditional edge of priority 0.
func (p *Plan) addEdge(from, to string) error {
	f, t, err := p.ends(from, to)
	if err != nil {
		return err
	}
	i, w := int32(len(p.Edges)), p.Walk
	d := &core.Edge{From: source.Text{Value: from}, To: source.Text{Value: to}}
	p.Edges, p.edgeDecls = append(slices.Clip(p.Edges), Edge{FromNode: f, ToNode: t}), append(slices.Clip(p.edgeDecls), d)
	w.Edges = append(slices.Clip(w.Edges), WalkEdge{})
	w.Steps.Nodes = slices.Clone(w.Steps.Nodes)
	n := &w.Steps.Nodes[f]
	n.Edges = append(slices.Clip(n.Edges), steps.Edge{Index: i, To: t})
	n.sort(w.Steps.Calls)
	return nil
}

// removeEdge removes all edges from one node to another.
func (p *Plan) removeEdge(from, to string) error {
	f, t, err := p.ends(from, to)
	if err != nil {
		return err
	}
	s := p.Walk.Steps
	if !s.Nodes[f].leads(t) {
		return fmt.Errorf("no edge leads from %s to %s", from, to)
	}
	s.Nodes = slices.Clone(s.Nodes)
	s.Nodes[f].drop(t, s.Calls)
	return nil
}

// leads reports whether an edge leads to a node.
func (n *StepNode) leads(to int32) bool {
	return slices.ContainsFunc(n.Edges, func(e steps.Edge) bool { return e.To == to })
}

// drop removes the edges to a node.
func (n *StepNode) drop(to int32, calls map[int32]core.Predicate) {
	n.Edges = slices.DeleteFunc(slices.Clone(n.Edges), func(e steps.Edge) bool { return e.To == to })
	n.sort(calls)
}

// removeNode removes a node and its edges.
func (p *Plan) removeNode(name string) error {
	i, ok := p.Lookup(name)
	if !ok {
		return fmt.Errorf("there is no node %q", name)
	}
	s := p.Walk.Steps
	s.Nodes = slices.Clone(s.Nodes)
	for k := range s.Nodes {
		if n := &s.Nodes[k]; n.leads(i) {
			n.drop(i, s.Calls)
		}
	}
	s.Nodes[i].Edges, s.Nodes[i].Calls, s.Nodes[i].Removed = nil, nil, true
	return nil
}

// addNode adds a node. config has the keys of core.NodeConfigKeys.
func (p *Plan) addNode(config *value.Object) error {
	d, visits, err := p.nodeDecl(config)
	if err != nil {
		return err
	}
	made, ds := Compile(p.workflowOf(d), p.maker.reg, p.maker.opts)
	if made == nil || len(made.Refused) > 0 {
		if made != nil {
			ds = made.Refused
		}
		return fmt.Errorf("the node is not valid: %s", ds[0].Message)
	}
	w, live := p.Walk, p.Walk.Steps.live
	p.Nodes, w.Nodes, w.Steps.Nodes = slices.Clone(p.Nodes), slices.Clone(w.Nodes), slices.Clone(w.Steps.Nodes)
	i, known := p.find(d.ID.Value)
	if !known {
		i = int32(len(p.Nodes))
		p.Nodes, w.Nodes, w.Steps.Nodes = append(p.Nodes, Node{}), append(w.Nodes, WalkNode{}), append(w.Steps.Nodes, StepNode{})
		if live.added = maps.Clone(live.added); live.added == nil {
			live.added = map[string]int32{}
		}
		live.added[d.ID.Value] = i
	}
	n := made.Nodes[0]
	n.Index, n.Member, n.Vertex = i, i, 0
	p.Nodes[i], w.Nodes[i] = n, made.Walk.Nodes[0]
	w.Steps.Nodes[i] = StepNode{Node: steps.Node{Index: i, Transitions: d.Transitions, Default: d.DefaultNext.Value}, Budget: visits}
	return nil
}

// nodeDecl reads the description of a node to add, and the limit of its visits.
func (p *Plan) nodeDecl(config *value.Object) (*core.Node, int, error) {
	c := configReader{o: config, keys: core.NodeConfigKeys()}
	name, kind, text, next := c.text(0), c.text(1), c.text(2), c.text(3)
	transitions, visits := c.transitions(), c.visits()
	switch {
	case c.err != nil:
		return nil, 0, c.err
	case !isID(name):
		return nil, 0, fmt.Errorf("%q is not the name of a node", name)
	case name == core.EndNode:
		return nil, 0, fmt.Errorf("%s is the name of the end", name)
	}
	if _, taken := p.Lookup(name); taken {
		return nil, 0, fmt.Errorf("there is a node %q already", name)
	}
	d := &core.Node{ID: source.Text{Value: name}, Kind: source.Text{Value: kind}, Transitions: transitions, DefaultNext: source.Text{Value: next}}
	if err := p.instruct(d, text); err != nil {
		return nil, 0, err
	}
	settings := p.Workflow.Walk
	limit := core.DefaultMaxNodeVisits
	if settings.MaxVisits != nil {
		limit = settings.MaxVisits.Value
	}
	return d, lower(visits, limit), nil
}

// instructionKeys are the keys by which kinds take instructions, best first.
var instructionKeys = []string{"instructions", "instruction", "prompt", "text"}

// instruct passes instructions to a node: to its kind, or as an argument to a function.
func (p *Plan) instruct(d *core.Node, text string) error {
	d.Config = source.Tree(value.NewObject(0), source.Position{}) // as in a document without keys of the kind
	if text == "" {
		return nil
	}
	k, ok := p.maker.reg.Kind(d.Kind.Value)
	if !ok {
		d.Args = source.Tree(value.ObjectOf("instructions", text), source.Position{})
		return nil
	}
	for _, key := range instructionKeys {
		if slices.Contains(k.Keys(), key) {
			d.Config = source.Tree(value.ObjectOf(key, text), source.Position{})
			return nil
		}
	}
	return fmt.Errorf("a node of type %q takes no instructions", d.Kind.Value)
}

// workflowOf returns a workflow with the state of the plan and with one node.
func (p *Plan) workflowOf(d *core.Node) *core.Workflow {
	w := *p.Workflow
	node := *d
	node.Transitions, node.DefaultNext = slices.Clone(d.Transitions), source.Text{}
	for i := range node.Transitions { // a kind may use the keys, and the targets are nodes of the run
		node.Transitions[i].To.Value = core.EndNode
	}
	w.Nodes, w.Edges, w.Findings, w.Codes, w.Sources = []*core.Node{&node}, nil, nil, nil, nil
	w.Walk = &core.Walk{Router: source.Text{Value: core.RouterSteps}, Entry: d.ID}
	return &w
}

// configReader reads the description of a node. It keeps the first error.
type configReader struct {
	o    *value.Object
	keys []string
	err  error
}

func (c *configReader) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// get returns the member with the name at an index of the keys.
func (c *configReader) get(key int) (any, bool) {
	if key == 0 {
		for name := range c.o.All() {
			if !slices.Contains(c.keys, name) {
				c.fail("a node has no key %q; the keys are %s", name, strings.Join(c.keys, ", "))
			}
		}
	}
	return c.o.Get(c.keys[key])
}

func (c *configReader) text(key int) string {
	v, ok := c.get(key)
	s, isText := v.(string)
	if ok && !isText {
		c.fail("%s: want a string, got %s", c.keys[key], value.TypeName(v))
	}
	return s
}

func (c *configReader) transitions() []core.Transition {
	v, ok := c.get(4)
	o, isObject := v.(*value.Object)
	if ok && !isObject {
		c.fail("%s: want an object, got %s", c.keys[4], value.TypeName(v))
	}
	var list []core.Transition
	for key, to := range o.All() {
		name, isText := to.(string)
		if !isText {
			c.fail("%s.%s: want a string, got %s", c.keys[4], key, value.TypeName(to))
		}
		list = append(list, core.Transition{Key: source.Text{Value: key}, To: source.Text{Value: name}})
	}
	return list
}

func (c *configReader) visits() int {
	v, ok := c.get(5)
	if !ok {
		return core.DefaultNodeBudget
	}
	n, isInt := v.(int64)
	if !isInt || n < 1 || n > 1<<31-1 {
		c.fail("%s: want a whole number of at least 1", c.keys[5])
	}
	return int(n)
}

// AcceptUpdate checks an update of the state by names of fields, or of members of the context.
func (p *Plan) AcceptUpdate(update *value.Object) ([]Write, error) {
	if p.open {
		return []Write{{p.context, update}}, nil
	}
	var writes []Write
	for name, v := range update.All() {
		i, ok := p.Schema.Index(name)
		if !ok {
			return nil, fmt.Errorf("the state has no field %q", name)
		}
		accepted, err := p.Schema.Fields[i].Accept(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		writes = append(writes, Write{int32(i), accepted})
	}
	return writes, nil
}

// Deciding returns the members of an output that decide where a walk continues after a node.
func (p *Plan) Deciding(node int32, output any) *value.Object {
	o, _ := output.(*value.Object)
	out := value.NewObject(0)
	if o == nil {
		return out
	}
	add := func(key string) {
		if v, ok := o.Get(key); ok {
			out.Set(key, v)
		}
	}
	for _, key := range core.RouteKeys {
		add(key)
	}
	n := p.StepsOf(node)
	for i := range n.Edges {
		switch e := &n.Edges[i]; e.Test {
		case steps.Output:
			add(e.Key)
		case steps.Confidence:
			add("confidence")
		}
	}
	for _, t := range n.Transitions {
		add(t.Key.Value)
	}
	return out
}
