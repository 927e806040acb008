package transform

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// The builder carries the known columns from step to step while it compiles a node.
// After map, select and group the columns are known exactly, so that a misspelt name is
// found before anything runs.

// rowType returns the object type of rows with these columns.
func rowType(properties []value.Property) *value.Type {
	return &value.Type{Kind: value.ObjectType, Properties: properties}
}

// typed returns a column, with its type if the type is known.
func typed(name string, kind value.TypeKind) value.Property {
	if kind == value.AnyType || kind == value.NullType {
		return value.Property{Name: name}
	}
	return value.Property{Name: name, Type: &value.Type{Kind: kind}}
}

func properties(c source.Columns) []value.Property {
	if c.Type == nil {
		return nil
	}
	return c.Type.Properties
}

// exactly returns the description of rows that have these columns and no others.
func exactly(columns []value.Property) source.Columns {
	names := make([]string, len(columns))
	for i, p := range columns {
		names[i] = p.Name
	}
	return source.Columns{Type: rowType(columns), Names: names, Closed: true}
}

// required returns the names of the columns that some row must have: all except the
// optional ones.
func required(c source.Columns, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(c.Optional, n) })
}

// property returns a column with its type, if the type is known.
func property(c source.Columns, name string) value.Property {
	t, _ := c.Type.Property(name)
	return value.Property{Name: name, Type: t}
}

// with returns the columns after some were added or replaced.
func with(c source.Columns, added []value.Property) source.Columns {
	list := slices.Clone(properties(c))
	names, optional := slices.Clone(c.Names), slices.Clone(c.Optional)
	for _, p := range added {
		optional = slices.DeleteFunc(optional, func(name string) bool { return name == p.Name }) // every row has it now
		if i := slices.IndexFunc(list, func(q value.Property) bool { return q.Name == p.Name }); i >= 0 {
			list[i] = p
		} else {
			list = append(list, p)
		}
		if c.Closed && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return source.Columns{Type: rowType(list), Names: names, Closed: c.Closed, Optional: optional}
}

// without returns the columns after some were dropped.
func without(c source.Columns, dropped []string) source.Columns {
	gone := func(name string) bool { return slices.Contains(dropped, name) }
	list := slices.DeleteFunc(slices.Clone(properties(c)), func(p value.Property) bool { return gone(p.Name) })
	return source.Columns{Type: rowType(list), Names: slices.DeleteFunc(slices.Clone(c.Names), gone), Closed: c.Closed,
		Optional: slices.DeleteFunc(slices.Clone(c.Optional), gone)}
}

// need reports an error for a column that rows cannot have at this step. It warns if
// the column is not declared and its name is similar to a declared one.
func (b *builder) need(c source.Columns, name source.Text, key string) {
	if !c.Has(name.Value) {
		b.scope.Errorf(source.CodeUnknownField, name.Pos, key, "the rows have no column %q here", name.Value).
			WithHint("%s", source.UnknownKeyHint(name.Value, c.Names))
		return
	}
	if c.Closed {
		return
	}
	var names []string
	for _, p := range properties(c) {
		names = append(names, p.Name)
	}
	if near := source.DidYouMean(name.Value, names); near != "" && !slices.Contains(names, name.Value) {
		b.scope.Warnf(source.CodeUnknownField, name.Pos, key, "the rows have no declared column %q", name.Value).WithHint("%s", near)
	}
}

// distinct reports names that are empty or appear twice.
func (b *builder) distinct(names []source.Text, key string) {
	for i, n := range names {
		if n.Value == "" || slices.Contains(source.Strings(names[:i]), n.Value) {
			b.scope.Errorf(source.CodeDuplicateKey, n.Pos, key, "column %q is empty or appears twice", n.Value)
		}
	}
}

// appendOnce appends a name unless the list contains it.
func appendOnce(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}
