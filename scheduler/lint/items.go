package lint

import (
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler/internal/message"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// checkItems reports fields in which each item of a fan-out, or each row of a pipeline, replaces
// the value that the one before it wrote.
func (c *checker) checkItems() {
	for i := range c.p.Nodes {
		n := &c.p.Nodes[i]
		if n.Source == nil || c.f.Repeated(n.Index) || n.Collect < 0 && (n.Decl.ForEach.Collect.Value != "" || n.Decl.ForEach.Lost.Has("collect")) {
			continue
		}
		for at, f := range n.WriteFields {
			if f == n.Collect || !c.replaced(f) {
				continue
			}
			name := c.p.Schema.Fields[f].Name
			d := c.ds.Warnf(source.CodeItemsReplace, writtenAt(n, n.Writes[at]), "%s: each item replaces field %q, so that only the result of the last item stays", message.Node(n.ID), name)
			switch list := c.p.Schema.Fields[f].Collectable() == nil; {
			case list && n.Collect >= 0:
				d.WithHint("a fan-out collects one field: declare %s with merge: array_append, and write a list of results for each item", name)
			case list:
				d.WithHint("%s", c.f.CollectText(f))
			case n.Collect >= 0:
				d.WithHint("a fan-out collects one field: write a field with merge: array_append, and a list of results for each item")
			default:
				d.WithHint("write a field of type array, and name it in for_each.collect")
			}
		}
	}
	if x := c.f.Invalid(); x.Members || x.References {
		return // an unknown part might read the fields
	}
	for v := range c.p.Vertices {
		if u := c.p.Vertices[v].Unit; u != nil && !u.IsLoop && c.f.MembersValid(int32(v)) {
			c.rowsReplace(u)
		}
	}
}

// rowsReplace reports the fields of a pipeline that each row replaces. A field that a stage reads
// is used row by row, so the next row may replace it.
func (c *checker) rowsReplace(u *plan.Unit) {
	read := map[int32]bool{}
	for _, m := range u.Members {
		for _, f := range c.f.Node(m).Fields {
			read[f] = true
		}
	}
	for _, m := range u.Members {
		n := &c.p.Nodes[m]
		for at, f := range n.WriteFields {
			if read[f] || !c.replaced(f) {
				continue
			}
			d := c.ds.Warnf(source.CodeItemsReplace, writtenAt(n, n.Writes[at]), "%s: each row of pipeline %s replaces field %q, which no stage reads, so that only the result of the last row stays",
				message.Node(n.ID), u.ID, c.p.Schema.Fields[f].Name)
			if c.p.Schema.Fields[f].Collectable() == nil {
				d.WithHint("declare the field with merge: array_append, which keeps the elements of all rows")
			} else {
				d.WithHint("write a field of type array with merge: array_append, and a list of results for each row")
			}
		}
	}
}

// replaced reports whether each write of a field replaces the write before it.
func (c *checker) replaced(f int32) bool {
	field := &c.p.Schema.Fields[f]
	return !field.Invalid && !field.IsStream() && field.Strategy().Name == "last_wins"
}

// writtenAt returns the position of a field in the writes of a node.
func writtenAt(n *plan.Node, field string) source.Position {
	for _, w := range n.Decl.Writes {
		if w.Value == field {
			return w.Pos
		}
	}
	return source.Position{}
}
