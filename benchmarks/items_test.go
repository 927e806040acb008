package benchmarks

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

// upTo returns the numbers from 0 to n-1.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// lastIs returns a check of a list: its length and its last element.
func lastIs(f wavefold.Field[[]int], n, last int) func(*wavefold.Result) error {
	return func(r *wavefold.Result) error {
		if got := f.Get(r); len(got) != n || got[n-1] != last {
			return fmt.Errorf("%s has %d elements", f.Name(), len(got))
		}
		return nil
	}
}

func succeeded(r *wavefold.Result) error {
	if r.Status != core.RunSuccess {
		return fmt.Errorf("the run is %s", r.Status)
	}
	return nil
}

// each is a fan-out over n items with a result for each one.
func each(n, limit int, options ...wavefold.RunOption) Case {
	in, out := wavefold.NewField[[]int]("in"), wavefold.NewField[[]int]("out", wavefold.Append)
	g := wavefold.New("each", wavefold.Each("n", in, out, increment, wavefold.Limit(limit)))
	return graphCase(n, g, lastIs(out, n, n), append(options, in.Is(upTo(n)))...)
}

// expand is a fan-out over n items with two results for each one.
func expand(n, limit int) Case {
	in, out := wavefold.NewField[[]int]("in"), wavefold.NewField[[]int]("out", wavefold.Append)
	double := func(_ context.Context, i int) ([]int, error) { return []int{i, i + 1}, nil }
	g := wavefold.New("expand", wavefold.Expand("n", in, out, double, wavefold.Limit(limit)))
	return graphCase(n, g, lastIs(out, 2*n, n), in.Is(upTo(n)))
}

// forEach is a fan-out over n items without results.
func forEach(n, limit int, options ...wavefold.RunOption) Case {
	in := wavefold.NewField[[]int]("in")
	g := wavefold.New("each", wavefold.ForEach("n", in, func(context.Context, int) error { return nil }, wavefold.Limit(limit)))
	return graphCase(n, g, succeeded, append(options, in.Is(upTo(n)))...)
}

// toolEach is a fan-out of a document over n items, 8 at a time. Its node is a tool that
// writes what write returns for an item.
func toolEach(n int, strategy, typ string, write func(item any) any, options ...wavefold.RunOption) Case {
	return Case{Name: "wavefold", Units: n, Start: func(tb testing.TB) func() {
		e := wavefold.NewEngine()
		err := e.Registry().AddTool("make", core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
			item, _ := in.Element()
			return core.Write("out", write(item)), nil
		}))
		if err != nil {
			tb.Fatal(err)
		}
		w, ds := e.Parse("each.yaml", fmt.Appendf(nil, `
name: each
state: {schema: {in: {type: array}, out: {type: %s, merge: %s}}}
graph:
  nodes:
    - {id: n, kind: tool, impl: make, for_each: {source: $.in, concurrency: 8}, writes: [out]}
`, typ, strategy))
		if w == nil {
			tb.Fatal(ds)
		}
		items := make([]any, n)
		for i := range items {
			items[i] = int64(i)
		}
		return graphCase(n, e.Graph(w), succeeded, append(options, wavefold.Set("in", items))...).Start(tb)
	}}
}

// group is an errgroup that calls f for n items.
func group(n, limit int, f func(out []int, i int)) Case {
	return Case{Name: "errgroup", Units: n, Start: func(tb testing.TB) func() {
		return func() {
			g, ctx := errgroup.WithContext(context.Background())
			g.SetLimit(limit)
			out := make([]int, n)
			for i := range n {
				g.Go(func() error {
					if err := ctx.Err(); err != nil {
						return err
					}
					f(out, i)
					return nil
				})
			}
			if err := g.Wait(); err != nil {
				tb.Fatal(err)
			}
		}
	}}
}

// itemTable has fan-outs against an errgroup, which keeps results in a slice.
func itemTable() Table {
	t := Table{ID: "items", Unit: "item"}
	nothing, store := func([]int, int) {}, func(out []int, i int) { out[i] = i + 1 }
	for _, c := range []struct {
		n     int
		items string
		limit int
	}{{10_000, "10,000", 2}, {10_000, "10,000", 8}, {10_000, "10,000", 64},
		{1_000_000, "1,000,000", 2}, {1_000_000, "1,000,000", 8}, {1_000_000, "1,000,000", 64}} {
		t.Figures = append(t.Figures,
			Figure{Name: fmt.Sprintf("ForEach, %s items, limit %d", c.items, c.limit), Subject: forEach(c.n, c.limit), Reference: group(c.n, c.limit, nothing)},
			Figure{Name: fmt.Sprintf("Each, %s items, limit %d", c.items, c.limit), Subject: each(c.n, c.limit), Reference: group(c.n, c.limit, store)})
	}
	lists := make([][]int, 10_000)
	t.Figures = append(t.Figures, Figure{Name: "Expand, 10,000 items of two results, limit 8", Subject: expand(10_000, 8), Reference: group(10_000, 8, func(_ []int, i int) { lists[i] = []int{i, i + 1} })})
	t.Figures = append(t.Figures, Figure{Name: "tool of a document that writes, 10,000 items, limit 8", Subject: toolEach(10_000, "array_append", "array", func(item any) any { return []any{item} }), Reference: group(10_000, 8, store)})
	return t
}
