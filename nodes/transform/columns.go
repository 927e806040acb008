package transform

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// What is known of the columns is carried from step to step while a node is
// compiled: map, select and group say exactly which columns there are, so that a
// misspelt one is found before anything runs.

// rowType returns the type of rows with typed columns.
func rowType(properties []value.Property) *value.Type {
	return &value.Type{Kind: value.ObjectType, Properties: properties}
}

// typed returns a column with its type, when it is known.
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

// exactly is the knowledge that rows have these columns and no others.
func exactly(columns []value.Property) source.Columns {
	names := make([]string, len(columns))
	for i, p := range columns {
		names[i] = p.Name
	}
	return source.Columns{Type: rowType(columns), Names: names, Closed: true}
}

// required returns those of the columns that some row must have: all but those that
// are declared as optional.
func required(c source.Columns, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(c.Optional, n) })
}

// property returns what is known of one column.
func property(c source.Columns, name string) value.Property {
	t, _ := c.Type.Property(name)
	return value.Property{Name: name, Type: t}
}

// with returns the knowledge after columns were added or replaced.
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

// without returns the knowledge after columns were dropped.
func without(c source.Columns, dropped []string) source.Columns {
	gone := func(name string) bool { return slices.Contains(dropped, name) }
	list := slices.DeleteFunc(slices.Clone(properties(c)), func(p value.Property) bool { return gone(p.Name) })
	return source.Columns{Type: rowType(list), Names: slices.DeleteFunc(slices.Clone(c.Names), gone), Closed: c.Closed,
		Optional: slices.DeleteFunc(slices.Clone(c.Optional), gone)}
}

// need reports a column that rows cannot have at this step, and warns of one
// that looks like a declared one.
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

// distinct reports names that are empty or stand twice.
func (b *builder) distinct(names []source.Text, key string) {
	for i, n := range names {
		if n.Value == "" || slices.Contains(source.Strings(names[:i]), n.Value) {
			b.scope.Errorf(source.CodeDuplicateKey, n.Pos, key, "column %q is empty or appears twice", n.Value)
		}
	}
}

// appendOnce appends a name that is not in the list yet.
func appendOnce(list []string, name string) []string {
	if slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}
