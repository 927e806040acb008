package dataset_test

import (
	"encoding/base64"
	"log/slog"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// A ruleCase is a node over files, with its result: the rows as JSON, or the error.
type ruleCase struct {
	rule, name string
	schema     string // of the items of the field
	node       string // without source, if that is the file "in"
	file, text string
	want       string
	warning    string
}

// rulesEnv is an environment whose field rows has items of a schema.
func rulesEnv(t *testing.T, dir, schema string) core.Env {
	e := env(t, dir)
	rows := `{"rows": {"type": "array"}, "file": {"type": "string"}}`
	if schema != "" {
		rows = `{"rows": {"type": "array", "items": ` + schema + `}, "file": {"type": "string"}}`
	}
	e.Schema = nodestest.Schema(t, rows)
	return e
}

// outcome runs a node as an array or as a stream.
func outcome(t *testing.T, node string, e core.Env, stream bool) (rows, warnings string, status core.Status) {
	t.Helper()
	made, ds := dataset.Kind.Compile(nodestest.Node(t, node), e)
	if ds.Failed(false) {
		return "load: " + ds[0].Message, "", 0
	}
	var log nodestest.Log
	in := core.NewInput("run", "n", 1, core.Shared{Dir: e.Dir, Log: slog.New(&log)})
	r, err := made.Handler.Handle(t.Context(), in)
	switch {
	case err != nil:
		return err.Error(), log.Text(), 0
	case !stream:
		return value.JSON(r.Writes()["rows"]), log.Text(), r.Status
	}
	s, err := made.Handler.(core.StreamSource).Open(t.Context(), in, r.Writes()["rows"].(*value.Object))
	if err != nil {
		return err.Error(), log.Text(), 0
	}
	defer s.Close()
	all := []any{}
	for {
		batch, err := s.Next(t.Context())
		if err != nil && err.Error() == "EOF" {
			return value.JSON(all), log.Text(), 0
		}
		if err != nil {
			return err.Error(), log.Text(), 0
		}
		all = append(all, batch...)
	}
}

const (
	amounts  = `{"type": "object", "properties": {"id": {"type": "integer"}, "amount": {"type": "number"}}}`
	required = `{"type": "object", "properties": {"id": {"type": "integer"}, "amount": {"type": "number"}}, "required": ["id"]}`
	loose    = `{"type": "object", "properties": {"id": {"type": "integer"}, "amount": {"type": "number"}}, "required": []}`
)

// Each rule holds for arrays and streams alike.
func TestRules(t *testing.T) {
	const empty = "the file is empty; allow_empty: true allows that"
	for _, c := range []ruleCase{
		{rule: "70", name: "a column of the schema", schema: amounts, file: "a.csv", text: "id,name\n1,x\n", want: `a.csv: the file has no column "amount"; it has "id", "name"`},
		{rule: "70", name: "the nearest name", schema: amounts, file: "a.tsv", text: "id\tamuont\n1\t2\n", want: `a.tsv: the file has no column "amount", did you mean "amuont"?`},
		{rule: "70", name: "other letters", schema: amounts, file: "a.csv", text: "ID,Amount\n1,2\n", want: `a.csv: the file has no column "id", did you mean "ID"?`},
		{rule: "70", name: "a nested column of the schema", schema: `{"type": "object", "properties": {"tags": {"type": "array"}}}`, file: "a.jsonl", text: "{\"id\":1}\n", want: `a.jsonl: no row has the column "tags"`},
		{rule: "70", name: "under columns", node: `"columns": {"amount": {"type": "number"}}`, file: "a.csv", text: "id\n1\n", want: `a.csv: the file has no column "amount"; it has "id"`},
		{rule: "70", name: "under columns without a type", node: `"columns": {"amount": {}}`, file: "a.csv", text: "id\n1\n", want: `a.csv: the file has no column "amount"; it has "id"`},
		{rule: "70", name: "under select", node: `"select": ["amount"]`, file: "a.csv", text: "id\n1\n", want: `a.csv: the file has no column "amount"; it has "id"`},
		{rule: "70", name: "selected of json", node: `"select": ["amount"]`, file: "a.json", text: `[{"id": 1, "amuont": 2}]`, want: `a.json: no row has the column "amount", did you mean "amuont"?`},
		{rule: "70", name: "no row of json", schema: amounts, file: "a.jsonl", text: "{\"id\":1}\n{\"id\":2}\n", want: `a.jsonl: no row has the column "amount"`},
		{rule: "70", name: "one row of json", schema: amounts, file: "a.jsonl", text: "{\"id\":1}\n{\"id\":2,\"amount\":3}\n", want: `[{"id":1},{"id":2,"amount":3}]`},
		{rule: "70", name: "a bad row of json has it", schema: amounts, node: `"on_bad_row": "skip"`, file: "a.jsonl", text: "{\"id\":1}\n{\"id\":2,\"amount\":\"x\"}\n", want: `[{"id":1}]`},
		{rule: "70", name: "json without rows", schema: amounts, file: "a.json", text: "[]", want: `[]`, warning: "a.json has no rows"},
		{rule: "70", name: "before the first row", schema: amounts, file: "a.csv", text: "id\nx\ny,z\n", want: `a.csv: the file has no column "amount"; it has "id"`},
		{rule: "70", name: "a limit before a row of json that has it", schema: amounts, node: `"limit": 1`, file: "a.jsonl", text: "{\"id\":1}\n{\"id\":2,\"amount\":3}\n", want: `[{"id":1}]`},
		{rule: "70", name: "Parquet", node: `"columns": {"amount": "number"}`, file: "f.parquet", want: `f.parquet: the file has no column "amount"; it has "delay", "origin"`},
		{rule: "70", name: "a column of the file's name", schema: `{"type": "object", "properties": {"id": {"type": "integer"}, "file": {"type": "string"}}}`, node: `"file_column": "file"`, file: "a.csv", text: "id\n1\n", want: `[{"id":1,"file":"a.csv"}]`},
		{rule: "70", name: "a header in the document", schema: amounts, node: `"header": ["id", "name"]`, file: "a.csv", text: "1,x\n", want: `load: node n: columns: the header has no column "amount"`},

		{rule: "71", name: "optional", node: `"columns": {"id": "integer", "amount": {"type": "number", "optional": true}}`, file: "a.csv", text: "id,more\n1,x\n", want: `[{"id":1,"more":"x","amount":null}]`},
		{rule: "71", name: "optional and there", node: `"columns": {"amount": {"type": "number", "optional": true}}`, file: "a.csv", text: "amount,id\n7,1\n", want: `[{"amount":7.0,"id":1}]`},
		{rule: "71", name: "the schema does not require it", schema: required, file: "a.tsv", text: "id\tmore\n1\tx\n", want: `[{"id":1,"more":"x","amount":null}]`},
		{rule: "71", name: "the schema requires nothing", schema: loose, file: "a.csv", text: "more\nx\n", want: `[{"more":"x","id":null,"amount":null}]`},
		{rule: "71", name: "the node requires it", schema: required, node: `"columns": {"amount": {"optional": false}}`, file: "a.csv", text: "id\n1\n", want: `a.csv: the file has no column "amount"; it has "id"`},
		{rule: "71", name: "selected", node: `"select": ["amount", "id"], "columns": {"amount": {"type": "number", "optional": true}}`, file: "a.csv", text: "id\n1\n", want: `[{"amount":null,"id":1}]`},
		{rule: "71", name: "rows of json stay", schema: required, file: "a.jsonl", text: "{\"id\":1}\n", want: `[{"id":1}]`},
		{rule: "71", name: "Parquet", node: `"select": ["delay", "amount"], "columns": {"amount": {"type": "number", "optional": true}}, "limit": 1`, file: "f.parquet", want: `[{"delay":0,"amount":null}]`},
		{rule: "71", name: "a type that is none", node: `"columns": {"amount": {"type": "intger", "optional": true}}`, file: "a.csv", want: `load: node n: columns.amount: type: "intger" is none of string, integer, number, boolean, array, object`},
		{rule: "71", name: "unknown: keep", node: `"unknown": "keep", "columns": {"id": "integer"}`, file: "a.csv", text: "id,x\n1,2\n", want: `[{"id":1,"x":2}]`},
		{rule: "71", name: "unknown: drop", schema: required, node: `"unknown": "drop"`, file: "a.csv", text: "x,id\n2,1\n", want: `[{"id":1,"amount":null}]`},
		{rule: "71", name: "unknown: drop of json", schema: required, node: `"unknown": "drop"`, file: "a.jsonl", text: "{\"x\":1,\"id\":2}\n{\"amount\":1,\"id\":2}\n", want: `[{"id":2},{"amount":1,"id":2}]`},
		{rule: "71", name: "unknown: fail", schema: required, node: `"unknown": "fail"`, file: "a.csv", text: "id,x\n1,2\n", want: `a.csv: the column "x" is not declared (unknown: fail)`},
		{rule: "71", name: "unknown: fail of json", schema: required, node: `"unknown": "fail", "on_bad_row": "skip"`, file: "a.json", text: "[{\"id\":1},\n{\"x\":1}]", want: `a.json:2: row 2: the column "x" is not declared (unknown: fail)`},
		{rule: "71", name: "unknown: fail of Parquet", node: `"unknown": "fail", "columns": {"delay": "integer"}`, file: "f.parquet", want: `f.parquet: the column "origin" is not declared (unknown: fail)`},
		{rule: "71", name: "unknown: drop of Parquet", node: `"unknown": "drop", "columns": {"delay": "integer"}, "limit": 1`, file: "f.parquet", want: `[{"delay":0}]`},
		{rule: "71", name: "unknown without declarations", node: `"unknown": "drop"`, file: "a.csv", want: `load: node n: unknown: no columns are declared`},

		{rule: "72", name: "semicolons", file: "a.csv", text: "id;name\n1;x\n", want: `a.csv:1: the header is one column "id;name": delimiter: ";"?`},
		{rule: "72", name: "a tab", file: "a.csv", text: "id\tname\n1\tx\n", want: `a.csv:1: the header is one column "id\tname": delimiter: tab?`},
		{rule: "72", name: "a bar", file: "a.tsv", text: "id|name\n", want: `a.tsv:1: the header is one column "id|name": delimiter: "|"?`},
		{rule: "72", name: "a comma in tsv", file: "a.tsv", text: "id,name\n", want: `a.tsv:1: the header is one column "id,name": delimiter: ","?`},
		{rule: "72", name: "before absent columns", schema: amounts, file: "a.csv", text: "id;amount\n1;2\n", want: `a.csv:1: the header is one column "id;amount": delimiter: ";"?`},
		{rule: "72", name: "also with bad rows", node: `"on_bad_row": "skip"`, file: "a.csv", text: "id;amount\n1;2,5\n", want: `a.csv:1: the header is one column "id;amount": delimiter: ";"?`},
		{rule: "72", name: "the name is declared", node: `"columns": {"id;name": "string"}`, file: "a.csv", text: "id;name\n1;x\n", want: `[{"id;name":"1;x"}]`},
		{rule: "72", name: "a delimiter is given", node: `"delimiter": ","`, file: "a.csv", text: "id;name\n1;x\n", want: `[{"id;name":"1;x"}]`},
		{rule: "72", name: "two columns", file: "a.csv", text: "id;name,x\n1;x,2\n", want: `[{"id;name":"1;x","x":2}]`},
		{rule: "72", name: "its own delimiter in quotes", file: "a.csv", text: "\"id,name\"\nx\n", want: `[{"id,name":"x"}]`},

		{rule: "74", name: "5,000 rows, whatever is tolerated", node: `"rejects": "r.jsonl", "max_failures": "100%"`, file: "a.csv",
			text: "id,v\n1,\"1.5\n" + strings.Repeat("2,3\n", 5000), want: `a.csv:2: byte 3 of line 2: the cell begins with a quote, and no quote ends it`},
		{rule: "74", name: "skip", node: `"on_bad_row": "skip"`, file: "a.csv", text: "id,v\n1,2\n2,\"3\n", want: `a.csv:3: byte 3 of line 3: the cell begins with a quote, and no quote ends it`},
		{rule: "74", name: "max_row", node: `"on_bad_row": "skip", "max_row": 1000`, file: "a.csv", text: "id,v\n1,\"2\n" + strings.Repeat("2,3\n", 5000),
			want: `a.csv:2: byte 3 of line 2: the cell begins with a quote, and no quote ends it within the 1000 bytes that a row may have (max_row)`},
		{rule: "74", name: "text after a quote is a bad row", node: `"on_bad_row": "skip"`, file: "a.csv", text: "id,v\n1,\"2\"3\n2,3\n", want: `[{"id":2,"v":3}]`},

		{rule: "75", name: "no byte", file: "a.csv", want: "a.csv: " + empty},
		{rule: "75", name: "blank lines", file: "a.tsv", text: "\xef\xbb\xbf\r\n\n\r\n", want: "a.tsv: " + empty},
		{rule: "75", name: "a given header", node: `"header": ["a"]`, file: "a.csv", text: "\n", want: "a.csv: " + empty},
		{rule: "75", name: "declared columns", schema: amounts, file: "a.csv", want: "a.csv: " + empty},
		{rule: "75", name: "jsonl", file: "a.jsonl", text: " \n\n", want: "a.jsonl: " + empty},
		{rule: "75", name: "json", file: "a.json", text: "\n", want: "a.json: " + empty},
		{rule: "75", name: "gzip", file: "a.csv.gz", want: "a.csv.gz: " + empty},
		{rule: "75", name: "gzip of nothing", file: "b.csv.gz", text: zipped(""), want: "b.csv.gz: " + empty},
		{rule: "75", name: "allow_empty", node: `"allow_empty": true`, file: "a.csv", want: "[]"},
		{rule: "75", name: "allow_empty of json", node: `"allow_empty": true`, file: "a.json", want: "[]"},
		{rule: "75", name: "a header", file: "a.csv", text: "id\n", want: "[]", warning: "a.csv has no rows"},
		{rule: "75", name: "an empty array", file: "a.json", text: "[]\n", want: "[]", warning: "a.json has no rows"},
		{rule: "75", name: "a header is meant", node: `"allow_empty": true`, file: "a.csv", text: "id\n", want: "[]"},
		{rule: "75", name: "no good row", node: `"on_bad_row": "skip"`, file: "a.csv", text: "id,v\n1\n2\n", want: `a.csv: none of 2 rows is good, the first: a.csv:2: row 1: has 1 cell, want 2; allow_empty: true allows that`},
		{rule: "75", name: "whatever is tolerated", node: `"max_failures": "100%", "checks": [{"name": "c", "expr": "$item.id > 5"}]`, file: "a.csv", text: "id\n1\n", want: `a.csv: the only row is bad: a.csv:2: row 1: check "c": $item.id > 5 is false, $item.id = 1; allow_empty: true allows that`},
		{rule: "75", name: "no row need be good", node: `"on_bad_row": "skip", "allow_empty": true`, file: "a.csv", text: "id,v\n1\n", want: "[]"},
		{rule: "75", name: "an absent file", node: `"optional": true, "columns": {"id": "integer"}`, file: "-", want: "[]"},

		{rule: "76", name: "fewer", node: `"min_rows": 100`, file: "a.csv", text: "id\n1\n2\n3\n", want: "a.csv: 3 rows, want at least 100 (min_rows)"},
		{rule: "76", name: "as many", node: `"min_rows": 3`, file: "a.csv", text: "id\n1\n2\n3\n", want: `[{"id":1},{"id":2},{"id":3}]`},
		{rule: "76", name: "bad rows do not count", node: `"min_rows": 2, "on_bad_row": "skip"`, file: "a.csv", text: "id,v\n1,2\n2\n", want: `a.csv: 1 row, want at least 2 (min_rows)`},
		{rule: "76", name: "an absent file", node: `"optional": true, "min_rows": 1`, file: "-", want: "in.csv: 0 rows, want at least 1 (min_rows)"},
		{rule: "76", name: "limit", node: `"min_rows": 2, "limit": 1`, file: "a.csv", text: "id\n1\n", want: "load: node n: min_rows: limit: 1 never yields so many rows"},
	} {
		for _, stream := range []bool{false, true} {
			name := "rule " + c.rule + "/" + c.name + "/array"
			if stream {
				name = "rule " + c.rule + "/" + c.name + "/stream"
			}
			t.Run(name, func(t *testing.T) {
				source, tree := c.file, map[string]string{c.file: c.text}
				switch c.file {
				case "-":
					source, tree = "in.csv", nil
				case "f.parquet":
					tree[c.file] = flights(t, 2)
				}
				node := `{"source": "` + source + `", "writes": ["rows"]`
				if stream {
					node += `, "stream": true`
				}
				if c.node != "" {
					node += ", " + c.node
				}
				got, warnings, _ := outcome(t, node+"}", rulesEnv(t, folder(t, tree), c.schema), stream)
				if got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if c.warning == "" && warnings != "" || !strings.Contains(warnings, c.warning) {
					t.Errorf("warnings %q, want %q", warnings, c.warning)
				}
			})
		}
	}
}

// Rules 70, 71, 75 and 76 over several files.
func TestRulesOfSeveralFiles(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.csv": "id,x\n1,2\n", "b.csv": "id,amount,x\n2,7,3\n", "head.csv": "id,x\n", "empty.csv": "", "semi.csv": "id;x\n1;2\n",
		"a.jsonl": "{\"id\":1,\"amount\":1}\n", "b.jsonl": "{\"id\":2}\n", "lines.jsonl": "\n",
	})
	const optional = `"columns": {"amount": {"type": "number", "optional": true}}`
	for _, c := range []struct{ rule, node, want string }{
		{"70", `"source": ["b.csv", "a.csv"], "columns": {"amount": "number"}`, `a.csv: the file has no column "amount"; it has "id", "x"`},
		{"70", `"source": ["a.jsonl", "b.jsonl"], "columns": {"amount": "number"}`, `b.jsonl: no row has the column "amount"`},
		{"71", `"source": ["a.csv", "b.csv"], ` + optional, `[{"id":1,"x":2,"amount":null},{"id":2,"x":3,"amount":7.0}]`},
		{"71", `"source": ["b.csv", "a.csv"], ` + optional, `[{"id":2,"amount":7.0,"x":3},{"id":1,"amount":null,"x":2}]`},
		{"71", `"source": ["a.csv", "b.csv"], "infer": false, ` + optional, `[{"id":"1","x":"2","amount":null},{"id":"2","x":"3","amount":7.0}]`},
		{"71", `"source": ["a.csv", "b.csv"], "unknown": "drop", "columns": {"id": "integer"}`, `[{"id":1},{"id":2}]`},
		{"71", `"source": ["a.csv", "b.csv"]`, `b.csv: column 2 is "amount", in a.csv it is "x"; the files of one table have the same header`},
		{"72", `"source": ["a.csv", "semi.csv"]`, `semi.csv:1: the header is one column "id;x": delimiter: ";"?`},
		{"75", `"source": ["a.csv", "empty.csv"]`, `empty.csv: the file is empty; allow_empty: true allows that`},
		{"75", `"source": ["a.csv", "head.csv"]`, `[{"id":1,"x":2}]`},
		{"76", `"source": ["a.csv", "head.csv"], "min_rows": 1`, `[{"id":1,"x":2}]`},
		{"76", `"source": ["a.csv", "head.csv"], "min_rows": 2`, `a.csv and 1 more: 1 row, want at least 2 (min_rows)`},
	} {
		for _, stream := range []string{"", `, "stream": true`} {
			got, warnings, _ := outcome(t, `{`+c.node+`, "writes": ["rows"]`+stream+`}`, rulesEnv(t, dir, ""), stream != "")
			if got != c.want || warnings != "" {
				t.Errorf("rule %s: %s%s: %s\nwant %s, warnings %q", c.rule, c.node, stream, got, c.want, warnings)
			}
		}
	}
}

// Rule 75: rejected rows make a table without good rows a partial success if that is
// allowed.
func TestRule75Status(t *testing.T) {
	dir := folder(t, map[string]string{"a.csv": "a,b\n1\n"})
	_, _, status := outcome(t, `{"source": "a.csv", "on_bad_row": "skip", "allow_empty": true, "writes": ["rows"]}`, rulesEnv(t, dir, ""), false)
	if status != core.PartialSuccess {
		t.Errorf("status %v", status)
	}
}

// Rule 77: whatever the result of the node, its rejects are the rejects of this run.
func TestRule77Replaced(t *testing.T) {
	for _, c := range []struct{ name, node, text, rejects string }{
		{"good rows", `"rejects": "r.jsonl"`, "a\n1\n", ""},
		{"good rows, csv", `"rejects": "r.csv"`, "a\n1\n", "row,line,node,check,reason,data,raw,raw_base64\n"},
		{"good rows, json", `"rejects": "r.json"`, "a\n1\n", "[]\n"},
		{"an absent column", `"rejects": "r.jsonl", "columns": {"b": "integer"}`, "a\n1\n", ""},
		{"an absent column, csv", `"rejects": "r.csv", "columns": {"b": "integer"}`, "a\n1\n", "row,line,node,check,reason,data,raw,raw_base64\n"},
		{"an absent file", `"rejects": "r.jsonl", "check": false, "source": "none.csv"`, "", ""},
		{"no file of a pattern", `"rejects": "r.jsonl", "check": false, "source": "none*.csv"`, "", ""},
		{"a name without a value", `"rejects": "r.jsonl", "format": "csv", "source": "$.file"`, "", ""},
		{"names of no format", `"rejects": "r.jsonl", "source": "{{$.rows[0].x}}in.x"`, "", ""},
		{"a file that breaks off", `"rejects": "r.jsonl", "columns": {"a": "integer"}, "compression": "gzip"`, cutOff("a\nx\n" + strings.Repeat("1\n", 100_000)),
			`{"row":1,"line":2,"node":"n","check":null,"reason":"column 1 (a): want integer, got \"x\"","data":["x"],"raw":"x"}` + "\n"},
		{"too many", `"rejects": "r.jsonl", "max_failures": 0`, "a,b\n1\n",
			`{"row":1,"line":2,"node":"n","check":null,"reason":"has 1 cell, want 2","data":["1"],"raw":"1"}` + "\n"},
		{"none good", `"rejects": "r.jsonl"`, "a,b\n1\n",
			`{"row":1,"line":2,"node":"n","check":null,"reason":"has 1 cell, want 2","data":["1"],"raw":"1"}` + "\n"},
		{"too few", `"rejects": "r.jsonl", "min_rows": 2`, "a,b\n1\n2,3\n",
			`{"row":1,"line":2,"node":"n","check":null,"reason":"has 1 cell, want 2","data":["1"],"raw":"1"}` + "\n"},
	} {
		for _, stream := range []bool{false, true} {
			dir := folder(t, map[string]string{"in.csv": c.text, "r.jsonl": "old\n", "r.csv": "old\n", "r.json": "old\n"})
			node := `{` + c.node + `, "writes": ["rows"]`
			if !strings.Contains(node, "source") {
				node += `, "source": "in.csv"`
			}
			if stream {
				node += `, "stream": true`
			}
			outcome(t, node+"}", rulesEnv(t, dir, ""), stream)
			name := "r.jsonl"
			for _, other := range []string{"r.csv", "r.json"} {
				if strings.Contains(c.node, `"`+other+`"`) {
					name = other
				}
			}
			if got := contents(t, dir, name); got != c.rejects {
				t.Errorf("rule 77: %s, stream %v: rejects\n%s\nwant\n%s", c.name, stream, got, c.rejects)
			}
		}
	}
	// A stream without a reader has replaced them, too.
	dir := folder(t, map[string]string{"in.csv": "a\n1\n", "r.jsonl": "old\n"})
	if _, _, err := opened(t, `{"source": "in.csv", "rejects": "r.jsonl", "stream": true, "writes": ["rows"]}`, env(t, dir)); err != nil || contents(t, dir, "r.jsonl") != "" {
		t.Errorf("a stream that is not read: %v, rejects %q", err, contents(t, dir, "r.jsonl"))
	}
}

// cutOff is gzip data without its end.
func cutOff(text string) string {
	data := zipped(text)
	return data[:len(data)*9/10]
}

// Rule 77: rejects hold the bytes of the row.
func TestRule77Raw(t *testing.T) {
	record := func(row, line, reason, data, raw string) string {
		return `{"row":` + row + `,"line":` + line + `,"node":"n","check":null,"reason":"` + reason + `","data":` + data + `,` + raw + `}`
	}
	b64 := func(s string) string { return `"raw_base64":"` + base64.StdEncoding.EncodeToString([]byte(s)) + `"` }
	for _, c := range []struct{ name, file, node, text, want string }{
		{"spaces and quotes", "a.csv", `"max_failures": 9`, "a,b\n \"x\" ,1,2\n1,2\n", record("1", "2", `byte 2 of line 2: a quote in a cell that does not begin with one; put the cell in quotes and write \"\" for the quote in it`, `" \"x\" ,1,2"`, `"raw":" \"x\" ,1,2"`)},
		{"a quoted line break", "a.csv", `"infer": false`, "a,b\r\n\"x\r\n\"\"y\"\"\",1,2\r\n1,2\r\n", record("1", "2", "has 3 cells, want 2", `["x\r\n\"y\"","1","2"]`, `"raw":"\"x\r\n\"\"y\"\"\",1,2"`)},
		{"carriage returns alone", "a.csv", `"columns": {"a": "string", "b": "string"}`, "a,b\r\"x\ry\",1,2\r1,2\r", record("1", "2", "has 3 cells, want 2", `["x\ry","1","2"]`, `"raw":"\"x\ry\",1,2"`)},
		{"not UTF-8", "a.csv", `"infer": false`, "a\n\xe9t\xe9\nx\n", record("1", "2", "column 1 (a) is not UTF-8", `["`+"\ufffdt\ufffd"+`"]`, b64("\xe9t\xe9"))},
		{"a declared type", "a.csv", `"columns": {"a": "integer"}`, "a,b\n\"x\",\"q\"\"\"\n1,2\n", record("1", "2", `column 1 (a): want integer, got \"x\"`, `["x","q\""]`, `"raw":"\"x\",\"q\"\"\""`)},
		{"jsonl", "a.jsonl", `"columns": {"a": "integer"}`, "  {\"a\" :\"x\"} \r\n{\"a\":1}\n", record("1", "1", `column a: want integer, got string \"x\"`, `{"a":"x"}`, `"raw":"  {\"a\" :\"x\"} "`)},
		{"json", "a.json", `"columns": {"a": "integer"}`, "[{\"a\":\n \"x\"}, {\"a\":1}]", record("1", "1", `column a: want integer, got string \"x\"`, `{"a":"x"}`, `"raw":"{\"a\":\n \"x\"}"`)},
		{"not UTF-8, jsonl", "a.jsonl", `"max_failures": 1`, "{\"a\":\"\xff\"}\n{\"a\":1}\n", record("1", "1", "the row is not UTF-8", `"{\"a\":\"`+"\ufffd"+`\"}"`, b64("{\"a\":\"\xff\"}"))},
	} {
		dir := folder(t, map[string]string{c.file: c.text})
		outcome(t, `{"source": "`+c.file+`", "rejects": "r.jsonl", `+c.node+`, "writes": ["rows"]}`, rulesEnv(t, dir, ""), false)
		if got := strings.TrimSuffix(contents(t, dir, "r.jsonl"), "\n"); got != c.want {
			t.Errorf("rule 77: %s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
	// Rows that fail a check, found in the window of types and after it, with quotes and
	// without.
	text := "a,b\n" + strings.Repeat("1,\"x\"\n2,y\n", 2000)
	for _, node := range []string{`"infer_rows": 100`, `"infer_rows": 4000`, `"infer": false`, `"stream": true`} {
		dir := folder(t, map[string]string{"a.csv": text})
		outcome(t, `{"source": "a.csv", "rejects": "r.jsonl", `+node+`, "checks": [{"name": "c", "expr": "$index % 1000 == 5"}], "writes": ["rows"]}`,
			rulesEnv(t, dir, ""), strings.Contains(node, "stream"))
		got := contents(t, dir, "r.jsonl")
		if strings.Count(got, `"raw":"1,\"x\""`) != 2000 || strings.Count(got, `"raw":"2,y"`) != 1996 {
			t.Errorf("rule 77: %s: %.300s", node, got)
		}
	}
}

// Rule 79: folders and patterns.
func TestRule79(t *testing.T) {
	row := func(n string) string { return "n\n" + n + "\n" }
	dir := folder(t, map[string]string{
		"in/b.csv": row("1"), "in/B.csv": row("2"), "in/a.CSV": row("3"), "in/c.csv.gz": zipped(row("4")), "in/.hidden.csv": row("90"), "in/_part.csv": row("91"),
		"in/x.json": `[]`, "in/readme": "", "in/deep/d.csv": row("5"), "in/deep/er/e.csv": row("6"), "in/deep/er/_f.csv": row("7"), "other/x.txt": "",
	})
	for _, c := range []struct{ node, want string }{
		{`"source": "in/", "format": "csv"`, `[["in/B.csv",2],["in/a.CSV",3],["in/b.csv",1],["in/c.csv.gz",4]]`},
		{`"source": "./in/", "format": "csv"`, `[["in/B.csv",2],["in/a.CSV",3],["in/b.csv",1],["in/c.csv.gz",4]]`},
		{`"source": ["in/deep/d.csv", "in/"]`, `[["in/deep/d.csv",5],["in/B.csv",2],["in/a.CSV",3],["in/b.csv",1],["in/c.csv.gz",4]]`},
		{`"source": "in/**/*.csv"`, `[["in/.hidden.csv",90],["in/B.csv",2],["in/_part.csv",91],["in/b.csv",1],["in/deep/d.csv",5],["in/deep/er/_f.csv",7],["in/deep/er/e.csv",6]]`},
		{`"source": "in/**/er/*.csv"`, `[["in/deep/er/_f.csv",7],["in/deep/er/e.csv",6]]`},
		{`"source": "**/d.csv"`, `[["in/deep/d.csv",5]]`},
		{`"source": "in/deep/**", "format": "csv"`, `[["in/deep/d.csv",5],["in/deep/er/_f.csv",7],["in/deep/er/e.csv",6]]`},
		{`"source": "in/**/deep/**/**/e.csv"`, `[["in/deep/er/e.csv",6]]`},
		{`"source": "in/*/d.csv"`, `[["in/deep/d.csv",5]]`},
		{`"source": ["in/b.csv", "./in/b.csv", "in/../in/b.csv"]`, `[["in/b.csv",1]]`},
		{`"source": "` + dir + `/in/deep/", "format": "csv", "allow_outside": true`, `[["in/deep/d.csv",5]]`},
		{`"source": "` + dir + `/in/**/d.csv", "allow_outside": true`, `[["in/deep/d.csv",5]]`},
		{`"source": "in/"`, `load: node n: source: "in/" is a folder, which has files of any format`},
		{`"source": "in/deep/", "format": "json"`, `load: node n: source: there is no file of the format in the folder "in/deep/"`},
		{`"source": "in/deep/", "format": "json", "check": false`, `no json file is in the folder "in/deep/": file does not exist`},
		{`"source": "in/deep/", "format": "json", "optional": true`, `[]`},
		{`"source": "none/", "format": "json"`, `load: node n: source: there is no folder "none/"`},
		{`"source": "none/", "format": "json", "optional": true`, `[]`},
		{`"source": "none/**/*.csv"`, `load: node n: source: no file matches "none/**/*.csv"`},
		{`"source": "none/**/*.csv", "check": false`, `no file matches "none/**/*.csv": file does not exist`},
		{`"source": "in/**/", "format": "csv"`, `load: node n: source: the pattern "in/**/" ends in a slash; write in/**/*`},
		{`"source": "in/**/[", "format": "csv"`, `load: node n: source: "in/**/[" is not a pattern: syntax error in pattern`},
		{`"source": "in"`, `load: node n: source: "in" does not end in the name of a format`},
	} {
		for _, stream := range []bool{false, true} {
			node := `{` + c.node + `, "file_column": "_file", "writes": ["rows"]`
			if stream {
				node += `, "stream": true`
			}
			got, _, _ := outcome(t, node+"}", rulesEnv(t, dir, ""), stream)
			if list, err := value.ParseJSON([]byte(got)); err == nil {
				short := []any{}
				for _, r := range list.([]any) {
					name, _ := r.(*value.Object).Get("_file")
					n, _ := r.(*value.Object).Get("n")
					short = append(short, []any{name, n})
				}
				got = value.JSON(short)
			}
			if got != c.want {
				t.Errorf("rule 79: %s, stream %v:\n got %s\nwant %s", c.node, stream, got, c.want)
			}
		}
	}
	// There is no column for the file unless it is requested.
	if got, _, _ := outcome(t, `{"source": "in/b.csv", "writes": ["rows"]}`, rulesEnv(t, dir, ""), false); got != `[{"n":1}]` {
		t.Errorf("rule 79: without file_column: %s", got)
	}
}
