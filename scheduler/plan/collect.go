package plan

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// collect compiles for_each.collect, the field in which the results of the items are collected.
func (c *compiler) collect(n *Node, name source.Text, at place) {
	if name.Value == "" {
		return
	}
	at = at.at("for_each.collect")
	f, ok := c.fieldIndex(name, at)
	if !ok {
		return
	}
	field := &c.p.Schema.Fields[f]
	if !slices.Contains(n.WriteFields, f) {
		if c.writesValid(n.Decl) {
			c.ds.Errorf(source.CodeUnknownField, name.Pos, "%s: field %q is not among the node's writes", at, name.Value).
				WithHint("add it: writes: [%s]", name.Value)
		}
		return
	}
	if err := field.Collectable(); err != nil && !field.Invalid {
		c.ds.Errorf(source.CodeMergeType, name.Pos, "%s: %v", at, err).
			WithHint("declare the field as {type: array} with the strategy last_wins, array_append, union or set_once")
		return
	}
	n.Collect = f
}

// writeType returns the type of the values that a node may write to a field, nil for any type.
func (c *compiler) writeType(n *Node, name string) *value.Type {
	i, ok := c.p.Schema.Index(name)
	switch {
	case !ok:
		return nil
	case int32(i) == n.Collect:
		return c.p.Schema.Fields[i].ElementType()
	}
	return c.p.Schema.Fields[i].WriteType()
}

// results compares the types of the results of a kind with the types of the fields.
func (c *compiler) results(n *Node, made core.Compiled, at place) {
	for i, f := range n.WriteFields {
		known := slices.IndexFunc(made.Results, func(r value.Property) bool { return r.Name == n.Writes[i] })
		if known < 0 {
			continue
		}
		have, want := kindOf(made.Results[known].Type), kindOf(c.writeType(n, n.Writes[i]))
		if !disjoint(have, want) {
			continue
		}
		d := c.ds.Errorf(source.CodeWrongType, writePos(n, n.Writes[i]), "%s: writes: the result is of type %s, field %q takes %s", at, have, n.Writes[i], want)
		c.collectHint(d, n, f)
	}
}

// collectHint adds a hint to collect the results, if the field cannot hold the results of single
// items.
func (c *compiler) collectHint(d *source.Diagnostic, n *Node, field int32) {
	if n.Source != nil && n.Collect < 0 && c.p.Schema.Fields[field].Collectable() == nil {
		d.WithHint("%s", (&Facts{c}).CollectText(field))
	}
}

// CollectText returns a hint that says how to collect the results of items in a field.
func (f *Facts) CollectText(field int32) string {
	name := f.name(field)
	if f.c.w.Document {
		return "add collect: " + name + " under for_each, so that each item adds one element to a list"
	}
	return "add the option Collect(" + name + "), so that each item adds one element to a list"
}
