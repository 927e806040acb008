package transform

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// layout says how a row of one header becomes a row of another: the new keys,
// and for each of them the place of its value in the old row, -1 for none.
type layout struct {
	keys *core.Keys
	from []int
}

// copy fills values from a row.
func (l *layout) copy(values []any, row *core.Object) {
	for j, i := range l.from {
		if i >= 0 {
			_, values[j] = row.At(i)
		}
	}
}

// layouts finds the layout for each row. Rows of one table mostly share their
// header, so the one before is tried first; rows with headers of their own are
// found by their names.
type layouts struct {
	// plan makes the layout for a header: the new names, and where each value
	// comes from.
	plan func(keys []string) (names []string, from []int, err error)

	last    []string
	current *layout
	known   map[string]*layout
}

func (l *layouts) of(keys []string) (*layout, error) {
	if l.current != nil && (table.SameKeys(keys, l.last) || slices.Equal(keys, l.last)) {
		return l.current, nil
	}
	name := strings.Join(keys, "\x00")
	found, ok := l.known[name]
	if !ok {
		names, from, err := l.plan(keys)
		if err != nil {
			return nil, err
		}
		header, err := core.NewKeys(names)
		if err != nil {
			return nil, err
		}
		found = &layout{header, from}
		if l.known == nil {
			l.known = map[string]*layout{}
		}
		l.known[name] = found
	}
	l.last, l.current = keys, found
	return found, nil
}

// writer makes rows, with a builder for each header. The zero writer is ready to
// use.
type writer struct {
	header *core.Keys
	build  *table.Builder
	known  map[*core.Keys]*table.Builder
}

func (w *writer) row(header *core.Keys) (*core.Object, []any) {
	if header == w.header {
		return w.build.Row()
	}
	b, ok := w.known[header]
	if !ok {
		if w.known == nil {
			w.known = map[*core.Keys]*table.Builder{}
		}
		b = table.NewBuilder(header)
		w.known[header] = b
	}
	w.header, w.build = header, b
	return b.Row()
}
