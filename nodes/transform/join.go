package transform

import (
	"context"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// join adds columns of another table to the rows that match it.
type join struct {
	with        string // the field of the other table
	left, right []string
	outer       bool // rows without a match stay
	prefix      string
	take        []string // columns of the other table, nil for all but right
	// declared are the other table's columns by the state schema; they stand in
	// when it has no rows.
	declared []string
	maxRows  int
}

const (
	// defaultMaxRows is how many rows a join makes at most unless it says max_rows.
	// They take some 2 GB.
	defaultMaxRows = 10_000_000
	// wideRow is the number of columns from which on a row counts as two, then as
	// three: columns take memory too, and a table may have a column per row.
	wideRow = 32
)

func (b *builder) join(c *joinConfig, key string, columns eval.Columns) (step, eval.Columns) {
	j := &join{with: c.With.Value, left: core.Strings(c.On.left), right: core.Strings(c.On.right),
		outer: c.Kind.Value == "left", prefix: c.Prefix.Value, maxRows: defaultMaxRows}
	if c.MaxRows != nil {
		j.maxRows = c.MaxRows.Value
	}
	for _, n := range c.On.left {
		b.need(columns, n, key+".on")
	}
	other := b.otherTable(c, key)
	for _, n := range c.On.right {
		b.need(other, n, key+".on")
	}
	if c.Take == nil {
		for _, p := range properties(other) {
			if !slices.Contains(j.right, p.Name) {
				j.declared = append(j.declared, p.Name)
			}
		}
		after := columns
		after.Closed, after.Names = false, nil
		return j.run, after
	}
	b.distinct(c.Take, key+".take")
	j.take = core.Strings(c.Take)
	var added []core.Property
	for _, n := range c.Take {
		b.need(other, n, key+".take")
		p := property(other, n.Value)
		if p.Name = j.prefix + n.Value; columns.Closed && columns.Has(p.Name) {
			b.scope.Errorf(core.CodeDuplicateKey, n.Pos, key+".take", "the rows have a column %q already", p.Name).WithHint("set prefix")
		}
		added = append(added, p)
	}
	return j.run, with(columns, added)
}

// otherTable checks the field of the other table and returns what is known of
// its columns.
func (b *builder) otherTable(c *joinConfig, key string) eval.Columns {
	t, ok := b.scope.Field(c.With, key+".with")
	if !ok || t == nil {
		return eval.Columns{}
	}
	if t.Kind != core.ArrayType && t.Kind != core.AnyType {
		b.scope.Errorf(core.CodeWrongType, c.With.Pos, key+".with", "a table is an array of objects, %s is %s", c.With.Value, t.Kind)
	}
	return eval.Columns{Type: t.Items}
}

// matches finds the rows of the other table by key. The rows of one key are a
// chain in their order.
type matches struct {
	ids    map[string]int32 // of the chains
	chains []chain
	next   []int32 // row after row, -1 ends a chain
	rows   []any
}

type chain struct{ first, rows int32 }

func (j *join) run(ctx context.Context, a *attempt, rows []any) ([]any, error) {
	other, err := table.Rows(j.with, eval.Value(a.in, j.with))
	if err != nil {
		return nil, core.Permanent(err)
	}
	if err := require(rows, j.left); err != nil {
		return nil, err
	}
	take := j.take
	if take == nil {
		take = slices.DeleteFunc(table.Columns(other), func(n string) bool { return slices.Contains(j.right, n) })
		if len(other) == 0 {
			take = j.declared
		}
	}
	if err := require(other, append(slices.Clone(j.right), take...)); err != nil {
		return nil, fmt.Errorf("%s: %w", j.with, err)
	}
	m, err := j.index(ctx, other)
	if err != nil {
		return nil, err
	}
	return j.combine(ctx, rows, m, take)
}

// index goes backwards, so that each chain ends up in the order of the rows.
func (j *join) index(ctx context.Context, other []any) (*matches, error) {
	m := &matches{ids: make(map[string]int32, len(other)), next: make([]int32, len(other)), rows: other}
	columns := columnsOf(j.right)
	var buf []byte
	for i := len(other) - 1; i >= 0; i-- {
		if err := table.Tick(ctx, i); err != nil {
			return nil, err
		}
		key, ok := joinKey(buf[:0], columns, other[i].(*core.Object))
		buf = key
		if !ok {
			continue
		}
		id, known := m.ids[string(key)]
		if !known {
			id = int32(len(m.chains))
			m.ids[string(key)] = id
			m.chains = append(m.chains, chain{first: -1})
		}
		c := &m.chains[id]
		m.next[i] = c.first
		c.first, c.rows = int32(i), c.rows+1
	}
	return m, nil
}

// joinKey returns the key of a row; ok is false when a part of it is null, which
// matches nothing.
func joinKey(buf []byte, columns []table.Column, row *core.Object) (key []byte, ok bool) {
	for i := range columns {
		v := columns[i].Value(row)
		if v == nil {
			return buf, false
		}
		buf = appendKey(buf, v)
	}
	return short(buf), true
}

// find returns the chain of each row, none when nothing matches, and the number
// of rows that the join makes. It refuses a join that makes too many, so that
// this costs no more than looking.
func (j *join) find(ctx context.Context, rows []any, m *matches, take int) (found []int32, total int, err error) {
	found = make([]int32, len(rows))
	columns := columnsOf(j.left)
	var (
		buf     []byte
		weight  int // of the rows so far, see maxRows; beyond the limit it may be wrong
		longest chain
		at      int // the row with the longest chain
	)
	for i, r := range rows {
		if err := table.Tick(ctx, i); err != nil {
			return nil, 0, err
		}
		row := r.(*core.Object)
		key, ok := joinKey(buf[:0], columns, row)
		buf = key
		found[i] = none
		n := 0
		if j.outer {
			n = 1
		}
		if id, known := m.ids[string(key)]; ok && known {
			found[i] = id
			c := m.chains[id]
			if n = int(c.rows); c.rows > longest.rows {
				longest, at = c, i
			}
		}
		total += n
		if weight <= j.maxRows {
			weight += n * (1 + (row.Len()+take)/wideRow)
		}
	}
	if weight <= j.maxRows {
		return found, total, nil
	}
	return nil, 0, core.Permanent(j.tooMany(total, int(longest.rows), at+1))
}

func (j *join) tooMany(total, most, row int) error {
	wide, why := "", ""
	if total <= j.maxRows {
		wide = fmt.Sprintf(", which count more than once as they have %d columns or more", wideRow)
	}
	if most > 1 {
		why = fmt.Sprintf("; row %d alone matches %d rows of %s", row, most, j.with)
	}
	return fmt.Errorf("the result would have %s%s: more than max_rows, which is %d%s", table.Count(total, "row"), wide, j.maxRows, why)
}

// none stands for no chain.
const none = -1

func (j *join) combine(ctx context.Context, rows []any, m *matches, take []string) ([]any, error) {
	found, total, err := j.find(ctx, rows, m, len(take))
	if err != nil {
		return nil, err
	}
	plan := func(keys []string) (names []string, from []int, err error) {
		names = slices.Clone(keys)
		for i := range keys {
			from = append(from, i)
		}
		for _, n := range take {
			if n = j.prefix + n; slices.Contains(keys, n) {
				return nil, nil, core.Permanent(fmt.Errorf("both tables have a column %q; set prefix or take", n))
			}
			names, from = append(names, n), append(from, -1)
		}
		return names, from, nil
	}
	shapes, w := layouts{plan: plan}, writer{}
	right := columnsOf(take)
	out := make([]any, 0, total)
	for i, r := range rows {
		at := int32(-1)
		if found[i] != none {
			at = m.chains[found[i]].first
		} else if !j.outer {
			continue
		}
		row := r.(*core.Object)
		l, err := shapes.of(row.Keys())
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		for first := true; first || at >= 0; first = false {
			if err := table.Tick(ctx, len(out)); err != nil {
				return nil, err
			}
			made, values := w.row(l.keys)
			l.copy(values, row)
			if at >= 0 {
				match := m.rows[at].(*core.Object)
				for k := range right {
					values[row.Len()+k] = right[k].Value(match)
				}
				at = m.next[at]
			}
			out = append(out, made)
		}
	}
	return out, nil
}

func columnsOf(names []string) []table.Column {
	out := make([]table.Column, len(names))
	for i, n := range names {
		out[i].Name = n
	}
	return out
}
