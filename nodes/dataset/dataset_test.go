package dataset_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

const fields = `{
	"rows": {"type": "array", "items": {"type": "object"}},
	"flights": {"type": "array", "items": {"type": "object", "required": ["date"], "properties": {
		"date": {"type": "string"}, "delay": {"type": "integer"}, "origin": {"type": "string", "enum": ["SJC", "PHX", "DAL"]}}}},
	"bad": {"type": "array"}, "any": {}, "text": {"type": "string"}, "file": {"type": "string"}, "n": {"type": "integer"}}`

func env(t testing.TB, dir string) core.Env {
	return core.Env{Dir: dir, Files: os.DirFS(dir), Schema: nodestest.Schema(t, fields), Items: true}
}

// folder makes a folder with files.
func folder(t testing.TB, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCompile(t *testing.T) {
	dir := folder(t, map[string]string{"a.csv": "id,x\n1,2\n", "a.dat": "", "a.jsonl": "", "sub/b.csv": ""})
	for _, c := range []struct{ node, want string }{
		{`{"source": "a.csv", "writes": ["rows"]}`, ""},
		{`{"source": "./sub/b.csv", "writes": ["any"]}`, ""},
		{`{"source": {"type": "file", "uri": "./a.csv", "format": "csv"}, "writes": ["rows"]}`, ""},
		{`{"source": {"file": "a.dat", "format": "tsv"}, "writes": ["rows"]}`, ""},
		{`{"source": "$.file", "writes": ["rows"]}`, ""},
		{`{"source": "later.csv", "check": false, "writes": ["rows"]}`, ""},
		{`{"source": "later.csv", "optional": true, "writes": ["rows"]}`, ""},
		{`{"source": "a.csv", "rejects": "bad", "writes": ["rows", "bad"]}`, ""},
		{`{"writes": ["rows"]}`, `1:1: error: node n: key "source" is missing [MISSING_KEY]`},
		{`{"source": "b.csv", "writes": ["rows"]}`, `1:12: error: node n: source: there is no file "b.csv" (did you mean "a.csv"?) [MISSING_FILE]`},
		{`{"source": "nowhere/else.csv", "writes": ["rows"]}`, `1:12: error: node n: source: there is no file "nowhere/else.csv" (if another node makes it, say check: false; if it may be absent, optional: true) [MISSING_FILE]`},
		{`{"source": "../a.csv", "writes": ["rows"]}`, `1:12: error: node n: source: "../a.csv" leaves the workflow's folder (files must lie in the workflow's folder unless allow_outside is true) [BAD_VALUE]`},
		{`{"source": "../a.csv", "allow_outside": true, "writes": ["rows"]}`, `1:12: error: node n: source: there is no file "../a.csv" [MISSING_FILE]`},
		{`{"source": "sub", "format": "csv", "writes": ["rows"]}`, `1:12: error: node n: source: "sub" is not a regular file (a folder is named with a slash at its end) [MISSING_FILE]`},
		{`{"source": "a.dat", "writes": ["rows"]}`, `1:12: error: node n: source: "a.dat" does not end in the name of a format (add format: csv, tsv, jsonl, json or parquet) [MISSING_KEY]`},
		{`{"source": {"file": "a.csv", "fromat": "csv"}, "writes": ["rows"]}`, `1:30: error: node n: source: unknown key "fromat" (did you mean "format"? known keys: file, files, uri, type, format) [UNKNOWN_KEY]`},
		{`{"source": {"type": "http", "uri": "http://x"}, "writes": ["rows"]}`, `1:21: error: node n: source: type: a dataset reads files, not "http" (use a node of the kind http) [BAD_VALUE]
1:36: error: node n: source: a dataset reads files, "http://x" is none [BAD_VALUE]`},
		{`{"source": {"format": "csv"}, "writes": ["rows"]}`, `1:12: error: node n: source: key "file" is missing [MISSING_KEY]`},
		{`{"source": {"file": "a.csv", "format": "csv"}, "format": "json", "writes": ["rows"]}`, `1:58: error: node n: format: the source says csv [BAD_VALUE]`},
		{`{"source": 3, "writes": ["rows"]}`, `1:12: error: node n: source: want a path, a list of paths or a mapping with the key file, found number 3 [WRONG_TYPE]`},
		{`{"source": "a.csv"}`, `1:1: error: node n: writes: a dataset writes its rows to exactly one field, found 0 (writes: [rows]) [BAD_VALUE]`},
		{`{"source": "a.csv", "writes": ["rows", "bad"]}`, `1:1: error: node n: writes: a dataset writes its rows to exactly one field, found 2 (writes: [rows]) [BAD_VALUE]`},
		{`{"source": "a.csv", "writes": ["text"]}`, `1:32: error: node n: writes: the rows are an array, field "text" takes string [WRONG_TYPE]`},
		{`{"source": "$.fil", "writes": ["rows"]}`, `1:14: error: node n: source: unknown field "fil" (did you mean "file"?) [EXPR_NAME]`},
		{`{"source": "$.n", "writes": ["rows"]}`, `1:12: error: node n: source: a file name is a string, $.n is integer [EXPR_TYPE]`},
		{`{"source": "a.csv", "columns": {"id": "int"}, "writes": ["rows"]}`, `1:39: error: node n: columns.id: "int" is none of string, integer, number, boolean, array, object [BAD_VALUE]`},
		{`{"source": "a.csv", "columns": {"id": "array"}, "writes": ["rows"]}`, `1:39: error: node n: columns: a cell of csv cannot be an array [BAD_VALUE]`},
		{`{"source": "a.csv", "columns": {"delay": "string"}, "writes": ["flights"]}`, `1:42: error: node n: columns: delay is string here and integer in the state schema [WRONG_TYPE]`},
		{`{"source": "a.csv", "header": ["id", "x"], "columns": {"ix": "string"}, "writes": ["rows"]}`, `1:56: error: node n: columns: the header has no column "ix" (did you mean "id"?) [UNKNOWN_FIELD]`},
		{`{"source": "a.csv", "header": false, "writes": ["rows"]}`, `1:31: error: node n: header: want true, or the list of column names of a file without a header line, found boolean false [WRONG_TYPE]`},
		{`{"source": "a.csv", "header": ["a", "a", 3], "writes": ["rows"]}`, `1:37: error: node n: header: column "a" appears twice [DUPLICATE_KEY]
1:42: error: node n: header: want a column name, found number 3 [WRONG_TYPE]`},
		{`{"source": "a.csv", "delimiter": ";;", "writes": ["rows"]}`, `1:34: error: node n: delimiter: want one character, found ";;" [BAD_VALUE]`},
		{`{"source": "a.jsonl", "delimiter": ";", "nulls": ["NA"], "writes": ["rows"]}`, `1:36: warning: node n: delimiter: has no effect on jsonl [IGNORED]
1:50: warning: node n: nulls: has no effect on jsonl [IGNORED]`},
		{`{"source": "a.csv", "limit": 0, "writes": ["rows"]}`, `1:30: error: node n: limit: want a whole number of at least 1, found 0 [BAD_VALUE]`},
		{`{"source": "a.csv", "on_bad_row": "ignore", "writes": ["rows"]}`, `1:35: error: node n: on_bad_row: "ignore" is none of fail, skip, collect [BAD_VALUE]`},
		{`{"source": "a.csv", "on_bad_row": "collect", "writes": ["rows"]}`, `1:1: error: node n: on_bad_row: collect needs the key "rejects" (rejects: rejects.csv) [BAD_VALUE]`},
		{`{"source": "a.csv", "rejects": "bad", "writes": ["rows"]}`, `1:32: error: node n: rejects: "bad" is neither a field among the node's writes nor a file name (add it: writes: [bad], or write bad.csv) [UNKNOWN_FIELD]`},
		{`{"source": "a.csv", "rejects": "bad.txt", "writes": ["rows"]}`, `1:32: error: node n: rejects: "bad.txt" does not end in the name of a format (use .csv, .tsv, .jsonl or .json) [BAD_VALUE]`},
		{`{"source": "a.csv", "on_bad_row": "fail", "max_failures": 3, "rejects": "bad.csv", "writes": ["rows"]}`, `1:59: warning: node n: max_failures: has no effect with on_bad_row: fail [IGNORED]
1:73: warning: node n: rejects: nothing is collected with on_bad_row: fail [IGNORED]`},
		{`{"source": "a.csv", "checks": [{"name": "c", "expr": "$item.x >"}, {"name": "c", "expr": "$item.y == $.nn"}, {"expr": "true"}], "writes": ["rows"]}`, `1:110: error: node n: checks[2]: key "name" is missing [MISSING_KEY]`},
		{`{"source": "a.csv", "checks": [{"name": "c", "expr": "$item.x >"}, {"name": "c", "expr": "$item.y == $.nn"}], "writes": ["rows"]}`, `1:63: error: node n: check c: expected a value at the end [EXPR_SYNTAX]
1:77: error: node n: checks: the check "c" appears twice [DUPLICATE_ID]
1:103: error: node n: check c: unknown field "nn" (did you mean "n"?) [EXPR_NAME]`},
		{`{"source": "a.csv", "checks": [{"name": "c", "expr": "$item.delay < 'x'"}], "writes": ["flights"]}`, `EXPR_TYPE`},
		{`{"source": "a.csv", "header": ["id", "x"], "checks": [{"name": "c", "expr": "$item.xx > 1"}], "writes": ["rows"]}`, `1:83: error: node n: check c: the rows have no column "xx" here (did you mean "x"? known keys: id, x) [EXPR_NAME]`},
	} {
		_, ds := dataset.Kind.Compile(nodestest.Node(t, c.node), env(t, dir))
		got := strings.TrimSpace(nodestest.Findings(ds))
		if ok := got == c.want || c.want == "EXPR_TYPE" && ds.Has(source.CodeExprType); !ok {
			t.Errorf("%s\n got %s\nwant %s", c.node, got, c.want)
		}
	}
}

// compiled makes the handler of a node in a folder.
func compiled(t testing.TB, node, dir string) core.Compiled {
	t.Helper()
	made, ds := dataset.Kind.Compile(nodestest.Node(t, node), env(t, dir))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	return made
}

func run(t testing.TB, node, dir string, s core.Shared) (core.Result, error) {
	t.Helper()
	s.Dir = dir
	return compiled(t, node, dir).Handler.Handle(t.Context(), core.NewInput("run", "n", 1, s))
}

const small = "id,name\n1,Ada\n2\n3,Bob\n4,Eve\n"

func TestRun(t *testing.T) {
	dir := folder(t, map[string]string{
		"small.csv": small,
		"a.tsv":     "id\tname\n1\tx y\n",
		"a.jsonl":   "{\"id\":9007199254740993,\"x\":[1]}\r\n\n[1]\n{\"id\":1,\"id\":2}\n{\"id\":\"x\"}\n{\"id\":2}",
		"a.json":    "[\n {\"id\": 9007199254740993},\n 7,\n {\"id\":\n  1e999},\n {\"id\": 2}\n]\n",
		"f.csv":     "date,delay,origin\nd1,5,SJC\n,6,PHX\nd3,x,DAL\nd4,7,JFK\nd5,8,DAL\n",
	})
	for _, c := range []struct{ name, node, want string }{
		{"rejects in a field", `{"source": "small.csv", "writes": ["rows", "bad"], "rejects": "bad"}`,
			`{"bad":[{"row":2,"line":3,"node":"n","check":null,"reason":"has 1 cell, want 2","data":["2"],"raw":"2"}],"rows":[{"id":1,"name":"Ada"},{"id":3,"name":"Bob"},{"id":4,"name":"Eve"}]}` +
				` -> {"path":"small.csv","rows":3,"rejected":1} partial_success (3 rows from small.csv, 1 rejected)`},
		{"skip", `{"source": "small.csv", "writes": ["rows"], "on_bad_row": "skip", "limit": 2}`,
			`{"rows":[{"id":1,"name":"Ada"},{"id":3,"name":"Bob"}]} -> {"path":"small.csv","rows":2,"rejected":1} partial_success (2 rows from small.csv, 1 rejected)`},
		{"a number of failures implies skip", `{"source": "small.csv", "writes": ["rows"], "max_failures": 1, "limit": 1}`,
			`{"rows":[{"id":1,"name":"Ada"}]} -> {"path":"small.csv","rows":1,"rejected":0} (1 row from small.csv)`},
		{"checks", `{"source": "small.csv", "writes": ["rows", "bad"], "rejects": "bad", "checks": [
				{"name": "odd", "expr": "$item.id % 2 == 1"}, {"name": "long", "expr": "length($item.name) > 3", "severity": "warning"}, {"name": "never", "expr": "$item.id != 3"}]}`,
			`{"bad":[{"row":2,"line":3,"node":"n","check":null,"reason":"has 1 cell, want 2","data":["2"],"raw":"2"},` +
				`{"row":3,"line":4,"node":"n","check":"never","reason":"$item.id != 3 is false, $item.id = 3","data":{"id":3,"name":"Bob"},"raw":"3,Bob"},` +
				`{"row":4,"line":5,"node":"n","check":"odd","reason":"$item.id % 2 == 1 is false, $item.id = 4","data":{"id":4,"name":"Eve"},"raw":"4,Eve"}],"rows":[{"id":1,"name":"Ada"}]}` +
				` -> {"path":"small.csv","rows":1,"rejected":3,"quality":{"rows":4,"good":1,"rejected":3,"unreadable":{"failed":1,"examples":[{"row":2,"line":3,"reason":"has 1 cell, want 2"}]},"checks":[` +
				`{"name":"odd","expr":"$item.id % 2 == 1","severity":"error","passed":2,"failed":1,"examples":[{"row":4,"line":5,"value":{"$item.id":4}}]},` +
				`{"name":"long","expr":"length($item.name) > 3","severity":"warn","passed":0,"failed":3,"examples":[{"row":1,"line":2,"value":{"length($item.name)":3}},{"row":3,"line":4,"value":{"length($item.name)":3}},{"row":4,"line":5,"value":{"length($item.name)":3}}]},` +
				`{"name":"never","expr":"$item.id != 3","severity":"error","passed":2,"failed":1,"examples":[{"row":3,"line":4,"value":{"$item.id":3}}]}]},"warnings":{"long":3}} partial_success (1 row from small.csv, 3 rejected)`},
		{"tsv", `{"source": "a.tsv", "writes": ["rows"], "columns": {"id": "string"}}`,
			`{"rows":[{"id":"1","name":"x y"}]} -> {"path":"a.tsv","rows":1,"rejected":0} (1 row from a.tsv)`},
		{"jsonl", `{"source": "a.jsonl", "writes": ["rows", "bad"], "rejects": "bad", "columns": {"id": "integer"}}`,
			`{"bad":[{"row":2,"line":3,"node":"n","check":null,"reason":"want an object, got array","data":[1],"raw":"[1]"},` +
				`{"row":3,"line":4,"node":"n","check":null,"reason":"duplicate key \"id\" at byte 9","data":"{\"id\":1,\"id\":2}","raw":"{\"id\":1,\"id\":2}"},` +
				`{"row":4,"line":5,"node":"n","check":null,"reason":"column id: want integer, got string \"x\"","data":{"id":"x"},"raw":"{\"id\":\"x\"}"}],` +
				`"rows":[{"id":9007199254740993,"x":[1]},{"id":2}]} -> {"path":"a.jsonl","rows":2,"rejected":3} partial_success (2 rows from a.jsonl, 3 rejected)`},
		{"json", `{"source": "a.json", "writes": ["rows", "bad"], "rejects": "bad"}`,
			`{"bad":[{"row":2,"line":3,"node":"n","check":null,"reason":"want an object, got integer","data":7,"raw":"7"},` +
				`{"row":3,"line":4,"node":"n","check":null,"reason":"number 1e999 is out of range","data":"{\"id\":\n  1e999}","raw":"{\"id\":\n  1e999}"}],` +
				`"rows":[{"id":9007199254740993},{"id":2}]} -> {"path":"a.json","rows":2,"rejected":2} partial_success (2 rows from a.json, 2 rejected)`},
		{"the state schema types the columns", `{"source": "f.csv", "writes": ["flights", "bad"], "rejects": "bad", "nulls": []}`,
			`{"bad":[{"row":3,"line":4,"node":"n","check":null,"reason":"column 2 (delay): want integer, got \"x\"","data":["d3","x","DAL"],"raw":"d3,x,DAL"},` +
				`{"row":4,"line":5,"node":"n","check":null,"reason":"origin: want one of [\"SJC\",\"PHX\",\"DAL\"], got string \"JFK\"","data":{"date":"d4","delay":7,"origin":"JFK"},"raw":"d4,7,JFK"}],` +
				`"flights":[{"date":"d1","delay":5,"origin":"SJC"},{"date":"","delay":6,"origin":"PHX"},{"date":"d5","delay":8,"origin":"DAL"}]}` +
				` -> {"path":"f.csv","rows":3,"rejected":2} partial_success (3 rows from f.csv, 2 rejected)`},
		{"an optional file", `{"source": "none.csv", "optional": true, "writes": ["rows"]}`,
			`{"rows":[]} -> {"path":"none.csv","rows":0,"rejected":0} (0 rows from none.csv)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := run(t, c.node, dir, core.Shared{})
			if err != nil {
				t.Fatal(err)
			}
			r.EdgeOutput.(*value.Object).Delete("schema") // TestSchema
			if got := nodestest.Text(r); got != c.want {
				t.Fatalf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestRunFails(t *testing.T) {
	dir := folder(t, map[string]string{
		"small.csv": small,
		"bad.jsonl": "{}\n{\"a\":\n", "bad.json": "[\n{},\n{\"a\" 1}\n]", "object.json": "{\"data\": []}", "tail.json": "[{}]\n[]", "cut.json": "[{}",
		"header.csv": "a,a\n",
	})
	for _, c := range []struct {
		name, node, want string
		permanent        bool
	}{
		{"a ragged row", `{"source": "small.csv", "writes": ["rows"]}`, `small.csv:3: row 2: has 1 cell, want 2`, true},
		{"a check", `{"source": "small.csv", "writes": ["rows"], "limit": 1, "checks": [{"name": "c", "expr": "$item.id > 1"}]}`, `small.csv:2: row 1: check "c": $item.id > 1 is false, $item.id = 1`, true},
		{"too many", `{"source": "small.csv", "writes": ["rows"], "max_failures": 0}`, `more than 0 bad rows (max_failures), the first: small.csv:3: row 2: has 1 cell, want 2`, true},
		{"jsonl", `{"source": "bad.jsonl", "writes": ["rows"]}`, `bad.jsonl:2: row 2: the JSON value is cut off`, true},
		{"json", `{"source": "bad.json", "writes": ["rows"]}`, `bad.json:3: invalid character '1' after object key`, false},
		{"no array", `{"source": "object.json", "writes": ["rows"]}`, `object.json:1: want a JSON array of objects; a file with one object on a line has the format jsonl`, false},
		{"text after the array", `{"source": "tail.json", "writes": ["rows"]}`, `tail.json:2: unexpected text after the array`, false},
		{"an array without end", `{"source": "cut.json", "writes": ["rows"]}`, `cut.json:1: the file ends before its array does; it is cut off`, false},
		{"a header", `{"source": "header.csv", "writes": ["rows"]}`, `header.csv:1: column "a" appears twice in the header`, false},
		{"a file that was to come", `{"source": "later.csv", "check": false, "writes": ["rows"]}`, `there is no file "later.csv": open later.csv: no such file or directory`, false},
		{"a name without value", `{"source": "$.file", "writes": ["rows"]}`, `source: $.file is not a file name: null`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := run(t, c.node, dir, core.Shared{})
			if err == nil || err.Error() != c.want {
				t.Fatalf("error %v, want %s", err, c.want)
			}
			if f := core.FailureOf(err); f.Permanent != c.permanent {
				t.Errorf("permanent %v", f.Permanent)
			}
		})
	}
}

func TestFileName(t *testing.T) {
	dir := folder(t, map[string]string{"in/1.csv": "a\n1\n", "2.dat": "a\n2\n"})
	val := func(name string) core.Shared {
		return core.Shared{Extra: core.NewView([]string{"file"}, []any{name})}
	}
	made := compiled(t, `{"source": "$.file", "writes": ["rows"]}`, dir)
	if len(made.Reads) != 1 || made.Reads[0].Value != "file" || made.Effects {
		t.Fatalf("reads %v, effects %v", made.Reads, made.Effects)
	}
	if r, err := run(t, `{"source": "$.file", "writes": ["rows"]}`, dir, val("in/1.csv")); err != nil || value.JSON(r.Writes()["rows"]) != `[{"a":1}]` {
		t.Fatalf("%v, %v", r, err)
	}
	if _, err := run(t, `{"source": "$.file", "writes": ["rows"]}`, dir, val("2.dat")); err == nil || !strings.Contains(err.Error(), "add the key format") {
		t.Fatalf("error %v", err)
	}
	if _, err := run(t, `{"source": "$.file", "writes": ["rows"]}`, dir, val("../x.csv")); err == nil || !strings.Contains(err.Error(), "leaves the workflow's folder") {
		t.Fatalf("error %v", err)
	}
	item := core.Shared{Item: value.ObjectOf("f", "2.dat"), Index: core.Nth(0)}
	if r, err := run(t, `{"source": {"file": "$item.f", "format": "csv"}, "writes": ["rows"]}`, dir, item); err != nil || value.JSON(r.Writes()["rows"]) != `[{"a":2}]` {
		t.Fatalf("%v, %v", r, err)
	}
	outside := `{"source": "` + filepath.Join(dir, "in/1.csv") + `", "allow_outside": true, "writes": ["rows"]}`
	if _, err := run(t, outside, t.TempDir(), core.Shared{}); err != nil {
		t.Fatal(err)
	}
}

func TestRejectsFile(t *testing.T) {
	dir := folder(t, map[string]string{"small.csv": small, "good.csv": "id\n1\n", "out/rejects.csv": "stale"})
	node := `{"source": "small.csv", "writes": ["rows"], "rejects": "out/rejects.csv", "checks": [{"name": "c", "expr": "$item.id != 4"}]`
	if !compiled(t, node+"}", dir).Effects {
		t.Error("a node that writes a file has effects")
	}
	if _, err := run(t, node+"}", dir, core.Shared{}); err != nil {
		t.Fatal(err)
	}
	const want = "row,line,node,check,reason,data,raw,raw_base64\n" +
		"2,3,n,,\"has 1 cell, want 2\",\"[\"\"2\"\"]\",2,\n" +
		"4,5,n,c,\"$item.id != 4 is false, $item.id = 4\",\"{\"\"id\"\":4,\"\"name\"\":\"\"Eve\"\"}\",\"4,Eve\",\n"
	if got := contents(t, dir, "out/rejects.csv"); got != want {
		t.Fatalf("rejects\n%s\nwant\n%s", got, want)
	}
	// Too many bad rows fail the node; the file still says which.
	if _, err := run(t, node+`, "max_failures": 1}`, dir, core.Shared{}); err == nil {
		t.Fatal("two bad rows were tolerated")
	}
	if got := contents(t, dir, "out/rejects.csv"); got != want {
		t.Fatalf("rejects after a failure\n%s", got)
	}
	// Without bad rows the file of the last time must not stay.
	if _, err := run(t, strings.Replace(node, "small", "good", 1)+"}", dir, core.Shared{}); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir, "out/rejects.csv"); got != "row,line,node,check,reason,data,raw,raw_base64\n" {
		t.Fatalf("rejects without bad rows\n%s", got)
	}
}

// Names of the moment may mean the file that is being read: it must not be replaced
// by its rejects.
func TestRejectsReplaceNoInput(t *testing.T) {
	dir := folder(t, map[string]string{"in/small.csv": small, "in/more.csv": small})
	if err := os.Symlink("in", filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	item := core.Shared{Item: value.ObjectOf("f", "small"), Index: core.Nth(0)}
	for more, want := range map[string]string{
		`"source": "in/{{$item.f}}.csv", "rejects": "in/{{$item.f}}.csv"`:                        "rejects: in/small.csv is a file that the node reads",
		`"source": "in/*.csv", "rejects": "in/./{{$item.f}}.csv"`:                                "rejects: in/./small.csv is a file that the node reads",
		`"source": "in/small.csv", "rejects": "link/{{$item.f}}.csv"`:                            "rejects: link/small.csv is a file that the node reads",
		`"source": "in/*.csv", "rejects": "{{$item.f}}.json", "report": "./{{$item.f}}.json"`:    "rejects: small.json takes the report, too",
		`"source": "in/*.csv", "format": "csv", "max_failures": 9, "report": "{{$item.f}}.json"`: "",
	} {
		_, err := run(t, `{"writes": ["rows"], `+more+`}`, dir, item)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || err.Error() != want || !core.FailureOf(err).Permanent):
			t.Errorf("%s: error %v, want %s", more, err, want)
		case contents(t, dir, "in/small.csv") != small:
			t.Fatalf("%s: the file was replaced", more)
		}
	}
}

func contents(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRealData(t *testing.T) {
	for _, c := range []struct {
		file  string
		rows  int
		first string
	}{
		{"flights.csv", 300, `{"date":"2001/02/14 15:12","delay":8,"distance":342,"origin":"SJC","destination":"SNA"}`},
		{"airports.csv", 114, `{"iata":"00M","name":"Thigpen","city":"Bay Springs","state":"MS","country":"USA","latitude":31.95376472,"longitude":-89.23450472}`},
		{"birdstrikes.csv", 200, `{"Airport Name":"BARKSDALE AIR FORCE BASE ARPT","Aircraft Make Model":"T-38A","Effect Amount of damage":"None","Flight Date":"1990-01-08","Aircraft Airline Operator":"MILITARY","Origin State":"Louisiana","Phase of flight":"Climb","Wildlife Size":"Large","Wildlife Species":"Turkey vulture","Time of day":"Day","Cost Other":0,"Cost Repair":0,"Cost Total $":0,"Speed IAS in knots":300}`},
	} {
		r, err := run(t, `{"source": "`+c.file+`", "writes": ["rows"]}`, "../testdata", core.Shared{})
		if err != nil {
			t.Fatal(err)
		}
		rows := r.Writes()["rows"].([]any)
		if len(rows) != c.rows || value.JSON(rows[0]) != c.first {
			t.Errorf("%s: %d rows, the first %s", c.file, len(rows), value.JSON(rows[0]))
		}
	}
}

func TestCancelled(t *testing.T) {
	dir := folder(t, map[string]string{"a.csv": "a\n1\n", "a.json": "[{}]", "a.jsonl": "{}"})
	for _, f := range []string{"a.csv", "a.json", "a.jsonl"} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := compiled(t, `{"source": "`+f+`", "writes": ["rows"]}`, dir).Handler.Handle(ctx, core.NewInput("r", "n", 1, core.Shared{Dir: dir}))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestMissingFileIsNotExist(t *testing.T) {
	_, err := run(t, `{"source": "x.csv", "check": false, "writes": ["rows"]}`, t.TempDir(), core.Shared{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func TestConformance(t *testing.T) {
	dir := folder(t, map[string]string{"small.csv": small, "a.jsonl": `{"a": [1, {"b": 2}]}`})
	nodestest.Run(t, dataset.Kind,
		nodestest.Case{
			Name: "csv",
			Node: `{"source": "small.csv", "format": "csv", "columns": {"id": "integer"}, "infer": true, "header": true, "delimiter": ",", "nulls": [""], "limit": 10,
				"check": true, "optional": false, "allow_outside": false, "on_bad_row": "collect", "rejects": "bad", "max_failures": 5, "report": "",
				"checks": [{"name": "c", "expr": "$item.id > 0", "severity": "warning"}], "writes": ["rows", "bad"]}`,
			Env: env(t, dir), Input: core.Shared{Dir: dir},
		},
		nodestest.Case{
			Name: "jsonl", Node: `{"source": {"file": "a.jsonl"}, "writes": ["rows"]}`,
			Env: env(t, dir), Input: core.Shared{Dir: dir},
			Want: `{"rows":[{"a":[1,{"b":2}]}]} -> {"path":"a.jsonl","rows":1,"rejected":0,"schema":[{"column":"a","type":"array","nulls":0,"example":"[1,{\"b\":2}]"}]} (1 row from a.jsonl)`,
		})
}

func TestDocs(t *testing.T) {
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	dir := folder(t, map[string]string{"data/flights.csv": "date,delay\nd1,1\nd2,9999\n"})
	r, err := run(t, nodestest.ExampleNode(t, example, "load"), dir, core.Shared{})
	if err != nil || value.JSON(r.Writes()["flights"]) != `[{"date":"d1","delay":1,"origin":null}]` {
		t.Errorf("the example gives %s, %v", nodestest.Text(r), err)
	}
}
