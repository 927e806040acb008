package sql

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// flights gives n batches of a thousand rows of five columns.
func flights(b *testing.B, n int) *feed {
	keys, err := value.NewKeys([]string{"id", "date", "delay", "distance", "origin"})
	if err != nil {
		b.Fatal(err)
	}
	f := &feed{}
	for i := range n {
		rows := make([]any, 1000)
		for j := range rows {
			rows[j] = value.NewRow(keys, []any{int64(1000*i + j), "2001-02-14 15:12", int64(j%90 - 10), int64(342 + j), []string{"SJC", "SNA", "PHX"}[j%3]})
		}
		f.batches = append(f.batches, rows)
	}
	return f
}

const benchRows = 100_000

func report(b *testing.B) {
	rows := float64(b.N) * benchRows
	b.ReportMetric(b.Elapsed().Seconds()*1e9/rows, "ns/row")
	b.ReportMetric(rows/b.Elapsed().Seconds(), "rows/s")
}

// dsns returns the databases that there are.
func dsns(b *testing.B) map[string]string {
	s := server(b)
	return map[string]string{
		"sqlite":   `"dsn": "sqlite:` + filepath.Join(b.TempDir(), "x.db") + `", "allow_outside": true`,
		"postgres": `"dsn": "` + s.dsn() + `"`,
	}
}

func BenchmarkLoad(b *testing.B) {
	for name, dsn := range dsns(b) {
		for _, mode := range []string{"replace", "upsert"} {
			b.Run("to="+name+"/mode="+mode, func(b *testing.B) {
				h := compiled(b, "", `{`+dsn+`, "table": "t", "create": true, "from": "rows", "mode": "`+mode+`", "key": ["id"]}`)
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					f := flights(b, benchRows/1000)
					b.StartTimer()
					if _, err := h.Handle(b.Context(), fedBy("", f)); err != nil {
						b.Fatal(err)
					}
				}
				report(b)
			})
		}
	}
}

func BenchmarkQuery(b *testing.B) {
	for name, dsn := range dsns(b) {
		b.Run("from="+name, func(b *testing.B) {
			load := compiled(b, "", `{`+dsn+`, "table": "q", "create": true, "from": "rows"}`)
			if _, err := load.Handle(b.Context(), fedBy("", flights(b, benchRows/1000))); err != nil {
				b.Fatal(err)
			}
			h := compiled(b, "", `{`+dsn+`, "query": "SELECT * FROM q", "stream": true, "writes": ["out"]}`).(core.StreamSource)
			b.ReportAllocs()
			for b.Loop() {
				rows, err := h.Open(b.Context(), input(b, "", "", ""), nil)
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for err == nil {
					var batch []any
					batch, err = rows.Next(b.Context())
					n += len(batch)
				}
				if err := rows.Close(); err != nil || n != benchRows {
					b.Fatal(n, err)
				}
				if err != nil && err != io.EOF {
					b.Fatal(err)
				}
			}
			report(b)
		})
	}
}
