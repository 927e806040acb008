package transform

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/columncheck"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// layout describes the columns of a row and where the value of each is. Steps that add,
// drop and rename columns make a new layout for each distinct header and do not touch
// the rows. A layout belongs to one attempt.
type layout struct {
	names  []string
	places []table.CellIndex
	// same is set if the base row has exactly these columns, so that it can be used
	// unchanged.
	same  bool
	keys  *value.Keys
	build *table.Builder
}

// find returns the place of a column, or table.NoCell.
func (l *layout) find(name string) table.CellIndex {
	if i := slices.Index(l.names, name); i >= 0 {
		return l.places[i]
	}
	return table.NoCell
}

// null is the register that always holds null. It is the place of columns that rows
// must have but for which they have no value.
const null = 0

// findAll returns the places of several columns.
func (l *layout) findAll(names []string) []table.CellIndex {
	places := make([]table.CellIndex, len(names))
	for i, n := range names {
		places[i] = l.find(n)
	}
	return places
}

// with returns a copy of the layout with more columns. Columns with the same name are
// replaced.
func (l *layout) with(names []string, places []table.CellIndex) *layout {
	out := &layout{names: slices.Clone(l.names), places: slices.Clone(l.places)}
	for i, n := range names {
		if at := slices.Index(out.names, n); at >= 0 {
			out.places[at] = places[i]
		} else {
			out.names, out.places = append(out.names, n), append(out.places, places[i])
		}
	}
	return out
}

// registers returns the places of n consecutive registers.
func registers(first, n int) []table.CellIndex {
	places := make([]table.CellIndex, n)
	for i := range places {
		places[i] = table.Register(first + i)
	}
	return places
}

// header returns the keys for rows of the layout.
func (l *layout) header() *value.Keys {
	if l.keys == nil {
		keys, err := value.NewKeys(l.names)
		if err != nil {
			panic(err) // no step makes a column twice
		}
		l.keys = keys
	}
	return l.keys
}

// row makes a row from the values of a record. Rows are allocated in blocks, which stay
// in memory as long as one of their rows does. alone allocates the row on its own, for
// a row that is kept although its neighbours are not.
func (l *layout) row(r *table.Record, alone bool) *value.Object {
	var (
		row    *value.Object
		values []any
	)
	if alone {
		values = make([]any, len(l.places))
		row = value.NewRow(l.header(), values)
	} else {
		if l.build == nil {
			l.build = table.NewBuilder(l.header())
		}
		row, values = l.build.Row()
	}
	for i, p := range l.places {
		values[i] = r.At(p)
	}
	return row
}

// record is the row that passes through the steps.
type record struct {
	table.Record
	layout *layout
}

// object returns the record as an object. It makes a new row unless the base row can be
// used.
func (r *record) object() *value.Object {
	if r.layout.same {
		return r.Base
	}
	return r.layout.row(&r.Record, false)
}

// maxLayouts limits the number of cached layouts. Most tables need one or a few. If
// nearly every row has a different header, layouts are computed again.
const maxLayouts = 1024

// headers finds the layouts of input rows. Most rows of a table share their keys, so
// the last layout is tried first; otherwise layouts are found by the names of the
// columns.
type headers struct {
	last    []string
	current *layout
	known   map[string]*layout
}

func (h *headers) of(row *value.Object) *layout {
	keys := row.Keys()
	if h.current != nil && columncheck.SameKeys(keys, h.last) {
		return h.current
	}
	return h.other(keys)
}

func (h *headers) other(keys []string) *layout {
	if h.current != nil && slices.Equal(keys, h.current.names) {
		h.last = keys
		return h.current
	}
	name := strings.Join(keys, "\x00")
	l, ok := h.known[name]
	if !ok {
		l = &layout{names: slices.Clone(keys), places: make([]table.CellIndex, len(keys)), same: true}
		for i := range keys {
			l.places[i] = table.CellIndex(i)
		}
		if h.known == nil || len(h.known) >= maxLayouts {
			h.known = map[string]*layout{}
		}
		h.known[name] = l
	}
	h.last, h.current = keys, l
	return l
}

// shapes caches what a step derives from each of its input layouts.
type shapes[T any] struct {
	last  *layout
	now   T
	known map[*layout]T
}

// of returns the result of make for the layout. It calls make only if the result is not
// cached.
func (s *shapes[T]) of(l *layout, make func(*layout) (T, error)) (T, error) {
	if l == s.last {
		return s.now, nil
	}
	v, ok := s.known[l]
	if !ok {
		var err error
		if v, err = make(l); err != nil {
			return v, err
		}
		if s.known == nil || len(s.known) >= maxLayouts {
			s.known = map[*layout]T{}
		}
		s.known[l] = v
	}
	s.last, s.now = l, v
	return v, nil
}
