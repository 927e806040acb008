package dot

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
)

// kindEntry describes a kind of node and how documents select it.
type kindEntry struct {
	kind  string
	shape string
	types []string
	// ids are node ids that select this kind if no node selects it by shape or type.
	ids []string
	// config lists the attributes that become keys of the kind's configuration.
	config []configKey
	// lists are keys whose attribute holds a list separated by commas. flags are keys
	// with booleans, numbers keys with numbers; both may be quoted. structured are
	// keys whose values no attribute can hold.
	lists, flags, numbers, structured []string
	// templates are the keys whose values may contain $name placeholders.
	templates []string
}

// templated reports whether values of a key may contain $name placeholders.
func templated(kind, key string) bool {
	k := byName(kind)
	return k != nil && slices.Contains(k.templates, key)
}

// configKey is a configuration key of a kind and the attributes that can set it. The
// first one that is set wins.
type configKey struct {
	key     string
	from    []string
	integer bool // the value is an integer rather than a string
}

// scriptKeys are the attributes that hold a script, the deprecated one last.
var scriptKeys = []string{"script", "tool_command"}

var modelKeys = []configKey{
	{key: "model", from: []string{"model", "llm_model"}},
	{key: "provider", from: []string{"provider", "llm_provider"}},
	{key: "reasoning_effort", from: []string{"reasoning_effort"}},
	{key: "max_tokens", from: []string{"max_tokens"}, integer: true},
}

// Configuration keys of the kinds that ask a model.
var (
	modelLists      = []string{toolsKey, "hosted_tools"}
	modelFlags      = []string{"context", "lenient", "fail_soft"}
	modelNumbers    = []string{"temperature", "timeout_ms", "max_turns"}
	modelTemplates  = []string{promptKey, "system"}
	modelStructured = []string{"instruction", "preamble", "context_nodes", "requires", "eval", "judge_model", "retry_instruction",
		"commands", "skills", "tool_filter"}
)

// kinds is the table of shapes and types.
var kinds = []kindEntry{
	{kind: "start", shape: "Mdiamond", types: []string{"start"}, ids: []string{"start", "Start"}},
	{kind: "exit", shape: "Msquare", types: []string{"exit"}, ids: []string{"exit", "Exit", "end", "End"}},
	{kind: kindAgent, shape: "box", types: []string{"agent", "codergen"}, config: modelKeys,
		lists: modelLists, flags: modelFlags, numbers: modelNumbers, templates: modelTemplates, structured: modelStructured},
	{kind: kindPrompt, shape: "tab", types: []string{"prompt"}, config: modelKeys,
		lists: modelLists, flags: modelFlags, numbers: modelNumbers, templates: modelTemplates, structured: modelStructured},
	{kind: kindScript, shape: "parallelogram", types: []string{"command", "tool"}, config: []configKey{
		{key: "script", from: scriptKeys},
		{key: "language", from: []string{"language"}},
	}, lists: []string{passEnv}, structured: []string{scriptFrom}},
	{kind: kindParallel, shape: "component", types: []string{"parallel"}},
	{kind: kindFanIn, shape: "tripleoctagon", types: []string{"parallel.fan_in"}},
	{kind: kindHuman, shape: "hexagon", types: []string{"human", "wait.human"}, config: []configKey{
		{key: questionKey, from: []string{questionKey}},
		{key: "default_choice", from: []string{"human.default_choice"}},
	}, templates: []string{questionKey}},
	{kind: "conditional", shape: "diamond", types: []string{"conditional"}},
	{kind: kindWait, shape: "insulator", types: []string{"wait"}},
	{kind: kindWorkflow, shape: "house", types: []string{managerType}},
}

// Kinds and keys that the loader treats specially.
const (
	kindAgent    = "agent"
	kindPrompt   = "prompt"
	kindScript   = "script"
	kindHuman    = "human"
	kindParallel = "parallel"
	kindFanIn    = "fan_in"
	kindWait     = "wait"
	kindWorkflow = "workflow"
	managerType  = "stack.manager_loop"
	importType   = "import"
	promptKey    = "prompt"
	questionKey  = "text"
	scriptFrom   = "script_from"
	passEnv      = "pass_env"
	toolsKey     = "tools"
)

// byShape, byType and byName find a kind in the table. They return nil if there is
// none.
func byShape(shape string) *kindEntry {
	return findKind(func(k *kindEntry) bool { return k.shape == shape })
}

func byType(word string) *kindEntry {
	return findKind(func(k *kindEntry) bool { return slices.Contains(k.types, word) })
}

func byName(kind string) *kindEntry {
	return findKind(func(k *kindEntry) bool { return k.kind == kind })
}

func findKind(is func(k *kindEntry) bool) *kindEntry {
	for i := range kinds {
		if is(&kinds[i]) {
			return &kinds[i]
		}
	}
	return nil
}

// resolve returns the kind that a type and a shape select. The type takes precedence
// over the shape. A node with neither is an agent.
func resolve(typ, shape string) string {
	switch {
	case typ != "" && byType(typ) != nil:
		return byType(typ).kind
	case typ != "":
		return typ
	case byShape(shape) != nil:
		return byShape(shape).kind
	}
	return kindAgent
}

// nodeKinds returns the kind of each node. If no node selects the start or the exit by
// shape or type, a node's id can select it.
func (l *loader) nodeKinds(nodes []*expandedNode) []source.Text {
	out := make([]source.Text, len(nodes))
	typed := make([]bool, len(nodes))
	selected := map[string]bool{}
	for i, n := range nodes {
		s := l.settings(n.attributes, "")
		typ, shape := s.text("type"), s.text("shape")
		out[i] = source.At(resolve(typ.Value, shape.Value), n.id.Pos)
		if typ.Value == "" && shape.Value == "" && s.isSet(scriptKeys...) && !s.isSet(promptKeys...) {
			out[i].Value = kindScript
		}
		if typed[i] = typ.Value != ""; typed[i] {
			out[i].Pos = typ.Pos
		} else if shape.Value != "" {
			out[i].Pos = shape.Pos
			l.shapeHint(n, shape)
		}
		selected[out[i].Value] = true
	}
	for _, k := range kinds {
		for i, n := range nodes {
			if !selected[k.kind] && !typed[i] && slices.Contains(k.ids, n.id.Value) {
				out[i].Value = k.kind
			}
		}
	}
	return out
}

// shapeHint warns about a shape that looks like a misspelling of one in the table.
func (l *loader) shapeHint(n *expandedNode, shape source.Text) {
	if byShape(shape.Value) != nil || slices.Contains(graphvizShapes, shape.Value) {
		return
	}
	shapes := make([]string, len(kinds))
	for i := range kinds {
		shapes[i] = kinds[i].shape
	}
	if near := source.DidYouMean(shape.Value, shapes); near != "" {
		l.ds.Warnf(source.CodeBadValue, shape.Pos, "node %s: shape %s makes it an agent, like every shape that has no meaning", n.id.Value, shape.Value).
			WithHint("%s", near)
	}
}
