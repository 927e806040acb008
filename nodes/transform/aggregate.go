package transform

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core/value"
)

// fold computes one aggregate for all groups, which are numbered from 0. Only count
// without an argument, first, last and list include nulls.
type fold interface {
	// open begins the next group and returns the memory that it takes, in bytes.
	open() int64
	// add adds the value of one row to a group.
	add(group int, v any) error
	// result returns the aggregate of all rows of a group. It is called once.
	result(group int) (any, error)
}

// fold returns a fold that computes the aggregate. It charges the values that it keeps
// to the budget.
func (a *aggregate) fold(held *budget) fold {
	switch a.f {
	case countRows:
		return &counts{nulls: a.column == "" && a.program == nil}
	case countIf:
		return &hits{}
	case countDistinct:
		return &distinct{values: newIndex(1), seen: map[uint64]struct{}{}, held: held}
	case sum:
		return &sums{}
	case mean:
		return &means{}
	case percentile:
		return &lists{held: held, numbers: true, percent: a.percent}
	case list:
		return &lists{held: held}
	}
	return &picks{f: a.f, held: held}
}

// counts counts values, and nulls if nulls is set.
type counts struct {
	list  []int64
	nulls bool
}

func (c *counts) open() int64 {
	c.list = append(c.list, 0)
	return 8
}

func (c *counts) add(group int, v any) error {
	if v != nil || c.nulls {
		c.list[group]++
	}
	return nil
}

func (c *counts) result(group int) (any, error) { return c.list[group], nil }

// hits counts the values that are true.
type hits struct{ counts }

func (h *hits) add(group int, v any) error {
	if v == true {
		h.list[group]++
	}
	return nil
}

// distinct counts distinct values.
type distinct struct {
	counts
	values *index
	seen   map[uint64]struct{} // pairs of group and value
	key    [1]any
	held   *budget
}

func (d *distinct) add(group int, v any) error {
	if v == nil {
		return nil
	}
	d.key[0] = v
	n, added := d.values.number(d.key[:])
	size := int64(0)
	if added {
		size = 2*valueSize + sizeOf(v)
	}
	pair := uint64(group)<<32 | uint64(n)
	if _, ok := d.seen[pair]; !ok {
		d.seen[pair] = struct{}{}
		d.list[group]++
		size += 2 * valueSize
	}
	return d.held.grow(size)
}

// picks keeps one value of each group: the first, the last, the smallest or the
// largest.
type picks struct {
	f    function
	list []any
	some []bool // the group has had a value
	held *budget
}

func (p *picks) open() int64 {
	p.list, p.some = append(p.list, nil), append(p.some, false)
	return valueSize + 1
}

func (p *picks) add(group int, v any) error {
	old := p.list[group]
	switch p.f {
	case first:
		if p.some[group] {
			return nil
		}
	case minimum:
		if v == nil || p.some[group] && compare(v, old) >= 0 {
			return nil
		}
	case maximum:
		if v == nil || p.some[group] && compare(v, old) <= 0 {
			return nil
		}
	}
	p.list[group], p.some[group] = v, true
	return p.held.grow(sizeOf(v) - sizeOf(old))
}

// reset discards the value of a group.
func (p *picks) reset(group int) error {
	old := p.list[group]
	p.list[group], p.some[group] = nil, false
	return p.held.grow(-sizeOf(old))
}

func (p *picks) result(group int) (any, error) { return p.list[group], nil }

// lists keeps all values of each group in order. If numbers is set, the result is a
// percentile of them.
type lists struct {
	values  [][]any
	held    *budget
	numbers bool
	percent int
}

func (l *lists) open() int64 {
	l.values = append(l.values, nil)
	return 24
}

func (l *lists) add(group int, v any) error {
	if l.numbers {
		switch v.(type) {
		case nil:
			return nil
		case int64, float64:
		default:
			return notNumber(v)
		}
	}
	l.values[group] = append(l.values[group], v)
	return l.held.grow(valueSize + sizeOf(v))
}

func (l *lists) result(group int) (any, error) {
	if l.numbers {
		return nearestRank(l.values[group], l.percent), nil
	}
	if l.values[group] == nil {
		return []any{}, nil
	}
	return slices.Clip(l.values[group]), nil
}

func notNumber(v any) error {
	return fmt.Errorf("want a number, got %s %s", value.TypeName(v), shorten(value.JSON(v)))
}

// shorten truncates a value for a message.
func shorten(s string) string {
	const maxLength = 60
	if len(s) <= maxLength {
		return s
	}
	return strings.ToValidUTF8(s[:maxLength], "") + "..."
}

// total is a running sum of numbers.
type total struct {
	count    int64
	integers wide
	floats   exactFloat
}

func (t *total) add(v any) error {
	switch n := v.(type) {
	case nil:
		return nil
	case int64:
		t.integers.add(n)
	case float64:
		t.floats.add(n)
	default:
		return notNumber(v)
	}
	t.count++
	return nil
}

// sum returns the sum. It is an exact integer if all numbers were integers.
func (t *total) sum() (any, error) {
	if !t.floats.used {
		n, ok := t.integers.int64()
		if !ok {
			return nil, fmt.Errorf("the sum of integers does not fit 64 bits")
		}
		return n, nil
	}
	return finite(t.integers.float() + t.floats.sum())
}

// mean returns the mean, or nil if there were no numbers.
func (t *total) mean() (any, error) {
	if t.count == 0 {
		return nil, nil
	}
	return finite((t.integers.float() + t.floats.sum()) / float64(t.count))
}

type sums struct{ list []total }

func (s *sums) open() int64 {
	s.list = append(s.list, total{})
	return 48
}

func (s *sums) add(group int, v any) error { return s.list[group].add(v) }

func (s *sums) result(group int) (any, error) { return s.list[group].sum() }

type means struct{ sums }

func (m *means) result(group int) (any, error) { return m.list[group].mean() }

func finite(f float64) (any, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("the result is beyond the range of numbers")
	}
	return f, nil
}

// nearestRank returns the smallest value that at least p percent of the values do not
// exceed. The result is always one of the values, so integers stay integers.
func nearestRank(values []any, p int) any {
	if len(values) == 0 {
		return nil
	}
	slices.SortFunc(values, compare)
	rank := (p*len(values) + 99) / 100
	return values[max(rank, 1)-1]
}

// wide is a 128-bit sum of 64-bit integers. It cannot overflow with fewer than
// 2^63 of them, so the order of the summands makes no difference.
type wide struct {
	high int64
	low  uint64
}

func (w *wide) add(n int64) {
	low, carry := bits.Add64(w.low, uint64(n), 0)
	w.low = low
	w.high += n>>63 + int64(carry)
}

// int64 returns the sum and whether it fits into 64 bits.
func (w *wide) int64() (int64, bool) {
	n := int64(w.low)
	return n, w.high == n>>63
}

func (w *wide) float() float64 {
	if n, ok := w.int64(); ok {
		return float64(n)
	}
	return float64(w.high)*(1<<64) + float64(w.low)
}

// exactFloat sums floats with Neumaier's method: it accumulates the rounding error of
// each addition, so that the sum of a long column of small numbers stays accurate.
type exactFloat struct {
	used       bool
	total, off float64
}

func (e *exactFloat) add(f float64) {
	e.used = true
	t := e.total + f
	if math.Abs(e.total) >= math.Abs(f) {
		e.off += (e.total - t) + f
	} else {
		e.off += (f - t) + e.total
	}
	e.total = t
}

func (e *exactFloat) sum() float64 {
	if math.IsInf(e.total, 0) {
		return e.total
	}
	return e.total + e.off
}
