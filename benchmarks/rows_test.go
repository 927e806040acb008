package benchmarks

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
)

const manyRows = 1_000_000

var (
	raw, scaled, kept = wavefold.NewStream[Row]("raw"), wavefold.NewStream[Row]("scaled"), wavefold.NewStream[Row]("kept")
	rowSum            = wavefold.NewField[float64]("sum")
)

func emitRows(n int) func(context.Context, func([]Row) error) error {
	return func(_ context.Context, emit func([]Row) error) error {
		batch := make([]Row, 0, batchRows)
		for i := 0; i < n; {
			batch = batch[:0]
			for ; len(batch) < batchRows && i < n; i++ {
				batch = append(batch, RowOf(i))
			}
			if err := emit(batch); err != nil {
				return err
			}
		}
		return nil
	}
}

func sumRows(_ context.Context, sum float64, rows []Row) (float64, error) {
	for _, r := range rows {
		sum = Add(sum, r)
	}
	return sum, nil
}

func scaleBatch(_ context.Context, rows, made []Row) ([]Row, error) {
	for _, r := range rows {
		made = append(made, Scale(r))
	}
	return made, nil
}

func keepBatch(_ context.Context, rows, made []Row) ([]Row, error) {
	for _, r := range rows {
		if Keep(r) {
			made = append(made, r)
		}
	}
	return made, nil
}

// rowSubjects returns the implementations of scale, filter and sum that are compared.
func rowSubjects(tb testing.TB, n int) []struct {
	name string
	run  func() float64
} {
	graph := func(parts ...wavefold.Part) func() float64 {
		parts = append(parts, wavefold.StreamSource("load", raw, emitRows(n)), wavefold.StreamFold("sum", kept, rowSum, sumRows))
		g := wavefold.New("rows", parts...)
		if err := g.Compile(); err != nil {
			tb.Fatal(err)
		}
		return func() float64 {
			r, err := g.Run(context.Background())
			if err != nil {
				tb.Fatal(err)
			}
			return rowSum.Get(r)
		}
	}
	return []struct {
		name string
		run  func() float64
	}{
		{"reference", func() float64 { return RowsInBatches(n) }},
		{"loop", func() float64 { return Rows(n) }},
		{"typed, batches", graph(wavefold.StreamBatch("scale", raw, scaled, scaleBatch), wavefold.StreamBatch("keep", scaled, kept, keepBatch))},
		{"typed, rows", graph(
			wavefold.StreamMap("scale", raw, scaled, func(_ context.Context, r Row) (Row, error) { return Scale(r), nil }),
			wavefold.StreamFilter("keep", scaled, kept, func(_ context.Context, r Row) (bool, error) { return Keep(r), nil }))},
		{"transform", graph(wavefold.Node("steps", "transform", map[string]any{"stream": true, "steps": []any{
			map[string]any{"derive": map[string]any{"V": "$item.V * 2"}},
			map[string]any{"filter": "$item.ID % 8 != 0"},
		}}, wavefold.Reads(raw), wavefold.Writes(kept)))},
	}
}

// All implementations return the same sum.
func TestRowsAgree(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 10_001} {
		for _, s := range rowSubjects(t, n) {
			if got, want := s.run(), Rows(n); got != want {
				t.Errorf("%s, %d rows: got %v, want %v", s.name, n, got, want)
			}
		}
	}
}

// BenchmarkRows measures the cost of a row in scale, filter and sum, including the start of
// the run.
func BenchmarkRows(b *testing.B) {
	for _, s := range rowSubjects(b, manyRows) {
		b.Run("subject="+s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/manyRows, "ns/row")
		})
	}
}

// TestRowRatios measures the implementations in interleaved rounds and prints the paired
// ratios to the reference, like TestRatios.
func TestRowRatios(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("prints figures only: run with -v")
	}
	const rounds = 8
	list := rowSubjects(t, manyRows)
	ns, kb := make([][]float64, len(list)), make([][]float64, len(list))
	for range rounds {
		for i, s := range list {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begin := time.Now()
			s.run()
			ns[i] = append(ns[i], float64(time.Since(begin).Nanoseconds())/manyRows)
			runtime.ReadMemStats(&after)
			kb[i] = append(kb[i], float64(after.TotalAlloc-before.TotalAlloc)/1024)
		}
	}
	for i, s := range list {
		ratio := make([]float64, rounds)
		for k := range ratio {
			ratio[k] = ns[i][k] / ns[0][k]
		}
		slices.Sort(ratio)
		t.Logf("%-14s %6.1f ns/row, %6.2f x reference [%.2f..%.2f], %s a run", s.name, median(ns[i]), median(ratio), ratio[0], ratio[rounds-1], fmt.Sprintf("%.0f KB", median(kb[i])))
	}
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
