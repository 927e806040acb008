package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
)

// nodeWarning is a warning of the kind of a node.
type nodeWarning struct {
	node string
	core.KindWarning
}

// nodeWarnings reports the warnings that kinds have about their nodes: one for all nodes
// with the same code and message, at the place of the first.
func (c *compiler) nodeWarnings() {
	for i, w := range c.warnings {
		same := func(o nodeWarning) bool { return o.Code == w.Code && o.Message == w.Message }
		if slices.ContainsFunc(c.warnings[:i], same) {
			continue
		}
		var nodes []string
		for _, o := range c.warnings[i:] {
			if same(o) && !slices.Contains(nodes, o.node) {
				nodes = append(nodes, o.node)
			}
		}
		c.ds.Warnf(w.Code, w.Pos, "%s: %s", plural(len(nodes), "node ", "nodes ")+core.Named(nodes), w.Message).WithHint("%s", w.Hint)
	}
}
