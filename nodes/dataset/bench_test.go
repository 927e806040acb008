package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// repeated returns n rows made of a file of testdata.
func repeated(b *testing.B, name string, n int) []byte {
	data, err := os.ReadFile("../testdata/" + name)
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	out := bytes.Clone(lines[0])
	body := lines[1 : len(lines)-1]
	for i := range n {
		out = append(out, body[i%len(body)]...)
	}
	return out
}

// BenchmarkRead compares reading of typed rows with encoding/csv alone, which
// sets the floor.
func BenchmarkRead(b *testing.B) {
	const rows = 10_000
	perRow := func(b *testing.B, n int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
	}
	for _, name := range []string{"flights.csv", "birdstrikes.csv"} {
		data := repeated(b, name, rows)
		b.Run("file="+name+"/read=encoding-csv", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := csv.NewReader(bytes.NewReader(data))
				r.ReuseRecord = true
				for {
					if _, err := r.Read(); errors.Is(err, io.EOF) {
						break
					}
				}
			}
			perRow(b, rows)
		})
		b.Run("file="+name+"/read=typed", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o := cellOptions{delimiter: ',', infer: true, nulls: []string{""}}
				got, err := readCells(b.Context(), bytes.NewReader(data), o, rowOptions{})
				if err != nil || len(got.rows) != rows {
					b.Fatal(len(got.rows), err)
				}
			}
			perRow(b, rows)
		})
	}
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "{\"date\":\"2001/02/14 15:12\",\"delay\":%d,\"distance\":342,\"origin\":\"SJC\",\"destination\":\"SNA\"}\n", i%90)
	}
	b.Run("file=flights.jsonl", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			o := &objectReader{}
			if err := readLines(b.Context(), strings.NewReader(text.String()), o); err != nil || len(o.out.rows) != rows {
				b.Fatal(len(o.out.rows), err)
			}
		}
		perRow(b, rows)
	})
}
