package dot

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// groups reports attributes of groups that have no effect. A group can only have a
// label, and defaults for its nodes and edges.
func (l *loader) groups(idle []*attribute) {
	for _, a := range idle[:min(len(idle), maxHints)] {
		const subject = "subgraph"
		key := a.key.Value
		of := slices.IndexFunc(places, func(p place) bool { return p.find(key, "") != nil })
		switch {
		case key == "rankdir": // for drawing
		case graphPlace.find(key, "") != nil:
			l.ds.Warnf(core.CodeIgnored, a.key.Pos, "%s: attribute %q has no effect in a subgraph, it belongs to the graph", subject, key).
				WithHint("write it outside of the subgraph")
		case of >= 0:
			l.ds.Warnf(core.CodeIgnored, a.key.Pos, "%s: attribute %q has no effect on a subgraph, it belongs to %s", subject, key, places[of].name).
				WithHint("for all %s of the subgraph: %s [%s=...]", places[of].name, map[string]string{nodePlace.name: "node", edgePlace.name: "edge"}[places[of].name], key).Severity = core.Hint
		case foreignKeys[key] != "":
			l.ds.Warnf(core.CodeIgnored, a.key.Pos, "%s: attribute %q of other engines has no effect", subject, key).WithHint("%s", foreignKeys[key]).Severity = core.Hint
		default:
			l.ds.Warnf(core.CodeUnknownKey, a.key.Pos, "%s: attribute %q has no meaning and no effect", subject, key).
				WithHint("%s", core.DidYouMean(key, slices.Concat(graphPlace.names(), nodePlace.names()))).Severity = core.Hint
		}
	}
}
