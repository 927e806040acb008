package jsonpath

import (
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/internal/columncheck"
)

// Rows reports whether every match is a row of the table that the path begins with, as
// in $.rows[*] and $.rows[?@.price > 1].
func (p *Path) Rows() bool { return len(p.steps) == 1 && p.steps[0].isRow() }

// Filtered reports whether a filter selects the rows of the table that the path begins
// with. It may select none.
func (p *Path) Filtered() bool { return len(p.steps) > 0 && p.steps[0].kind == filterStep }

// Column is a column that a path reads.
type Column struct {
	source.Text
	// HeaderOnly says that all rows may lack the column, unless they have a header: a filter
	// asks whether a row has it, as in [?@.error], or it is read only of the rows for which
	// a condition holds, as b in [?@.a == 1 && @.b == 2] and [?@.a == 1].b.
	HeaderOnly bool
}

// Columns returns the columns that the path reads from the rows of its field, each with
// its position in the document. If single is set, the field is a single row instead of
// a table.
func (p *Path) Columns(single bool) []Column {
	at, list := 0, []Column(nil)
	if !single {
		if len(p.steps) == 0 || !p.steps[0].isRow() {
			return nil
		}
		if f := p.steps[0].filter; f != nil {
			list = needed(f)
		}
		at = 1
	}
	if len(p.steps) <= at {
		return list
	}
	from := p.offset(at + 1)
	switch s := p.steps[at]; s.kind {
	case nameStep:
		list = append(list, Column{source.Text{Value: s.name, Pos: source.Inside(p.text, from)}, p.Filtered()})
	case unionStep:
		for _, u := range s.union {
			if u.kind == nameStep {
				list = append(list, Column{source.Text{Value: u.name, Pos: source.Inside(p.text, from)}, p.Filtered()})
			}
		}
	}
	return list
}

// Members returns the member names that the path selects at any depth inside the rows
// of its field, such as price in $.rows..price, each with its position in the document.
// A path that filters the rows has none, because the filter may select no rows.
func (p *Path) Members() []source.Text {
	at := 0
	if len(p.steps) > 0 && p.steps[0].isRow() {
		at = 1
	}
	if p.Filtered() || len(p.steps) < at+2 || p.steps[at].kind != descentStep || p.steps[at+1].kind != nameStep {
		return nil
	}
	return []source.Text{{Value: p.steps[at+1].name, Pos: source.Inside(p.text, p.offset(at+1)+1)}}
}

// Absent returns an error if the filter of the path tests a column that none of the objects
// it is applied to has. by is the subject of messages about the path; optional lists columns
// that all rows may lack, in addition to the columns that are HeaderOnly. Absent looks only
// at plain arrays, and calls no methods of Go types.
func (p *Path) Absent(field any, by string, optional []string) error {
	v := field
	for i := range p.steps {
		s := &p.steps[i]
		switch s.kind {
		case nameStep:
			o, ok := v.(*value.Object)
			if !ok {
				return nil
			}
			v, _ = o.Get(s.name)
		case filterStep:
			var reads []source.ColumnRead
			for _, c := range needed(s.filter) {
				reads = append(reads, source.ColumnRead{Column: c.Text, By: by, HeaderOnly: c.HeaderOnly})
			}
			rows, _ := v.([]any)
			search := columncheck.NewReads(reads)
			search.Look(rows)
			return search.Missing(optional)
		default:
			return nil
		}
	}
	return nil
}

// isRow reports whether a step from a table leads to rows.
func (s *step) isRow() bool {
	switch s.kind {
	case indexStep, anyStep, sliceStep, filterStep:
		return true
	case unionStep:
		return !slices.ContainsFunc(s.union, func(u step) bool { return u.kind != indexStep })
	}
	return false
}

// needed returns the members of the element that a filter reads.
func needed(filter *expressions.Program) []Column {
	var out []Column
	guarded := filter.Tree().Guarded()
	for _, path := range filter.Tree().Needed() {
		if len(path.Steps) == 0 || path.Steps[0].IsIndex {
			continue
		}
		member := source.Text{Value: path.Steps[0].Name, Pos: filter.Place(path.Steps[0].From)}
		if i := slices.IndexFunc(out, func(c Column) bool { return c.Text == member }); i >= 0 {
			out[i].HeaderOnly = true // a test of existence compares a path with itself
		} else {
			out = append(out, Column{member, slices.Contains(guarded, path)})
		}
	}
	return out
}

// offset returns the offset in the source of step number n, where the field is number
// 0. None of the steps before it may be a descent.
func (p *Path) offset(n int) int {
	c := compiler{src: p.text}
	for i := 1; i < len(p.text.Value); i++ {
		switch p.text.Value[i] {
		case '[':
			if n == 0 {
				return i + 1 + spaces(p.text.Value[i+1:])
			}
			i, _ = c.bracket(i)
			n--
		case '.':
			if n == 0 {
				return i + 1
			}
			n--
		}
	}
	return 0
}
