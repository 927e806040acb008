package scheduler_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store/file"
)

// BenchmarkCacheHit measures a run over items whose results are in a store in files, for each item, next to
// the same run without the cache.
func BenchmarkCacheHit(b *testing.B) {
	const items = 1000
	list := make([]any, items)
	for i := range list {
		list[i] = fmt.Sprint("item ", i)
	}
	for _, off := range []bool{true, false} {
		b.Run(fmt.Sprintf("cache=%t", !off), func(b *testing.B) {
			s, err := file.Open(b.TempDir(), file.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			h := core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
				item, _ := in.Item()
				return core.Write("out", item), nil
			})
			w := fields(graph(map[string]core.HandlerFunc{"n": h}, []string{"n"}), "in", "out")
			w.Inputs = []core.InputDecl{{Name: text("in")}}
			n := w.Nodes[0]
			n.Writes, n.ForEach, n.Cache = []source.Text{text("out")}, &core.ForEach{Source: text("$.in"), Collect: text("out")}, &core.Cache{Key: text("$item")}
			p := compile(b, w)
			run := func(off bool) {
				_, err := scheduler.Run(b.Context(), p, map[string]any{"in": list}, scheduler.Options{NoCache: off, Recording: &scheduler.Recording{Store: s}})
				if err != nil {
					b.Fatal(err)
				}
			}
			run(false)
			b.ResetTimer()
			for b.Loop() {
				run(off)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/items, "ns/item")
		})
	}
}
