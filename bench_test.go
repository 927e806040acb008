package wavefold_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

// chain returns a chain of n nodes. Each node reads the output of the previous node.
func chain(n int, part func(id string, in, out wavefold.Field[int]) wavefold.Part) (*wavefold.Graph, wavefold.Field[int], wavefold.Field[int]) {
	first := wavefold.NewField[int]("f0")
	in, parts := first, []wavefold.Part{}
	for i := range n {
		out := wavefold.NewField[int](fmt.Sprintf("f%d", i+1))
		parts = append(parts, part(fmt.Sprintf("n%d", i), in, out))
		in = out
	}
	return wavefold.New("chain", parts...), first, in
}

// BenchmarkChain compares typed nodes with untyped ones, and these with handlers that
// read and write nothing.
func BenchmarkChain(b *testing.B) {
	const nodes = 1000
	doors := map[string]func(id string, in, out wavefold.Field[int]) wavefold.Part{
		"typed": func(id string, in, out wavefold.Field[int]) wavefold.Part {
			return wavefold.Map(id, in, out, func(_ context.Context, n int) (int, error) { return n + 1, nil })
		},
		"untyped": func(id string, in, out wavefold.Field[int]) wavefold.Part {
			return wavefold.Func(id, wavefold.Fields(in), wavefold.Fields(out), func(_ context.Context, i core.Input) (core.Result, error) {
				n, _ := i.Get(in.Name())
				return core.Write(out.Name(), n.(int)+1), nil
			})
		},
		"bare": func(id string, _, _ wavefold.Field[int]) wavefold.Part {
			return wavefold.Func(id, nil, nil, func(context.Context, core.Input) (core.Result, error) { return core.Result{}, nil })
		},
	}
	for _, door := range []string{"bare", "untyped", "typed"} {
		b.Run(fmt.Sprintf("door=%s/nodes=%d", door, nodes), func(b *testing.B) {
			g, first, _ := chain(nodes, doors[door])
			if err := g.Compile(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				in := []wavefold.RunOption{first.Is(1)}
				if door == "bare" {
					in = nil
				}
				if _, err := g.Run(b.Context(), in...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nodes, "ns/node")
		})
	}
}

// BenchmarkEach measures the cost of an item, with and without a copy of referenced
// values.
func BenchmarkEach(b *testing.B) {
	const n = 10_000
	type flat struct {
		ID     int64
		Amount float64
	}
	type deep struct {
		ID   int64
		Tags []string
	}
	b.Run("items=flat", func(b *testing.B) {
		in, out := wavefold.NewField[[]flat]("in"), wavefold.NewField[[]flat]("out", wavefold.Append)
		g := wavefold.New("each", wavefold.Each("e", in, out, func(_ context.Context, x flat) (flat, error) { return x, nil }))
		benchEach(b, g, in.Is(make([]flat, n)), n)
	})
	items := make([]deep, n)
	for i := range items {
		items[i] = deep{int64(i), []string{"a", "b"}}
	}
	b.Run("items=deep", func(b *testing.B) {
		in, out := wavefold.NewField[[]deep]("in"), wavefold.NewField[[]deep]("out", wavefold.Append)
		g := wavefold.New("each", wavefold.Each("e", in, out, func(_ context.Context, x deep) (deep, error) { return x, nil }))
		benchEach(b, g, in.Is(items), n)
	})
	b.Run("items=deep/shared", func(b *testing.B) {
		in, out := wavefold.NewField[[]deep]("in", wavefold.Shared()), wavefold.NewField[[]deep]("out", wavefold.Append)
		g := wavefold.New("each", wavefold.Each("e", in, out, func(_ context.Context, x deep) (deep, error) { return x, nil }))
		benchEach(b, g, in.Is(items), n)
	})
}

func benchEach(b *testing.B, g *wavefold.Graph, in wavefold.Input, n int) {
	if err := g.Compile(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Run(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
}

// BenchmarkCopy measures the cost of passing a value of 10,000 elements to one reader.
func BenchmarkCopy(b *testing.B) {
	type flat struct {
		ID     int64
		Name   string
		Amount float64
	}
	type deep struct {
		flat
		Tags []string
		Meta map[string]int
	}
	deeps := make([]deep, 10_000)
	for i := range deeps {
		deeps[i] = deep{Tags: []string{"a", "b"}, Meta: map[string]int{"x": 1}}
	}
	b.Run("elements=flat", func(b *testing.B) { benchSink(b, make([]flat, 10_000)) })
	b.Run("elements=deep", func(b *testing.B) { benchSink(b, deeps) })
	b.Run("elements=deep/shared", func(b *testing.B) { benchSink(b, deeps, wavefold.Shared()) })
}

func benchSink[T any](b *testing.B, v T, options ...wavefold.FieldOption) {
	f := wavefold.NewField[T]("f", options...)
	g := wavefold.New("copy", wavefold.Sink("s", f, func(context.Context, T) error { return nil }))
	if err := g.Compile(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Run(b.Context(), f.Is(v)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBuild measures the cost of building and compiling a graph.
func BenchmarkBuild(b *testing.B) {
	const nodes = 10_000
	part := func(id string, in, out wavefold.Field[int]) wavefold.Part {
		return wavefold.Map(id, in, out, func(_ context.Context, n int) (int, error) { return n + 1, nil })
	}
	b.Run(fmt.Sprintf("what=new/nodes=%d", nodes), func(b *testing.B) {
		for b.Loop() {
			chain(nodes, part)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nodes, "ns/node")
	})
	b.Run(fmt.Sprintf("what=compile/nodes=%d", nodes), func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			g, _, _ := chain(nodes, part)
			b.StartTimer()
			if err := g.Compile(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nodes, "ns/node")
	})
}
