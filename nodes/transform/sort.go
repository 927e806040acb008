package transform

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// sort compiles a stable sort. A column with a leading minus is sorted in descending
// order. top is the number of rows that are needed, -1 for all.
func (b *builder) sort(list []source.Text, key string, c source.Columns, top int) step {
	if len(list) == 0 {
		b.problem(b.node.Pos, key, "there are no columns", "")
	}
	names, descending := make([]string, len(list)), make([]bool, len(list))
	columns := slices.Clone(list)
	for i := range columns {
		if strings.HasPrefix(columns[i].Value, "-") {
			columns[i] = source.Cut(columns[i], 1, len(columns[i].Value))
			descending[i] = true
		}
		names[i] = columns[i].Value
		b.need(c, columns[i], key)
	}
	b.distinct(columns, key)
	return step{required(c, names), nil, func(_ context.Context, w work) (stage, error) {
		s := &sorter{work: w, names: names, descending: descending, top: top, held: w.budget("row")}
		if top < 0 {
			s.keep = w.keeper()
		} else {
			s.keep = &keeper{}
		}
		return s, nil
	}}
}

// sorter holds all rows, or only the top rows if the others are not needed.
type sorter struct {
	work
	names      []string
	descending []bool
	top        int
	shapes     shapes[[]table.CellIndex] // of names
	held       budget

	keep    *keeper
	values  []any   // of the sort columns, row by row
	entries []entry // the first sorted entries consist of sorted runs
	sorted  int
	bound   bool // there are top entries; a row after the last of them can be dropped
	spare   []entry
	emitted int
}

// entry is a row to be sorted: its index, and approximations of its first two sort
// values, which decide most comparisons.
type entry struct {
	first, second roughValue
	row           int32
	exact         [2]bool // equal approximations mean equal values
}

// run is the number of rows that are sorted at once. Cancellation is not checked during
// that time.
const run = 1 << 15

func (s *sorter) take(ctx context.Context, r *record) error {
	places, _ := s.shapes.of(r.layout, func(l *layout) ([]table.CellIndex, error) {
		s.needs.observe(l)
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
	e := entry{row: int32(len(s.entries))}
	e.first, e.exact[0] = rough(s.values[at], s.descending[0])
	if len(places) > 1 {
		e.second, e.exact[1] = rough(s.values[at+1], s.descending[1])
	}
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

// alone returns the record as a row that is allocated on its own, because few of the
// rows are kept to the end.
func (s *sorter) alone(r *record) *value.Object {
	if _, isArray := s.source.(*array); isArray && r.layout.same {
		return r.Base
	}
	return r.layout.row(&r.Record, true)
}

// cut discards all but the top entries, once there are twice as many or at the end.
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

// compare orders entries by the values of their rows. Ties are broken by the index of
// the row, which makes the sort stable.
func (s *sorter) compare(a, b entry) int {
	if a.first != b.first {
		return cmp.Compare(a.first, b.first)
	}
	if !a.exact[0] || !b.exact[0] {
		if c := s.column(0, a, b); c != 0 {
			return c
		}
	}
	if a.second != b.second {
		return cmp.Compare(a.second, b.second)
	}
	for i := 1; i < len(s.names); i++ {
		if i == 1 && a.exact[1] && b.exact[1] {
			continue
		}
		if c := s.column(i, a, b); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.row, b.row)
}

// column compares two rows by one column.
func (s *sorter) column(i int, a, b entry) int {
	width := len(s.names)
	c := compare(s.values[int(a.row)*width+i], s.values[int(b.row)*width+i])
	if s.descending[i] {
		return -c
	}
	return c
}

// end passes the rows on in order.
func (s *sorter) end(ctx context.Context) (more bool, err error) {
	if s.emitted == 0 {
		if err := s.needs.missing(); err != nil {
			return false, s.fail(err)
		}
		if err := s.order(ctx); err != nil {
			return false, err
		}
	}
	r := &s.record
	for until := min(s.emitted+endRows, len(s.entries)); s.emitted < until && !s.enough(); s.emitted++ {
		r.Base = s.keep.rows[s.entries[s.emitted].row].(*value.Object)
		r.layout = s.headers.of(r.Base)
		if err := s.next.take(ctx, r); err != nil {
			return false, err
		}
	}
	return s.emitted < len(s.entries) && !s.enough(), ctx.Err()
}

// order completes the sorting of the entries.
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

// merge merges pairs of adjacent runs of size entries.
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

// roughValue is a number that approximates the position of a value in the order.
type roughValue uint64

// rough returns an order-preserving approximation of a value: if a comes before b, the
// number of a is not greater than the number of b. It distinguishes all types, numbers
// by all but the last three bits of a float, and strings by their first seven bytes.
// exact reports that only equal values have this number.
func rough(v any, descending bool) (n roughValue, exact bool) {
	switch v := v.(type) {
	case nil:
		exact = true
	case bool:
		if exact = true; v {
			n = 1
		}
	case int64:
		f := float64(v)
		n, exact = roughNumber(f)
		exact = exact && value.CompareIntFloat(v, f) == 0
	case float64:
		n, exact = roughNumber(v)
	case string:
		for i := range min(len(v), 7) {
			n |= roughValue(v[i]) << (8*(6-i) + 4)
		}
		n |= roughValue(min(len(v), 8)) // a prefix comes before longer strings
		exact = len(v) < 8
	}
	if n |= roughValue(rank(v)) << 61; descending {
		return ^n, exact
	}
	return n, exact
}

func roughNumber(f float64) (n roughValue, exact bool) {
	ordered := orderedBits(f)
	return roughValue(ordered >> 3), ordered&7 == 0
}

// orderedBits maps floats to integers with the same order. NaN comes first.
func orderedBits(f float64) uint64 {
	if math.IsNaN(f) {
		return 0
	}
	n := math.Float64bits(f + 0) // -0.0 equals 0
	if n>>63 == 1 {
		return ^n
	}
	return n | 1<<63
}
