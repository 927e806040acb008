package table

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
)

// Columns returns the columns of a table that begins with the rows head: the columns of
// the rows or, if there are no rows, the columns of the header that the table was read
// from. known describes what is known of the rows in advance.
func (s *Source) Columns(head []any, known source.Columns, in core.Shared) []Field {
	if len(head) > 0 {
		return named(Columns(head))
	}
	if columns := s.Header(); columns != nil {
		return named(columns)
	}
	if known.Closed {
		return named(known.Names)
	}
	if known.Header == "" || in.Nodes == nil {
		return nil
	}
	var out []Field
	_, output, _ := in.Nodes(known.Header)
	for _, c := range source.HeaderColumns(output) {
		f := Field{Name: c.Name}
		if c.Type != nil {
			f.Kind = c.Type.Kind
		}
		out = append(out, f)
	}
	return out
}

func named(columns []string) []Field {
	out := make([]Field, len(columns))
	for i, name := range columns {
		out[i].Name = name
	}
	return out
}
