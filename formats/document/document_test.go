package document

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/formatstest"
)

func TestFindings(t *testing.T) {
	formatstest.Findings(t, "testdata/*.txtar", func(file string, data []byte) source.Diagnostics {
		_, ds := Parse(file, data)
		return ds
	})
}

func TestValues(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "null"},
		{"# only a comment\n", "null"},
		{"a:", `{"a":null}`},
		{"[~, null, Null, NULL, nuLL]", `[null,null,null,null,"nuLL"]`},
		{"[true, True, TRUE, false, yes, No, on, off, y, tRue]", `[true,true,true,false,"yes","No","on","off","y","tRue"]`},
		{"[1, -1, +1, 0, 0x1F, 0o17, 0b11, 1_000, 9007199254740993]", `[1,-1,1,0,31,15,3,1000,9007199254740993]`},
		{"[1.0, .5, 1., 1e3, -1.5E-3, 0.0, 1_0.5]", `[1.0,0.5,1.0,1000.0,-0.0015,0.0,10.5]`},
		{"[2024-01-01, 2024-01-01T10:00:00Z, 12:30, 1.2.3, 0.1.0, 30s]", `["2024-01-01","2024-01-01T10:00:00Z","12:30","1.2.3","0.1.0","30s"]`},
		{`['1', "true", "a\tb", 'it''s']`, `["1","true","a\tb","it's"]`},
		{"a: |\n  x\n   y\nb: >-\n  p\n  q\n", `{"a":"x\n y\n","b":"p q"}`},
		{"args: {a: $.x, b: $$.y, c: $.l.n}\nd: $.l[0].n", `{"args":{"a":"$.x","b":"$$.y","c":"$.l.n"},"d":"$.l[0].n"}`},
		{"when: $.a > 0 && length($.b) == 1 # why\n", `{"when":"$.a > 0 && length($.b) == 1"}`},
		{"name: <NAME>", `{"name":"<NAME>"}`},
		{"x: &a [1]\ny: *a\nz: {k: *a}", `{"x":[1],"y":[1],"z":{"k":[1]}}`},
		{"b: &b {x: 1, y: 2}\nc: &c {y: 3, z: 4}\na: {w: 0, <<: [*b, *c], y: 9}", `{"b":{"x":1,"y":2},"c":{"y":3,"z":4},"a":{"w":0,"y":9,"x":1,"z":4}}`},
		{`{"a": [1, {"b": "\u00e9\/\ud83d\ude00"}], "c":null, "d":-0.50}`, `{"a":[1,{"b":"é/😀"}],"c":null,"d":-0.5}`},
		{"{\n\t\"a\": 1,\n\t\"b\": [\n\t\t2\n\t]\n}\n", `{"a":1,"b":[2]}`},
		{"\xef\xbb\xbfa: 1\r\nb: 2\r\n", `{"a":1,"b":2}`},
		{"--- \na: 1\n...\n", `{"a":1}`},
	}
	for _, tt := range tests {
		v, ds := Parse("x.yaml", []byte(tt.in))
		if len(ds) > 0 {
			t.Errorf("Parse(%q): %v", tt.in, ds)
			continue
		}
		if got := value.JSON(v.Plain()); got != tt.want {
			t.Errorf("Parse(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestPositions(t *testing.T) {
	// The value of each key is its position.
	tests := []string{
		"a: 1:4\nb:\n  - 3:5\n  - {c: 4:9, d: [4:18]}\n",
		"a: '1:5'\nb: \"2:5\"\n",
		"é: 1:5\n\"ü\": 2:7\nx: {ö: 3:9, ä: \"3:19\"}\n",
		"a: b # comment é\nc: 2:4\n\n\nd: 5:4\n",
		"a: \"\u2028\"\nb: 2:4\n", // YAML breaks the line there, editors do not
		"a: \"\u0085\"\r\nb: 2:4\r\nc: 3:4",
		"a: 1:4\rb: 2:4\r",
		"a: |\n  2:3\nb: >-\n\n    5:5\nc: |  # comment\n  7:3\n",
		"\xef\xbb\xbfa: 1:4\n",
		"a: &x 1:4\nb: [*x]\n",
		"{\"a\": \"1:8\",\n \"é\": [\"2:10\", 1, {\"b\" : \"2:28\"}]}",
	}
	for _, in := range tests {
		v, ds := Parse("", []byte(in))
		if len(ds) > 0 {
			t.Errorf("Parse(%q): %v", in, ds)
			continue
		}
		n := 0
		each(v, func(s *source.Value) {
			text, _ := s.Scalar.(string)
			text = strings.TrimSpace(text)
			if !strings.Contains(text, ":") {
				return
			}
			n++
			if got := s.Pos.String(); got != text && !strings.Contains(in, "*x") {
				t.Errorf("Parse(%q): %s stands at %s", in, text, got)
			}
		})
		if n == 0 {
			t.Errorf("Parse(%q): nothing checked", in)
		}
	}
}

func each(v *source.Value, f func(v *source.Value)) {
	f(v)
	for _, e := range append(v.Items, v.Values...) {
		each(e, f)
	}
}

func TestAliasPositions(t *testing.T) {
	v, ds := Parse("", []byte("a: &x\n  k: 1\nb: *x\n"))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	b := v.Get("b")
	if got := b.Pos.String(); got != "3:4" {
		t.Errorf("alias stands at %s, want 3:4", got)
	}
	if got := b.Get("k").Pos.String(); got != "2:6" {
		t.Errorf("value behind the alias stands at %s, want 2:6", got)
	}
	if got := v.Get("a").Pos.String(); got == "3:4" {
		t.Errorf("the anchored value took the place of the alias")
	}
}

func TestLimits(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c, *%c, *%c, *%c, *%c, *%c, *%c, *%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	tests := []struct{ name, in, want string }{
		{"size", "a: " + strings.Repeat("x", maxBytes), "document has 10485763 bytes, at most 10485760 are read"},
		{"depth", strings.Repeat("[", maxDepth+2) + strings.Repeat("]", maxDepth+2), "document is nested deeper than 100"},
		{"block depth", strings.Repeat("- ", maxDepth+2) + "x", "document is nested deeper than 100"},
		{"library depth", strings.Repeat("[", 20_000), "document is nested too deep"},
		{"aliases", bomb, "aliases expand to more than 100000 values"},
		{"alias depth", "a: &a " + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "\nb: " + strings.Repeat("[", 60) + "*a" + strings.Repeat("]", 60), "document is nested deeper than 100"},
		{"key", "? " + strings.Repeat("k", maxKey+1) + "\n: 1", "key has 1001 bytes, at most 1000 are read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, ds := Parse("x.yaml", []byte(tt.in))
			if v != nil || len(ds) != 1 || ds[0].Code != source.CodeLimit || ds[0].Message != tt.want {
				t.Errorf("got tree %v and %v, want one LIMIT %q", v != nil, ds, tt.want)
			}
		})
	}
	if _, ds := Parse("", []byte(strings.Repeat("[", maxDepth)+strings.Repeat("]", maxDepth))); len(ds) > 0 {
		t.Errorf("depth %d: %v", maxDepth, ds)
	}
}

func TestNotUTF8(t *testing.T) {
	_, ds := Parse("x.yaml", []byte("a: é\nb: \xff\n"))
	if got := formatstest.Lines(ds); got != "2:4 SYNTAX text is not valid UTF-8 (save the file as UTF-8)\n" {
		t.Errorf("got %s", got)
	}
}

// TestHostile parses documents that are small but expensive to parse. It fails by the
// time limit of the test.
func TestHostile(t *testing.T) {
	big := 1 << 19
	texts := map[string]string{
		"one long line":       "[" + strings.Repeat("é, ", big/4) + "]",
		"aliases on a line":   "a: [&a é, " + strings.Repeat("*a, é, ", 20_000) + "]",
		"open brackets":       strings.Repeat("[", 9_000),
		"open braces":         strings.Repeat("{a: ", 9_000),
		"comments":            strings.Repeat("# x\n", big/4) + "a: b: c",
		"comments between":    strings.Repeat("- a # x\n  # y\n", big/16),
		"blank lines":         strings.Repeat("\n", big) + "a: b: c",
		"quotes":              strings.Repeat("'", big+1),
		"dashes":              strings.Repeat("- ", 9_000),
		"question marks":      strings.Repeat("? ", 9_000),
		"colons":              strings.Repeat(": ", 9_000),
		"plain lines":         "a: " + strings.Repeat("x\n  ", big/4),
		"anchors":             strings.Repeat("- &a x\n", big/8),
		"many errors":         strings.Repeat("- {a: 1, a: 2}\n", big/16),
		"late syntax error":   strings.Repeat("a: [1, 2]\n", 2_000) + "b: c: d",
		"unclosed from line":  "a: [\n" + strings.Repeat("  1,\n", 20_000),
		"unclosed at the end": strings.Repeat("- a\n", big/8) + "- [b\n",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, ds := Parse("x.yaml", []byte(text))
			if v == nil && len(ds) == 0 {
				t.Error("neither a tree nor a finding")
			}
		})
	}
}

func TestPrint(t *testing.T) {
	in, err := os.ReadFile("testdata/print.yaml")
	if err != nil {
		t.Fatal(err)
	}
	v, ds := Parse("print.yaml", in)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	out, err := Print(v, func(v *source.Value) bool { return v.Get("block") == nil })
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out, in) {
		t.Errorf("Print changed what it would write itself:\n%s", out)
	}
}

func TestPrintStrings(t *testing.T) {
	texts := []string{
		"", " ", "a", "a b", " a", "a ", "a: b", "a:", "a #b", "a#b", "#a", "- a", "-", "?", "? a", ":", "!a", "&a", "*a", "@a", "`a", "%a",
		"'a'", `"a"`, "it's", `a "b"`, "[a]", "{a}", "a, b", "a]", "$.x", "$$.x", "$.a[0].b > 3 && !$.c", "!$.a", "length($.x) == 0",
		"true", "False", "null", "~", "yes", "No", "on", "n", "1", "1.5", "-1", "+1", ".5", "0x1F", "1e3", "1e400", "1_000", "0123", "12:30",
		".inf", ".NaN", "0.1.0", "1.2", "30s", "1.5h", "2024-01-01", "0b1", "0o7", "./tools/x.mjs", "../x", "/abs", ".hidden", "http://x/y?z=1",
		"a\nb", "a\nb\n", "a\n\nb\n", "a\n", "\n", "\na\nb", "a\nb\n\n", " a\nb", "a\n b\nc", "a\n  \nb", "a\n\tb", "\ta", "a\tb", "a\r\nb", "a\\b",
		"é", "日本", "\u00a0", "\u2028", "\u0085x", "\x00", "\x07", "\x7f", "\ufeff", "\U0001f600", "a\u200bb", "a?b", "a ? b", "<<", "=", "---", "...", "--- a\nb", "{{NAME}}",
		"a\n# b\n", "# a\nb\n", "a: 1\nb: 2\n", strings.Repeat("long ", 60), strings.Repeat("x", 2000),
	}
	for _, s := range texts {
		for _, v := range []*source.Value{
			source.Tree(s, source.Position{}),
			source.Tree([]any{s, "x"}, source.Position{}),
			source.Tree(value.ObjectOf("k", s, "l", []any{s}, "m", []any{value.ObjectOf("n", s, "o", []any{[]any{s}})}), source.Position{}),
			source.Tree(value.ObjectOf(s[:min(len(s), 40)], s, "zz", nil), source.Position{}),
		} {
			roundTrip(t, v)
		}
	}
}

// roundTrip checks that parsing a printed tree gives the same tree, and that printing
// that gives the same bytes.
func roundTrip(t *testing.T, v *source.Value) {
	t.Helper()
	for _, inline := range []func(*source.Value) bool{nil, func(*source.Value) bool { return true }} {
		out, err := Print(v, inline)
		if err != nil {
			if strings.Contains(err.Error(), "not valid UTF-8") {
				return
			}
			t.Errorf("Print(%s): %v", value.JSON(v.Plain()), err)
			return
		}
		back, ds := Parse("", out)
		if len(ds) > 0 {
			t.Errorf("Print(%s) wrote\n%s\nwhich has %v", value.JSON(v.Plain()), out, ds)
			return
		}
		if got, want := value.JSON(back.Plain()), value.JSON(v.Plain()); got != want {
			t.Errorf("Print(%s) wrote\n%s\nwhich reads as %s", want, out, got)
		}
		again, err := Print(back, inline)
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("printing again differs (%v):\n%s\n%s", err, out, again)
		}
	}
}

func TestPrintErrors(t *testing.T) {
	tests := []struct {
		v    any
		want string
	}{
		{"a\xff", "not valid UTF-8"},
		{value.ObjectOf(strings.Repeat("k", maxKey+1), int64(1)), "has 1001 bytes"},
	}
	for _, tt := range tests {
		_, err := Print(source.Tree(tt.v, source.Position{}), nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Print: got %v, want %q", err, tt.want)
		}
	}
}

func addSeeds(f *testing.F) {
	formatstest.AddDocuments(f, "testdata/*.txtar")
	text, err := os.ReadFile("testdata/print.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
}

// FuzzParse checks that Parse never panics, that every finding and every value has a
// position in the document, and that the result can be printed and parsed again.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		v, ds := Parse("", data)
		lines := lineLengths(data)
		check := func(p source.Position, of any) {
			if p.Line < 1 || p.Column < 1 || int(p.Line) > len(lines) || int(p.Column) > lines[p.Line-1]+1 {
				t.Errorf("%v stands at %v, outside of the text", of, p)
			}
		}
		for _, d := range ds {
			check(d.Pos, d)
		}
		if v == nil && len(ds) == 0 {
			t.Error("neither a tree nor a finding")
		}
		if v == nil || len(ds) > 0 {
			return
		}
		each(v, func(v *source.Value) {
			check(v.Pos, v.Describe())
			for _, k := range v.Keys {
				check(k.Pos, k.Value)
			}
		})
		if !bytes.Contains(data, []byte(`\`)) { // letters may be written as escapes
			checkPositions(t, strings.TrimPrefix(string(data), "\ufeff"), v)
		}
		roundTrip(t, v)
	})
}

// lineLengths returns the lengths of an editor's lines, including their line breaks.
func lineLengths(data []byte) []int {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "__\n")
	text = strings.ReplaceAll(text, "\r", "_\n")
	var out []int
	for line := range strings.SplitAfterSeq(text, "\n") {
		out = append(out, len(line))
	}
	return out
}

// A document that is too large to parse is not printed.
func TestPrintTooLarge(t *testing.T) {
	text := func(n int) *source.Value {
		return source.Tree(value.ObjectOf("a", strings.Repeat("x", n)), source.Position{})
	}
	out, err := Print(text(maxBytes-4), nil)
	if err != nil || len(out) != maxBytes {
		t.Fatalf("%d bytes, %v", len(out), err)
	}
	if _, ds := Parse("a.yaml", out); len(ds) > 0 {
		t.Error(ds)
	}
	if _, err := Print(text(maxBytes-3), nil); err == nil || err.Error() != "the document would have 10485761 bytes, and at most 10485760 are read" {
		t.Error(err)
	}
}
