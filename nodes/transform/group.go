package transform

import (
	"context"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// aggregate is one computed column of a group step.
type aggregate struct {
	name    string
	f       function
	percent int
	argument
}

// argument is the argument of a function: a column, an expression, or neither.
type argument struct {
	column  string
	program *expressions.Program
}

// group compiles a step that makes one row for each group.
func (b *builder) group(g *groupConfig, key string, c source.Columns) (step, source.Columns) {
	b.distinct(g.By, key+".by")
	var known []value.Property
	for _, n := range g.By {
		b.need(c, n, key+".by")
		known = append(known, property(c, n.Value))
	}
	by := source.Strings(g.By)
	var list []aggregate
	for _, m := range g.Aggregate {
		b.scope.Fixed(key+".aggregate", m.Key)
		if slices.Contains(by, m.Key.Value) {
			b.problem(m.Key.Pos, key+".aggregate", fmt.Sprintf("%q is one of the columns of by", m.Key.Value), "")
		}
		a, kind := b.aggregate(m.Value, key+"."+m.Key.Value, c)
		a.name = m.Key.Value
		list = append(list, a)
		known = append(known, typed(a.name, kind))
	}
	arguments := make([]argument, len(list))
	for i := range list {
		arguments[i] = list[i].argument
	}
	names, reads := needed(by, arguments)
	return step{required(c, names), required(c, reads), func(_ context.Context, w work) (stage, error) { return newGrouping(w, by, list), nil }}, exactly(known)
}

// needed returns the columns that by and the arguments name, and the columns that
// expressions in the arguments read.
func needed(by []string, arguments []argument) (names, reads []string) {
	names = slices.Clone(by)
	for _, a := range arguments {
		if a.column != "" {
			names = appendOnce(names, a.column)
		}
		for _, name := range table.Needs(a.program) {
			reads = appendOnce(reads, name)
		}
	}
	return names, reads
}

// grouping assigns rows to groups. The groups are ordered by their first rows.
type grouping struct {
	work
	by        []string
	list      []aggregate
	folds     []fold // of list
	columns   []string
	shapes    shapes[[]table.CellIndex] // of columns
	view      *view                     // nil if no argument is an expression
	memo      table.Memo
	index     *index
	key       []any
	held      budget
	made      *layout // of the result
	registers int
	emitted   int // groups passed on so far
}

func newGrouping(w work, by []string, list []aggregate) *grouping {
	g := &grouping{work: w, by: by, list: list, key: make([]any, len(by)), index: newIndex(len(by)),
		registers: w.registers, held: w.budget("group")}
	g.made = &layout{names: slices.Clone(by), places: registers(g.registers, len(by)+len(list))}
	w.attempt.registers += len(by) + len(list)
	g.columns = slices.Clone(by)
	computes := false
	for i := range list {
		a := &list[i]
		g.made.names = append(g.made.names, a.name)
		g.columns = append(g.columns, a.column)
		g.folds = append(g.folds, a.fold(&g.held))
		computes = computes || a.program != nil
	}
	if computes {
		g.view = w.view()
	}
	return g
}

func (g *grouping) outline(l *layout) (*layout, error) {
	if err := g.needs.checkLayout(l); err != nil {
		return nil, g.fail(err)
	}
	return g.made, nil
}

// take adds a row to its group.
func (g *grouping) take(_ context.Context, r *record) error {
	places, _ := g.shapes.of(r.layout, func(l *layout) ([]table.CellIndex, error) {
		g.needs.observe(l)
		return l.findAll(g.columns), nil
	})
	g.rows++
	for i := range g.key {
		g.key[i] = r.At(places[i])
	}
	n, err := g.group()
	if err != nil {
		return g.fail(err)
	}
	var env *table.Row
	if g.view != nil {
		env = g.view.on(r, g.rows-1)
	}
	for i, f := range g.folds {
		a := &g.list[i]
		var v any
		switch {
		case a.column != "":
			v = r.At(places[len(g.by)+i])
		case a.f == countIf:
			v = a.program.Test(env)
		case a.program != nil:
			if v, err = evaluate(a.program, env, &g.memo); err != nil {
				return g.failRow(fmt.Errorf("%s: %w", a.name, err))
			}
		}
		if err := f.add(n, v); err != nil {
			return g.failRow(core.Permanent(fmt.Errorf("%s: %w", a.name, err)))
		}
	}
	return nil
}

// group returns the number of the group with the current key.
func (g *grouping) group() (int, error) {
	n, added := g.index.numbered(g.key)
	if !added {
		return n, nil
	}
	size := keySize(g.key)
	for _, f := range g.folds {
		size += f.open()
	}
	return n, g.held.hold(size)
}

// end passes the rows of the groups on.
func (g *grouping) end(ctx context.Context) (more bool, err error) {
	if g.emitted == 0 {
		if err := g.needs.missing(); err != nil {
			return false, g.fail(err)
		}
		if len(g.by) == 0 && g.index.n == 0 { // without by there is one group, even if there are no rows
			if _, err := g.group(); err != nil {
				return false, g.fail(err)
			}
		}
	}
	for until := min(g.emitted+endRows, g.index.n); g.emitted < until && !g.enough(); g.emitted++ {
		if err := g.emit(ctx, g.emitted); err != nil {
			return false, err
		}
	}
	return g.emitted < g.index.n && !g.enough(), ctx.Err()
}

// emit passes on the row of one group.
func (g *grouping) emit(ctx context.Context, n int) error {
	r := &g.record
	at := g.registers
	if len(g.by) > 0 {
		at += copy(r.Registers[at:], g.index.key(n))
	}
	for i, f := range g.folds {
		v, err := f.result(n)
		if err != nil {
			return g.fail(core.Permanent(fmt.Errorf("%s: %w", g.list[i].name, err)))
		}
		r.Registers[at+i] = v
	}
	r.layout = g.made
	return g.next.take(ctx, r)
}
