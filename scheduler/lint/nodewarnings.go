package lint

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// nodeWarnings reports the warnings of kinds about their nodes. Nodes with the same code and
// message get one warning, at the position of the first.
func (c *checker) nodeWarnings() {
	warnings := c.f.Warnings()
	for i, w := range warnings {
		same := func(o plan.NodeWarning) bool { return o.Code == w.Code && o.Message == w.Message }
		if slices.ContainsFunc(warnings[:i], same) {
			continue
		}
		var nodes []string
		for _, o := range warnings[i:] {
			if same(o) && !slices.Contains(nodes, o.Node) {
				nodes = append(nodes, o.Node)
			}
		}
		c.ds.Warnf(w.Code, w.Pos, "%s: %s", plural(len(nodes), "node ", "nodes ")+source.Named(nodes), w.Message).WithHint("%s", w.Hint)
	}
}
