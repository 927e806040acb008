package transform

import (
	"context"
	"fmt"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

func (b *builder) filter(src core.Text, key string, c eval.Columns) step {
	test := b.scope.Condition(src, c, key)
	return func(ctx context.Context, a *attempt, rows []any) ([]any, error) {
		out := []any{}
		for i, r := range rows {
			if err := table.Tick(ctx, i); err != nil {
				return nil, err
			}
			if test.Test(a.env.At(r, i)) {
				out = append(out, r)
			}
		}
		return slices.Clip(out), nil
	}
}

// computed is a column whose values an expression gives.
type computed struct {
	name    string
	program *expressions.Program
}

// compute compiles the columns of map and derive.
func (b *builder) compute(list core.Members[expr], key string, c eval.Columns) ([]computed, []core.Property) {
	var (
		out   []computed
		known []core.Property
	)
	if len(list) == 0 {
		b.problem(b.node.Pos, key, "there are no columns", "")
	}
	for _, m := range list {
		if m.Key.Value == "" {
			b.problem(m.Key.Pos, key, "a column needs a name", "")
			continue
		}
		p := b.scope.Row(m.Value.Text, c, key+"."+m.Key.Value)
		if p == nil {
			known = append(known, core.Property{Name: m.Key.Value})
			continue
		}
		out = append(out, computed{m.Key.Value, p})
		known = append(known, b.typeOf(m.Key.Value, p, c))
	}
	return out, known
}

// typeOf returns what is known of a computed column. A column that is copied
// keeps all that was known of it.
func (b *builder) typeOf(name string, p *expressions.Program, c eval.Columns) core.Property {
	if path, ok := p.Tree().Path(); ok && path.Root == expressions.RootItem && len(path.Steps) == 1 && !path.Steps[0].IsIndex {
		return core.Property{Name: name, Type: property(c, path.Steps[0].Name).Type}
	}
	return typed(name, p.Type())
}

// value evaluates an expression to what a row can hold: a missing value is null.
func value(p *expressions.Program, env expressions.Env) (any, error) {
	switch v := p.Value(env).(type) {
	case nil, bool, int64, float64, string, []any, *core.Object:
		return v, nil
	default:
		if core.IsMissing(v) {
			return nil, nil
		}
		return core.Canonical(v)
	}
}

func (b *builder) mapping(list core.Members[expr], key string, c eval.Columns) (step, eval.Columns) {
	columns, known := b.compute(list, key, c)
	names := make([]string, len(columns))
	for i, col := range columns {
		names[i] = col.name
	}
	header, err := core.NewKeys(names)
	if err != nil {
		b.problem(b.node.Pos, key, err.Error(), "") // the decoder has refused duplicates before
	}
	return func(ctx context.Context, a *attempt, rows []any) ([]any, error) {
		out := make([]any, len(rows))
		build := table.NewBuilder(header)
		for i, r := range rows {
			if err := table.Tick(ctx, i); err != nil {
				return nil, err
			}
			row, values := build.Row()
			if err := fill(values, columns, a.env.At(r, i)); err != nil {
				return nil, fmt.Errorf("row %d: %w", i+1, err)
			}
			out[i] = row
		}
		return out, nil
	}, exactly(known)
}

func fill(values []any, columns []computed, env expressions.Env) (err error) {
	for j := range columns {
		if values[j], err = value(columns[j].program, env); err != nil {
			return fmt.Errorf("%s: %w", columns[j].name, err)
		}
	}
	return nil
}

// derive adds columns. All its expressions see the row as it came in.
func (b *builder) derive(list core.Members[expr], key string, c eval.Columns) (step, eval.Columns) {
	columns, known := b.compute(list, key, c)
	plan := func(keys []string) (names []string, from []int, err error) {
		names = slices.Clone(keys)
		for i := range keys {
			from = append(from, i)
		}
		for _, col := range columns {
			if !slices.Contains(names, col.name) {
				names, from = append(names, col.name), append(from, -1)
			}
		}
		return names, from, nil
	}
	return func(ctx context.Context, a *attempt, rows []any) ([]any, error) {
		results, places := make([]any, len(columns)), make([]int, len(columns))
		var last *layout // the one that places belongs to
		return reshape(ctx, rows, plan, func(i int, row *core.Object, l *layout, values []any) error {
			if l != last {
				last = l
				for j, col := range columns {
					places[j] = slices.Index(l.keys.Names(), col.name)
				}
			}
			if err := fill(results, columns, a.env.At(row, i)); err != nil {
				return err
			}
			for j, at := range places {
				values[at] = results[j]
			}
			return nil
		})
	}, with(c, known)
}

// reshape makes a new row of each: values are copied as the layout of its header
// says, then change, if any, fills in the rest.
func reshape(ctx context.Context, rows []any, plan func([]string) ([]string, []int, error),
	change func(i int, row *core.Object, l *layout, values []any) error) ([]any, error) {
	out := make([]any, len(rows))
	shapes, w := layouts{plan: plan}, writer{}
	for i, r := range rows {
		if err := table.Tick(ctx, i); err != nil {
			return nil, err
		}
		row := r.(*core.Object)
		l, err := shapes.of(row.Keys())
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		made, values := w.row(l.keys)
		l.copy(values, row)
		if change != nil {
			if err := change(i, row, l, values); err != nil {
				return nil, fmt.Errorf("row %d: %w", i+1, err)
			}
		}
		out[i] = made
	}
	return out, nil
}

func (b *builder) selection(list []core.Text, key string, c eval.Columns) (step, eval.Columns) {
	if len(list) == 0 {
		b.problem(b.node.Pos, key, "there are no columns", "")
	}
	b.distinct(list, key)
	names := core.Strings(list)
	known := make([]core.Property, len(names))
	for i, n := range list {
		b.need(c, n, key)
		known[i] = property(c, n.Value)
	}
	plan := func(keys []string) ([]string, []int, error) {
		from := make([]int, len(names))
		for j, n := range names {
			from[j] = slices.Index(keys, n)
		}
		return names, from, nil
	}
	return requiring(names, plan), exactly(known)
}

func (b *builder) drop(list []core.Text, key string, c eval.Columns) (step, eval.Columns) {
	for _, n := range list {
		b.need(c, n, key)
	}
	gone := core.Strings(list)
	plan := func(keys []string) (names []string, from []int, err error) {
		for i, k := range keys {
			if !slices.Contains(gone, k) {
				names, from = append(names, k), append(from, i)
			}
		}
		return names, from, nil
	}
	return requiring(gone, plan), without(c, gone)
}

func (b *builder) rename(list core.Members[core.Text], key string, c eval.Columns) (step, eval.Columns) {
	to := map[string]string{}
	var olds, news []string
	var targets []core.Text
	var known []core.Property
	for _, m := range list {
		b.need(c, m.Key, key)
		to[m.Key.Value] = m.Value.Value
		olds, news = append(olds, m.Key.Value), append(news, m.Value.Value)
		targets = append(targets, m.Value)
		p := property(c, m.Key.Value)
		p.Name = m.Value.Value
		known = append(known, p)
	}
	b.distinct(targets, key)
	left := without(c, olds)
	for _, t := range targets {
		if left.Closed && slices.Contains(left.Names, t.Value) {
			b.scope.Errorf(core.CodeDuplicateKey, t.Pos, key, "the rows have a column %q already", t.Value)
		}
	}
	plan := func(keys []string) ([]string, []int, error) {
		names, from := slices.Clone(keys), make([]int, len(keys))
		for i, k := range keys {
			from[i] = i
			if n, ok := to[k]; ok {
				names[i] = n
			} else if slices.Contains(news, k) {
				return nil, nil, core.Permanent(fmt.Errorf("there is a column %q already", k))
			}
		}
		return names, from, nil
	}
	after := with(left, known)
	if c.Closed { // a renamed column keeps its place
		after.Names = slices.Clone(c.Names)
		for i, n := range after.Names {
			if t, ok := to[n]; ok {
				after.Names[i] = t
			}
		}
	}
	return requiring(olds, plan), after
}

// requiring is a step that copies values, after it made sure that the columns it
// names are there.
func requiring(names []string, plan func([]string) ([]string, []int, error)) step {
	return func(ctx context.Context, _ *attempt, rows []any) ([]any, error) {
		if err := require(rows, names); err != nil {
			return nil, err
		}
		return reshape(ctx, rows, plan, nil)
	}
}
