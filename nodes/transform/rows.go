package transform

import (
	"context"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

func (b *builder) filter(src source.Text, key string, c source.Columns) step {
	test := b.scope.Condition(src, c, key)
	nulls := nullTests(test)
	return step{nil, required(c, table.Needs(test)), func(_ context.Context, w work) (stage, error) {
		return &filter{work: w, test: test, view: w.view(), nulls: slices.Clone(nulls)}, nil
	}}
}

// nullTest is a comparison of a column with null, by == or !=. A row without the column
// does not have null there: == is false of it, and != is true.
type nullTest struct {
	column, op string
	absent     int64 // rows without the column
	// lacks reports whether layout, the layout of the last row, lacks the column.
	layout *layout
	lacks  bool
}

// nullTests lists the comparisons of columns with null in a condition, each once.
func nullTests(p *expressions.Program) []nullTest {
	if p == nil {
		return nil
	}
	var out []nullTest
	for _, n := range p.Tree().NullTests() {
		if n.Path.Root != expressions.RootItem || len(n.Path.Steps) != 1 || n.Path.Steps[0].IsIndex {
			continue
		}
		test := nullTest{column: n.Path.Steps[0].Name, op: "=="}
		if n.Not {
			test.op = "!="
		}
		if !slices.Contains(out, test) {
			out = append(out, test)
		}
	}
	return out
}

// filter passes on the rows for which a condition holds.
type filter struct {
	work
	test  *expressions.Program
	view  *view
	nulls []nullTest
}

func (f *filter) take(ctx context.Context, r *record) error {
	for i := range f.nulls {
		n := &f.nulls[i]
		if n.layout != r.layout {
			n.layout, n.lacks = r.layout, r.layout.find(n.column) == table.NoCell
		}
		if n.lacks {
			n.absent++
		}
	}
	env := f.view.on(r, f.rows)
	f.rows++
	if !f.test.Test(env) {
		return nil
	}
	return f.next.take(ctx, r)
}

// end warns of comparisons with null that rows without the column made.
func (f *filter) end(ctx context.Context) (more bool, err error) {
	if more, err = f.work.end(ctx); more || err != nil {
		return more, err
	}
	for _, n := range f.nulls {
		if n.absent == 0 {
			continue
		}
		rows, result := "1 row has", "false"
		if n.absent > 1 {
			rows = fmt.Sprintf("%d rows have", n.absent)
		}
		if n.op == "!=" {
			result = "true"
		}
		f.in.Logger().Warn(fmt.Sprintf("%s compares $item.%s with null; %s no such column, for which %s null is %s: use coalesce($item.%[2]s, null) %[4]s null",
			f.name, n.column, rows, n.op, result))
	}
	return false, nil
}

// computed is a column that is computed by an expression.
type computed struct {
	name    string
	program *expressions.Program
}

// compute compiles the columns of map and derive.
func (b *builder) compute(list source.Members[expr], key string, c source.Columns) ([]computed, []value.Property) {
	var (
		out   []computed
		known []value.Property
	)
	if len(list) == 0 {
		b.problem(b.node.Pos, key, "there are no columns", "")
	}
	for _, m := range list {
		b.scope.Fixed(key, m.Key)
		if m.Key.Value == "" {
			b.problem(m.Key.Pos, key, "a column needs a name", "")
			continue
		}
		p := b.scope.Row(m.Value.Text, c, key+"."+m.Key.Value)
		if p == nil {
			known = append(known, value.Property{Name: m.Key.Value})
			continue
		}
		out = append(out, computed{m.Key.Value, p})
		known = append(known, b.typeOf(m.Key.Value, p, c))
	}
	return out, known
}

// typeOf returns the type of a computed column, as far as it is known. A column that is
// copied keeps its full type.
func (b *builder) typeOf(name string, p *expressions.Program, c source.Columns) value.Property {
	if path, ok := p.Tree().Path(); ok && path.Root == expressions.RootItem && len(path.Steps) == 1 && !path.Steps[0].IsIndex {
		return value.Property{Name: name, Type: property(c, path.Steps[0].Name).Type}
	}
	return typed(name, p.Type())
}

// evaluate evaluates an expression and returns a value that a row can hold. A missing
// value becomes null.
func evaluate(p *expressions.Program, env expressions.Env, memo *table.Memo) (any, error) {
	switch v := p.Boxed(env, memo).(type) {
	case nil, bool, int64, float64, string, []any, *value.Object:
		return v, nil
	default:
		if value.IsMissing(v) {
			return nil, nil
		}
		return value.Canonical(v)
	}
}

// mapping compiles map, which makes rows of computed columns only.
func (b *builder) mapping(list source.Members[expr], key string, c source.Columns) (step, source.Columns) {
	columns, known := b.compute(list, key, c)
	shape := func(first int) func(*layout) (*layout, error) {
		names := make([]string, len(columns))
		for i, col := range columns {
			names[i] = col.name
		}
		made := &layout{names: names, places: registers(first, len(columns))}
		return func(*layout) (*layout, error) { return made, nil }
	}
	return computing(columns, c, shape), exactly(known)
}

// derive compiles derive, which adds computed columns. All its expressions see the
// input row.
func (b *builder) derive(list source.Members[expr], key string, c source.Columns) (step, source.Columns) {
	columns, known := b.compute(list, key, c)
	shape := func(first int) func(*layout) (*layout, error) {
		names := make([]string, len(columns))
		for i, col := range columns {
			names[i] = col.name
		}
		places := registers(first, len(columns))
		return func(l *layout) (*layout, error) { return l.with(names, places), nil }
	}
	return computing(columns, c, shape), with(c, known)
}

// computing returns a step that writes computed values to registers. shape makes the
// function that computes its output layouts; first is the first of the registers.
func computing(columns []computed, c source.Columns, shape func(first int) func(*layout) (*layout, error)) step {
	programs := make([]*expressions.Program, len(columns))
	for i, col := range columns {
		programs[i] = col.program
	}
	return step{nil, required(c, table.Needs(programs...)), func(_ context.Context, w work) (stage, error) {
		first := w.registers
		w.attempt.registers += len(columns)
		return &computer{work: w, columns: columns, memos: make([]table.Memo, len(columns)), first: first, view: w.view(), shape: shape(first)}, nil
	}}
}

type computer struct {
	work
	columns []computed
	memos   []table.Memo // of columns
	first   int          // register
	view    *view
	shape   func(*layout) (*layout, error)
	shapes  shapes[*layout]
}

func (c *computer) outline(l *layout) (*layout, error) {
	if err := c.needs.checkLayout(l); err != nil {
		return nil, c.fail(err)
	}
	return c.shape(l)
}

func (c *computer) take(ctx context.Context, r *record) error {
	env := c.view.on(r, c.rows)
	c.rows++
	for i := range c.columns {
		v, err := evaluate(c.columns[i].program, env, &c.memos[i])
		if err != nil {
			return c.failRow(fmt.Errorf("%s: %w", c.columns[i].name, err))
		}
		r.Registers[c.first+i] = v
	}
	l, err := c.shapes.of(r.layout, c.shape)
	if err != nil {
		return c.failRow(err)
	}
	r.layout = l
	return c.next.take(ctx, r)
}

// limit passes on the first rows. It then ends the reading of the table, except after
// checks, which must see all rows.
type limit struct {
	work
	max   int64
	whole bool // all rows must be read
}

func (b *builder) limit(n int) step {
	whole := len(b.policies) > 0
	return step{make: func(_ context.Context, w work) (stage, error) {
		l := &limit{work: w, max: int64(n), whole: whole}
		l.satisfied()
		return l, nil
	}}
}

func (l *limit) take(ctx context.Context, r *record) error {
	if l.rows == l.max {
		return nil
	}
	l.rows++
	if err := l.next.take(ctx, r); err != nil {
		return err
	}
	l.satisfied()
	return nil
}

func (l *limit) satisfied() {
	if l.rows == l.max && !l.whole {
		l.full = max(l.full, l.place)
	}
}
