//go:build !race

package wavefold_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

// TestAllocationsOfNodes limits what a node costs that reads and writes fields. Storing an int in
// an interface is one allocation of most of these nodes.
func TestAllocationsOfNodes(t *testing.T) {
	const nodes, width = 1000, 10
	add := func(_ context.Context, a, b, c int) (int, error) { return (a+b+c)&0xffff + 1000, nil }
	chained, first, last := chain(nodes, func(id string, in, out wavefold.Field[int]) wavefold.Part {
		return wavefold.Map(id, in, out, func(_ context.Context, n int) (int, error) { return n + 1, nil })
	})
	tests := []struct {
		name  string
		graph *wavefold.Graph
		in    wavefold.Input
		out   wavefold.Field[int]
		most  float64
	}{
		{"a chain of Map", chained, first.Is(1), last, 1.2},
	}
	layers := func(name string, most float64, part func(id string, a, b, c, d, out wavefold.Field[int]) wavefold.Part) {
		start := wavefold.NewField[int]("start")
		var parts []wavefold.Part
		var before, layer []wavefold.Field[int]
		for i := range nodes {
			if i%width == 0 {
				before, layer = layer, nil
			}
			read := func(k int) wavefold.Field[int] {
				if before == nil {
					return start
				}
				return before[(i+k)%width]
			}
			out := wavefold.NewField[int](fmt.Sprintf("f%d", i))
			layer = append(layer, out)
			parts = append(parts, part(fmt.Sprintf("n%d", i), read(0), read(1), read(2), start, out))
		}
		tests = append(tests, struct {
			name  string
			graph *wavefold.Graph
			in    wavefold.Input
			out   wavefold.Field[int]
			most  float64
		}{name, wavefold.New("layers", parts...), start.Is(7), layer[0], most})
	}
	layers("layers of Map3", 1.4, func(id string, a, b, c, _, out wavefold.Field[int]) wavefold.Part {
		return wavefold.Map3(id, a, b, c, out, add)
	})
	layers("layers of Func", 2.4, func(id string, a, b, c, d, out wavefold.Field[int]) wavefold.Part {
		reads := wavefold.Fields(a, b, c, d)
		if a.Name() == d.Name() {
			reads = wavefold.Fields(d)
		}
		return wavefold.Func(id, reads, wavefold.Fields(out), func(_ context.Context, in core.Input) (core.Result, error) {
			sum := 0
			for _, f := range []string{a.Name(), b.Name(), c.Name(), d.Name()} {
				v, _ := in.Get(f)
				sum += v.(int)
			}
			return core.Write(out.Name(), sum&0xffff+1000), nil
		})
	})
	for _, tt := range tests {
		if err := tt.graph.Compile(); err != nil {
			t.Fatal(err)
		}
		var r *wavefold.Result
		allocs := testing.AllocsPerRun(5, func() {
			var err error
			if r, err = tt.graph.Run(t.Context(), tt.in, wavefold.WithConcurrency(8)); err != nil {
				t.Fatal(err)
			}
		})
		if tt.out.Get(r) < nodes {
			t.Errorf("%s: the result is %d", tt.name, tt.out.Get(r))
		}
		if per := allocs / nodes; per > tt.most {
			t.Errorf("%s: %.2f allocations a node, want at most %.1f", tt.name, per, tt.most)
		}
	}
}

// TestAllocationsOfShortRun limits what a run costs in addition to its nodes.
func TestAllocationsOfShortRun(t *testing.T) {
	nothing := func(context.Context) error { return nil }
	parts := []wavefold.Part{wavefold.Do("n0", nothing)}
	for i := 1; i < 10; i++ {
		parts = append(parts, wavefold.Do(fmt.Sprintf("n%d", i), nothing, wavefold.After(fmt.Sprintf("n%d", i-1))))
	}
	g := wavefold.New("short", parts...)
	if err := g.Compile(); err != nil {
		t.Fatal(err)
	}
	const most = 18
	if allocs := testing.AllocsPerRun(100, func() {
		if _, err := g.Run(context.Background(), wavefold.WithConcurrency(8)); err != nil {
			t.Fatal(err)
		}
	}); allocs > most {
		t.Errorf("%.1f allocations a run, want at most %d", allocs, most)
	}
}
