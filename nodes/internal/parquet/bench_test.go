package parquet

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"testing"

	parquet "github.com/parquet-go/parquet-go"

	"github.com/wavefold/wavefold/nodes/internal/table"
)

// flight is a row as a program written for this file would define it.
type flight struct {
	Date        string `parquet:"date,optional,dict"`
	Delay       int64  `parquet:"delay,optional,dict"`
	Distance    int64  `parquet:"distance,optional,dict"`
	Origin      string `parquet:"origin,optional,dict"`
	Destination string `parquet:"destination,optional,dict"`
}

// flightsFile returns a file of n flights, or the file named by the environment
// variable FLIGHTS.
func flightsFile(b *testing.B, n int) (File, int) {
	if name := os.Getenv("FLIGHTS"); name != "" {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
		info, err := f.Stat()
		if err != nil {
			b.Fatal(err)
		}
		p, err := parquet.OpenFile(f, info.Size())
		if err != nil {
			b.Fatal(err)
		}
		return File{name, info.Size(), f}, int(p.NumRows())
	}
	list := make([]flight, n)
	codes := []string{"SJC", "PHX", "DAL", "SNA", "JFK", "ORD", "ATL"}
	for i := range list {
		list[i] = flight{fmt.Sprintf("2001/02/%02d %02d:%02d", 1+i/5000%28, i/200%24, i/4%60), int64(i*7919%200 - 30), int64(100 + i*31%1000), codes[i%7], codes[i/7%7]}
	}
	var out bytes.Buffer
	if err := parquet.Write(&out, list, parquet.Compression(&parquet.Zstd)); err != nil {
		b.Fatal(err)
	}
	return File{"flights.parquet", int64(out.Len()), bytes.NewReader(out.Bytes())}, n
}

// BenchmarkRead compares reading rows with a program written for this file, which reads
// structs with the library.
func BenchmarkRead(b *testing.B) {
	file, n := flightsFile(b, 200_000)
	perRow := func(b *testing.B, read func() int) {
		b.ReportAllocs()
		for b.Loop() {
			if got := read(); got != n {
				b.Fatalf("%d rows, want %d", got, n)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
	}
	b.Run("read=by-hand", func(b *testing.B) {
		perRow(b, func() (got int) {
			r := parquet.NewGenericReader[flight](io.NewSectionReader(file, 0, file.Size))
			defer r.Close()
			for buf := make([]flight, batchRows); ; {
				k, err := r.Read(buf)
				got += k
				if err == io.EOF {
					return got
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	})
	rowsOf := func(o table.ReadOptions) func() int {
		return func() (got int) {
			r := NewReader(&files{list: []File{file}}, o, sha256.New())
			for {
				batch, err := r.Next(b.Context())
				if err == io.EOF {
					return got
				}
				if err != nil || len(batch.Bad) > 0 {
					b.Fatal(err, batch.Bad)
				}
				got += len(batch.Rows)
			}
		}
	}
	b.Run("read=rows", func(b *testing.B) { perRow(b, rowsOf(table.ReadOptions{})) })
	b.Run("read=two-columns", func(b *testing.B) { perRow(b, rowsOf(table.ReadOptions{Select: []string{"delay", "origin"}})) })
}
