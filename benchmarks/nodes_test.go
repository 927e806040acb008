package benchmarks

import (
	"context"
	"fmt"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
)

// graphCase runs a graph of n units; check is called once with the result of the first run.
func graphCase(n int, g *wavefold.Graph, check func(r *wavefold.Result) error, options ...wavefold.RunOption) Case {
	return Case{Name: "wavefold", Units: n, Start: func(tb testing.TB) func() {
		run := func() *wavefold.Result {
			r, err := g.Run(context.Background(), options...)
			if err != nil {
				tb.Fatal(err)
			}
			return r
		}
		if err := check(run()); err != nil {
			tb.Fatal(err)
		}
		return func() { run() }
	}}
}

// is returns a check of one field.
func is[T comparable](f wavefold.Field[T], want T) func(*wavefold.Result) error {
	return func(r *wavefold.Result) error {
		if got := f.Get(r); got != want {
			return fmt.Errorf("%s is %v, want %v", f.Name(), got, want)
		}
		return nil
	}
}

// intFields returns n fields with numbers.
func intFields(n int) []wavefold.Field[int] {
	list := make([]wavefold.Field[int], n)
	for i := range list {
		list[i] = wavefold.NewField[int](fmt.Sprintf("f%d", i))
	}
	return list
}

// onSlots returns the reference for nodes with state: it does the same arithmetic on a slice.
func onSlots(s *Shape, node func(slots []int, i int)) Case {
	slots := make([]int, s.Len()+1)
	c := subjects[1].on(s, 8)
	c.Start = func(testing.TB) func() {
		r := NewReference(s, 8, func(i int32) error { node(slots, int(i)); return nil })
		return func() { r.Run(context.Background()) }
	}
	return c
}

func increment(_ context.Context, v int) (int, error) { return v + 1, nil }

// mapChain is a chain of n typed nodes with a field each.
func mapChain(n int, options ...wavefold.RunOption) Case {
	f := intFields(n + 1)
	parts := make([]wavefold.Part, n)
	for i := range parts {
		parts[i] = wavefold.Map(NodeName(i), f[i], f[i+1], increment)
	}
	return graphCase(n, wavefold.New("chain", parts...), is(f[n], n), append(options, f[0].Is(0), wavefold.WithConcurrency(8))...)
}

// mapChainOnOneField is a chain of n typed nodes that overwrite one field.
func mapChainOnOneField(n int) Case {
	f := wavefold.NewField[int]("f")
	parts := []wavefold.Part{wavefold.Map(NodeName(0), f, f, increment)}
	for i := 1; i < n; i++ {
		parts = append(parts, wavefold.Map(NodeName(i), f, f, increment, wavefold.After(NodeName(i-1))))
	}
	return graphCase(n, wavefold.New("chain", parts...), is(f, n), f.Is(0), wavefold.WithConcurrency(8))
}

// predecessors returns the predecessors of each node of a shape.
func predecessors(s *Shape) [][]int {
	list := make([][]int, s.Len())
	for from, succ := range s.Succ {
		for _, to := range succ {
			list[to] = append(list[to], from)
		}
	}
	return list
}

// layeredSum returns a layered graph in which each node adds up what its predecessors have
// written; with untyped, it also reads a common field and is a Func.
func layeredSum(s *Shape, untyped bool) (subject, reference Case) {
	before, f, common := predecessors(s), intFields(s.Len()), wavefold.NewField[int]("common")
	parts := []wavefold.Part{wavefold.Source(NodeName(0), f[0], func(context.Context) (int, error) { return 1, nil })}
	for i := 1; i < s.Len(); i++ {
		p := before[i]
		switch {
		case untyped && len(p) == 3:
			in := []string{f[p[0]].Name(), f[p[1]].Name(), f[p[2]].Name()}
			parts = append(parts, wavefold.Func(NodeName(i), wavefold.Fields(common, f[p[0]], f[p[1]], f[p[2]]), wavefold.Fields(f[i]), func(_ context.Context, input core.Input) (core.Result, error) {
				sum := 0
				for _, name := range append(in, "common") {
					v, _ := input.Get(name)
					sum += v.(int)
				}
				return core.Write(f[i].Name(), sum&0xffff), nil
			}))
		case len(p) == 3:
			parts = append(parts, wavefold.Map3(NodeName(i), f[p[0]], f[p[1]], f[p[2]], f[i], func(_ context.Context, a, b, c int) (int, error) { return (a + b + c) & 0xffff, nil }))
		default: // the first layer and the join
			parts = append(parts, wavefold.Map(NodeName(i), f[p[0]], f[i], func(_ context.Context, v int) (int, error) { return v & 0xffff, nil }))
		}
	}
	options := []wavefold.RunOption{wavefold.WithConcurrency(8)}
	add := 0
	if untyped {
		options, add = append(options, common.Is(1)), 1
	}
	work := func(slots []int, i int) {
		switch p := before[i]; len(p) {
		case 0:
			slots[i] = 1
		case 3:
			slots[i] = (slots[p[0]] + slots[p[1]] + slots[p[2]] + add) & 0xffff
		default:
			slots[i] = slots[p[0]] & 0xffff
		}
	}
	want := make([]int, s.Len())
	for i := range want { // nodes are numbered in the order of their layers
		work(want, i)
	}
	last := s.Len() - 1
	return graphCase(s.Len(), wavefold.New("layered", parts...), is(f[last], want[last]), options...), onSlots(s, work)
}

// nodeTable has nodes that read and write state, against the reference that keeps the
// numbers in a slice.
func nodeTable() Table {
	chain := onSlots(Chain(1000), func(slots []int, i int) { slots[i+1] = slots[i] + 1 })
	map3, map3Reference := layeredSum(Layered(100, 10), false)
	fourReads, fourReadsReference := layeredSum(Layered(100, 10), true)
	return Table{ID: "nodes", Unit: "node", Figures: []Figure{
		{Name: "chain of Map, a field each", Subject: mapChain(1000), Reference: chain},
		{Name: "chain of Map, one field", Subject: mapChainOnOneField(1000), Reference: chain},
		{Name: "layered Map3", Subject: map3, Reference: map3Reference},
		{Name: "layered Func, 4 reads, 1 write", Subject: fourReads, Reference: fourReadsReference},
	}}
}
