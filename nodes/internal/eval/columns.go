package eval

import (
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// Declared returns the columns that the state schema knows of the rows of a source,
// and warns about listed ones that look like a misspelt one of them.
func (s *Scope) Declared(rows *core.Type, listed table.FieldList, of *Source) []table.Field {
	if rows == nil || rows.Items == nil {
		return nil
	}
	var out []table.Field
	for _, p := range rows.Items.Properties {
		f := table.Field{Name: p.Name}
		if p.Type != nil {
			f.Kind = p.Type.Kind
		}
		out = append(out, f)
	}
	names := table.FieldNames(out)
	for i, c := range listed.List {
		if near := core.DidYouMean(c.Name, names); near != "" && !slices.Contains(names, c.Name) {
			s.Warnf(core.CodeUnknownField, listed.Pos[i], "columns", "the rows of %s have no declared column %q", of.Name.Value, c.Name).WithHint("%s", near)
		}
	}
	return out
}

// Reads lists the columns of the row that programs read by their names.
func Reads(programs ...*expressions.Program) []string {
	var out []string
	for _, p := range programs {
		for _, path := range p.Tree().Paths() {
			if path.Root == expressions.RootItem && len(path.Steps) > 0 && !path.Steps[0].IsIndex && !slices.Contains(out, path.Steps[0].Name) {
				out = append(out, path.Steps[0].Name)
			}
		}
	}
	return out
}
