package table

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

// Declared returns the columns that the state schema declares for the rows of a source.
// It reports key columns that rows cannot have, and listed columns that rows cannot
// have and that are not declared; declared ones are written empty. It warns if a listed
// column has a name similar to a declared one.
func (s *Scope) Declared(rows *value.Type, listed FieldList, key []source.Text, of *From) []Field {
	if of == nil {
		return nil
	}
	var row *value.Type
	if rows != nil {
		row = rows.Items
	}
	var out []Field
	if row != nil {
		for _, p := range row.Properties {
			f := Field{Name: p.Name}
			if p.Type != nil {
				f.Kind = p.Type.Kind
			}
			out = append(out, f)
		}
	}
	known := s.RowsOf(of, row)
	absent := func(name string, pos source.Position, where string) {
		s.Errorf(source.CodeUnknownField, pos, where, "the rows of %s have no column %q", of.Name.Value, name).
			WithHint("%s", source.UnknownKeyHint(name, known.Names))
	}
	names := FieldNames(out)
	for i, c := range listed.List {
		if !known.Has(c.Name) && !slices.Contains(names, c.Name) {
			absent(c.Name, listed.Pos[i], "columns")
		} else if near := source.DidYouMean(c.Name, names); !known.Closed && near != "" && !slices.Contains(names, c.Name) {
			s.Warnf(source.CodeUnknownField, listed.Pos[i], "columns", "the rows of %s have no declared column %q", of.Name.Value, c.Name).WithHint("%s", near)
		}
	}
	for _, k := range key {
		if len(listed.List) == 0 && !s.node.Lost.Has("columns") && !known.Has(k.Value) { // otherwise it is a listed column
			absent(k.Value, k.Pos, "key")
		}
	}
	return out
}

// Needs returns the columns that at least one row must have: the columns that the
// programs read by name, except in arguments of coalesce. nil programs are ignored.
func Needs(programs ...*expressions.Program) []string {
	var out []string
	for _, p := range programs {
		if p == nil {
			continue
		}
		for _, path := range p.Tree().Needed() {
			if path.Root == expressions.RootItem && len(path.Steps) > 0 && !path.Steps[0].IsIndex && !slices.Contains(out, path.Steps[0].Name) {
				out = append(out, path.Steps[0].Name)
			}
		}
	}
	return out
}
