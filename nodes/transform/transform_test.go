package transform_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/transform"
)

const fields = `{
	"in": {"type": "array", "items": {"type": "object"}}, "out": {"type": "array"}, "any": {}, "text": {"type": "string"}, "n": {"type": "integer"},
	"bad": {"type": "array"}, "other": {"type": "array"}, "report": {"type": "object"},
	"flights": {"type": "array", "items": {"type": "object", "properties": {"date": {"type": "string"}, "delay": {"type": "integer"}, "distance": {"type": "integer"}, "origin": {"type": "string"}, "destination": {"type": "string"}}}},
	"airports": {"type": "array", "items": {"type": "object", "properties": {"iata": {"type": "string"}, "city": {"type": "string"}, "latitude": {"type": "number"}}}},
	"result": {"type": "array", "items": {"type": "object", "required": ["origin"], "properties": {"origin": {"type": "string"}, "n": {"type": "string"}}}}}`

func env(t testing.TB) core.Env {
	return core.Env{Schema: nodestest.Schema(t, fields), Items: true}
}

func parse(t testing.TB, text string) any {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// run transforms the table in, with another table in the field other and n = 10.
func run(t testing.TB, node, in, other string) (core.Result, error) {
	t.Helper()
	made, ds := transform.Kind.Compile(nodestest.Node(t, node), env(t))
	if ds.Failed(false) {
		t.Fatalf("%s\n%v", node, ds)
	}
	if other == "" {
		other = "null"
	}
	return made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{
		Dir:    t.TempDir(),
		View:   core.NewView([]string{"in"}, []any{parse(t, in)}),
		Extra:  core.NewView([]string{"other", "n"}, []any{parse(t, other), int64(10)}),
		Inputs: value.ObjectOf("least", int64(2)),
	}))
}

func steps(list string) string {
	return `{"reads": ["in"], "writes": ["out"], "steps": [` + list + `]}`
}

const abc = `[{"a":1,"b":"x","c":null},{"a":2,"b":"y","c":1.5},{"a":3,"b":"x"}]`

func TestSteps(t *testing.T) {
	for _, c := range []struct{ name, step, in, want string }{
		{"filter", `{"filter": "$item.a > 1 && $item.b == 'x'"}`, abc, `[{"a":3,"b":"x"}]`},
		{"filter by state, input and place", `{"filter": "$item.a * 5 >= $.n && $item.a >= $input.least && $index < 2"}`, abc, `[{"a":2,"b":"y","c":1.5}]`},
		{"filter nothing", `{"filter": "$item.a < 0"}`, abc, `[]`},
		{"map", `{"map": {"id": "$item.a * 10", "b": "$item.b", "z": "$item.c", "one": 1, "yes": true, "none": null, "text": "'t'"}}`, abc,
			`[{"id":10,"b":"x","z":null,"one":1,"yes":true,"none":null,"text":"t"},{"id":20,"b":"y","z":1.5,"one":1,"yes":true,"none":null,"text":"t"},{"id":30,"b":"x","z":null,"one":1,"yes":true,"none":null,"text":"t"}]`},
		{"derive sees the row as it came", `{"derive": {"a": "$item.a + 1", "d": "$item.a"}}`, abc,
			`[{"a":2,"b":"x","c":null,"d":1},{"a":3,"b":"y","c":1.5,"d":2},{"a":4,"b":"x","d":3}]`},
		{"select", `{"select": ["c", "a"]}`, abc, `[{"c":null,"a":1},{"c":1.5,"a":2},{"c":null,"a":3}]`},
		{"drop", `{"drop": ["a", "c"]}`, abc, `[{"b":"x"},{"b":"y"},{"b":"x"}]`},
		{"rename", `{"rename": {"a": "b", "b": "a"}}`, abc, `[{"b":1,"a":"x","c":null},{"b":2,"a":"y","c":1.5},{"b":3,"a":"x"}]`},
		{"limit", `{"limit": 2}`, abc, `[{"a":1,"b":"x","c":null},{"a":2,"b":"y","c":1.5}]`},
		{"limit beyond the end", `{"limit": 9}`, `[{"a":1}]`, `[{"a":1}]`},
		{"limit 0", `{"limit": 0}`, abc, `[]`},
		{"dedupe", `{"dedupe": ["b"]}`, abc, `[{"a":1,"b":"x","c":null},{"a":2,"b":"y","c":1.5}]`},
		{"dedupe whole rows", `{"dedupe": []}`, `[{"a":1,"b":null},{"a":1.0},{"b":null,"a":1},{"a":"1"}]`, `[{"a":1,"b":null},{"a":"1"}]`},
		{"sort", `{"sort": ["b", "-a"]}`, abc, `[{"a":3,"b":"x"},{"a":1,"b":"x","c":null},{"a":2,"b":"y","c":1.5}]`},
		{"sort of mixed types", `{"sort": ["v"]}`,
			`[{"v":"a"},{"v":{"k":1}},{"v":2},{"v":[1]},{"v":true},{"v":1.5},{"v":null},{"v":"B"},{"v":false},{"n":1},{"v":9007199254740993},{"v":9007199254740992.0},{"v":[]}]`,
			`[{"v":null},{"n":1},{"v":false},{"v":true},{"v":1.5},{"v":2},{"v":9007199254740992.0},{"v":9007199254740993},{"v":"B"},{"v":"a"},{"v":[]},{"v":[1]},{"v":{"k":1}}]`},
		{"sort is stable", `{"sort": ["-b"]}`, abc, `[{"a":2,"b":"y","c":1.5},{"a":1,"b":"x","c":null},{"a":3,"b":"x"}]`},
		{"group", `{"group": {"by": ["b"], "aggregate": {"n": "count", "total": "sum(a)", "cs": "count( c )", "list": "list(a)"}}}`, abc,
			`[{"b":"x","n":2,"total":4,"cs":0,"list":[1,3]},{"b":"y","n":1,"total":2,"cs":1,"list":[2]}]`},
		{"group of all rows", `{"group": {"aggregate": {"n": "count", "big": "count_if($item.a >= $input.least)", "m": "mean(a)", "twice": "sum($item.a * 2)"}}}`, abc,
			`[{"n":3,"big":2,"m":2.0,"twice":12}]`},
		{"group without rows", `{"group": {"aggregate": {"n": "count", "s": "sum(a)", "m": "mean(a)", "x": "max(a)", "l": "list(a)", "p": "p90(a)"}}}`, `[]`,
			`[{"n":0,"s":0,"m":null,"x":null,"l":[],"p":null}]`},
		{"group by without rows", `{"group": {"by": ["b"], "aggregate": {"n": "count"}}}`, `[]`, `[]`},
		{"groups of null, 1 and 1.0", `{"group": {"by": ["k"], "aggregate": {"n": "count"}}}`, `[{"k":1},{"k":null},{"k":1.0},{"x":1},{"k":"1"}]`,
			`[{"k":1,"n":2},{"k":null,"n":2},{"k":"1","n":1}]`},
		{"minima, maxima, first, last", `{"group": {"aggregate": {"lo": "min(v)", "hi": "max(v)", "f": "first(v)", "l": "last(v)", "d": "count_distinct(v)"}}}`,
			`[{"v":null},{"v":3},{"v":-1.5},{"v":3.0},{"v":null}]`, `[{"lo":-1.5,"hi":3,"f":null,"l":null,"d":2}]`},
		{"percentiles are values", `{"group": {"aggregate": {"p0": "p0(v)", "p50": "median(v)", "p90": "p90(v)", "p100": "p100(v)"}}}`,
			`[{"v":5},{"v":1},{"v":4},{"v":2},{"v":3}]`, `[{"p0":1,"p50":3,"p90":5,"p100":5}]`},
		{"window", `{"window": {"by": ["b"], "columns": {"n": "row_number", "before": "lag(a)", "sum": "sum(a)", "top": "max($item.a * 2, 2)"}}}`, abc,
			`[{"a":1,"b":"x","c":null,"n":1,"before":null,"sum":1,"top":2},{"a":2,"b":"y","c":1.5,"n":1,"before":null,"sum":2,"top":4},{"a":3,"b":"x","n":2,"before":1,"sum":4,"top":6}]`},
		{"window of all rows", `{"window": {"columns": {"a": "lag(a, 2)", "m": "mean( a , 2 )", "z": "sum(c)", "lo": "min(c)"}}}`, abc,
			`[{"a":null,"b":"x","c":null,"m":1.0,"z":0,"lo":null},{"a":null,"b":"y","c":1.5,"m":1.5,"z":1.5,"lo":1.5},{"a":1,"b":"x","m":2.5,"z":1.5,"lo":1.5}]`},
		{"sums of a window are exact", `{"window": {"columns": {"s": "sum(v, 2)", "f": "sum(w, 2)"}}}`,
			`[{"v":9223372036854775806,"w":1e16},{"v":1,"w":1.0},{"v":-2,"w":0.5}]`, `[{"v":9223372036854775806,"w":10000000000000000.0,"s":9223372036854775806,"f":10000000000000000.0},{"v":1,"w":1.0,"s":9223372036854775807,"f":10000000000000000.0},{"v":-2,"w":0.5,"s":-1,"f":1.5}]`},
		{"sums are exact", `{"group": {"aggregate": {"s": "sum(v)", "f": "sum(w)"}}}`,
			`[{"v":9223372036854775807,"w":1e16},{"v":1,"w":1.0},{"v":-2,"w":-1e16},{"v":null,"w":0.5}]`, `[{"s":9223372036854775806,"f":1.5}]`},
		{"columns with odd names", `{"group": {"by": ["a b"], "aggregate": {"s": "sum($item['c $'])"}}}`, `[{"a b":1,"c $":2},{"a b":1,"c $":3}]`, `[{"a b":1,"s":5}]`},
		{"several steps", `{"filter": "$item.a > 1"}, {"derive": {"d": "$item.a * 2"}}, {"sort": ["-d"]}, {"select": ["d"]}, {"limit": 1}`, abc, `[{"d":6}]`},
		{"one object is a table of one row", `{"derive": {"b": "$item.a + 1"}}`, `{"a":1}`, `[{"a":1,"b":2}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := run(t, steps(c.step), c.in, "")
			if err != nil {
				t.Fatal(err)
			}
			if got := value.JSON(r.Writes()["out"]); got != c.want {
				t.Fatalf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestJoin(t *testing.T) {
	const left = `[{"o":"A","n":1},{"o":"Z","n":2},{"o":null,"n":3},{"o":"B","n":4}]`
	const other = `[{"k":"A","city":"a1","x":1},{"k":"B","city":"b","x":2},{"k":"A","city":"a2","x":3},{"k":null,"city":"none","x":4}]`
	for _, c := range []struct{ name, join, in, other, want string }{
		{"inner", `{"with": "other", "on": {"o": "k"}}`, left, other,
			`[{"o":"A","n":1,"city":"a1","x":1},{"o":"A","n":1,"city":"a2","x":3},{"o":"B","n":4,"city":"b","x":2}]`},
		{"left", `{"with": "other", "on": {"o": "k"}, "kind": "left", "take": ["city"]}`, left, other,
			`[{"o":"A","n":1,"city":"a1"},{"o":"A","n":1,"city":"a2"},{"o":"Z","n":2,"city":null},{"o":null,"n":3,"city":null},{"o":"B","n":4,"city":"b"}]`},
		{"prefix", `{"with": "other", "on": {"o": "k"}, "prefix": "p_", "take": ["k", "x"]}`, left, other,
			`[{"o":"A","n":1,"p_k":"A","p_x":1},{"o":"A","n":1,"p_k":"A","p_x":3},{"o":"B","n":4,"p_k":"B","p_x":2}]`},
		{"one name", `{"with": "other", "on": "k"}`, `[{"k":1.0},{"k":"1"}]`, `[{"k":1,"v":"x"}]`, `[{"k":1.0,"v":"x"}]`},
		{"two columns", `{"with": "other", "on": ["a", "b"]}`, `[{"a":1,"b":2},{"a":12,"b":null}]`, `[{"a":1,"b":2,"v":3},{"a":1,"b":3,"v":4}]`, `[{"a":1,"b":2,"v":3}]`},
		{"names", `{"with": "other", "on": {"o": "k"}, "take": {"city": "town", "x": "y"}}`, left, other,
			`[{"o":"A","n":1,"town":"a1","y":1},{"o":"A","n":1,"town":"a2","y":3},{"o":"B","n":4,"town":"b","y":2}]`},
		{"the first match", `{"with": "other", "on": {"o": "k"}, "take": ["city"], "kind": "left", "match": "first"}`, left, other,
			`[{"o":"A","n":1,"city":"a1"},{"o":"Z","n":2,"city":null},{"o":null,"n":3,"city":null},{"o":"B","n":4,"city":"b"}]`},
		{"one match", `{"with": "other", "on": "k", "match": "one"}`, `[{"k":1},{"k":1},{"k":2}]`, `[{"k":1,"v":"x"},{"k":null,"v":"y"},{"k":null,"v":"z"}]`,
			`[{"k":1,"v":"x"},{"k":1,"v":"x"}]`},
		{"an empty table", `{"with": "other", "on": "k", "kind": "left", "take": ["v"]}`, `[{"k":1}]`, `[]`, `[{"k":1,"v":null}]`},
		{"no rows", `{"with": "other", "on": "k"}`, `[]`, other, `[]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := run(t, steps(`{"join": `+c.join+`}`), c.in, c.other)
			if err != nil {
				t.Fatal(err)
			}
			if got := value.JSON(r.Writes()["out"]); got != c.want {
				t.Fatalf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestJoinLimit: a join of 20,000 rows on each side with equal keys made 400 million
// rows, which took all of the memory. One row for each input row does not count,
// because a stream may have any number of them.
func TestJoinLimit(t *testing.T) {
	same := func(n int, key string) string {
		return "[" + strings.Repeat(`{"`+key+`":1},`, n-1) + `{"` + key + `":1}]`
	}
	var sparse []string // one column per row
	for i := range 1000 {
		sparse = append(sparse, fmt.Sprintf(`{"k":%d,"c%d":1}`, i/10, i))
	}
	wide := "[" + strings.Join(sparse, ",") + "]"
	for _, c := range []struct {
		name, join, in, other string
		rows                  int
		fails                 string
	}{
		{"far too many", `{"with": "other", "on": {"a": "k"}, "max_rows": 100000}`, same(20_000, "a"), same(20_000, "k"), 0,
			"steps[0]: join: row 6: it matches 20000 rows of other, and the join adds more than 100000 rows (max_rows)"},
		{"as many as there may be", `{"with": "other", "on": {"a": "k"}, "max_rows": 90}`, same(10, "a"), same(10, "k"), 100, ""},
		{"one more", `{"with": "other", "on": {"a": "k"}, "max_rows": 89}`, same(10, "a"), same(10, "k"), 0, "row 10: it matches 10 rows of other, and the join adds more than 89 rows (max_rows)"},
		{"none match", `{"with": "other", "on": {"a": "k"}, "max_rows": 1}`, same(10, "a"), `[{"k":2},{"k":2}]`, 0, ""},
		{"one match for each", `{"with": "other", "on": {"a": "k"}, "max_rows": 1}`, same(10, "a"), `[{"k":1}]`, 10, ""},
		{"none match, but all stay", `{"with": "other", "on": {"a": "k"}, "max_rows": 1, "kind": "left"}`, same(10, "a"), `[{"k":2},{"k":2}]`, 10, ""},
		{"the row that is one too many", `{"with": "other", "on": {"a": "k"}, "max_rows": 1}`, `[{"a":3},{"a":2},{"a":1}]`, `[{"k":1},{"k":2},{"k":1},{"k":1}]`, 0,
			"row 3: it matches 3 rows of other"},
		{"wide", `{"with": "other", "on": "k", "max_rows": 10000}`, `[{"k":1},{"k":2},{"k":3},{"k":4}]`, wide, 40, ""},
		{"too wide", `{"with": "other", "on": "k", "max_rows": 1000}`, `[{"k":1},{"k":2},{"k":3},{"k":4}]`, wide, 0,
			"row 4: it matches 10 rows of other, and the join adds more than 1000 rows, which count 32 times as they have 1001 columns (max_rows)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := run(t, steps(`{"join": `+c.join+`}`), c.in, c.other)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || !core.FailureOf(err).Permanent {
					t.Fatalf("got  %v\nwant %s", err, c.fails)
				}
				return
			}
			if err != nil || len(r.Writes()["out"].([]any)) != c.rows {
				t.Fatalf("%d rows, %v", len(r.Writes()["out"].([]any)), err)
			}
		})
	}
}

// TestLongKeys: rows may share a large value, but each group, join key and distinct
// value held a copy of it.
func TestLongKeys(t *testing.T) {
	const rows, size = 500, 50_000
	in := make([]any, rows)
	big := strings.Repeat("x", size)
	for i := range in {
		in[i] = value.ObjectOf("big", big, "id", int64(i), "pair", []any{big, int64(i)})
	}
	for _, step := range []string{
		`{"group": {"by": ["big", "id"], "aggregate": {"n": "count"}}}`, `{"group": {"aggregate": {"n": "count_distinct(pair)"}}}`,
		`{"dedupe": ["big", "id"]}`, `{"join": {"with": "other", "on": ["pair"], "prefix": "o_"}}`,
	} {
		made, ds := transform.Kind.Compile(nodestest.Node(t, steps(step)), core.Env{})
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		input := core.NewInput("run", "n", 1, core.Shared{View: core.NewView([]string{"in"}, []any{in}), Extra: core.NewView([]string{"other"}, []any{in})})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := made.Handler.Handle(t.Context(), input)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > rows*size/10 {
			t.Errorf("%s: %d MB, %v", step, got>>20, err)
		}
		if n, _ := r.EdgeOutput.(*value.Object).Get("rows"); n != int64(rows) && n != int64(1) {
			t.Errorf("%s: %v rows", step, n)
		}
	}
}

func TestRunFails(t *testing.T) {
	for _, c := range []struct{ name, step, in, other, want string }{
		{"no table", `{"limit": 1}`, `3`, "", `in: want an array of objects, got integer`},
		{"no objects", `{"limit": 1}`, `[{}, 3]`, "", `in[1]: want an object, got integer`},
		{"select", `{"limit": 3}, {"select": ["a", "bb"]}`, `[{"a":1,"b":1}]`, "", `steps[1]: select: no row has the column "bb" (did you mean "b"? columns: a, b)`},
		{"sort", `{"sort": ["-z"]}`, abc, "", `steps[0]: sort: no row has the column "z" (columns: a, b, c)`},
		{"dedupe", `{"dedupe": ["z"]}`, abc, "", `steps[0]: dedupe: no row has the column "z" (columns: a, b, c)`},
		{"drop", `{"drop": ["z"]}`, abc, "", `steps[0]: drop: no row has the column "z" (columns: a, b, c)`},
		{"rename onto another", `{"rename": {"a": "b"}}`, abc, "", `steps[0]: rename: row 1: there is a column "b" already`},
		{"group", `{"group": {"by": ["z"], "aggregate": {"n": "count"}}}`, abc, "", `steps[0]: group: no row has the column "z" (columns: a, b, c)`},
		{"aggregate", `{"group": {"aggregate": {"n": "sum(z)"}}}`, abc, "", `steps[0]: group: no row has the column "z" (columns: a, b, c)`},
		{"sum of text", `{"group": {"aggregate": {"s": "sum(b)"}}}`, abc, "", `steps[0]: group: row 1: s: want a number, got string "x"`},
		{"sum beyond 64 bits", `{"group": {"aggregate": {"s": "sum(v)"}}}`, `[{"v":9223372036854775807},{"v":1}]`, "", `steps[0]: group: s: the sum of integers does not fit 64 bits`},
		{"join with nothing", `{"join": {"with": "other", "on": "a"}}`, abc, "", `steps[0]: join: other: want an array of objects, got null`},
		{"join on the left", `{"join": {"with": "other", "on": {"z": "k"}}}`, abc, `[{"k":1}]`, `steps[0]: join: no row has the column "z" (columns: a, b, c)`},
		{"join on the right", `{"join": {"with": "other", "on": {"a": "z"}}}`, abc, `[{"k":1}]`, `steps[0]: join: other: no row has the column "z" (columns: k)`},
		{"join of equal names", `{"join": {"with": "other", "on": "a"}}`, abc, `[{"a":1,"b":2}]`, `steps[0]: join: row 1: both tables have a column "b"; set prefix or take`},
		{"join with one match", `{"join": {"with": "other", "on": "a", "match": "one"}}`, abc, `[{"a":1},{"a":2},{"a":2.0}]`, `steps[0]: join: other: rows 2 and 3 have the same key [2.0] (match: one)`},
		{"window", `{"window": {"by": ["z"], "columns": {"n": "row_number"}}}`, abc, "", `steps[0]: window: no row has the column "z" (columns: a, b, c)`},
		{"window of text", `{"window": {"columns": {"n": "mean(b, 2)"}}}`, abc, "", `steps[0]: window: row 1: n: want a number, got string "x"`},
		{"window beyond 64 bits", `{"window": {"columns": {"s": "sum(v)"}}}`, `[{"v":9223372036854775807},{"v":1}]`, "", `steps[0]: window: row 2: s: the sum of integers does not fit 64 bits`},
		{"a long text", `{"group": {"aggregate": {"s": "sum(v)"}}}`, `[{"v":"` + strings.Repeat("é", 100) + `"}]`, "",
			`steps[0]: group: row 1: s: want a number, got string "` + strings.Repeat("é", 29) + `...`},
		{"checks", `{"checks": [{"name": "c", "expr": "$item.a < 2"}]}`, abc, "", `steps[0]: checks: row 2: check "c": $item.a < 2 is false, $item.a = 2`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := run(t, steps(c.step), c.in, c.other)
			if err == nil || err.Error() != c.want {
				t.Fatalf("error %v\nwant  %s", err, c.want)
			}
			if !core.FailureOf(err).Permanent {
				t.Error("another attempt cannot cure this")
			}
		})
	}
}

func TestCompile(t *testing.T) {
	const rw = `"reads": ["in"], "writes": ["out"]`
	const typed = `"from": "flights", "writes": ["out"]`
	for _, c := range []struct{ node, want string }{
		{`{"filter": "$item.a > 1", ` + rw + `}`, ""},
		{`{"filter": "$item.a > 1", "from": "in", "into": "out", "writes": ["out", "any"]}`,
			`1:74: warning: node n: a node with into: out writes no other field, field "any" stays as it is [UNUSED]`},
		{`{"checks": [{"name": "c", "expr": "$item.a > 1"}], "rejects": "any", "from": "in", "into": "out", "writes": ["out", "any"]}`, ""},
		{`{"limit": 3, "from": "$.report.rows", "writes": ["out"]}`, ""},
		{`{"limit": 3, "from": "$item", "writes": ["out"]}`, ""},
		{`{"checks": [{"name": "c", "expr": "$item.a > 1"}], "rejects": "bad", "reads": ["in"], "writes": ["out", "bad"]}`, ""},
		{`{` + rw + `}`, `1:1: error: node n: there is no step (a step is one of filter, map, derive, select, drop, rename, group, window, join, sort, limit, dedupe, checks) [BAD_VALUE]`},
		{`{"steps": [], ` + rw + `}`, `1:11: error: node n: steps: there are none [MISSING_KEY]`},
		{`{"steps": [{}], ` + rw + `}`, `1:12: error: node n: steps[0]: there is no step (a step is one of filter, map, derive, select, drop, rename, group, window, join, sort, limit, dedupe, checks) [BAD_VALUE]`},
		{`{"steps": [{"limit": 1, "sort": ["a"]}], ` + rw + `}`, `1:12: error: node n: steps[0]: sort and limit are two steps (write them under steps, in the order they are to be done) [BAD_VALUE]`},
		{`{"limit": 1, "sort": ["a"], ` + rw + `}`, `1:1: error: node n: sort and limit are two steps (write them under steps, in the order they are to be done) [BAD_VALUE]`},
		{`{"limit": 1, "steps": [{"limit": 2}], ` + rw + `}`, `1:11: error: node n: limit: one step is a key of the node, the others are under steps (move it into steps) [BAD_VALUE]`},
		{`{"steps": [{"limti": 1}], ` + rw + `}`, `UNKNOWN_KEY`},
		{`{"steps": [{"limit": 1}, {"checks": [{"name": "c", "expr": "$item.a > 1"}]}], "rejects": "x.csv", "max_failures": 5, ` + rw + `}`, `1:90: error: node n: rejects: it has no effect on a node with steps; it belongs to the step with checks (move it into steps[1], which has the checks) [BAD_VALUE]
1:115: error: node n: max_failures: it has no effect on a node with steps; it belongs to the step with checks (move it into steps[1], which has the checks) [BAD_VALUE]`},
		{`{"steps": [{"limit": 1}], "allow_empty": true, ` + rw + `}`, `1:42: error: node n: allow_empty: it has no effect on a node with steps; it belongs to the step with checks (no step has checks) [BAD_VALUE]`},
		{`{"steps": [{"limit": 1, "rejects": "x.csv"}], ` + rw + `}`, `1:12: error: node n: steps[0]: limit: on_bad_row, rejects, max_failures, report and allow_empty belong to checks [BAD_VALUE]`},
		{`{"steps": [{"checks": [{"name": "a", "expr": "$item.a"}], "rejects": "x.csv"}, {"checks": [{"name": "a", "expr": "$item.a"}], "rejects": "x.csv"}], ` + rw + `}`,
			`1:138: error: node n: steps[1]: rejects: "x.csv" takes the rejects of an earlier step already [BAD_VALUE]`},
		{`{"limit": 1, "writes": ["out"]}`, `1:1: error: node n: from: name the field: the node reads 0 (from: rows) [BAD_VALUE]`},
		{`{"limit": 1, "reads": ["in"]}`, `1:1: error: node n: writes: the result goes to exactly one field, found 0 (writes: [rows]) [BAD_VALUE]`},
		{`{"limit": 1, "into": "any", ` + rw + `}`, `1:22: error: node n: into: field "any" is not among the writes for the result (add it: writes: [any]) [UNKNOWN_FIELD]`},
		{`{"limit": 1, "reads": ["in"], "writes": ["text"]}`, `1:42: error: node n: writes: the result is an array, field "text" takes string [WRONG_TYPE]`},
		{`{"limit": 1, "from": "text", "writes": ["out"]}`, `1:22: error: node n: from: a table is an array of objects, text is string [WRONG_TYPE]`},
		{`{"filter": "$item.delay > 'x'", ` + typed + `}`, `EXPR_TYPE`},
		{`{"filter": "$item.dely > 1", ` + typed + `}`, `1:18: warning: node n: filter: the type of $item declares no member "dely" (did you mean "delay"?) [EXPR_NAME]`},
		{`{"filter": "$.nn > 1", ` + typed + `}`, `1:14: error: node n: filter: unknown field "nn" (did you mean "in"?) [EXPR_NAME]`},
		{`{"sort": ["-dely"], ` + typed + `}`, `1:12: warning: node n: sort: the rows have no declared column "dely" (did you mean "delay"?) [UNKNOWN_FIELD]`},
		{`{"steps": [{"select": ["delay"]}, {"filter": "$item.origin == 'A'"}], ` + typed + `}`,
			`1:52: error: node n: steps[1]: filter: the rows have no column "origin" here (known keys: delay) [EXPR_NAME]`},
		{`{"steps": [{"map": {"d": "$item.delay"}}, {"filter": "$item.d > 'x'"}], ` + typed + `}`, `EXPR_TYPE`},
		{`{"steps": [{"map": {"d": 1, "e": 2}}, {"drop": ["d"]}, {"derive": {"f": "$item.e"}}, {"rename": {"f": "g"}}, {"sort": ["d", "e", "f", "g"]}], ` + typed + `}`,
			`1:120: error: node n: steps[4]: sort: the rows have no column "d" here (known keys: e, g) [UNKNOWN_FIELD]
1:130: error: node n: steps[4]: sort: the rows have no column "f" here (known keys: e, g) [UNKNOWN_FIELD]`},
		{`{"steps": [{"group": {"by": ["origin"], "aggregate": {"n": "count", "late": "count_if($item.delay > 15)", "s": "sum(origin)"}}}], ` + typed + `}`,
			`1:116: error: node n: steps[0]: group.s: want numbers, origin is string [EXPR_TYPE]`},
		{`{"group": {"aggregate": {"a": "cuont", "b": "sum", "c": "mean()", "d": "sum(delay", "e": "sum( $item.x + )", "origin": "count(x)"}, "by": ["origin"]}, ` + typed + `}`,
			`1:31: error: node n: group.a: unknown function "cuont" (did you mean "count"? known keys: count, count_if, count_distinct, sum, min, max, mean, median, first, last, list, p90) [EXPR_NAME]
1:45: error: node n: group.b: want sum(column) or sum(expression), found "sum" [EXPR_SYNTAX]
1:57: error: node n: group.c: want mean(column) or mean(expression), found "mean()" [EXPR_SYNTAX]
1:72: error: node n: group.d: want sum(column) or sum(expression), found "sum(delay" [EXPR_SYNTAX]
1:104: error: node n: group.e: expected a value at the end [EXPR_SYNTAX]
1:110: error: node n: group.aggregate: "origin" is one of the columns of by [BAD_VALUE]`},
		{`{"steps": [{"join": {"with": "airport", "on": {"origin": "iata"}}}], ` + typed + `}`, `1:30: error: node n: steps[0]: join.with: the state has no field "airport" (did you mean "airports"?) [UNKNOWN_FIELD]`},
		{`{"steps": [{"join": {"with": "n", "on": "x"}}], ` + typed + `}`, `1:30: error: node n: steps[0]: join.with: a table is an array of objects, n is integer [WRONG_TYPE]`},
		{`{"steps": [{"join": {"with": "airports", "on": {"delay": "iata", "origin": "city"}}}], ` + typed + `}`,
			`1:58: error: node n: steps[0]: join.on: "delay" is integer and "iata" of airports is string, so no row matches [WRONG_TYPE]`},
		{`{"steps": [{"join": {"with": "airports", "on": {"delay": "latitude"}}}, {"filter": "$item.city > 1"}], ` + typed + `}`,
			`1:95: error: node n: steps[1]: filter: ">" has no order for string and integer [EXPR_TYPE]`},
		{`{"steps": [{"join": {"with": "airports", "on": {"more": "iata"}, "prefix": "at_"}}, {"filter": "$item.city > 1 && $item.at_more > 1"}], ` + typed + `}`, ``},
		{`{"steps": [{"select": ["origin"]}, {"join": {"with": "airports", "on": {"orign": "iata"}, "take": ["city", "origin"]}}], ` + typed + `}`,
			`1:73: error: node n: steps[1]: join.on: the rows have no column "orign" here (did you mean "origin"? known keys: origin) [UNKNOWN_FIELD]
1:108: error: node n: steps[1]: join.take: the rows have a column "origin" already (set prefix, or write take: {origin: another name}) [DUPLICATE_KEY]`},
		{`{"steps": [{"join": {"with": "airports", "on": {"origin": "iata"}, "take": {"city": "from", "latitude": "from"}, "prefix": "p_"}}], ` + typed + `}`,
			`1:105: error: node n: steps[0]: join.take: column "from" is empty or appears twice [DUPLICATE_KEY]
1:124: error: node n: steps[0]: join.prefix: take names the columns already (leave prefix out) [BAD_VALUE]`},
		{`{"steps": [{"join": {"with": "airports", "on": {"origin": "iata"}, "take": {"city": 1}}}], ` + typed + `}`, `WRONG_TYPE`},
		{`{"steps": [{"join": {"with": "airports", "on": {"origin": "iata"}, "take": "city"}}], ` + typed + `}`, `WRONG_TYPE`},
		{`{"steps": [{"join": {"with": "airports", "on": {"origin": "iata"}, "match": "some"}}], ` + typed + `}`, `BAD_VALUE`},
		{`{"steps": [{"join": {"with": "airports", "on": {"origin": "iata"}, "take": {"city": "from", "latitude": "north"}}}, {"filter": "$item.north > 'x' && $item.from > 'x'"}], ` + typed + `}`,
			`1:140: error: node n: steps[1]: filter: ">" has no order for number and string [EXPR_TYPE]`},
		{`{"steps": [{"window": {"by": ["orign"], "columns": {"n": "row_number", "l": "lag(dely)", "s": "sum(origin)", "m": "mean($item.delay, 7)"}}}], ` + typed + `}`,
			`1:31: warning: node n: steps[0]: window.by: the rows have no declared column "orign" (did you mean "origin"?) [UNKNOWN_FIELD]
1:81: warning: node n: steps[0]: window.l: the rows have no declared column "dely" (did you mean "delay"?) [UNKNOWN_FIELD]
1:99: error: node n: steps[0]: window.s: want numbers, origin is string [EXPR_TYPE]`},
		{`{"steps": [{"select": ["origin", "delay"]}, {"window": {"by": ["orign"], "columns": {"n": "lag(dely)"}}}], ` + typed + `}`,
			`1:64: error: node n: steps[1]: window.by: the rows have no column "orign" here (did you mean "origin"? known keys: origin, delay) [UNKNOWN_FIELD]
1:95: error: node n: steps[1]: window.n: the rows have no column "dely" here (did you mean "delay"? known keys: origin, delay) [UNKNOWN_FIELD]`},
		{`{"window": {"by": ["origin", "origin"], "columns": {"a": "row_numbr", "b": "row_number()", "c": "lag", "d": "lag(delay, 0)", "e": "sum(delay, x)", "f": "min(max($item.delay, 3), 100001)", "g": "lag()"}}, ` + typed + `}`,
			`1:30: error: node n: window.by: column "origin" is empty or appears twice [DUPLICATE_KEY]
1:58: error: node n: window.a: unknown function "row_numbr" (did you mean "row_number"? known keys: row_number, lag, sum, mean, min, max) [EXPR_NAME]
1:76: error: node n: window.b: row_number is written without parentheses, found "row_number()" [EXPR_SYNTAX]
1:97: error: node n: window.c: want lag(column) or lag(column, rows), found "lag" [EXPR_SYNTAX]
1:120: error: node n: window.d: want a number of rows from 1 to 100000, found "0" [BAD_VALUE]
1:142: error: node n: window.e: want a number of rows from 1 to 100000, found "x" [BAD_VALUE]
1:178: error: node n: window.f: want a number of rows from 1 to 100000, found "100001" [BAD_VALUE]
1:194: error: node n: window.g: want lag(column) or lag(column, rows), found "lag()" [EXPR_SYNTAX]`},
		{`{"window": {"columns": {}}, ` + typed + `}`, `1:24: error: node n: window: key "columns" is empty [MISSING_KEY]`},
		{`{"steps": [{"window": {"columns": {"l": "lag(origin)", "s": "sum(delay)"}}}, {"filter": "$item.s > 'x' && $item.l > 1"}], ` + typed + `}`,
			`1:97: error: node n: steps[1]: filter: ">" has no order for integer and string [EXPR_TYPE]
1:114: error: node n: steps[1]: filter: ">" has no order for string and integer [EXPR_TYPE]`},
		{`{"limit": 1, "stream": true, ` + rw + `}`, ``},
		{`{"limit": 1, "stream": true, "reads": ["in"], "writes": ["report"]}`, `1:24: error: node n: stream: field "report" is declared as an object and cannot be a stream [STREAM]`},
		{`{"checks": [{"name": "c", "expr": "$item.a"}], "rejects": "bad", "stream": true, "reads": ["in"], "writes": ["out", "bad"]}`,
			`1:76: error: node n: stream: the rejects of a stream go to a file, "bad" is a field (rejects: rejects.csv) [STREAM]`},
		{`{"limit": 1, "max_held": 0, "max_memory": "3TB", ` + rw + `}`, `BAD_VALUE`},
		{`{"steps": [{"join": {"with": "airports", "on": {}}}], ` + typed + `}`, `WRONG_TYPE`},
		{`{"rename": {"delay": "d", "date": "d"}, ` + typed + `}`, `1:35: error: node n: rename: column "d" is empty or appears twice [DUPLICATE_KEY]`},
		{`{"steps": [{"map": {"origin": "$item.origin", "n": "$item.delay"}}], "from": "flights", "writes": ["result"]}`,
			`1:100: error: node n: writes: column "n" is integer here and string in the state schema of result [WRONG_TYPE]`},
		{`{"steps": [{"select": ["delay"]}], "from": "flights", "writes": ["result"]}`,
			`1:66: error: node n: writes: result requires a column "origin", which the result does not have [WRONG_TYPE]`},
	} {
		_, ds := transform.Kind.Compile(nodestest.Node(t, c.node), env(t))
		got := strings.TrimSpace(nodestest.Findings(ds))
		if ok := got == c.want || !strings.Contains(c.want, " ") && c.want != "" && ds.Has(source.Code(c.want)); !ok {
			t.Errorf("%s\n got %s\nwant %s", c.node, got, c.want)
		}
	}
}

func TestReads(t *testing.T) {
	made, ds := transform.Kind.Compile(nodestest.Node(t, `{"from": "flights", "reads": ["n"], "writes": ["out"], "steps": [
		{"filter": "$item.delay > $.n"}, {"join": {"with": "airports", "on": {"origin": "iata"}}}, {"derive": {"t": "$.text"}}]}`), env(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	if got := strings.Join(source.Strings(made.Reads), " "); got != "flights airports text" {
		t.Errorf("reads %s", got)
	}
	if made.Effects {
		t.Error("a transform without a file changes nothing outside of the run")
	}
}

func TestChecks(t *testing.T) {
	node := `{"reads": ["in"], "writes": ["out", "bad"], "steps": [
		{"checks": [{"name": "small", "expr": "$item.a < 3"}, {"name": "c", "expr": "$item.c != null", "severity": "warning"}], "rejects": "bad"},
		{"checks": [{"name": "x", "expr": "$item.b == 'x'"}], "on_bad_row": "skip", "max_failures": 1}]}`
	r, err := run(t, node, abc, "")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"bad":[{"row":3,"node":"n","check":"small","reason":"$item.a < 3 is false, $item.a = 3","data":{"a":3,"b":"x"}}],"out":[{"a":1,"b":"x","c":null}]}` +
		` -> {"rows":1,"from":3,"rejected":2,"warnings":{"c":1}} partial_success (1 row from 3, 2 rejected)`
	if got := nodestest.Text(r); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRejectsFile(t *testing.T) {
	dir := t.TempDir()
	made, ds := transform.Kind.Compile(nodestest.Node(t, `{"reads": ["in"], "writes": ["out"], "checks": [{"name": "c", "expr": "$item.a > 1"}], "rejects": "r/bad.jsonl", "max_failures": 0}`), env(t))
	if ds.Failed(false) || !made.Effects {
		t.Fatal(ds, made.Effects)
	}
	_, err := made.Handler.Handle(t.Context(), core.NewInput("r", "n", 1, core.Shared{Dir: dir, View: core.NewView([]string{"in"}, []any{parse(t, abc)})}))
	if err == nil || !strings.Contains(err.Error(), "more than 0 bad rows") {
		t.Fatalf("error %v", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "r/bad.jsonl"))
	if err != nil || string(data) != `{"row":1,"node":"n","check":"c","reason":"$item.a > 1 is false, $item.a = 1","data":{"a":1,"b":"x","c":null}}`+"\n" {
		t.Fatalf("rejects %s, %v", data, err)
	}
}

// A table that several nodes read is never changed: unchanged rows are shared, and
// changed rows are new.
func TestInputStays(t *testing.T) {
	in := any(append(parse(t, abc).([]any), value.ObjectOf("room", "behind"))[:3]) // an append to the result must not write into this array
	before := value.JSON(in)
	for _, s := range []string{
		`{"derive": {"a": "0", "z": "1"}}`, `{"rename": {"a": "q"}}`, `{"drop": ["a"]}`, `{"sort": ["-a"]}`, `{"group": {"by": ["b"], "aggregate": {"l": "list(a)", "p": "p50(a)"}}}`,
		`{"checks": [{"name": "c", "expr": "$item.a > 0"}]}`, `{"limit": 3}`, `{"map": {"a": "1"}}`, `{"dedupe": ["b"]}`, `{"filter": "$item.a > 1"}`, `{"join": {"with": "in", "on": "a", "prefix": "r_"}}`,
	} {
		made, ds := transform.Kind.Compile(nodestest.Node(t, steps(s)), env(t))
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		r, err := made.Handler.Handle(t.Context(), core.NewInput("r", "n", 1, core.Shared{View: core.NewView([]string{"in"}, []any{in})}))
		if err != nil {
			t.Fatal(err)
		}
		list := r.Writes()["out"].([]any)
		if got := value.JSON(in); got != before || cap(list) != len(list) {
			t.Fatalf("%s: the table became %s, capacity %d of %d", s, got, cap(list), len(list))
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	made, _ := transform.Kind.Compile(nodestest.Node(t, steps(`{"limit": 1}`)), env(t))
	if _, err := made.Handler.Handle(ctx, core.NewInput("r", "n", 1, core.Shared{})); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestConformance(t *testing.T) {
	shared := core.Shared{View: core.NewView([]string{"in"}, []any{parse(t, abc)})}
	nodestest.Run(t, transform.Kind,
		nodestest.Case{Name: "compact", Node: `{"reads": ["in"], "writes": ["out"], "map": {"a": "$item.a"}}`, Env: env(t), Input: shared,
			Want: `{"out":[{"a":1},{"a":2},{"a":3}]} -> {"rows":3,"from":3} (3 rows from 3)`},
		nodestest.Case{Name: "steps", Node: `{"from": "in", "into": "out", "writes": ["out"], "steps": [{"sort": ["-a"]}, {"limit": 1}]}`, Env: env(t), Input: shared, Shares: true,
			Want: `{"out":[{"a":3,"b":"x"}]} -> {"rows":1,"from":3} (1 row from 3)`},
	)
}

// The examples of the manual do what they say on a table of flights.
func TestHandbook(t *testing.T) {
	text, err := os.ReadFile("../../docs/kinds/transform.md")
	if err != nil {
		t.Fatal(err)
	}
	chapter, _, _ := strings.Cut(string(text), "\n## Errors\n") // the example under Errors is run with the manual
	want := []string{
		`[{"city":"Austin","state":"TX","flights":1,"late":1,"mean_delay":20.0},{"city":"Boston","state":"MA","flights":2,"late":0,"mean_delay":7.5}]`,
		`[{"origin":"BOS","delay":5,"distance":600,"date":"01022330","flight":1,"before":null,"week":5.0,"miles":600},` +
			`{"origin":"AUS","delay":20,"distance":900,"date":"01030010","flight":1,"before":null,"week":20.0,"miles":900},` +
			`{"origin":"BOS","delay":10,"distance":700,"date":"02010815","flight":2,"before":5,"week":7.5,"miles":1300},` +
			`{"origin":"BOS","delay":90,"distance":100,"date":"02010900","flight":3,"before":10,"week":35.0,"miles":1400}]`,
		`[{"origin":"AUS","delay":20,"distance":900,"date":"01030010","month":"01"},{"origin":"BOS","delay":90,"distance":100,"date":"02010900","month":"02"}]`,
	}
	blocks := strings.Split(chapter, "```yaml\n")[1:]
	if len(blocks) != len(want) {
		t.Fatalf("%d examples, want %d", len(blocks), len(want))
	}
	flights := parse(t, `[{"origin":"BOS","delay":5,"distance":600,"date":"01022330"},{"origin":"AUS","delay":20,"distance":900,"date":"01030010"},
		{"origin":"BOS","delay":10,"distance":700,"date":"02010815"},{"origin":"BOS","delay":90,"distance":100,"date":"02010900"}]`)
	airports := parse(t, `[{"iata":"BOS","city":"Boston","state":"MA"},{"iata":"AUS","city":"Austin","state":"TX"}]`)
	for i, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		list, ds := document.Parse("transform.md", []byte(block))
		if ds.Failed(false) {
			t.Fatalf("%s\n%v", block, ds)
		}
		node := value.JSON(list.Items[0].Plain())
		if list.Items[0].Get("kind") == nil {
			node = `{"reads": ["flights"], "writes": ["out"], "steps": ` + value.JSON(list.Plain()) + `}`
		}
		made, ds := transform.Kind.Compile(nodestest.Node(t, node), core.Env{})
		if ds.Failed(false) {
			t.Fatalf("%s\n%v", block, ds)
		}
		in := core.NewInput("run", "n", 1, core.Shared{View: core.NewView([]string{"flights"}, []any{flights}), Extra: core.NewView([]string{"airports"}, []any{airports})})
		if got := transform.Rows(t, made, in); got != want[i] {
			t.Errorf("%s\n got %s\nwant %s", block, got, want[i])
		}
	}
}

func TestDocs(t *testing.T) {
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	schema := core.Env{Schema: nodestest.Schema(t, `{"flights": {"type": "array"}, "delays": {"type": "array"}}`)}
	made, ds := transform.Kind.Compile(nodestest.Node(t, nodestest.ExampleNode(t, example, "worst")), schema)
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	flights := parse(t, `[{"origin":"A","distance":600,"delay":1},{"origin":"B","distance":501,"delay":7},{"origin":"A","distance":900,"delay":4},{"origin":"C","distance":500,"delay":99}]`)
	r, err := made.Handler.Handle(t.Context(), core.NewInput("r", "n", 1, core.Shared{View: core.NewView([]string{"flights"}, []any{flights})}))
	const want = `[{"origin":"B","flights":1,"mean_delay":7.0,"worst":7},{"origin":"A","flights":2,"mean_delay":2.5,"worst":4}]`
	if got := value.JSON(r.Writes()["delays"]); err != nil || got != want {
		t.Errorf("the example gives %s, %v, want %s", got, err, want)
	}
}
