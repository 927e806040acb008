package jsonpath

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// TestColumns checks the columns that a path reads from rows, with their positions.
func TestColumns(t *testing.T) {
	for _, tt := range []struct {
		path   string
		single bool
		rows   bool
		want   string
	}{
		{"$.rows[*]", false, true, ""},
		{"$.rows[*].a", false, false, "a@11"},
		{"$['rows'][*]['a']", false, false, "a@14"},
		{"$.rows.*.a.b", false, false, "a@10"},
		{"$.rows[0:2].a", false, false, "a@13"},
		{"$.rows[1,2][ 'a','b']", false, false, "a@14 b@14"},
		{"$.rows[?@.a > 1 && @['b'] == 'x'].c", false, false, "a@11 b?@22 c?@35"},
		{"$.rows[?@.a]", false, true, "a?@11"},
		{"$.rows[?!@.a && @.b == 1 || @.b]", false, true, "a?@12 b?@19 b?@31"},
		{"$.rows[?@.a == 1 || @.b == 2 && (@.c == 3 || @.d) && !@.e]", false, true, "a@11 b@23 c?@36 d?@48 e?@57"},
		{"$.rows[?(@.a == 1 || @.b == 2) && @.a == 3]", false, true, "a@12 b@24 a?@37"},
		{"$.rows[?@.a == 1]['b','c']", false, false, "a@11 b?@19 c?@19"},
		{"$.rows[?coalesce(@.a, 1) == 1]", false, true, ""},
		{"$.rows[?@ == 'x'][0]", false, false, ""},
		{"$.rows[*][?@.a]", false, false, ""}, // tests the cells
		{"$.rows[*].*", false, false, ""},
		{"$.rows..a", false, false, ""},
		{"$.rows[*]..a", false, false, ""},
		{"$.rows['a','b'].c", false, false, ""}, // arrays have no members
		{"$.row.*", true, false, ""},
		{"$.row['a','b'].c", true, false, "a@7 b@7"},
		{"$.row.a[*]", true, false, "a@7"},
	} {
		p, ds := Compile(source.At(tt.path, source.Position{Line: 1, Column: 1}))
		if p == nil {
			t.Fatal(tt.path, ds)
		}
		var got []string
		for _, c := range p.Columns(tt.single) {
			mark := ""
			if c.HeaderOnly {
				mark = "?"
			}
			got = append(got, fmt.Sprintf("%s%s@%d", c.Value, mark, c.Pos.Column))
		}
		if s := strings.Join(got, " "); s != tt.want || !tt.single && p.Rows() != tt.rows {
			t.Errorf("%s: columns %q, rows %v, want %q, %v", tt.path, s, p.Rows(), tt.want, tt.rows)
		}
	}
}

// TestMembers checks the names that a path selects at any depth, with their positions.
func TestMembers(t *testing.T) {
	for path, want := range map[string]string{
		"$.rows..a":               "a@9",
		"$['rows']..a.b":          "a@12",
		"$.rows[*]..a":            "a@12",
		"$.rows[?@.x == '..']..a": "", // no row may match
		"$.rows..*":               "",
		"$.rows..[0]":             "",
		"$.rows[*].a":             "",
		"$.rows.a..b":             "", // arrays have no members
	} {
		p, ds := Compile(source.At(path, source.Position{Line: 1, Column: 1}))
		if p == nil {
			t.Fatal(path, ds)
		}
		got := ""
		for _, m := range p.Members() {
			got = fmt.Sprintf("%s@%d", m.Value, m.Pos.Column)
		}
		if got != want {
			t.Errorf("%s: members %q, want %q", path, got, want)
		}
	}
}

// TestAbsent checks which tested column none of the filtered elements has.
func TestAbsent(t *testing.T) {
	field, err := value.ParseJSON([]byte(`{"list": [{"a": 1}, {"b": null}, 3], "scalars": [1], "none": []}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"$.f.list[?@.a > 5]":             "",
		"$.f.list[?@.b == 1]":            "", // null is a value
		"$.f.list[?@.c == 1]":            "c",
		"$.f['list'][?@.c == 1].x":       "c",
		"$.f.list[?@.a > 5 || @.c == 1]": "c",
		"$.f.list[?@.a > 5 && @.c == 1]": "", // c is read only of rows with a > 5
		"$.f.list[?@.c]":                 "", // asks whether there is one
		"$.f.scalars[?@.c == 1]":         "",
		"$.f.none[?@.c == 1]":            "",
		"$.f.gone[?@.c == 1]":            "",
		"$.f.list.x[?@.c == 1]":          "",
		"$.f[?@.c == 1]":                 "", // the members of an object
		"$.f.list[*].a":                  "",
	} {
		p, ds := Compile(source.Text{Value: path})
		if p == nil {
			t.Fatal(path, ds)
		}
		got := ""
		if err := p.Absent(field, "node n", nil); err != nil {
			got = fmt.Sprint(err)
		}
		if want != "" {
			want = fmt.Sprintf("no row has the column %q (columns: a, b); node n reads it", want)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
		if err := p.Absent(field, "node n", []string{"c"}); err != nil {
			t.Errorf("%s: an optional column is missed: %v", path, err)
		}
	}
}
