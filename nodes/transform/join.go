package transform

import (
	"context"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// join is a compiled step that adds the columns of another table to the rows that match
// it. The other table is an array of the state.
type join struct {
	with        string // the field of the other table
	left, right []string
	outer       bool // keep rows without a match
	prefix      string
	take        []string // columns of the other table, nil for all except right
	needs       []string // the columns of right and take that are not optional
	names       []string // the names of take in the result
	match       string   // all, first or one
	// These describe the columns of the other table if it has no rows: all of its
	// columns, the node that read its header, and its declared columns.
	closed   []string
	header   string
	declared []string
	maxRows  int64
}

const (
	// defaultMaxRows is the default of max_rows, the limit on the rows that a join
	// adds. That many rows take some 2 GB.
	defaultMaxRows = 10_000_000
	// wideRow is the number of columns per unit of weight: a row of 32 columns counts
	// as two rows, a row of 64 columns as three. Wide rows take more memory, and a
	// table may have as many columns as rows.
	wideRow = 32
)

func (b *builder) join(c *joinConfig, key string, columns source.Columns) (step, source.Columns) {
	j := &join{with: c.With.Value, left: source.Strings(c.On.left), right: source.Strings(c.On.right),
		outer: c.Kind.Value == "left", prefix: c.Prefix.Value, match: c.Match.Value, maxRows: defaultMaxRows}
	if c.MaxRows != nil {
		j.maxRows = int64(c.MaxRows.Value)
	}
	for _, n := range c.On.left {
		b.need(columns, n, key+".on")
	}
	other := b.otherTable(c, key)
	for _, n := range c.On.right {
		b.need(other, n, key+".on")
	}
	for i, l := range c.On.left {
		r := c.On.right[i]
		if left, right := columns.Kind(l.Value), other.Kind(r.Value); left.Disjoint(right) {
			b.scope.Errorf(source.CodeWrongType, r.Pos, key+".on", "%q is %s and %q of %s is %s, so no row matches", l.Value, left, r.Value, j.with, right)
		}
	}
	if c.Take == nil {
		j.header, j.closed = b.headerOf(other), other.All()
		var added []value.Property
		for _, p := range properties(other) {
			if slices.Contains(j.right, p.Name) {
				continue
			}
			j.declared = append(j.declared, p.Name)
			if p.Name = j.prefix + p.Name; columns.Kind(p.Name) == value.AnyType {
				added = append(added, p)
			}
		}
		after := with(columns, added)
		after.Closed, after.Names = columns.Closed && other.Closed, nil
		if after.Closed {
			after.Names = slices.Clone(columns.Names)
			for _, n := range other.Names {
				if !slices.Contains(j.right, n) {
					after.Names = appendOnce(after.Names, j.prefix+n)
				}
			}
		}
		j.needs = required(other, j.right)
		return step{required(columns, j.left), nil, j.stage}, after
	}
	j.take = source.Strings(c.Take.from)
	names := b.takenNames(c, key)
	j.names = source.Strings(names)
	var added []value.Property
	for i, n := range c.Take.from {
		b.need(other, n, key+".take")
		p := property(other, n.Value)
		if p.Name = names[i].Value; columns.Closed && columns.Has(p.Name) {
			b.scope.Errorf(source.CodeDuplicateKey, names[i].Pos, key+".take", "the rows have a column %q already", p.Name).
				WithHint("set prefix, or write take: {%s: another name}", n.Value)
		}
		added = append(added, p)
	}
	j.needs = required(other, append(slices.Clone(j.right), j.take...))
	return step{required(columns, j.left), nil, j.stage}, with(columns, added)
}

// takenNames returns the names of the taken columns in the result.
func (b *builder) takenNames(c *joinConfig, key string) []source.Text {
	names := c.Take.to
	if names == nil {
		for _, n := range c.Take.from {
			names = append(names, source.At(c.Prefix.Value+n.Value, n.Pos))
		}
	} else if c.Prefix.Value != "" {
		b.problem(c.Prefix.Pos, key+".prefix", "take names the columns already", "leave prefix out")
	}
	b.distinct(names, key+".take")
	return names
}

// otherTable checks the field of the other table and returns the known columns of that
// table.
func (b *builder) otherTable(c *joinConfig, key string) source.Columns {
	t, ok := b.scope.Field(c.With, key+".with")
	if !ok {
		return source.Columns{}
	}
	if t == nil {
		return b.scope.Columns(c.With.Value, nil)
	}
	if t.Kind != value.ArrayType && t.Kind != value.AnyType {
		b.scope.Errorf(source.CodeWrongType, c.With.Pos, key+".with", "a table is an array of objects, %s is %s", c.With.Value, t.Kind)
	}
	return b.scope.Columns(c.With.Value, t.Items)
}

// stage reads the other table and returns the stage of the join.
func (j *join) stage(ctx context.Context, w work) (stage, error) {
	other, err := table.Rows(j.with, table.Value(w.shared, j.with))
	if err != nil {
		return nil, w.fail(core.Permanent(err))
	}
	take, names := j.take, j.names
	if take == nil {
		columns := table.Columns(other)
		if len(other) == 0 {
			columns = j.known(w.attempt)
		}
		take = slices.DeleteFunc(slices.Clone(columns), func(n string) bool { return slices.Contains(j.right, n) })
		for _, n := range take {
			names = append(names, j.prefix+n)
		}
	}
	s := &joiner{work: w, spec: j, columns: take, names: names, key: make([]any, len(j.left)), first: w.registers, places: registers(w.registers, len(take)),
		other: matches{rows: other, next: make([]int32, len(other)), index: newIndex(len(j.right))}}
	w.attempt.registers += len(take)
	if err := s.read(ctx); err != nil {
		return nil, w.fail(err)
	}
	return s, nil
}

// known returns the columns of the other table that are known without its rows.
func (j *join) known(a *attempt) []string {
	if j.closed != nil {
		return j.closed
	}
	var columns []string
	for _, p := range a.headerOf(j.header) {
		columns = append(columns, p.Name)
	}
	if columns == nil {
		a.openColumns = len(j.declared) == 0
		return j.declared
	}
	return columns
}

// matches finds the rows of the other table by key. The rows with the same key form a
// linked list in table order.
type matches struct {
	rows   []any
	next   []int32 // the next row with the same key, or none
	index  *index
	chains []chain // by the number of the key
}

type chain struct{ first, last, rows int32 }

// none means that there is no row.
const none = -1

// joiner joins rows as they arrive.
type joiner struct {
	work
	spec    *join
	other   matches
	headers headers                   // layouts of the other table's rows
	columns []string                  // the columns of the other table that are added
	taken   shapes[[]table.CellIndex] // of columns
	names   []string                  // the names of columns in the result
	places  []table.CellIndex         // of names
	first   int                       // the register of the first added column
	key     []any
	keys    shapes[[]table.CellIndex] // of spec.left
	shapes  shapes[*layout]
	extra   int64 // rows added so far by their weight, limited by maxRows
}

// read indexes the rows of the other table.
func (j *joiner) read(ctx context.Context) error {
	m := &j.other
	n := needs{names: j.spec.needs, named: len(j.spec.needs)}
	var keys shapes[[]table.CellIndex]
	for i, row := range m.rows {
		if err := table.Tick(ctx, i); err != nil {
			return err
		}
		o := row.(*value.Object)
		places, _ := keys.of(j.headers.of(o), func(l *layout) ([]table.CellIndex, error) {
			n.observe(l)
			return l.findAll(j.spec.right), nil
		})
		m.next[i] = none
		r := table.Record{Base: o}
		if !j.keyOf(&r, places) {
			continue
		}
		id, added := m.index.number(j.key)
		switch {
		case added:
			m.chains = append(m.chains, chain{first: int32(i)})
		case j.spec.match == "one":
			return core.Permanent(fmt.Errorf("%s: rows %d and %d have the same key %s (match: one)",
				j.spec.with, m.chains[id].first+1, i+1, shorten(value.JSON(slices.Clone(j.key)))))
		case j.spec.match == "first":
			continue
		default:
			m.next[m.chains[id].last] = int32(i)
		}
		c := &m.chains[id]
		c.last, c.rows = int32(i), c.rows+1
	}
	if err := n.missing(); err != nil {
		return fmt.Errorf("%s: %w", j.spec.with, err)
	}
	return nil
}

// keyOf sets key to the key of a row. It returns false if a part of the key is null,
// because null matches nothing.
func (j *joiner) keyOf(r *table.Record, places []table.CellIndex) bool {
	for i, p := range places {
		if j.key[i] = r.At(p); j.key[i] == nil {
			return false
		}
	}
	return true
}

func (j *joiner) outline(l *layout) (*layout, error) {
	if err := j.needs.checkLayout(l); err != nil {
		return nil, j.fail(err)
	}
	out, err := j.widen(l)
	if err != nil {
		return nil, j.fail(err)
	}
	return out, nil
}

func (j *joiner) take(ctx context.Context, r *record) error {
	places, _ := j.keys.of(r.layout, func(l *layout) ([]table.CellIndex, error) {
		j.needs.observe(l)
		return l.findAll(j.spec.left), nil
	})
	j.rows++
	c := chain{first: none}
	if j.keyOf(&r.Record, places) {
		if id := j.other.index.find(j.key); id >= 0 {
			c = j.other.chains[id]
		}
	}
	if c.first == none && !j.spec.outer {
		return nil
	}
	l, err := j.shapes.of(r.layout, j.widen)
	if err != nil {
		return j.failRow(err)
	}
	if err := j.count(max(c.rows, 1), l); err != nil {
		return j.failRow(err)
	}
	return j.combine(ctx, r, l, c.first)
}

// widen adds the columns of the other table to a layout.
func (j *joiner) widen(l *layout) (*layout, error) {
	for _, n := range j.names {
		if slices.Contains(l.names, n) {
			return nil, core.Permanent(fmt.Errorf("both tables have a column %q; set prefix or take", n))
		}
	}
	return l.with(j.names, j.places), nil
}

// count adds the matches of a row to extra and returns an error if the limit is
// exceeded.
func (j *joiner) count(matches int32, l *layout) error {
	weight := 1 + int64(len(l.names)/wideRow)
	j.extra += int64(matches)*weight - 1
	if j.extra <= j.spec.maxRows {
		return nil
	}
	wide := ""
	if weight > 1 {
		wide = fmt.Sprintf(", which count %d times as they have %d columns", weight, len(l.names))
	}
	return core.Permanent(fmt.Errorf("it matches %s of %s, and the join adds more than %s%s (max_rows)",
		table.Count(int(matches), "row"), j.spec.with, table.Count(int(j.spec.maxRows), "row"), wide))
}

// combine passes the row on once for each match; at is the first match.
func (j *joiner) combine(ctx context.Context, r *record, l *layout, at int32) error {
	if at == none {
		clear(r.Registers[j.first:][:len(j.names)])
		r.layout = l
		return j.next.take(ctx, r)
	}
	for n := 0; at != none && !j.enough(); n++ {
		if err := table.Tick(ctx, n+1); err != nil {
			return err
		}
		match := table.Record{Base: j.other.rows[at].(*value.Object)}
		places, _ := j.taken.of(j.headers.of(match.Base), func(l *layout) ([]table.CellIndex, error) { return l.findAll(j.columns), nil })
		for i, p := range places {
			r.Registers[j.first+i] = match.At(p)
		}
		r.layout = l
		if err := j.next.take(ctx, r); err != nil {
			return err
		}
		at = j.other.next[at]
	}
	return nil
}
