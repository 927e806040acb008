package scheduler_test

import (
	"fmt"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/store/memory"
)

// BenchmarkPreview says what replays of 10,000 nodes would do.
func BenchmarkPreview(b *testing.B) {
	const nodes = 10_000
	handlers := map[string]core.HandlerFunc{}
	names := make([]string, nodes)
	var layers [][2]string
	for i := range names {
		names[i] = fmt.Sprint("n", i)
		handlers[names[i]] = noop
		for k := range min(2, i/100*2) {
			layers = append(layers, [2]string{names[i/100*100-100+(i+k)%100], names[i]})
		}
	}
	for _, tt := range []struct {
		name, from string
		edges      [][2]string
	}{{"wide", "n5000", nil}, {"layers", "n5000", layers}, {"layers-first", "n0", layers}} {
		b.Run(tt.name, func(b *testing.B) {
			p, s := compile(b, graph(handlers, names, tt.edges...)), memory.New(nil)
			if _, err := scheduler.Run(b.Context(), p, nil, scheduler.Options{Run: "r", Recording: &scheduler.Recording{Store: s}}); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				st, err := scheduler.ReadStored(b.Context(), s, "r")
				if err != nil {
					b.Fatal(err)
				}
				forecast, err := scheduler.Preview(b.Context(), st, p, scheduler.Fork{From: tt.from}, scheduler.Options{})
				if err != nil || len(forecast.Steps) != nodes {
					b.Fatal(len(forecast.Steps), err)
				}
			}
		})
	}
}
