package sink

import (
	"context"
	"io"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// flights gives the same batch of rows of five columns n times.
type flights struct {
	batch []any
	n     int
}

func newFlights(tb testing.TB, batches int) *flights {
	keys, err := value.NewKeys([]string{"date", "delay", "distance", "origin", "destination"})
	if err != nil {
		tb.Fatal(err)
	}
	f := &flights{batch: make([]any, 1000), n: batches}
	airports := []string{"SJC", "SNA", "PHX", "BNA", "MDW"}
	for i := range f.batch {
		f.batch[i] = value.NewRow(keys, []any{"2001/02/14 15:12", int64(i%90 - 10), int64(342 + i), airports[i%5], airports[i%4]})
	}
	return f
}

func (f *flights) Next(context.Context) ([]any, error) {
	if f.n == 0 {
		return nil, io.EOF
	}
	f.n--
	return f.batch, nil
}

func (*flights) Summary() *value.Object { return nil }
func (*flights) Close() error           { return nil }

// BenchmarkStream writes 100,000 rows of a stream to a file.
func BenchmarkStream(b *testing.B) {
	const batches = 100
	for name, node := range map[string]string{
		"csv":     `{"to": "out.csv", "from": "rows"}`,
		"csv.gz":  `{"to": "out.csv.gz", "from": "rows"}`,
		"jsonl":   `{"to": "out.jsonl", "from": "rows"}`,
		"parquet": `{"to": "out.parquet", "from": "rows"}`,
		"sqlite":  `{"to": "out.db", "table": "t", "from": "rows"}`,
	} {
		b.Run("to="+name, func(b *testing.B) {
			h, dir := compiled(b, node), b.TempDir()
			b.ReportAllocs()
			for b.Loop() {
				in := core.NewInput("run", "n", 1, core.Shared{Dir: dir, Open: func(context.Context, string, *value.Object) (core.Stream, bool, error) {
					return newFlights(b, batches), true, nil
				}})
				if _, err := h.Handle(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
			rows := float64(b.N) * batches * 1000
			b.ReportMetric(b.Elapsed().Seconds()*1e9/rows, "ns/row")
			b.ReportMetric(rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
