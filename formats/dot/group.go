package dot

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
)

// warnGroupAttributes reports attributes of groups that have no effect. A group can
// only have a label, and defaults for its nodes and edges.
func (l *loader) warnGroupAttributes(idle []*attribute) {
	for _, a := range idle[:min(len(idle), maxHints)] {
		const subject = "subgraph"
		key := a.key.Value
		of := slices.IndexFunc(attributeTables, func(p attributeTable) bool { return p.find(key, "") != nil })
		switch {
		case key == "rankdir": // for drawing
		case graphTable.find(key, "") != nil:
			l.ds.Warnf(source.CodeIgnored, a.key.Pos, "%s: attribute %q has no effect in a subgraph, it belongs to the graph", subject, key).
				WithHint("write it outside of the subgraph")
		case of >= 0:
			l.ds.Warnf(source.CodeIgnored, a.key.Pos, "%s: attribute %q has no effect on a subgraph, it belongs to %s", subject, key, attributeTables[of].name).
				WithHint("for all %s of the subgraph: %s [%s=...]", attributeTables[of].name, map[string]string{nodeTable.name: "node", edgeTable.name: "edge"}[attributeTables[of].name], key).Severity = source.Hint
		case otherEngineKeys[key] != "":
			l.ds.Warnf(source.CodeIgnored, a.key.Pos, "%s: attribute %q of other engines has no effect", subject, key).WithHint("%s", otherEngineKeys[key]).Severity = source.Hint
		default:
			l.ds.Warnf(source.CodeUnknownKey, a.key.Pos, "%s: attribute %q has no meaning and no effect", subject, key).
				WithHint("%s", source.DidYouMean(key, slices.Concat(graphTable.names(), nodeTable.names()))).Severity = source.Hint
		}
	}
}
