package transform

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/wanted"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// layout says of what columns a row consists and where the value of each is. The
// steps that add, leave out and rename columns make new layouts, once for each
// header, and touch no row. A layout belongs to one attempt.
type layout struct {
	names  []string
	places []table.CellIndex
	// same tells that the base row has exactly these columns, so that there is no
	// need to make another.
	same  bool
	keys  *value.Keys
	build *table.Builder
}

// find returns the place of a column.
func (l *layout) find(name string) table.CellIndex {
	if i := slices.Index(l.names, name); i >= 0 {
		return l.places[i]
	}
	return table.NoCell
}

// null is the register that always holds null: the place of a column that rows have
// although nothing is in it.
const null = 0

// findAll returns the places of columns.
func (l *layout) findAll(names []string) []table.CellIndex {
	places := make([]table.CellIndex, len(names))
	for i, n := range names {
		places[i] = l.find(n)
	}
	return places
}

// with returns the layout with further columns; one that is there is replaced.
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

// registers returns n places in a row, beginning with a register.
func registers(first, n int) []table.CellIndex {
	places := make([]table.CellIndex, n)
	for i := range places {
		places[i] = table.Register(first + i)
	}
	return places
}

// header returns the keys of rows of the layout.
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

// row makes a row of the values of a record. Rows are made in blocks, which stay
// as long as one of their rows does; alone is for a row that is kept while its
// neighbours are not.
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

// record is the row that is on its way through the steps.
type record struct {
	table.Record
	layout *layout
}

// object returns the record as one row.
func (r *record) object() *value.Object {
	if r.layout.same {
		return r.Base
	}
	return r.layout.row(&r.Record, false)
}

// maxLayouts is how many layouts are remembered. Tables have one or a few; where
// each row has a header of its own, they are worked out again.
const maxLayouts = 1024

// headers finds the layout of rows as they come in. Rows of one table mostly share
// their header; rows with headers of their own are found by their names.
type headers struct {
	last    []string
	current *layout
	known   map[string]*layout
}

func (h *headers) of(row *value.Object) *layout {
	keys := row.Keys()
	if h.current != nil && wanted.SameKeys(keys, h.last) {
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

// shapes remembers what a step makes of each layout that comes into it.
type shapes[T any] struct {
	last  *layout
	now   T
	known map[*layout]T
}

// of returns what make made of the layout.
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
