package table

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// scanAll splits a text and returns the cells of each record, or the reason why a
// record is malformed.
func scanAll(t testing.TB, r io.Reader, comma string) (records [][]string, faults []malformed) {
	t.Helper()
	s := cellScanner{lineReader: &lineReader{r: r}, comma: []byte(comma), max: 1 << 20}
	for {
		err := s.next()
		if err == io.EOF {
			return records, faults
		}
		if bad, ok := errors.AsType[*malformed](err); ok {
			records, faults = append(records, nil), append(faults, *bad)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		record := []string{}
		for _, c := range s.cells() {
			record = append(record, string(c))
		}
		records, faults = append(records, record), append(faults, malformed{})
	}
}

// FuzzScan compares the scanner with encoding/csv: it finds the same records and the
// same errors at the same places, however the bytes are split into reads.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n", "a,\"b\nc\",d\r\n", "\"a\"\"b\",\"\"\n", "\"a\"x,b\nc\n", "a\"b,c\n1\n", "\"open\n1,2\n", "\"open", "\r\n\n\ra\n", "a,b\r", "\"a\r\nb\",\"c\"\r\n", ",,\n\"\",\"\"",
		"a;b\n", "\"a\",\n", "\"a\" ,b\n", "\n\n", "\"x\n\ny\"\n", "é,\"ü\"\n", "\x00,\"\x00\"\n",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, wide bool) {
		comma := ','
		if wide {
			comma = '¦'
			text = strings.ReplaceAll(text, ",", "¦")
		}
		got, faults := scanAll(t, strings.NewReader(text), string(comma))
		slow, slowFaults := scanAll(t, iotest.OneByteReader(strings.NewReader(text)), string(comma))
		if !slices.EqualFunc(got, slow, slices.Equal) || !slices.Equal(faults, slowFaults) {
			t.Fatalf("%q in one piece %q %v, byte by byte %q %v", text, got, faults, slow, slowFaults)
		}
		want := csv.NewReader(strings.NewReader(text))
		want.Comma, want.FieldsPerRecord = comma, -1
		for i := 0; ; i++ {
			record, err := want.Read()
			if err == io.EOF {
				if len(got) != i {
					t.Fatalf("%q: %d records, want %d", text, len(got), i)
				}
				return
			}
			if i >= len(got) {
				t.Fatalf("%q: record %d is missing: %q, %v", text, i, record, err)
			}
			if problem, ok := errors.AsType[*csv.ParseError](err); ok {
				same := map[error][]fault{csv.ErrBareQuote: {bareQuote}, csv.ErrQuote: {lateText, openQuote}}[problem.Err]
				if !slices.Contains(same, faults[i].fault) {
					t.Fatalf("%q: record %d: fault %v, want %v", text, i, faults[i], err)
				}
				// encoding/csv reports where the file ends, not where the quote begins.
				if faults[i].fault != openQuote && (faults[i].line != int64(problem.Line) || faults[i].column != problem.Column) {
					t.Fatalf("%q: record %d: fault %v, want %v", text, i, faults[i], err)
				}
				continue
			}
			same := func(ours, theirs string) bool { return strings.ReplaceAll(ours, "\r\n", "\n") == theirs }
			if err != nil || faults[i] != (malformed{}) || !slices.EqualFunc(got[i], record, same) {
				t.Fatalf("%q: record %d is %q %v, want %q, %v", text, i, got[i], faults[i], record, err)
			}
		}
	})
}

// Line ends in quoted cells are kept; encoding/csv converts all of them to
// .
func TestLineEndsInCells(t *testing.T) {
	got, _ := scanAll(t, iotest.OneByteReader(strings.NewReader("\"a\r\nb\n\r\n\",\"c\rd\"\r\n\"\r\n\",\"\n\"\n")), ",")
	want := [][]string{{"a\r\nb\n\r\n", "c\rd"}, {"\r\n", "\n"}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %q, want %q", got, want)
	}
}
