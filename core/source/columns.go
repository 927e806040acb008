package source

import (
	"slices"

	"github.com/wavefold/wavefold/core/value"
)

// Columns describes what is known about the rows of a table before anything runs. The zero
// Columns means that nothing is known.
type Columns struct {
	// Type is the type of a row, or nil if it is not known.
	Type *value.Type
	// Names lists all columns that rows may have if Closed is true. Otherwise they may have
	// any.
	Names  []string
	Closed bool
	// Optional lists the columns that are declared as optional: no row needs to have them.
	Optional []string
	// Header is the id of the node that reads the rows from a source with a header, or ""
	// if there is none. The output of that node has the member "schema", at least if there
	// are not rows. It is a list of objects with the members column and type, one for each
	// column of the rows.
	Header string
	// OnRead, if not nil, is called for each column that an expression reads.
	OnRead func(ColumnRead)
}

// ColumnRead is a column that an expression reads of the rows of a field.
type ColumnRead struct {
	Column Text
	By     string // the subject of messages about the expression, such as "node a: args"
	// HeaderOnly says that all rows may lack the column, unless they have a header: the
	// expression asks whether a row has the column, as in $.rows[?@.error], or reads it only
	// of rows for which a condition holds, which may be none.
	HeaderOnly bool
}

// Read reports to OnRead that an expression reads a column.
func (c Columns) Read(r ColumnRead) {
	if c.OnRead != nil {
		c.OnRead(r)
	}
}

// Selected describes the rows for which a condition holds. They may be none, so columns that
// are read of them are looked for only in headers.
func (c Columns) Selected() Columns {
	if read := c.OnRead; read != nil {
		c.OnRead = func(r ColumnRead) {
			r.HeaderOnly = true
			read(r)
		}
	}
	return c
}

// HeaderColumns returns the columns, with their types, that the output of the node
// Columns.Header lists, or nil if it lists none.
func HeaderColumns(output any) []value.Property {
	o, _ := output.(*value.Object)
	if o == nil {
		return nil
	}
	list, _ := o.Get("schema")
	columns, _ := list.([]any)
	var out []value.Property
	for _, e := range columns {
		column, _ := e.(*value.Object)
		if column == nil {
			return nil
		}
		name, _ := column.Get("column")
		word, _ := column.Get("type")
		p := value.Property{}
		p.Name, _ = name.(string)
		text, _ := word.(string)
		if kind, ok := value.TypeKindOf(text); ok && kind != value.NullType {
			p.Type = &value.Type{Kind: kind}
		}
		out = append(out, p)
	}
	return out
}

// Kind returns the type of a column, or AnyType if it is not known.
func (c Columns) Kind(name string) value.TypeKind {
	if t, ok := c.Type.Property(name); ok && t != nil {
		return t.Kind
	}
	return value.AnyType
}

// Has reports whether rows may have a column.
func (c Columns) Has(name string) bool { return !c.Closed || slices.Contains(c.Names, name) }

// All returns all columns that rows may have, or nil if they may have any.
func (c Columns) All() []string {
	if !c.Closed {
		return nil
	}
	return append([]string{}, c.Names...)
}
