package transform

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// sort compiles a stable sort. A leading minus turns the order of a column
// around. top is how many of the rows are wanted, -1 for all.
func (b *builder) sort(list []core.Text, key string, c eval.Columns, top int) step {
	if len(list) == 0 {
		b.problem(b.node.Pos, key, "there are no columns", "")
	}
	names, down := make([]string, len(list)), make([]bool, len(list))
	bare := slices.Clone(list)
	for i := range bare {
		if strings.HasPrefix(bare[i].Value, "-") {
			bare[i] = core.Cut(bare[i], 1, len(bare[i].Value))
			down[i] = true
		}
		names[i] = bare[i].Value
		b.need(c, bare[i], key)
	}
	b.distinct(bare, key)
	return func(_ context.Context, w work) (stage, error) {
		w.needs.names = names
		s := &sorter{work: w, names: names, down: down, top: top, held: w.budget("row")}
		if top < 0 {
			s.keep = w.keeper()
		} else {
			s.keep = &keeper{}
		}
		return s, nil
	}
}

// sorter holds all rows, or the first of the order when only these are wanted.
type sorter struct {
	work
	names  []string
	down   []bool
	top    int
	shapes shapes[[]eval.Place] // of names
	held   budget

	keep    *keeper
	values  []any   // of the columns, row by row
	entries []entry // in order up to sorted, in runs of run before it is let go
	sorted  int
	bound   bool // there are top entries, the last of which a row has to beat
	spare   []entry
	given   int
}

// entry is a row in the order: a number that is the less the earlier the row comes,
// which tells most rows apart, and its place.
type entry struct {
	rough uint64
	row   int32
}

// run is how many rows are sorted at a time: the time in which a cancellation is
// not noticed.
const run = 1 << 15

func (s *sorter) take(ctx context.Context, r *record) error {
	places, _ := s.shapes.of(r.layout, func(l *layout) ([]eval.Place, error) {
		s.needs.note(l)
		return l.findAll(s.names), nil
	})
	s.rows++
	if s.top == 0 {
		return nil
	}
	at := len(s.values)
	for _, p := range places {
		s.values = append(roomy(s.values, int(s.total)*len(places)), r.At(p))
	}
	e := entry{rough(s.values[at], s.down[0]), int32(len(s.entries))}
	if s.bound && s.compare(e, s.entries[s.top-1]) > 0 {
		s.values = s.values[:at]
		return nil
	}
	s.entries = append(roomy(s.entries, int(s.total)), e)
	if s.top > 0 {
		s.keep.rows = append(s.keep.rows, s.alone(r))
		return s.cut(ctx, false)
	}
	s.keep.add(r)
	size := int64(rowSize + 2*valueSize*len(places))
	for _, p := range r.layout.places {
		size += valueSize + sizeOf(r.At(p))
	}
	if err := s.held.hold(size); err != nil {
		return s.fail(err)
	}
	if len(s.entries)-s.sorted == run {
		s.sortRun()
		return ctx.Err()
	}
	return nil
}

// alone returns the record as a row of its own: few of those that are taken stay
// to the end.
func (s *sorter) alone(r *record) *core.Object {
	if _, isArray := s.source.(*array); isArray && r.layout.same {
		return r.Base
	}
	return r.layout.row(&r.Record, true)
}

// cut keeps the top entries once there are twice as many, or at the end.
func (s *sorter) cut(ctx context.Context, end bool) error {
	if n := len(s.entries); !end && n < max(2*s.top, endRows) {
		return nil
	}
	slices.SortFunc(s.entries, s.compare)
	n := min(s.top, len(s.entries))
	s.bound = n == s.top
	kept, width := s.entries[:n], len(s.names)
	rows, values := make([]any, n, cap(s.keep.rows)), make([]any, 0, cap(s.values))
	for i, e := range kept {
		rows[i] = s.keep.rows[e.row]
		values = append(values, s.values[int(e.row)*width:][:width]...)
		kept[i].row = int32(i)
	}
	s.entries, s.keep.rows, s.values = kept, rows, values
	return ctx.Err()
}

func (s *sorter) sortRun() {
	slices.SortFunc(s.entries[s.sorted:], s.compare)
	s.sorted = len(s.entries)
}

// compare orders entries by the values of their rows. The place is the last key,
// which makes any sort a stable one.
func (s *sorter) compare(a, b entry) int {
	if c := cmp.Compare(a.rough, b.rough); c != 0 {
		return c
	}
	width := len(s.names)
	x, y := s.values[int(a.row)*width:][:width], s.values[int(b.row)*width:][:width]
	for i := range width {
		if c := compare(x[i], y[i]); c != 0 {
			if s.down[i] {
				return -c
			}
			return c
		}
	}
	return cmp.Compare(a.row, b.row)
}

// end lets the rows go in order.
func (s *sorter) end(ctx context.Context) (more bool, err error) {
	if s.given == 0 {
		if err := s.needs.missing(); err != nil {
			return false, s.fail(err)
		}
		if err := s.order(ctx); err != nil {
			return false, err
		}
	}
	r := &s.record
	for until := min(s.given+endRows, len(s.entries)); s.given < until && !s.enough(); s.given++ {
		r.Base = s.keep.rows[s.entries[s.given].row].(*core.Object)
		r.layout = s.headers.of(r.Base)
		if err := s.next.take(ctx, r); err != nil {
			return false, err
		}
	}
	return s.given < len(s.entries) && !s.enough(), ctx.Err()
}

// order brings the entries into their final order.
func (s *sorter) order(ctx context.Context) error {
	if s.top >= 0 {
		if s.top > 0 {
			return s.cut(ctx, true)
		}
		return nil
	}
	s.sortRun()
	for size := run; size < len(s.entries); size *= 2 {
		if err := s.merge(ctx, size); err != nil {
			return err
		}
	}
	return nil
}

// merge merges neighbouring runs of so many entries.
func (s *sorter) merge(ctx context.Context, size int) error {
	if s.spare == nil {
		s.spare = make([]entry, len(s.entries))
	}
	from, to := s.entries, s.spare
	for start := 0; start < len(from); start += 2 * size {
		mid, end := min(start+size, len(from)), min(start+2*size, len(from))
		a, b := from[start:mid], from[mid:end]
		for i := start; i < end; i++ {
			if err := table.Tick(ctx, i); err != nil {
				return err
			}
			if len(b) == 0 || len(a) > 0 && s.compare(a[0], b[0]) < 0 {
				to[i], a = a[0], a[1:]
			} else {
				to[i], b = b[0], b[1:]
			}
		}
	}
	s.entries, s.spare = to, from
	return nil
}

// rough returns a number for a value: if one value comes before another, its
// number is not the greater one. Types are told apart, numbers as well as a float
// can, texts by their first seven bytes.
func rough(v any, down bool) uint64 {
	n := uint64(rank(v)) << 61
	switch v := v.(type) {
	case bool:
		if v {
			n++
		}
	case int64:
		n |= orderedBits(float64(v)) >> 3
	case float64:
		n |= orderedBits(v) >> 3
	case string:
		for i := range min(len(v), 7) {
			n |= uint64(v[i]) << (8 * (6 - i))
		}
	}
	if down {
		return ^n
	}
	return n
}

// orderedBits returns bits that are ordered as the numbers are. NaN comes first.
func orderedBits(f float64) uint64 {
	if math.IsNaN(f) {
		return 0
	}
	n := math.Float64bits(f + 0) // -0.0 is 0
	if n>>63 == 1 {
		return ^n
	}
	return n | 1<<63
}
