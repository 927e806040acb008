package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// repeated returns n rows that repeat the rows of a file in testdata.
func repeated(b *testing.B, name string, n int) []byte {
	data, err := os.ReadFile("../../testdata/" + name)
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

const benchRows = 20_000

// flight is a row as a program written for this file would define it.
type flight struct {
	Date        string `json:"date"`
	Delay       int64  `json:"delay"`
	Distance    int64  `json:"distance"`
	Origin      string `json:"origin"`
	Destination string `json:"destination"`
}

// csvByHand reads flights as a program written for this file would, with encoding/csv
// and strconv.
func csvByHand(r io.Reader) ([]flight, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	if _, err := in.Read(); err != nil {
		return nil, err
	}
	var out []flight
	for {
		c, err := in.Read()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		f := flight{Date: c[0], Origin: c[3], Destination: c[4]}
		if f.Delay, err = strconv.ParseInt(c[1], 10, 64); err != nil {
			return nil, err
		}
		if f.Distance, err = strconv.ParseInt(c[2], 10, 64); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
}

// linesByHand reads flights from JSON lines with encoding/json.
func linesByHand(r io.Reader) ([]flight, error) {
	var out []flight
	for dec := json.NewDecoder(r); ; {
		var f flight
		err := dec.Decode(&f)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
}

// stream reads a table batch by batch and discards the rows.
func stream(b *testing.B, data []byte, o ReadOptions) (n int) {
	r, err := NewReader(One(File{Name: "f", Reader: bytes.NewReader(data)}), o)
	if err != nil {
		b.Fatal(err)
	}
	for {
		got, err := r.Next(b.Context())
		if err == io.EOF {
			return n
		}
		if err != nil || len(got.Bad) > 0 {
			b.Fatal(err, got.Bad)
		}
		n += len(got.Rows)
	}
}

// BenchmarkRead compares the reader with programs written for one file.
func BenchmarkRead(b *testing.B) {
	csvData := repeated(b, "flights.csv", benchRows)
	flights, err := csvByHand(bytes.NewReader(csvData))
	if err != nil {
		b.Fatal(err)
	}
	var text strings.Builder
	for _, f := range flights {
		line, _ := json.Marshal(f)
		fmt.Fprintf(&text, "%s\n", line)
	}
	lineData := []byte(text.String())
	arrayData := []byte("[" + strings.ReplaceAll(strings.TrimSpace(text.String()), "\n", ",\n") + "]")
	inferred := Cells{Infer: true, Window: 10_000, Nulls: []string{""}}
	declared := Types{{"date", value.StringType, true}, {"delay", value.IntegerType, true}, {"distance", value.IntegerType, true}, {"origin", value.StringType, true}, {"destination", value.StringType, true}}
	for _, c := range []struct {
		name string
		read func() int
	}{
		{"format=csv/read=by-hand", func() int { f, _ := csvByHand(bytes.NewReader(csvData)); return len(f) }},
		{"format=csv/read=inferred", func() int { return stream(b, csvData, ReadOptions{Cells: inferred}) }},
		{"format=csv/read=declared", func() int { return stream(b, csvData, ReadOptions{Cells: inferred, Types: declared}) }},
		{"format=csv/read=whole", func() int { return stream(b, csvData, ReadOptions{Cells: Cells{Infer: true, Nulls: []string{""}}}) }},
		{"format=csv/read=two-columns", func() int {
			return stream(b, csvData, ReadOptions{Cells: inferred, Types: declared, Select: []string{"delay", "origin"}})
		}},
		{"format=jsonl/read=by-hand", func() int { f, _ := linesByHand(bytes.NewReader(lineData)); return len(f) }},
		{"format=jsonl/read=rows", func() int { return stream(b, lineData, ReadOptions{Format: JSONL}) }},
		{"format=json/read=by-hand", func() int { var f []flight; json.Unmarshal(arrayData, &f); return len(f) }},
		{"format=json/read=rows", func() int { return stream(b, arrayData, ReadOptions{Format: JSON}) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n := c.read(); n != benchRows {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}
