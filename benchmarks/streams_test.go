package benchmarks

import (
	"context"
	"testing"

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

// rowGraph builds the graph that loads, changes and sums n rows.
func rowGraph(parts ...wavefold.Part) func(tb testing.TB, n int) func() float64 {
	return func(tb testing.TB, n int) func() float64 {
		g := wavefold.New("rows", append(parts[:len(parts):len(parts)],
			wavefold.StreamSource("load", raw, emitRows(n)), wavefold.StreamFold("sum", kept, rowSum, sumRows))...)
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
}

// rowSubjects are the implementations of scale, filter and sum that are compared.
var rowSubjects = []struct {
	name  string
	start func(tb testing.TB, n int) func() float64
}{
	{"batches over channels", func(_ testing.TB, n int) func() float64 { return func() float64 { return RowsInBatches(n) } }},
	{"a single loop", func(_ testing.TB, n int) func() float64 { return func() float64 { return Rows(n) } }},
	{"typed functions for batches", rowGraph(wavefold.StreamBatch("scale", raw, scaled, scaleBatch), wavefold.StreamBatch("keep", scaled, kept, keepBatch))},
	{"typed functions for rows", rowGraph(
		wavefold.StreamMap("scale", raw, scaled, func(_ context.Context, r Row) (Row, error) { return Scale(r), nil }),
		wavefold.StreamFilter("keep", scaled, kept, func(_ context.Context, r Row) (bool, error) { return Keep(r), nil }))},
	{"a transform with expressions", rowGraph(wavefold.Node("steps", "transform", map[string]any{"stream": true, "steps": []any{
		map[string]any{"derive": map[string]any{"V": "$item.V * 2"}},
		map[string]any{"filter": "$item.ID % 8 != 0"},
	}}, wavefold.Reads(raw), wavefold.Writes(kept)))},
}

// All implementations return the same sum.
func TestRowsAgree(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 10_001} {
		for _, s := range rowSubjects {
			if got, want := s.start(t, n)(), Rows(n); got != want {
				t.Errorf("%s, %d rows: got %v, want %v", s.name, n, got, want)
			}
		}
	}
}

// streamTable has the ways to scale, filter and sum rows, against a program written only
// for them.
func streamTable() Table {
	t := Table{ID: "streams", Unit: "row"}
	of := func(i int) Case {
		return Case{Name: rowSubjects[i].name, Units: manyRows, Start: func(tb testing.TB) func() {
			run := rowSubjects[i].start(tb, manyRows)
			return func() { run() }
		}}
	}
	for _, i := range []int{2, 3, 4} {
		t.Figures = append(t.Figures, Figure{Name: of(i).Name, Subject: of(i), Reference: of(0)})
	}
	t.Figures = append(t.Figures, Figure{Name: "typed functions for rows, over a loop", Subject: of(3), Reference: of(1)})
	return t
}
