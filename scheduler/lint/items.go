package lint

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// checkItems reports fields in which each item of a fan-out replaces what the one before
// it wrote.
func (c *checker) checkItems() {
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		if n.Source == nil || c.f.Repeated(n.Index) || n.Collect < 0 && (n.Decl.ForEach.Collect.Value != "" || n.Decl.ForEach.Lost.Has("collect")) {
			continue
		}
		for at, f := range n.WriteFields {
			field := &c.p.Schema.Fields[f]
			if f == n.Collect || field.Broken || field.IsStream() || field.Strategy().Name != "last_wins" {
				continue
			}
			d := c.ds.Warnf(core.CodeItemsReplace, writtenAt(n, n.Writes[at]), "%s: each item replaces field %q, so that only the result of the last item stays", message.Node(n.ID), field.Name)
			if field.Collectable() == nil {
				d.WithHint("%s", c.f.CollectText(f))
			} else {
				d.WithHint("write a field of type array, and name it in for_each.collect")
			}
		}
	}
}

// writtenAt returns where a node lists a field among its writes.
func writtenAt(n *plan.Node, field string) core.Position {
	for _, w := range n.Decl.Writes {
		if w.Value == field {
			return w.Pos
		}
	}
	return core.Position{}
}
