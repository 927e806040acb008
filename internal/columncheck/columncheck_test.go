package columncheck

import (
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

func rows(t *testing.T, json string) []any {
	t.Helper()
	v, err := value.ParseJSON([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	return v.([]any)
}

func reads(names ...string) []source.ColumnRead {
	var list []source.ColumnRead
	for _, name := range names {
		list = append(list, source.ColumnRead{Column: source.At(name, source.Position{File: "f.yaml", Line: 3, Column: 4}), By: "node a: args"})
	}
	return list
}

// check compares an error with its expected message; "" means no error.
func check(t *testing.T, what string, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

func TestReads(t *testing.T) {
	for _, c := range []struct{ rows, column, want string }{
		{`[{"a": 1}, {"b": 2}]`, "b", ""},
		{`[{"a": 1}, {"b": 2}]`, "c", `no row has the column "c" (columns: a, b); node a: args reads it at f.yaml:3:4`},
		{`[{"amount": 1}]`, "amuont", `(did you mean "amount"? columns: amount)`},
		{`[]`, "c", ""},
		{`["x", 1, null, [1]]`, "c", ""}, // no rows
		{`["x", {"a": 1}]`, "c", `no row has the column "c"`},
		{`[{"a": 1}]`, "optional", ""},
	} {
		r := NewReads(reads(c.column))
		for _, row := range rows(t, c.rows) {
			r.Look([]any{row})
		}
		check(t, c.rows+" "+c.column, r.Missing([]string{"optional"}), c.want)
	}
	r := NewReads(reads("a", "b"))
	tests := reads("c")
	tests[0].HeaderOnly = true
	for _, c := range []struct {
		reads []source.ColumnRead
		want  string
	}{{tests, ""}, {append(reads("c"), tests...), `no row has the column "c"`}} {
		r := NewReads(c.reads)
		r.Look(rows(t, `[{"a": 1}]`))
		check(t, "a test", r.Missing(nil), c.want)
		r = NewReads(c.reads)
		check(t, "a test of a header", r.Header([]string{"a"}, nil), `the rows have no column "c"`)
	}
	check(t, "header", r.Header([]string{"a", "c"}, nil), `the rows have no column "b" (columns: a, c); node a: args reads it`)
}

func TestAnywhere(t *testing.T) {
	for _, c := range []struct{ rows, member, want string }{
		{`[{"a": 1}, {"b": {"city": null}}]`, "city", ""},
		{`[{"a": [[{"city": 1}]]}]`, "city", ""},
		{`[{"a": {"city": 1}}]`, "ctiy", `no value in the rows has the member "ctiy" (did you mean "city"?); node a: args reads it at f.yaml:3:4`},
		{`[]`, "city", ""},
		{`[1, ["x"]]`, "city", ""}, // no objects
	} {
		check(t, c.rows+" "+c.member, Anywhere(rows(t, c.rows), reads(c.member)), c.want)
	}
	check(t, "a Go type", Anywhere([]any{value.ObjectOf("a", struct{}{})}, reads("city")), "")
}
