package benchmarks

import (
	"context"
	"fmt"
	"strconv"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core/value"
)

// mergeTable compares the cost of a write when 4,000 items or nodes write a field with the cost when
// 400 do. At a ratio of 1, the cost of a write does not grow with the number of writes.
func mergeTable() Table {
	t := Table{ID: "merges", Unit: "write"}
	for _, c := range []struct {
		strategy, typ string
		write         func(item any) any
	}{
		{"array_append", "array", func(item any) any { return []any{item} }},
		{"union", "array", func(item any) any { return []any{item} }},
		{"object_merge", "object", func(item any) any { return value.ObjectOf(fmt.Sprint("k", item), item) }},
		{"sum", "integer", func(item any) any { return item }},
		{"max", "integer", func(item any) any { return item }},
	} {
		small, large := toolEach(400, c.strategy, c.typ, c.write), toolEach(4000, c.strategy, c.typ, c.write)
		small.Name = "400 writes"
		t.Figures = append(t.Figures, Figure{Name: c.strategy + ", 4,000 writes", Subject: large, Reference: small})
	}
	nodes := unionWriters(400)
	nodes.Name = "400 nodes"
	t.Figures = append(t.Figures, Figure{Name: "union, 4,000 nodes", Subject: unionWriters(4000), Reference: nodes})
	nodes = mapWriters(400)
	nodes.Name = "400 nodes"
	t.Figures = append(t.Figures, Figure{Name: "object_merge of a Go map, 4,000 nodes", Subject: mapWriters(4000), Reference: nodes})
	return t
}

// unionWriters is a graph of n nodes that add an element each to a union.
func unionWriters(n int) Case {
	out := wavefold.NewField[[]int]("out", wavefold.Union)
	return writers(n, out, func(i int) []int { return []int{i} }, func(v []int) int { return len(v) })
}

// mapWriters is a graph of n nodes that add a member each to a map in a map.
func mapWriters(n int) Case {
	out := wavefold.NewField[map[string]any]("out", wavefold.Merge)
	return writers(n, out, func(i int) map[string]any {
		return map[string]any{"of": map[string]any{strconv.Itoa(i): i}}
	}, func(v map[string]any) int { return len(v["of"].(map[string]any)) })
}

// writers is a graph of n nodes that write a field; length returns the number of elements of its
// value.
func writers[T any](n int, out wavefold.Field[T], write func(i int) T, length func(T) int) Case {
	parts := make([]wavefold.Part, n)
	for i := range parts {
		parts[i] = wavefold.Source("n"+strconv.Itoa(i), out, func(context.Context) (T, error) { return write(i), nil })
	}
	return graphCase(n, wavefold.New("writers", parts...), func(r *wavefold.Result) error {
		if got := length(out.Get(r)); got != n {
			return fmt.Errorf("%d elements", got)
		}
		return nil
	})
}
