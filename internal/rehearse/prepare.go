package rehearse

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Prepare returns the workflow and the inputs with which a mock file starts a run. An
// initial value of a field that is not an input becomes the default of the field, in a copy
// of the workflow.
func Prepare(w *core.Workflow, f *mock.File) (*core.Workflow, *value.Object, source.Diagnostics) {
	var ds source.Diagnostics
	inputs := &value.Object{}
	c := *w
	c.Fields = slices.Clone(w.Fields)
	for _, m := range f.Inputs {
		inputs.Set(m.Key.Value, m.Value.Plain())
	}
	for _, m := range f.Initial {
		name, v := m.Key.Value, m.Value.Plain()
		isInput := slices.ContainsFunc(w.Inputs, func(d core.InputDecl) bool { return d.Name.Value == name })
		at := slices.IndexFunc(c.Fields, func(d core.FieldDecl) bool { return d.Name.Value == name })
		switch {
		case at < 0 && !isInput:
			ds.Errorf(source.CodeUnknownField, m.Key.Pos, "initial: state field %q is not declared", name).
				WithHint("%s", source.DidYouMean(name, fieldNames(w)))
		case isInput || !w.HasInputs:
			inputs.Set(name, v)
		default:
			if err := c.Fields[at].Type.Check(v); err != nil {
				ds.Errorf(source.CodeWrongType, m.Value.Pos, "initial: state field %q: %v", name, err)
				continue
			}
			c.Fields[at].Default = v
		}
	}
	return &c, inputs, ds
}

func fieldNames(w *core.Workflow) []string {
	var names []string
	for _, f := range w.Fields {
		names = append(names, f.Name.Value)
	}
	return names
}

// Names checks that the nodes and fields in a mock file exist in the plan, and that its answers have a meaning
// there. added are the names of other nodes that the run may have, in addition to nodes
// that answers in the file add.
func Names(p *plan.Plan, f *mock.File, added ...string) source.Diagnostics {
	n := &names{plan: p, file: f, added: added}
	for _, m := range f.Nodes {
		n.answers(m, "nodes")
	}
	if f.Model != nil {
		n.model(f.Model)
	}
	n.conditions(f.Conditions)
	e := f.Expect
	if e == nil {
		return n.ds
	}
	for _, m := range e.Nodes {
		n.node(m.Key, "expect.nodes", true)
	}
	for _, m := range e.State {
		n.field(m.Key, "expect.state")
	}
	for _, name := range e.Absent {
		n.field(name, "expect.absent")
	}
	for _, m := range e.Runs {
		n.node(m.Key, "expect.runs", false)
	}
	for _, m := range e.Attempts {
		n.node(m.Key, "expect.attempts", false)
	}
	for _, id := range e.Order {
		n.node(id, "expect.order", false)
	}
	for _, s := range e.Trace {
		n.node(source.At(s.Node, s.Pos), "expect.trace", false)
	}
	for _, m := range e.Asked {
		n.node(m.Key, "expect.asked", false)
	}
	for _, id := range e.Path {
		n.node(id, "expect.path", false)
	}
	for _, m := range e.Peak {
		if m.Key.Value != Total {
			n.node(m.Key, "expect.peak", false)
		}
	}
	for _, m := range e.Calls {
		if m.Key.Value != Total {
			n.node(m.Key, "expect.calls", false)
		}
	}
	return n.ds
}

type names struct {
	plan  *plan.Plan
	file  *mock.File
	added []string
	ds    source.Diagnostics
}

// model checks the section about models: its decisions must belong to nodes of walks that a
// model routes, and must follow their edges.
func (n *names) model(m *mock.Model) {
	for _, r := range m.Run {
		n.answers(r, "model.run")
	}
	for _, r := range m.Route {
		before := len(n.ds)
		n.node(r.Key, "model.route", false)
		if len(n.ds) == before {
			n.routes(r)
		}
	}
}

func (n *names) routes(r source.Member[mock.Routes]) {
	p, id := n.inner(r.Key.Value)
	node, _ := p.Node(id)
	if _, ok := p.Router(); !ok {
		n.ds.Errorf(source.CodeBadValue, r.Key.Pos, "model.route: node %q is not in a graph that a model routes", r.Key.Value)
		return
	}
	var targets []string
	for _, e := range p.Leaving(node.Index) {
		targets = append(targets, p.Nodes[p.Edges[e].ToNode].ID)
	}
	for _, a := range r.Value {
		if a.To == nil || a.To.Value == mock.None || slices.Contains(targets, a.To.Value) {
			continue
		}
		n.ds.Errorf(source.CodeUnknownNode, a.To.Pos, "model.route.%s: no edge leads from %s to %q", r.Key.Value, r.Key.Value, a.To.Value).
			WithHint("%s", source.DidYouMean(a.To.Value, targets))
	}
}

// inner returns the plan of the workflow that a path leads into, and the node's id there.
func (n *names) inner(path string) (*plan.Plan, string) {
	p := n.plan
	for {
		first, rest, nested := strings.Cut(path, "/")
		if !nested {
			return p, first
		}
		node, _ := p.Node(first)
		p, path = node.Frame.Plan, rest
	}
}

// node follows a path such as outer/inner through nested workflows. A path into a nested
// workflow that is answered as one node is an error.
func (n *names) node(id source.Text, where string, units bool) {
	p := n.plan
	parts := strings.Split(id.Value, "/")
	for i, part := range parts {
		known, ok := p.Node(part)
		last := i == len(parts)-1
		switch {
		case ok && !last && known.Frame != nil:
			p = known.Frame.Plan
			continue
		case ok && last:
			return
		case ok:
			n.ds.Errorf(source.CodeUnknownNode, id.Pos, "%s: node %q runs no nested workflow in this test", where, part).
				WithHint("a nested workflow runs when nodes: answers for a node inside it and not for the whole")
			return
		case last && units && isUnit(p, part), last && p.Conventions.Steps && (addedNode(n.file, part) || slices.Contains(n.added, part)):
			return
		}
		n.ds.Errorf(source.CodeUnknownNode, id.Pos, "%s: unknown node %q", where, part).WithHint("%s", source.DidYouMean(part, nodeNames(p)))
		return
	}
}

func isUnit(p *plan.Plan, id string) bool {
	return slices.ContainsFunc(p.Vertices, func(v plan.Vertex) bool { return v.Unit != nil && v.ID == id })
}

func nodeNames(p *plan.Plan) []string {
	var list []string
	for i := range p.Nodes {
		list = append(list, p.Nodes[i].ID)
	}
	return list
}

func (n *names) field(name source.Text, where string) {
	if _, ok := n.plan.Schema.Index(name.Value); !ok {
		n.ds.Errorf(source.CodeUnknownField, name.Pos, "%s: state field %q is not declared", where, name.Value).
			WithHint("%s", source.DidYouMean(name.Value, n.plan.Schema.FieldNames()))
	}
}
