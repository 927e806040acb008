package dot

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// toolKeys are attributes of nodes and graphs that only make sense if a model has tools.
// A model without tools only answers with text. It changes no file and runs no program,
// so such a document gets a warning.
var toolKeys = []string{"commands", "skills", "tool_filter", "tool_hooks.pre", "tool_hooks.post", "permissions", "backend"}

// wantsTools returns the attribute that implies tools, or nil if there is none.
// backend=api does not imply them: it describes the behaviour of this engine.
func (s *settings) wantsTools() *attribute {
	for _, key := range toolKeys {
		if i := s.find(key); i >= 0 && s.isSet(key) && !(key == "backend" && s.list[i].value.text.Value == "api") {
			return &s.list[i]
		}
	}
	return nil
}

// recordToolless records an agent that has no tools, and the attribute that implies some.
// tools="" says that the agent needs none.
func (l *loader) recordToolless(n *core.Node, s *settings) {
	if n.Kind.Value != kindAgent || s.find("tools") >= 0 || s.isSet("hosted_tools") {
		return
	}
	l.withoutTools = append(l.withoutTools, n.ID)
	if a := s.wantsTools(); a != nil {
		l.expectingTools = append(l.expectingTools, source.At(n.ID.Value, a.key.Pos))
	}
}

// warnNoTools warns about all agents that lack tools that they, or the graph, expect.
func (l *loader) warnNoTools(graph *settings) {
	ids := l.expectingTools
	if a := graph.wantsTools(); a != nil && len(l.withoutTools) > 0 {
		ids = slices.Clone(l.withoutTools)
		ids[0].Pos = a.key.Pos
	}
	for _, n := range l.w.Nodes {
		n.Toolless = slices.ContainsFunc(ids, func(id source.Text) bool { return id.Value == n.ID.Value })
	}
	switch len(ids) {
	case 0:
		return
	case 1:
		l.ds.Warnf(source.CodeNoTools, ids[0].Pos, "node %s: its model has no tools, so it answers in words, changes no file and runs no program", ids[0].Value).
			WithHint(`tools="..." names Go functions; a script runs programs`)
	default:
		l.ds.Warnf(source.CodeNoTools, ids[0].Pos, "nodes %s: their models have no tools, so they answer in words, change no file and run no program", source.Named(source.Strings(ids))).
			WithHint(`tools="..." names Go functions; a script runs programs`)
	}
}
