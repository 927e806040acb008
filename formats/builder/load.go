package builder

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Keys of documents.
const (
	keyNodes       = "nodes"
	keyConnections = "connections"
)

// Types of nodes.
const (
	typeStart    = "start"
	typeAgent    = "agent"
	typeIf       = "if"
	typeApproval = "approval"
	typeInput    = "input" // an approval in older documents
)

var (
	documentKeys = []string{keyNodes, keyConnections}
	nodeKeys     = []string{"id", "type", "x", "y", "data"}
	edgeKeys     = []string{"source", "target", "sourceHandle", "targetHandle"}
	toolKeys     = []string{"web_search", "subagents"}
)

// dataKeys returns the keys of the data of a node of a type.
func dataKeys(of string) []string {
	switch of {
	case typeStart:
		return []string{"initialInput"}
	case typeIf:
		return []string{"conditions", "condition"}
	case typeApproval:
		return []string{"prompt"}
	case typeAgent:
		return []string{"agentName", "systemPrompt", "userPrompt", "model", "reasoningEffort", "tools"}
	}
	return nil
}

// Is reports whether text appears to be a document of this format: a JSON object with connections
// and without the key graph of other formats. If the text is not valid JSON, the words decide.
func Is(data []byte) bool {
	begin := strings.TrimLeft(string(data[:min(len(data), 64)]), "\xef\xbb\xbf \t\r\n")
	if !strings.HasPrefix(begin, "{") || !bytes.Contains(data, []byte(`"connections"`)) {
		return false
	}
	if connections, graph, ok := members(data); ok {
		return connections && !graph
	}
	return bytes.Contains(data, []byte(`"nodes"`)) && !bytes.Contains(data, []byte(`"graph"`))
}

// members looks for two members of a JSON object. ok is false if the text ends too early.
func members(data []byte) (connections, graph, ok bool) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	s := &scanner{data: data}
	depth := 0
	for s.at < len(data) {
		switch data[s.at] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			begin := s.at
			s.skipString()
			if s.at > len(data) {
				return false, false, false
			}
			if quoted := data[begin:s.at]; depth == 1 && s.isKey() {
				connections, graph = connections || string(quoted) == `"connections"`, graph || string(quoted) == `"graph"`
			}
			continue
		}
		s.at++
	}
	return connections, graph, depth == 0
}

// isKey reports whether a colon follows.
func (s *scanner) isKey() bool {
	s.space()
	return s.at < len(s.data) && s.data[s.at] == ':'
}

// Parse parses a document. file is used in positions and for the name of the workflow; its folder
// becomes the workflow's Dir. Parse returns all findings at once. The workflow is nil if the document
// is not a graph at all; compiling another one reports the findings again.
func Parse(file string, data []byte) (*core.Workflow, source.Diagnostics) {
	s, root := scan(file, data)
	if root == nil {
		return nil, s.ds.Capped()
	}
	l := &loader{scanner: s}
	nodes, connections := l.list(root, keyNodes), l.list(root, keyConnections)
	if nodes == nil || connections == nil {
		return nil, l.ds.Capped()
	}
	w := &core.Workflow{Name: source.At(nameOf(file), l.pos(root.at)), Mode: core.ModeFlow, Document: true, HasInputs: true, OpenInputs: true,
		Pos: l.pos(root.at), Flow: &core.Flow{Document: data, Pos: l.pos(root.at)}}
	if file != "" {
		w.Dir = filepath.Dir(file)
	}
	l.hints("document", root, documentKeys)
	for _, p := range nodes.items {
		w.Nodes = append(w.Nodes, l.node(p))
	}
	for _, p := range connections.items {
		w.Edges = append(w.Edges, l.edge(p))
	}
	w.Findings = l.ds
	return w, l.ds.Capped()
}

// Preflight checks a flow before a run; see core.Workflow.Preflight.
func Preflight(w *core.Workflow) source.Diagnostics { return w.Preflight() }

// nameOf returns the name of the workflow of a file.
func nameOf(file string) string {
	name := filepath.Base(file)
	if file == "" {
		return "flow"
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

type loader struct{ *scanner }

// list returns a member of the document that must be a list, nil if it is not.
func (l *loader) list(root *part, name string) *part {
	switch p := root.get(name); {
	case root.kind != '{':
		if len(l.ds) == 0 {
			l.ds.Errorf(source.CodeWrongType, l.pos(root.at), "want a mapping with nodes and connections, found %s", root.kindName())
		}
	case p == nil:
		l.ds.Errorf(source.CodeMissingKey, l.pos(root.at), "key %q is missing", name).WithHint(`write "%s": [] if there are none`, name)
	case p.kind != '[':
		l.ds.Errorf(source.CodeWrongType, l.pos(p.at), "%s: want a list, found %s", name, p.kindName())
	default:
		return p
	}
	return nil
}

// hints points out unknown keys that look like known ones. All unknown keys are kept.
func (l *loader) hints(subject string, p *part, known []string) {
	for i := range p.keys {
		k := &p.keys[i]
		if slices.Contains(known, k.name) {
			continue
		}
		if near := source.Nearest(k.name, known); near != "" && p.get(near) == nil {
			l.ds.Hintf(source.CodeUnknownKey, l.pos(k.at+1), "%s: key %q has no meaning", subject, k.name).WithHint("did you mean %q?", near)
		}
	}
}

// text returns a member that must be a string if it is there.
func (l *loader) text(subject string, p *part, name string) source.Text {
	v := p.get(name)
	switch {
	case v.isNull():
	case v.kind != '"':
		l.ds.Errorf(source.CodeWrongType, l.pos(v.at), "%s: %s: want a string, found %s", subject, name, v.kindName())
	default:
		return source.At(text(l.raw(v)), l.pos(v.at+1))
	}
	return source.Text{}
}

// required is text for a member that must be there.
func (l *loader) required(subject string, p *part, name string) source.Text {
	t := l.text(subject, p, name)
	if v := p.get(name); t.Value == "" && (v.isNull() || v.kind == '"') {
		at := p.at
		if v != nil {
			at = v.at
		}
		l.ds.Errorf(source.CodeMissingKey, l.pos(at), "%s: key %q is missing", subject, name)
	}
	return t
}

func (l *loader) node(p *part) *core.Node {
	n := &core.Node{Pos: l.pos(p.at), Flow: &core.FlowNode{Role: core.FlowUnknown}}
	if p.kind != '{' {
		l.ds.Errorf(source.CodeWrongType, n.Pos, "nodes: want a mapping, found %s", p.kindName())
		n.Lost = source.Lost{"id", "kind"}
		return n
	}
	n.ID = l.required("a node", p, "id")
	if n.ID.Value == "" {
		n.Lost = append(n.Lost, "id")
	}
	subject := n.Subject()
	n.Kind = l.required(subject, p, "type")
	if n.Kind.Value == "" {
		n.Lost = append(n.Lost, "kind")
	}
	if n.Kind.Value == typeInput {
		n.Kind.Value = typeApproval
	}
	n.Flow.Place = l.place(p)
	data := p.get("data")
	if data != nil && data.kind != '{' && data.kind != 'n' {
		l.ds.Errorf(source.CodeWrongType, l.pos(data.at), "%s: data: want a mapping, found %s", subject, data.kindName())
		data = nil
	}
	l.hints(subject, p, nodeKeys)
	if data != nil {
		l.hints(subject+": data", data, dataKeys(n.Kind.Value))
	}
	switch f := n.Flow; n.Kind.Value {
	case typeStart:
		f.Role, f.Output = core.FlowStart, l.initial(subject, data)
	case typeAgent:
		f.Role, f.Agent = core.FlowStep, l.agent(subject, data)
		n.Label = f.Agent.Name
	case typeIf:
		f.Role = core.FlowIf
		l.conditions(subject, data, f)
	case typeApproval:
		f.Role, f.Prompt = core.FlowApproval, l.text(subject, data, "prompt")
	default:
		if n.Kind.Value != "" {
			l.ds.Warnf(source.CodeTypeKnown, n.Kind.Pos, "%s: there is no node type %q: null moves on from it", subject, n.Kind.Value).
				WithHint("%s", source.DidYouMean(n.Kind.Value, []string{typeStart, typeAgent, typeIf, typeApproval}))
		}
	}
	return n
}

// place returns where the document draws the node, nil if it does not say.
func (l *loader) place(p *part) *core.FlowPlace {
	x, ok := l.number(p.get("x"))
	y, ok2 := l.number(p.get("y"))
	if !ok || !ok2 {
		return nil
	}
	return &core.FlowPlace{X: x, Y: y}
}

func (l *loader) number(p *part) (float64, bool) {
	if p == nil || p.kind != 0 {
		return 0, false
	}
	switch n, _ := value.ParseNumber(string(l.raw(p))); n := n.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// initial returns the value that leaves a start. As in the editor, values that count as false become
// the empty text.
func (l *loader) initial(subject string, data *part) any {
	p := data.get("initialInput")
	if p == nil {
		return ""
	}
	v, err := value.ParseJSON(l.raw(p))
	if err != nil {
		l.ds.Errorf(source.CodeBadValue, l.pos(p.at), "%s: initialInput: %v", subject, err)
	}
	switch v {
	case nil, false, int64(0), float64(0):
		return ""
	}
	return v
}

func (l *loader) agent(subject string, data *part) *core.FlowAgent {
	a := &core.FlowAgent{Name: l.text(subject, data, "agentName"), System: l.text(subject, data, "systemPrompt"), User: l.text(subject, data, "userPrompt"),
		Model: l.text(subject, data, "model"), Effort: l.text(subject, data, "reasoningEffort")}
	tools := data.get("tools")
	switch {
	case tools.isNull():
		return a
	case tools.kind != '{':
		l.ds.Errorf(source.CodeWrongType, l.pos(tools.at), "%s: tools: want a mapping, found %s", subject, tools.kindName())
		return a
	}
	l.hints(subject+": tools", tools, toolKeys)
	a.WebSearch, a.Subagents = l.flag(subject, tools, "web_search"), l.flag(subject, tools, "subagents")
	return a
}

// flag returns whether a tool is on. Older documents have other values than booleans, which count as
// they do in the editor.
func (l *loader) flag(subject string, tools *part, name string) bool {
	p := tools.get(name)
	switch {
	case p.isNull():
		return false
	case p.kind == 't', p.kind == 'f':
		return p.kind == 't'
	}
	on := truthy(l.scanner, p)
	l.ds.Hintf(source.CodeWrongType, l.pos(p.at), "%s: tools.%s: want a boolean, found %s", subject, name, p.kindName()).WithHint("it counts as %t", on)
	return on
}

// truthy reports whether a value counts as true in the editor.
func truthy(s *scanner, p *part) bool {
	switch {
	case p.isNull():
		return false
	case p.kind == 0:
		v, _ := value.ParseNumber(string(s.raw(p)))
		return v != int64(0) && v != float64(0)
	}
	return p.kind != 'f' && string(s.raw(p)) != `""`
}

// conditions reads the conditions of an if, in the present or in the older form.
func (l *loader) conditions(subject string, data *part, f *core.FlowNode) {
	list := data.get("conditions")
	if !list.isNull() && list.kind != '[' {
		l.ds.Errorf(source.CodeWrongType, l.pos(list.at), "%s: conditions: want a list, found %s", subject, list.kindName())
		return
	}
	if list.isNull() || len(list.items) == 0 {
		if t := l.text(subject, data, "condition"); t.Value != "" {
			f.Legacy, f.Conditions = true, []core.FlowCondition{{Contains: true, Value: t.Value}}
		}
		return
	}
	for _, c := range list.items {
		if c.kind != '{' {
			l.ds.Errorf(source.CodeWrongType, l.pos(c.at), "%s: conditions: want a mapping with operator and value, found %s", subject, c.kindName())
			continue
		}
		op := l.text(subject+": conditions", c, "operator")
		if op.Value != "" && op.Value != "equal" && op.Value != "contains" {
			l.ds.Warnf(source.CodeBadValue, op.Pos, "%s: conditions: there is no operator %q: it counts as equal", subject, op.Value).WithHint("equal or contains")
		}
		want := l.text(subject+": conditions", c, "value")
		if strings.TrimSpace(want.Value) == "" {
			l.ds.Hintf(source.CodeBadValue, l.pos(c.at), "%s: conditions: the value is empty, so the condition never holds", subject)
		}
		f.Conditions = append(f.Conditions, core.FlowCondition{Contains: op.Value == "contains", Value: want.Value})
	}
}

func (l *loader) edge(p *part) *core.Edge {
	e := &core.Edge{Pos: l.pos(p.at)}
	if p.kind != '{' {
		l.ds.Errorf(source.CodeWrongType, e.Pos, "connections: want a mapping, found %s", p.kindName())
		e.Lost = source.Lost{"from", "to"}
		return e
	}
	e.From, e.To = l.required("a connection", p, "source"), l.required("a connection", p, "target")
	subject := "connection " + e.From.Value + " -> " + e.To.Value
	e.Label, e.Into = l.text(subject, p, "sourceHandle"), l.text(subject, p, "targetHandle")
	l.hints(subject, p, edgeKeys)
	return e
}
