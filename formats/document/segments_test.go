package document

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavefold/wavefold/core/source"
)

// checkPositions checks the position of each capital letter that occurs once in a document
// and once in a string value. It returns the number of such letters.
func checkPositions(t interface{ Errorf(string, ...any) }, doc string, v *source.Value) int {
	src := newSource("", []byte(doc))
	n := 0
	each(v, func(v *source.Value) {
		text, ok := v.Scalar.(string)
		if !ok {
			return
		}
		end := source.Inside(source.At(text, v.Pos), len(text))
		if offset := src.offsetOf(end); offset < 0 {
			t.Errorf("%q: the end of %q is at %s, outside of the document", doc, text, end)
		}
		for i := range text {
			letter := text[i : i+1]
			if letter < "A" || letter > "Z" || strings.Count(doc, letter) != 1 {
				continue
			}
			n++
			if got, want := source.Inside(source.At(text, v.Pos), i), src.position(strings.Index(doc, letter)); got != want {
				t.Errorf("%q: %s of %q is at %s, want %s", doc, letter, text, got, want)
			}
		}
	})
	return n
}

// offsetOf returns the offset of a position, -1 if the position does not exist.
func (s *yamlSource) offsetOf(p source.Position) int {
	if p.Line < 1 || int(p.Line) > len(s.lines) || p.Column < 1 {
		return -1
	}
	offset, next := s.lines[p.Line-1]+int(p.Column)-1, len(s.data)
	if int(p.Line) < len(s.lines) {
		next = s.lines[p.Line]
	}
	if offset > next {
		return -1
	}
	return offset
}

// TestPositionsInStrings checks positions inside strings that are not written literally.
// Such positions were once counted from the beginning of the string, by the line breaks
// of its value.
func TestPositionsInStrings(t *testing.T) {
	for _, doc := range []string{
		"a: one Two\n",
		"a: One\n  Two\n\n   Three  \n  Four\nb: x\n", // plain
		"a: One  \n\n\n  Two\n",
		"- One\n  Two\n- - Three\n  - [Four\n  Five, Six Seven\n    Eight]\n",
		"- {a: One\n  Two, b: Three}\n",
		"a:\n  One\n  Two\n",
		"a: 'it''s One'' Two'\n", // single quotes
		"a: 'One\n\n  Two\n  ''Three  \n\n\n  Four'\n",
		"a: '\n  One'\n",
		"a: '  One  \n  '\n",
		"a: '''One'\nb: 'Two'''\n",
		"a: \"One \\n Two \\t\\\"Three\\\\ Four\"\n", // double quotes
		"a: \"\\x61 One \\u00e9\\u20ac Two \\U0001F600 Three\"\n",
		"a: \"One\\\n    Two \\\n   \\ Three\n   Four\n\n   \\nFive\"\n",
		"a: \"One \\\n\n    Two\"\n",
		"a: \"\\N\\_\\L\\P\\e\\0\\a\\b\\v\\f\\r\\ One\"\n",
		"a: \"\n   One\"\n",
		"a: |\n  One\n  Two\n\n    Three\n   Four\nb: x\n", // literal
		"a: |2-\n   One\n  Two\n",
		"a: |\n\n\n  One\n  Two\n\n\n",
		"a: |+ # comment\n  One\n\n   \nb: |-\n  Two\n\n\nc: |1\n  Three\n",
		"a: |2\n     \n  One\n",
		"- - |\n   One\n   Two\n",
		"a: |\n  One",
		"--- |\n One\n Two\n",
		"a: >\n  One\n  Two\n\n  Three\n    Four\n    Five\n  Six\n\n\n  Seven\n", // folded
		"a: >-\n  One\n  Two\n",
		"a: >+\n  One\n\n\nb: x\n",
		"a: >2\n    One\n  Two\n\n    Three\n\n  Four\n",
		"a: >\n\n\n  One\n\n  Two\n   \n  Three\n",
		"a: >1-\n One\n  Two\n Three\n\n\n\n",
		"a: >\n  One \n  Two\t\n  \tThree\n  Four\n",
		"a: >\r\n  One\r\n  Two\r\n\r\n  Three\r\nb: |\r\n  Four\r\n  Five\r\n", // other line ends
		"a: 'One\r\n  Two\r  Three'\n",
		"a: |\r  One\r  Two\r",
		"a: |\n  One\u2028  Two\n  Three\u0085  Four\n",
		"a: \"One\u2028  Two\"\nb: x\u0085  Three\n",
		"a: &x |\n  One\n  Two\nb: *x\nc: &y !!str\n  'it''s Three'\nd: !!str \"\\n Four\"\ne: *y\n", // anchors and tags
		"a: &x # comment\n\n  # another\n  One\n  Two\n",
		"a: &x One Two\nb: [*x]\n",
		"é: \"é\\té One\"\nü: 'ü''ü Two'\n  \nö: ö\n   ö Three\n", // bytes, not characters
		"\"k\\n\": One\n? |\n  key\n: 'it''s Two'\n",
		`{"a": "One \n Two \u00e9 Three \ud83d\ude00 Four \/ \"Five\" \\ Six", "b": ["\\\\Seven", "\ud83d Eight", "Nine\t"]}`, // JSON
		"{\n \"a\":\n  \"\\\\One\"\n}",
	} {
		v, ds := Parse("", []byte(doc))
		if len(ds) > 0 {
			t.Errorf("%q: %v", doc, ds)
			continue
		}
		if n := checkPositions(t, doc, v); n == 0 {
			t.Errorf("%q: nothing was checked", doc)
		}
	}
}

// TestEndOfText checks that an error at the end of a string is reported at the end of
// its last line, not on the following line.
func TestEndOfText(t *testing.T) {
	for doc, want := range map[string]string{
		"a: 'One'\n": "1:8", "a: One\n  Two\n": "2:6", "a: \"One\\n\"\n": "1:10", "a: 'it''s'\n": "1:10", "a: |\n  One\nb: x": "2:6",
		"a: >-\n  One\n  Two\n\n\n": "3:6", "a: |+\n  One\n\n\n": "4:1", "a: |\n": "1:4", "a: ''\n": "1:5", `{"a": "\n"}`: "1:10",
	} {
		v, _ := Parse("", []byte(doc))
		text := source.At(v.Get("a").Scalar.(string), v.Get("a").Pos)
		if got := source.Inside(text, len(text.Value)).String(); got != want {
			t.Errorf("%q: the end of %q is at %s, want %s", doc, text.Value, got, want)
		}
	}
}

// written formats a string in one of YAML's styles, in a random way.
func written(t *rapid.T) string {
	style := rapid.SampledFrom([]string{"plain", "single", "double", "literal", "folded"}).Draw(t, "style")
	parts := []string{"x", "L", "L", "L", " ", "  ", "\t", "é", "\n", "\n", "\n\n", "\r\n", "#", "'", ",", "-", "😀"}
	switch style {
	case "single":
		parts = append(parts, "''", "''", "\\", `"`)
	case "double":
		parts = append(parts, `\n`, `\"`, `\\`, `\u00e9`, `\x61`, "\\\n", "\\\n", `\ `, `\t`, `\U0001F600`)
	case "literal", "folded":
		parts = append(parts, "\n ", "\n  ", "\n", `"`)
	}
	var b strings.Builder
	indent := strings.Repeat(" ", rapid.IntRange(1, 3).Draw(t, "indent"))
	for _, p := range rapid.SliceOfN(rapid.SampledFrom(parts), 1, 14).Draw(t, "parts") {
		b.WriteString(strings.ReplaceAll(p, "\n", "\n"+indent))
	}
	text := b.String()
	letter := 'A'
	for strings.Contains(text, "L") {
		text = strings.Replace(text, "L", string(letter), 1)
		letter++
	}
	switch style {
	case "single":
		return "'" + text + "'"
	case "double":
		return `"` + text + `"`
	case "literal", "folded":
		header := map[string]string{"literal": "|", "folded": ">"}[style]
		if rapid.Bool().Draw(t, "explicit") {
			header += fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "indicator"))
		}
		header += rapid.SampledFrom([]string{"", "-", "+", " # comment"}).Draw(t, "chomping")
		return header + "\n" + indent + text
	}
	return text
}

// TestPositionsInRandomStrings writes strings in all styles. Most of the documents are valid.
// For all valid ones, the segments of the string must be known.
func TestPositionsInRandomStrings(t *testing.T) {
	valid, checked, all := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all++
		before := rapid.SampledFrom([]string{"a: ", "- ", "a:\n  ", "a: &x ", "a: !!str ", "a: [", "- - "}).Draw(t, "before")
		doc := before + written(t)
		if strings.HasSuffix(before, "[") {
			doc += "]"
		}
		doc += rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "after")
		v, ds := Parse("", []byte(doc))
		if len(ds) > 0 || v == nil {
			return
		}
		valid++
		checked += checkPositions(t, doc, v)
	})
	if valid < all/3 || checked < valid/2 {
		t.Errorf("of %d texts %d were valid, with %d letters", all, valid, checked)
	}
}
