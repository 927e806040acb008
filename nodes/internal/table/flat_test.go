package table

import (
	"math"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/value"
)

// FuzzFlat compares flatReader with value.ParseJSON: whatever flatReader accepts must
// be valid JSON with the same value.
func FuzzFlat(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":"x"}`, ` { "a" : -12 , "b" : null } `, `{"a":1.5e3,"b":true}`, `{"a":"é","b":false}`, "{\"a\":\"\xff\",\"b\":1}", "{\"a\":\"\n\",\"b\":1}", "{\"a\":\"\x00\",\"b\":1}",
		`{"a":"\n","b":1}`, `{"a":01,"b":1}`, `{"a":-0,"b":1}`, `{"a":.5,"b":1}`, `{"a":9223372036854775808,"b":1}`, `{"a":9223372036854775807,"b":-9223372036854775808}`,
		`{"a":1,"b":2}x`, `{"b":1,"a":2}`, `{"a":1}`, `{"a":1,"b":2,"c":3}`, `{"a":[],"b":{}}`, `{"a":1e999,"b":1}`, `{"a":1,"b":}`, `{"a":tru,"b":nul}`, `{"a":-,"b":1-2}`, `{"a":1.,"b":1}`,
	} {
		f.Add(s)
	}
	keys, err := value.NewKeys([]string{"a", "b"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r flatReader
		r.expect(keys)
		got, ok := r.row([]byte(text))
		if !ok {
			return
		}
		want, err := value.ParseJSON([]byte(text))
		if err != nil {
			t.Fatalf("%q reads as %s, but is not JSON: %v", text, value.JSON(got), err)
		}
		if g, w := value.JSON(got), value.JSON(want); g != w {
			t.Fatalf("%q reads as %s, want %s", text, g, w)
		}
		for _, k := range keys.Names() {
			g, _ := got.Get(k)
			w, _ := want.(*value.Object).Get(k)
			if x, ok := g.(float64); value.TypeName(g) != value.TypeName(w) || ok && math.Signbit(x) != math.Signbit(w.(float64)) {
				t.Fatalf("%q: %s is %T %v, want %T %v", text, k, g, g, w, w)
			}
		}
	})
}

// Rows whose form changes, and rows that flatReader leaves to value.ParseJSON, are read
// correctly and in order.
func TestRowsOfChangingForm(t *testing.T) {
	lines := []string{
		`{"a":1,"b":"x"}`, `{"a":2,"b":"y"}`, `{"a":3,"b":"y"}`, `{"a":4,"b":[1,{"c":2}]}`, `{"a":5,"b":"\u00e9"}`, `{"b":6,"a":null}`, `{"b":7,"a":null}`, `{"b":8,"a":1.0}`,
		`{}`, `{}`, `{}`, `{"a":9,"b":"z"}`, `{"a":10,"b":"x"}`, `{"a":-0,"b":1e3}`, `{"a":12345678901234567,"b":"x"}`, `{"a":9007199254740993,"b":"x"}`,
		`{"q\"":1}`, `{"q\"":2}`, `{"q\"":3}`,
	}
	got, rejected, err := readAll(t.Context(), strings.NewReader(strings.Join(lines, "\n")), ReadOptions{Format: JSONL})
	if err != nil || len(rejected) > 0 {
		t.Fatal(rejected, err)
	}
	if len(got) != len(lines) {
		t.Fatalf("%d rows, want %d", len(got), len(lines))
	}
	for i, line := range lines {
		want, err := value.ParseJSON([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if text := value.JSON(got[i]); text != value.JSON(want) {
			t.Errorf("row %d is %s, want %s", i+1, text, value.JSON(want))
		}
	}
}
