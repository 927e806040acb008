package dot

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// This file warns of models that a document expects to have tools, such as a shell and files,
// and that have none: what they answer is a text, and nothing is done.

// toolKeys are attributes of nodes and graphs that only mean something where a model has
// tools.
var toolKeys = []string{"commands", "skills", "tool_filter", "tool_hooks.pre", "tool_hooks.post", "permissions", "backend"}

// wantsTools returns the attribute that expects tools, nil for none. backend=api asks for
// what happens.
func (s *settings) wantsTools() *attribute {
	for _, key := range toolKeys {
		if i := s.find(key); i >= 0 && s.says(key) && !(key == "backend" && s.list[i].value.text.Value == "api") {
			return &s.list[i]
		}
	}
	return nil
}

// toolless notes an agent that has no tools, and what expects some. tools="" says that it
// needs none.
func (l *loader) toolless(n *core.Node, s *settings) {
	if n.Kind.Value != kindAgent || s.find("tools") >= 0 || s.says("hosted_tools") { // tools="" asks for none
		return
	}
	l.agents = append(l.agents, n.ID)
	if a := s.wantsTools(); a != nil {
		l.expecting = append(l.expecting, core.At(n.ID.Value, a.key.Pos))
	}
}

// noTools warns of all agents without the tools that they, or the graph, expect.
func (l *loader) noTools(graph *settings) {
	ids := l.expecting
	if a := graph.wantsTools(); a != nil && len(l.agents) > 0 {
		ids = slices.Clone(l.agents)
		ids[0].Pos = a.key.Pos
	}
	for _, n := range l.w.Nodes {
		n.Toolless = slices.ContainsFunc(ids, func(id core.Text) bool { return id.Value == n.ID.Value })
	}
	switch len(ids) {
	case 0:
		return
	case 1:
		l.ds.Warnf(core.CodeNoTools, ids[0].Pos, "node %s: its model has no tools, so it answers in words, changes no file and runs no program", ids[0].Value).
			WithHint(`tools="..." names Go functions; a script runs programs`)
	default:
		l.ds.Warnf(core.CodeNoTools, ids[0].Pos, "nodes %s: their models have no tools, so they answer in words, change no file and run no program", core.Named(core.Strings(ids))).
			WithHint(`tools="..." names Go functions; a script runs programs`)
	}
}
