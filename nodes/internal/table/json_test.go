package table

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/wavefold/wavefold/core/value"
)

func jsonOptions(f Format) ReadOptions { return ReadOptions{Format: f, GiveUp: -1} }

// readBoth reads a text at once and byte by byte. Both must give the same result.
func readBoth(t *testing.T, text string, o ReadOptions) (good []any, rejected string, err error) {
	t.Helper()
	show := func(r io.Reader) (string, []any, string, error) {
		good, bad, err := readAll(context.Background(), r, o)
		var b strings.Builder
		for _, r := range bad {
			fmt.Fprintf(&b, "%d:%d %s %s\n", r.Row, r.Line, r.Reason, value.JSON(r.Data))
		}
		return fmt.Sprint(value.JSON(good), b.String(), err), good, b.String(), err
	}
	whole, good, rejected, err := show(strings.NewReader(text))
	if slow, _, _, _ := show(iotest.OneByteReader(strings.NewReader(text))); slow != whole {
		t.Fatalf("%q in one piece: %s\nbyte by byte: %s", text, whole, slow)
	}
	return good, rejected, err
}

// FuzzArray compares the reader of arrays with encoding/json: it accepts exactly the
// JSON arrays, and the elements are what value.ParseJSON returns.
func FuzzArray(f *testing.F) {
	for _, s := range []string{
		`[]`, ` [ ] `, `[{}]`, `[{"a":1},{"a":"]\"}"}]`, "[\n{\"a\":1},\n{\"a\":2}\n]\n", `[1,"x",null,[{}],true]`, `[{"a":1}`, `[{"a":1},]`, `[,]`, `[{"a" 1}]`, `[{}{}]`, `[{}] []`, `{}`, ``,
		`[{"a":1}}`, `["a]`, `[{"a":[1,{"b":"c"}]},{"a":1e999},{"a":1,"a":2}]`, "[1\n,2]", `[tru]`, `[1 2]`, `["\u0000"]`, "[\"\x00\"]", "\ufeff[{}]",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, '\r') {
			return // carriage returns that end lines are replaced
		}
		if !utf8.ValidString(text) {
			return // rows with invalid UTF-8 are bad, see TestRule77Raw
		}
		good, rejected, err := readBoth(t, text, jsonOptions(JSON))
		plain := []byte(strings.TrimPrefix(text, "\ufeff"))
		valid := json.Valid(plain) && bytes.HasPrefix(bytes.TrimSpace(plain), []byte("["))
		if (err == nil) != valid {
			t.Fatalf("%q: error %v, is an array of JSON: %v", text, err, valid)
		}
		if v, err := value.ParseJSON(plain); err == nil && valid {
			var rows []any
			for _, e := range v.([]any) {
				if _, ok := e.(*value.Object); ok {
					rows = append(rows, e)
				}
			}
			if value.JSON(rows) != value.JSON(good) && len(rows)+len(good) > 0 || len(v.([]any)) != len(good)+strings.Count(rejected, "want an object") {
				t.Fatalf("%q: rows %s, rejected %s, want %s", text, value.JSON(good), rejected, value.JSON(v))
			}
		}
	})
}

// FuzzLines compares the reader of JSON lines with value.ParseJSON on each line.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"{\"a\":1}\n{\"a\":2}\n", "{}\n\n {} \n", "{\"a\":1}\n{\"a\":\n[1]\n", "{\"a\":\"x\"}\n{\"a\":\"\xff\"}", "1\nnull\n{\"a\":1,\"a\":1}", "\ufeff{}\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, '\r') {
			return
		}
		o := jsonOptions(JSONL)
		o.AllowEmpty = true
		good, rejected, err := readBoth(t, text, o)
		if err != nil {
			if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
				return
			}
			t.Fatalf("%q: %v", text, err)
		}
		var rows []any
		bad := 0
		for _, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
			trimmed := bytes.TrimSpace([]byte(line))
			if len(trimmed) == 0 {
				continue
			}
			v, err := value.ParseJSON(trimmed)
			if o, ok := v.(*value.Object); ok && err == nil && utf8.Valid(trimmed) {
				rows = append(rows, o)
			} else {
				bad++
			}
		}
		if value.JSON(rows) != value.JSON(good) && len(rows)+len(good) > 0 || strings.Count(rejected, "\n") < bad {
			t.Fatalf("%q: rows %s, rejected %s, want %s and %d bad", text, value.JSON(good), rejected, value.JSON(rows), bad)
		}
	})
}

// TestArrayFaults checks the positions and reasons of bad elements in arrays.
func TestArrayFaults(t *testing.T) {
	for text, want := range map[string]string{
		"[\n{},\n{\"a\" 1}\n]":     "f.csv:3: invalid character '1' after object key",
		"[\n{},\n{\n\n\"a\" 1}\n]": "f.csv:5: invalid character '1' after object key",
		"{\"data\": []}":           "f.csv:1: want a JSON array of objects; a file with one object on a line has the format jsonl",
		"[{}]\n\n[]":               "f.csv:3: unexpected text after the array",
		"[{}\n":                    "f.csv:2: the file ends before its array does; it is cut off",
		"[{},\n]":                  "f.csv:2: invalid character ']' looking for beginning of value",
		"[{}\n{}]":                 "f.csv:2: invalid character '{' after array element",
		"":                         "f.csv: the file is empty; allow_empty: true allows that",
		" \n":                      "f.csv: the file is empty; allow_empty: true allows that",
		"[":                        "f.csv:1: the file ends before its array does; it is cut off",
		"[{}, nul]":                "f.csv:1: invalid character ' ' in literal null (expecting 'l')",
	} {
		good, rejected, err := readBoth(t, text, jsonOptions(JSON))
		if err == nil || err.Error() != want || rejected != "" {
			t.Errorf("%q: %s, %s, error %v, want %s", text, value.JSON(good), rejected, err, want)
		}
	}
}

// Rows before an error are returned before the error.
func TestRowsBeforeAFault(t *testing.T) {
	for format, text := range map[Format]string{JSON: `[{"a":1},{"a":2},{"a"`, CSV: "a\n1\n2\n3", JSONL: "{\"a\":1}\n{\"a\":2}\n{\"a\":3}"} {
		broken := io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF))
		good, _, err := readAll(t.Context(), broken, ReadOptions{Format: format, Cells: Cells{Infer: true}, GiveUp: -1})
		if value.JSON(good) != `[{"a":1},{"a":2}]` || err == nil || !strings.HasPrefix(err.Error(), "f.csv:") || !strings.HasSuffix(err.Error(), "unexpected EOF") {
			t.Errorf("%s: %s, %v", format, value.JSON(good), err)
		}
	}
}

func TestShape(t *testing.T) {
	const text = "{\"a\":1,\"b\":2,\"c\":3}\n{\"a\":4,\"b\":5,\"c\":6}\n{\"a\":7,\"b\":8,\"c\":9}\n{\"c\":1}\n"
	for _, c := range []struct {
		o    ReadOptions
		want string
	}{
		{ReadOptions{Select: []string{"c", "a"}}, `[{"c":3,"a":1},{"c":6,"a":4},{"c":9,"a":7},{"c":1,"a":null}]`},
		{ReadOptions{FileColumn: "from"}, `[{"a":1,"b":2,"c":3,"from":"f.csv"},{"a":4,"b":5,"c":6,"from":"f.csv"},{"a":7,"b":8,"c":9,"from":"f.csv"},{"c":1,"from":"f.csv"}]`},
		{ReadOptions{FileColumn: "from", Select: []string{"b"}}, `[{"b":2,"from":"f.csv"},{"b":5,"from":"f.csv"},{"b":8,"from":"f.csv"},{"b":null,"from":"f.csv"}]`},
	} {
		c.o.Format = JSONL
		got, rejected, err := load(t, text, c.o)
		if err != nil || got != c.want || len(rejected) > 0 {
			t.Errorf("%+v: %s, %v, %v, want %s", c.o, got, rejected, err, c.want)
		}
	}
	_, rejected, err := load(t, text, ReadOptions{Format: JSONL, FileColumn: "b"})
	if err != nil || len(rejected) != 3 || rejected[0].Reason != `the row has a key "b" already (file_column)` {
		t.Errorf("a file column that is there: %v, %v", rejected, err)
	}
}
