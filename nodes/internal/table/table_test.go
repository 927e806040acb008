package table

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core/value"
)

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{
		"a.csv": CSV, "dir.json/a.CSV": CSV, "a.tsv": TSV, "a.ndjson": JSONL, "a.jsonl": JSONL,
		"a.json": JSON, "a.md": Text, "a": "", "a.parquet": "", `c:\x.d\a`: "",
	} {
		if got := FormatOf(name); got != want {
			t.Errorf("FormatOf(%q) = %q, want %q", name, got, want)
		}
	}
	if _, err := ParseFormat("cvs", CSV, JSON); err == nil || !strings.Contains(err.Error(), `did you mean "csv"`) {
		t.Errorf("ParseFormat: %v", err)
	}
}

func parse(t *testing.T, text string) []any {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.([]any)
}

func TestRows(t *testing.T) {
	type row struct {
		A int    `json:"a"`
		B string `json:"b"`
	}
	got, err := Rows("f", []row{{1, "x"}})
	if err != nil || value.JSON(got) != `[{"a":1,"b":"x"}]` {
		t.Fatalf("%s, %v", value.JSON(got), err)
	}
	for want, v := range map[string]any{
		"f has no value":                          value.Missing,
		"f: want an array of objects, got null":   nil,
		"f: want an array of objects, got object": value.ObjectOf("a", int64(1)),
		"f[1]: want an object, got integer":       []any{&value.Object{}, int64(2)},
	} {
		if _, err := Rows("f", v); err == nil || err.Error() != want {
			t.Errorf("Rows(%v) = %v, want %q", v, err, want)
		}
	}
}

func TestColumnsAreTheUnion(t *testing.T) {
	got := Columns(parse(t, `[{"b":1,"a":1},{"a":1,"c":1},{},{"b":1,"d":1}]`))
	if !slices.Equal(got, []string{"b", "a", "c", "d"}) {
		t.Fatalf("columns %v", got)
	}
}

func TestColumnFollowsTheHeader(t *testing.T) {
	keys, err := value.NewKeys([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	c := Column{Name: "b"}
	for i, row := range []*value.Object{
		value.NewRow(keys, []any{1, "one"}), value.NewRow(keys, []any{1, "two"}),
		value.ObjectOf("b", "three"), value.ObjectOf("a", 1), {}, value.NewRow(keys, []any{1, "six"}),
	} {
		want := []any{"one", "two", "three", nil, nil, "six"}[i]
		if v, ok := c.Of(row); v != want || ok != (want != nil) {
			t.Errorf("row %d: %v, %v, want %v", i, v, ok, want)
		}
	}
}

func written(rows []any, l Layout) (string, error) {
	var b strings.Builder
	w := bufio.NewWriterSize(&b, 1<<16)
	err := Write(context.Background(), w, rows, l)
	w.Flush()
	return b.String(), err
}

const mixed = `[{"id":9007199254740993,"f":1.0,"t":"a,b\n\"c\"","n":null},{"id":-1,"x":[1,{"y":"z"}],"b":true}]`

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		name string
		rows string
		l    Layout
		want string
	}{
		{"csv", mixed, Layout{Format: CSV}, "id,f,t,n,x,b\n" +
			"9007199254740993,1.0,\"a,b\n\"\"c\"\"\",,,\n-1,,,,\"[1,{\"\"y\"\":\"\"z\"\"}]\",true\n"},
		{"tsv", `[{"a":"x y","b":"1\t2"}]`, Layout{Format: TSV}, "a\tb\nx y\t\"1\t2\"\n"},
		{"semicolons without header", `[{"a":1,"b":"1;2"}]`, Layout{Format: CSV, Delimiter: ';', NoHeader: true}, "1;\"1;2\"\n"},
		{"chosen columns", mixed, Layout{Format: CSV, Columns: []string{"b", "id", "zz"}}, "b,id,zz\n,9007199254740993,\ntrue,-1,\n"},
		{"a lone empty cell", `[{"a":null},{"a":""},{"a":"x"}]`, Layout{Format: CSV}, "a\n\"\"\n\"\"\nx\n"},
		{"no rows", `[]`, Layout{Format: CSV}, ""},
		{"no rows, known columns", `[]`, Layout{Format: CSV, Columns: []string{"a", "b"}}, "a,b\n"},
		{"jsonl", mixed, Layout{Format: JSONL}, `{"id":9007199254740993,"f":1.0,"t":"a,b\n\"c\"","n":null}` + "\n" +
			`{"id":-1,"x":[1,{"y":"z"}],"b":true}` + "\n"},
		{"jsonl, chosen columns", mixed, Layout{Format: JSONL, Columns: []string{"b", "id"}},
			`{"b":null,"id":9007199254740993}` + "\n" + `{"b":true,"id":-1}` + "\n"},
		{"json", `[{"a":1},{"b":"ä<"}]`, Layout{Format: JSON}, "[\n{\"a\":1},\n{\"b\":\"ä<\"}\n]\n"},
		{"json without rows", `[]`, Layout{Format: JSON}, "[]\n"},
	} {
		got, err := written(parse(t, c.rows), c.l)
		if err != nil || got != c.want {
			t.Errorf("%s:\n got %q, %v\nwant %q", c.name, got, err, c.want)
		}
	}
}

func TestWriteStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, f := range []Format{CSV, JSONL, JSON} {
		var b strings.Builder
		if err := Write(ctx, bufio.NewWriter(&b), parse(t, mixed), Layout{Format: f}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// Whatever strings the cells contain, a reader gets the same cells back, except that
// encoding/csv converts line ends within a cell.
func TestCSVReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "columns")
		var rows []any
		var want [][]string
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			row, cellWriter := value.NewObject(n), make([]string, n)
			for i := range n {
				cellWriter[i] = rapid.StringOf(rapid.SampledFrom([]rune("ab ,;\"'\n\t#ä\\."))).Draw(t, "cell")
				row.Set(fmt.Sprint("c", i), cellWriter[i])
			}
			rows, want = append(rows, row), append(want, cellWriter)
		}
		text, err := written(rows, Layout{Format: CSV, NoHeader: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Fatalf("%q reads back as %q, %v", want, got, err)
		}
	})
}

// The output is what encoding/csv would write, byte by byte and for every delimiter.
// The only exception is a line with one empty cell, which is quoted here.
func TestCSVIsThatOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "columns")
		comma := rapid.SampledFrom([]rune(",;\t|-1e\u00a0.x")).Draw(t, "comma")
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint(rapid.StringOf(rapid.SampledFrom([]rune("a ,\"\n"))).Draw(t, "name"), i))
		}
		var b strings.Builder
		std := csv.NewWriter(&b)
		std.Comma = comma
		std.Write(names)
		var rows []any
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			row, record := value.NewObject(n), make([]string, n)
			for i := range n {
				switch rapid.IntRange(0, 3).Draw(t, "type") {
				case 0:
					v := rapid.Int64Range(-20, 20).Draw(t, "integer")
					row.Set(names[i], v)
					record[i] = fmt.Sprint(v)
				case 1:
					v := rapid.Bool().Draw(t, "boolean")
					row.Set(names[i], v)
					record[i] = fmt.Sprint(v)
				default:
					record[i] = rapid.StringOf(rapid.SampledFrom([]rune("ab ,;\"'\n\r\t#ä\\.\u2003\u00a0"))).Draw(t, "cell")
					row.Set(names[i], record[i])
				}
			}
			rows = append(rows, row)
			if n == 1 && record[0] == "" {
				std.Flush()
				b.WriteString("\"\"\n")
				continue
			}
			std.Write(record)
		}
		std.Flush()
		got, err := written(rows, Layout{Format: CSV, Columns: names, Delimiter: comma})
		if err != nil || got != b.String() {
			t.Fatalf("%s\n got %q, %v\nwant %q", value.JSON(rows), got, err, b.String())
		}
	})
}

// A file is the same whether its rows come at once or from a source with batches of any
// size. A column that first appears in a later batch is an error.
func TestWriterFromASource(t *testing.T) {
	rows := parse(t, `[{"a":1,"b":"x"},{"b":"y"},{"a":2},{},{"a":3,"b":"z"}]`)
	for _, f := range []Format{CSV, TSV, JSONL, JSON} {
		l := Layout{Format: f}
		if f.Delimited() {
			l.Columns, l.Closed = []string{"a", "b"}, true
		}
		want, err := written(rows, l)
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= len(rows); n++ {
			var b strings.Builder
			w := bufio.NewWriter(&b)
			out := NewWriter(w, l)
			src := &Source{stream: &slow{rows: rows, n: 2}}
			for {
				batch, err := src.NextOf(t.Context(), n)
				if err == io.EOF {
					break
				}
				if err == nil {
					err = out.Write(t.Context(), batch)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := out.End(); err != nil {
				t.Fatal(err)
			}
			w.Flush()
			if b.String() != want {
				t.Errorf("%s in batches of %d: %q, want %q", f, n, b.String(), want)
			}
		}
	}
	out := NewWriter(bufio.NewWriter(io.Discard), Layout{Format: CSV, Columns: []string{"a", "b"}, Closed: true})
	if err := out.Write(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	err := out.Write(t.Context(), parse(t, `[{"a":1},{"b":1,"c":2}]`))
	if want := `row 7: unknown column "c": the first rows have no such column; list the columns`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// slow is a stream that returns n rows at a time.
type slow struct {
	rows []any
	n    int
}

func (s *slow) Next(context.Context) ([]any, error) {
	if len(s.rows) == 0 {
		return nil, io.EOF
	}
	n := min(s.n, len(s.rows))
	out := s.rows[:n]
	s.rows = s.rows[n:]
	return out, nil
}

func (*slow) Summary() *value.Object { return nil }
func (*slow) Close() error           { return nil }

func TestSource(t *testing.T) {
	numbers := make([]any, 2500)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	for name, c := range map[string]struct {
		open     func() *Source
		head     int
		streamed bool
		total    int64
	}{
		"array":        {func() *Source { return ArraySource(numbers) }, 2500, false, 2500},
		"no rows":      {func() *Source { return ArraySource(nil) }, 0, false, 0},
		"stream":       {func() *Source { return StreamSource(&slow{numbers, 300}) }, 300, true, 0},
		"large":        {func() *Source { return StreamSource(&slow{numbers, 2200}) }, 2200, true, 0},
		"empty stream": {func() *Source { return StreamSource(&slow{nil, 300}) }, 0, false, 0},
	} {
		for _, n := range []int{0, 1, 7, 300, 999, 5000} {
			s := c.open()
			head, err := s.Head(t.Context())
			if err != nil || len(head) != c.head || s.Streamed() != c.streamed || s.Total() != c.total {
				t.Fatalf("%s: head of %d rows, %v, streamed %v, total %d", name, len(head), err, s.Streamed(), s.Total())
			}
			if again, _ := s.Head(t.Context()); len(again) != c.head {
				t.Fatalf("%s: asked again, a head of %d rows", name, len(again))
			}
			var got []any
			for {
				var rows []any
				if n == 0 {
					rows, err = s.Next(t.Context())
				} else {
					rows, err = s.NextOf(t.Context(), n)
				}
				if err == io.EOF {
					break
				}
				got = append(got, rows...)
				if err != nil || n > 0 && len(rows) != n && len(got) < len(numbers) || len(rows) == 0 {
					t.Fatalf("%s: a batch of %d rows, want %d, %v", name, len(rows), n, err)
				}
			}
			want := numbers
			if c.head == 0 {
				want = nil
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s by %d: %d rows", name, n, len(got))
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.open().Next(ctx); err != context.Canceled {
			t.Errorf("%s: cancelled: %v", name, err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	keys, err := value.NewKeys([]string{"date", "delay", "distance", "origin", "destination"})
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]any, 10_000)
	for i := range rows {
		rows[i] = value.NewRow(keys, []any{"2001/02/14 15:12", int64(i % 90), int64(342 + i), "SJC", "SNA"})
	}
	for _, f := range []Format{CSV, JSONL, JSON} {
		b.Run("format="+string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Write(b.Context(), bufio.NewWriterSize(discard{}, 1<<16), rows, Layout{Format: f}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(rows)), "ns/row")
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func TestBuilder(t *testing.T) {
	for _, names := range [][]string{{"a", "b"}, nil} {
		keys, err := value.NewKeys(names)
		if err != nil {
			t.Fatal(err)
		}
		b := NewBuilder(keys)
		var rows []any
		for i := range 3 * lastBlock {
			row, values := b.Row()
			for j := range values {
				values[j] = int64(i*10 + j)
			}
			rows = append(rows, row)
		}
		for i, r := range rows {
			want := "{}"
			if names != nil {
				want = fmt.Sprintf(`{"a":%d,"b":%d}`, i*10, i*10+1)
			}
			if got := value.JSON(r); got != want {
				t.Fatalf("row %d is %s, want %s", i, got, want)
			}
		}
	}
}

// A table that is written in batches equals the table written at once.
func TestWriterInBatches(t *testing.T) {
	rows := parse(t, `[{"a":1,"b":"x"},{"a":2},{"b":"y"},{"a":null,"b":"z"}]`)
	for _, format := range []Format{CSV, TSV, JSONL, JSON} {
		for _, n := range []int{0, 1, len(rows)} {
			layout := Layout{Format: format, Columns: []string{"a", "b"}}
			want, err := written(rows[:n], layout)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			buf := bufio.NewWriter(&b)
			w := NewWriter(buf, layout)
			for i := range n {
				if err := w.Write(t.Context(), rows[i:i+1]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Write(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if err := w.End(); err != nil {
				t.Fatal(err)
			}
			buf.Flush()
			if b.String() != want {
				t.Errorf("%s: %d rows one by one give %q, want %q", format, n, b.String(), want)
			}
		}
	}
	w := NewWriter(bufio.NewWriter(&strings.Builder{}), Layout{Format: CSV})
	if err := w.Write(t.Context(), rows[1:2]); err != nil {
		t.Fatal(err)
	}
	const want = `row 2: unknown column "b": the first rows have no such column; list the columns`
	if err := w.Write(t.Context(), rows[2:]); err == nil || err.Error() != want {
		t.Errorf("a column that comes later: %v, want %s", err, want)
	}
}
