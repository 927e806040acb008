package builder

import (
	"bytes"
	"errors"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// Write returns the document of a flow. A flow that Parse has read and that has not changed has the
// bytes that were read. Otherwise the nodes and connections that have changed are written anew, with
// the keys that this package does not know, and the rest of the text stays as it is.
func Write(w *core.Workflow) ([]byte, error) {
	if w.Mode != core.ModeFlow {
		return nil, errors.New("only flows can be written in this format")
	}
	for _, n := range w.Nodes {
		if n.Handler != nil {
			return nil, errors.New("node " + n.ID.Value + " is a Go function, which this format does not have")
		}
	}
	var doc []byte
	if w.Flow != nil {
		doc = w.Flow.Document
	}
	s, root := scan("", doc)
	old, _ := Parse("", doc)
	if root == nil || old == nil {
		doc = []byte("{\n  \"nodes\": [],\n  \"connections\": []\n}\n")
		s, root = scan("", doc)
		old = &core.Workflow{}
	}
	nodes, err := s.list(root.get(keyNodes), writtenNodes(old, w))
	if err != nil {
		return nil, err
	}
	edges, err := s.list(root.get(keyConnections), writtenEdges(old, w))
	if err != nil {
		return nil, err
	}
	return s.apply([]edit{nodes, edges}), nil
}

// written is an element of a list: the index of the element that it was, -1 if it is new, and the
// function that makes its object, nil if it has not changed.
type written struct {
	was  int
	make func(was *value.Object) *value.Object
}

// list returns the edit that writes a list. The edit is empty if no element has changed.
func (s *scanner) list(p *part, elements []written) (edit, error) {
	same := len(elements) == len(p.items)
	for i, e := range elements {
		same = same && e.was == i && e.make == nil
	}
	if same {
		return edit{at: p.at, end: p.at}, nil
	}
	sep, tail := "\n    ", "\n  "
	if n := len(p.items); n > 0 {
		sep, tail = string(s.data[p.at+1:p.items[0].at]), string(s.data[p.items[n-1].end:p.end-1])
	}
	var b bytes.Buffer
	b.WriteByte('[')
	for i, e := range elements {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(sep)
		was := value.NewObject(0)
		if e.was >= 0 {
			text := s.raw(p.items[e.was])
			if e.make == nil {
				b.Write(text)
				continue
			}
			v, err := value.ParseJSON(text)
			if err != nil {
				return edit{}, err
			}
			was, _ = v.(*value.Object)
		}
		b.WriteString(value.JSON(e.make(was)))
	}
	b.WriteString(tail)
	b.WriteByte(']')
	return edit{p.at, p.end, b.String()}, nil
}

func writtenNodes(old, w *core.Workflow) []written {
	was := make(map[string]int, len(old.Nodes))
	for i, n := range old.Nodes {
		was[n.ID.Value] = i
	}
	var out []written
	for i, n := range w.Nodes {
		e := written{-1, func(o *value.Object) *value.Object { return nodeObject(n, o) }}
		at, ok := was[n.ID.Value]
		if i < len(old.Nodes) && old.Nodes[i].ID.Value == n.ID.Value { // of nodes with one id
			at = i
		}
		if ok {
			e.was = at
			if value.JSON(nodeObject(n, value.NewObject(0))) == value.JSON(nodeObject(old.Nodes[at], value.NewObject(0))) {
				e.make = nil
			}
		}
		out = append(out, e)
	}
	return out
}

func writtenEdges(old, w *core.Workflow) []written {
	was := map[[4]string][]int{}
	for i, e := range old.Edges {
		was[edgeKey(e)] = append(was[edgeKey(e)], i)
	}
	var out []written
	for _, e := range w.Edges {
		if at := was[edgeKey(e)]; len(at) > 0 {
			was[edgeKey(e)] = at[1:]
			out = append(out, written{was: at[0]})
			continue
		}
		out = append(out, written{-1, func(*value.Object) *value.Object { return edgeObject(e) }})
	}
	return out
}

func edgeKey(e *core.Edge) [4]string {
	return [4]string{e.From.Value, e.To.Value, e.Label.Value, e.Into.Value}
}

func edgeObject(e *core.Edge) *value.Object {
	o := value.ObjectOf("source", e.From.Value, "target", e.To.Value)
	set(o, "sourceHandle", e.Label.Value, "")
	set(o, "targetHandle", e.Into.Value, "")
	return o
}

// set sets a member that has another value than the default, or that is there.
func set(o *value.Object, name string, v, byDefault any) {
	if _, ok := o.Get(name); ok || v != byDefault {
		o.Set(name, v)
	}
}

// nodeObject sets the members of a node in its object o.
func nodeObject(n *core.Node, o *value.Object) *value.Object {
	o.Set("id", n.ID.Value)
	o.Set("type", n.Kind.Value)
	f := n.Flow
	if f == nil {
		return o
	}
	if f.Place != nil {
		setNumber(o, "x", f.Place.X)
		setNumber(o, "y", f.Place.Y)
	}
	had, _ := o.Get("data")
	data, ok := had.(*value.Object)
	if !ok {
		data = value.NewObject(0)
	}
	switch f.Role {
	case core.FlowStart:
		if _, ok := data.Get("initialInput"); ok || f.Output != "" {
			data.Set("initialInput", f.Output)
		}
	case core.FlowIf:
		setConditions(data, f)
	case core.FlowApproval:
		set(data, "prompt", f.Prompt.Value, "")
	}
	if f.Agent != nil {
		setAgent(data, f.Agent)
	}
	if data.Len() > 0 || ok {
		o.Set("data", data)
	}
	return o
}

func setConditions(data *value.Object, f *core.FlowNode) {
	data.Delete("condition")
	list := make([]any, len(f.Conditions))
	for i, c := range f.Conditions {
		op := "equal"
		if c.Contains {
			op = "contains"
		}
		list[i] = value.ObjectOf("operator", op, "value", c.Value)
	}
	data.Set("conditions", list)
}

func setAgent(data *value.Object, a *core.FlowAgent) {
	for _, m := range []struct{ name, text string }{{"agentName", a.Name.Value}, {"systemPrompt", a.System.Value}, {"userPrompt", a.User.Value},
		{"model", a.Model.Value}, {"reasoningEffort", a.Effort.Value}} {
		set(data, m.name, m.text, "")
	}
	had, _ := data.Get("tools")
	tools, ok := had.(*value.Object)
	if !ok {
		tools = value.NewObject(2)
	}
	set(tools, "web_search", a.WebSearch, false)
	set(tools, "subagents", a.Subagents, false)
	if tools.Len() > 0 || ok {
		data.Set("tools", tools)
	}
}

// setNumber sets a number, and leaves an equal one as it was written.
func setNumber(o *value.Object, name string, x float64) {
	switch had, _ := o.Get(name); had := had.(type) {
	case int64:
		if float64(had) == x {
			return
		}
	case float64:
		if had == x {
			return
		}
	}
	if n := int64(x); float64(n) == x {
		o.Set(name, n)
		return
	}
	o.Set(name, x)
}
