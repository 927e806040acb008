package template

import (
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
)

type leg struct {
	From string `json:"from"`
	Late int    `json:"late"`
}

func filterValues() Values {
	return Values{MapEnv: expressions.MapEnv{State: value.ObjectOf(
		"name", `Ada "the" first`, "none", []any{}, "nil", nil, "n", int64(3),
		"names", []any{"Ada", "Bo\nC", int64(7), nil, []any{"x"}},
		"rows", []any{
			value.ObjectOf("city", "A|B", "n", int64(1)),
			value.ObjectOf("n", 2.5, "note", "two\nlines \\| here", "city", nil),
			value.ObjectOf("deep", value.ObjectOf("x", "|")),
		},
		"typed", []leg{{"SFO", 3}, {"JFK", 12}},
		"mixed", []any{value.ObjectOf("a", int64(1)), "x"},
		"hollow", []any{value.NewObject(0)},
		"odd", []any{value.ObjectOf("a|b", "1"), value.ObjectOf("a|b", int64(1))},
	)}}
}

func TestFilters(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{{$.name | json}}`, `"Ada \"the\" first"`},
		{`{{name|json}}`, `"Ada \"the\" first"`},
		{`{{ nil | json }} {{n | json}} {{$.none | json}}`, `null 3 []`},
		{`{{$.n == 3 || false | json}}`, `true`},
		{`{{'a | json' | json}} {{"it's | x"}}`, `"a | json" it's | x`},
		{"{{names\n | lines}}", "Ada\nBo\nC\n7\nnull\n[\"x\"]"},
		{`[{{none | lines}}{{nil | lines}}]`, `[]`},
		{`[{{none | table}}{{nil | table}}{{hollow | table}}]`, `[]`},
		{`{{rows | table}}`, "| city | n | note | deep |\n| --- | ---: | --- | --- |\n" +
			"| A\\|B | 1 |  |  |\n|  | 2.5 | two<br>lines \\\\\\| here |  |\n|  |  |  | {\"x\":\"\\|\"} |"},
		{`{{$.typed | table}}`, "| from | late |\n| --- | ---: |\n| SFO | 3 |\n| JFK | 12 |"},
		{`{{odd | table}}`, "| a\\|b |\n| --- |\n| 1 |\n| 1 |"},
		{`{{absent | json}}`, `error: {{absent | json}} has no value`},
		{`{{$.n | table}}`, `error: {{$.n | table}}: want an array, found integer`},
		{`{{mixed | table}}`, `error: {{mixed | table}}: want an array of objects, found string at [1]`},
	} {
		tmpl, ds := Compile(source.Text{Value: c.in}, expressions.Scope{}, "")
		if tmpl == nil {
			t.Errorf("%s: %v", c.in, ds)
			continue
		}
		got, err := tmpl.Render(filterValues().On(tmpl))
		lenient := got
		if err != nil {
			got, lenient = "error: "+err.Error(), c.in
		}
		if got != c.want {
			t.Errorf("%s\n\tgot  %q\n\twant %q", c.in, got, c.want)
		}
		if l := tmpl.RenderLenient(filterValues().On(tmpl)); l != lenient {
			t.Errorf("%s: leniently %q", c.in, l)
		}
	}
}

// TestTableCellsComeBack checks that splitting a row at its bars, as Markdown does,
// returns the original values, whatever they contain.
func TestTableCellsComeBack(t *testing.T) {
	for _, v := range []string{`a|b`, `a\|b`, `\`, `\\`, `|`, `||`, `a\`, `x\\|y\|`} {
		s, err := tableText([]any{value.ObjectOf("x", v, "y", "end")})
		if err != nil {
			t.Fatal(err)
		}
		row := strings.Split(s, "\n")[2]
		if got := markdownCells(row); len(got) != 2 || got[0] != v || got[1] != "end" {
			t.Errorf("%q became %q, which reads as %q", v, row, got)
		}
	}
}

// markdownCells splits a row of a table into cells. A backslash escapes the next
// character.
func markdownCells(row string) (cells []string) {
	var cell strings.Builder
	inner := strings.TrimPrefix(row, "|")
	for i := 0; i < len(inner); i++ {
		switch inner[i] {
		case '\\':
			i++
			cell.WriteByte(inner[i])
		case '|':
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(inner[i])
		}
	}
	return cells
}

func TestFilterFindings(t *testing.T) {
	scope := expressions.Scope{Fields: schema{"a", "n"}}
	for _, c := range []struct {
		in, words string
		column    int32
	}{
		{`{{a | tabel}}`, `unknown filter "tabel" (did you mean "table"?)`, 7},
		{`{{$.a |  upper }}`, `unknown filter "upper" (it is a function: {{upper($.a)}})`, 10},
		{`{{a |}}`, `unknown filter ""`, 6},
		{`x {{a | lines | json}}`, `a place has one filter at most`, 3},
		{`{{$.n | table}}`, `the filter table wants an array, found integer`, 1},
		{`{{$.zip | table}}`, `unknown field "zip"`, 5},
		{`{{ | table}}`, `nothing is between`, 1},
	} {
		tmpl, ds := Compile(source.At(c.in, source.Position{Line: 1, Column: 1}), scope, "")
		if tmpl != nil || len(ds) != 1 || !strings.Contains(ds[0].Error(), c.words) || ds[0].Pos.Column != c.column {
			t.Errorf("%s\n\tgot  %v\n\twant column %d: %s", c.in, ds, c.column, c.words)
		}
	}
}

func TestFilterErrorKeepsItsCauseAndPlace(t *testing.T) {
	src := source.At("a\n {{$.n | lines}}", source.Position{File: "r.md", Line: 1, Column: 1})
	tmpl, _ := Compile(src, expressions.Scope{}, "")
	_, err := tmpl.Render(filterValues().On(tmpl))
	f, ok := errors.AsType[*FilterError](err)
	if !ok || f.Unwrap() == nil || err.Error() != "r.md:2:2: {{$.n | lines}}: want an array, found integer" {
		t.Errorf("got %v", err)
	}
}
