package transform

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// dedupe compiles a step that keeps the first of equal rows. Rows are compared by the
// columns in list, or by all columns if it is empty.
func (b *builder) dedupe(list []source.Text, key string, c source.Columns) step {
	for _, n := range list {
		b.need(c, n, key)
	}
	b.distinct(list, key)
	names := source.Strings(list)
	return step{required(c, names), nil, func(_ context.Context, w work) (stage, error) {
		if len(names) == 0 {
			return &wholeDeduper{work: w, numbers: map[string]int{}, seen: map[string]struct{}{}, held: w.budget("row")}, nil
		}
		return &deduper{work: w, names: names, index: newIndex(len(names)), key: make([]any, len(names)), held: w.budget("key")}, nil
	}}
}

// deduper remembers the keys of the rows that it has passed on.
type deduper struct {
	work
	names  []string
	shapes shapes[[]table.CellIndex] // of names
	index  *index
	key    []any
	held   budget
}

func (d *deduper) take(ctx context.Context, r *record) error {
	places, _ := d.shapes.of(r.layout, func(l *layout) ([]table.CellIndex, error) {
		d.needs.observe(l)
		return l.findAll(d.names), nil
	})
	d.rows++
	for i, p := range places {
		d.key[i] = r.At(p)
	}
	if _, added := d.index.number(d.key); !added {
		return nil
	}
	size := int64(valueSize + valueSize*len(places))
	for _, v := range d.key {
		size += sizeOf(v)
	}
	if err := d.held.hold(size); err != nil {
		return d.fail(err)
	}
	return d.next.take(ctx, r)
}

// wholeDeduper compares whole rows. The full set of columns is known only after the
// last row, so a key consists of the non-null values with the numbers of their columns.
// Columns are numbered in the order in which they are first seen.
type wholeDeduper struct {
	work
	numbers map[string]int // of columns
	shapes  shapes[[]numbered]
	seen    map[string]struct{}
	buf     []byte
	held    budget
}

// numbered is a column of a layout with its number.
type numbered struct {
	number int
	place  table.CellIndex
}

func (d *wholeDeduper) take(ctx context.Context, r *record) error {
	columns, _ := d.shapes.of(r.layout, d.columns)
	d.rows++
	d.buf = d.buf[:0]
	for _, c := range columns {
		if v := r.At(c.place); v != nil {
			d.buf = appendKey(binary.BigEndian.AppendUint32(d.buf, uint32(c.number)), v)
		}
	}
	d.buf = short(d.buf)
	if _, ok := d.seen[string(d.buf)]; ok {
		return nil
	}
	d.seen[string(d.buf)] = struct{}{}
	if err := d.held.hold(int64(2*valueSize + len(d.buf))); err != nil {
		return d.fail(err)
	}
	return d.next.take(ctx, r)
}

// columns returns the columns of a layout, sorted by number.
func (d *wholeDeduper) columns(l *layout) ([]numbered, error) {
	list := make([]numbered, len(l.names))
	for i, name := range l.names {
		n, ok := d.numbers[name]
		if !ok {
			n = len(d.numbers)
			d.numbers[name] = n
		}
		list[i] = numbered{n, l.places[i]}
	}
	slices.SortFunc(list, func(a, b numbered) int { return a.number - b.number })
	return list, nil
}
