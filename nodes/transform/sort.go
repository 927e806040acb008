package transform

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/table"
)

// sort compiles a stable sort. A leading minus turns the order of a column
// around.
func (b *builder) sort(list []core.Text, key string, c eval.Columns) step {
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
	return func(ctx context.Context, _ *attempt, rows []any) ([]any, error) {
		if err := require(rows, names); err != nil {
			return nil, err
		}
		return sorted(ctx, rows, names, down)
	}
}

// sorted sorts numbers of rows by values that were taken out of them once. The
// number itself is the last key, which makes any sort a stable one.
func sorted(ctx context.Context, rows []any, names []string, down []bool) ([]any, error) {
	width := len(names)
	values, columns := make([]any, len(rows)*width), columnsOf(names)
	order := make([]int32, len(rows))
	for i, r := range rows {
		if err := table.Tick(ctx, i); err != nil {
			return nil, err
		}
		order[i] = int32(i)
		for j := range columns {
			values[i*width+j] = columns[j].Value(r.(*core.Object))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := values[int(a)*width:][:width], values[int(b)*width:][:width]
		for j := range width {
			if c := compare(x[j], y[j]); c != 0 {
				if down[j] {
					return -c
				}
				return c
			}
		}
		return cmp.Compare(a, b)
	})
	out := make([]any, len(rows))
	for i, n := range order {
		out[i] = rows[n]
	}
	return out, ctx.Err()
}

// dedupe compiles a step that keeps the first of equal rows; without columns,
// rows are equal in all of them.
func (b *builder) dedupe(list []core.Text, key string, c eval.Columns) step {
	for _, n := range list {
		b.need(c, n, key)
	}
	b.distinct(list, key)
	names := core.Strings(list)
	return func(ctx context.Context, _ *attempt, rows []any) ([]any, error) {
		if err := require(rows, names); err != nil {
			return nil, err
		}
		by := names
		if len(by) == 0 {
			by = table.Columns(rows)
		}
		columns, seen, out := columnsOf(by), map[string]struct{}{}, []any{}
		var buf []byte
		for i, r := range rows {
			if err := table.Tick(ctx, i); err != nil {
				return nil, err
			}
			buf = buf[:0]
			for j := range columns {
				buf = appendKey(buf, columns[j].Value(r.(*core.Object)))
			}
			buf = short(buf)
			if _, ok := seen[string(buf)]; !ok {
				seen[string(buf)] = struct{}{}
				out = append(out, r)
			}
		}
		return slices.Clip(out), nil
	}
}
