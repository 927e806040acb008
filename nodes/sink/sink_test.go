package sink

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

const fields = `{
	"rows": {"type": "array", "items": {"type": "object"}}, "any": {}, "text": {"type": "string"}, "file": {"type": "string"},
	"typed": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}, "delay": {"type": "number"}}}},
	"report": {"type": "object", "properties": {"rows": {"type": "array"}, "body": {"type": "string"}}}}`

func TestCompile(t *testing.T) {
	env := core.Env{Schema: nodestest.Schema(t, fields)}
	for _, c := range []struct{ node, want string }{
		{`{"to": "out.csv", "reads": ["rows"]}`, ""},
		{`{"to": "out.csv", "from": "rows"}`, ""},
		{`{"to": "out.json", "from": "$.report"}`, ""},
		{`{"to": "out.md", "from": "$.report.body"}`, ""},
		{`{"to": "$.file", "from": "any"}`, ""},
		{`{"to": "x.db", "table": "t", "from": "rows"}`, ""},
		{`{"to": "x.dat", "table": "t", "from": "rows"}`, ""},
		{`{"from": "rows"}`, `1:1: error: node n: key "to" is missing [MISSING_KEY]`},
		{`{"to": "out", "from": "rows"}`, `1:8: error: node n: to: "out" does not end in the name of a format (add format: csv, tsv, jsonl, json, parquet or text, or for a database table: NAME) [BAD_VALUE]`},
		{`{"to": "../out.csv", "from": "rows"}`, `1:8: error: node n: to: "../out.csv" leaves the workflow's folder (files are written in the workflow's folder unless allow_outside is true) [BAD_VALUE]`},
		{`{"to": "../out.csv", "allow_outside": true, "from": "rows"}`, ""},
		{`{"to": "file:out.csv", "from": "rows"}`, `1:8: error: node n: to: "file:out.csv" is a URI, and files are named by their paths: write out.csv [BAD_VALUE]`},
		{`{"to": "x.db?mode=rw", "table": "t", "from": "rows"}`, `1:8: error: node n: to: "x.db?mode=rw" ends in parameters of a connection, which have no effect here: write x.db [BAD_VALUE]`},
		{`{"to": "x.db", "table": "t", "mode": "append", "key": ["id"], "from": "rows"}`, ""},
		{`{"to": "out.csv/", "format": "csv", "from": "rows"}`, `1:8: error: node n: to: "out.csv/" is a folder [BAD_VALUE]`},
		{`{"to": "out.csv"}`, `1:1: error: node n: from: name the field: the node reads 0 (from: rows) [BAD_VALUE]`},
		{`{"to": "out.csv", "reads": ["rows", "any"]}`, `1:1: error: node n: from: name the field: the node reads 2 (from: rows) [BAD_VALUE]`},
		{`{"to": "out.csv", "from": "row"}`, `1:27: error: node n: from: the state has no field "row" (did you mean "rows"?) [UNKNOWN_FIELD]`},
		{`{"to": "out.csv", "from": "text"}`, `1:27: error: node n: from: csv holds a value of type array, text is string (a string is written with format: text) [WRONG_TYPE]`},
		{`{"to": "out.txt", "from": "rows"}`, `1:27: error: node n: from: text holds a value of type string, rows is array [WRONG_TYPE]`},
		{`{"to": "out.csv", "from": "$.report.body"}`, `1:27: error: node n: from: csv holds a value of type array, $.report.body is string (a string is written with format: text) [WRONG_TYPE]`},
		{`{"to": "out.csv", "from": "rows", "mode": "append"}`, `1:43: error: node n: mode: does not go with csv [BAD_VALUE]`},
		{`{"to": "out.json", "from": "rows", "header": false}`, `1:46: error: node n: header: does not go with json [BAD_VALUE]`},
		{`{"to": "out.txt", "from": "text", "columns": ["a"]}`, `1:46: error: node n: columns: does not go with text [BAD_VALUE]`},
		{`{"to": "out.csv", "from": "rows", "columns": ["a", "b", "a"]}`, `1:57: error: node n: columns: column "a" appears twice [DUPLICATE_KEY]`},
		{`{"to": "out.csv", "from": "rows", "columns": {"a": "int"}}`, `1:52: error: node n: columns: a: want one of string, integer, number, boolean, array, object, found string "int" [BAD_VALUE]`},
		{`{"to": "out.csv", "from": "rows", "columns": "a"}`, `1:46: error: node n: columns: want a list of column names or a mapping from names to types, found string "a" [WRONG_TYPE]`},
		{`{"to": "out.csv", "from": "typed", "columns": ["id", "dely", "note"]}`, `1:54: warning: node n: columns: the rows of typed have no declared column "dely" (did you mean "delay"?) [UNKNOWN_FIELD]`},
		{`{"to": "x.db", "from": "rows"}`, `1:8: error: node n: to: an SQLite database needs the key "table" (table: NAME) [BAD_VALUE]`},
		{`{"to": "x.db", "table": "sqlite_x", "from": "rows"}`, `1:25: error: node n: table: names that begin with sqlite_ belong to SQLite [BAD_VALUE]`},
		{`{"to": "x.db", "table": "t", "mode": "upsert", "from": "rows"}`, `1:38: error: node n: mode: upsert needs the key "key" (key: [id]) [BAD_VALUE]`},
		{`{"to": "x.db", "table": "t", "mode": "upsert", "key": ["id"], "columns": ["ID", "id"], "from": "rows"}`, `1:8: error: node n: columns: "ID" and "id" are the same to SQLite, which ignores case [DUPLICATE_KEY]`},
		{`{"to": "x.db", "table": "t", "key": ["i"], "columns": ["id"], "from": "rows"}`, `1:38: error: node n: key: "i" is not among the columns (did you mean "id"?) [UNKNOWN_FIELD]`},
		{`{"to": "x.db", "table": "t", "mode": "overwrite", "from": "rows"}`, `1:38: error: node n: mode: "overwrite" is none of replace, append, upsert [BAD_VALUE]`},
		{`{"to": "out.csv.gz", "from": "rows", "compression": "none"}`, ""},
		{`{"to": "out.parquet", "from": "rows", "compression": "zstd"}`, ""},
		{`{"to": "out.parquet", "from": "text"}`, `1:31: error: node n: from: parquet holds a value of type array, text is string (a string is written with format: text) [WRONG_TYPE]`},
		{`{"to": "out.parquet.gz", "from": "rows"}`, `1:8: error: node n: to: "out.parquet.gz": a parquet file is compressed inside; leave .gz out of its name [BAD_VALUE]`},
		{`{"to": "out.csv", "from": "rows", "compression": "zstd"}`, `1:50: error: node n: compression: csv is compressed with gzip or none, zstd is for parquet [BAD_VALUE]`},
		{`{"to": "out.csv", "from": "rows", "compression": "lz"}`, `1:50: error: node n: compression: "lz" is none of none, gzip, snappy, zstd [BAD_VALUE]`},
		{`{"to": "x.db", "table": "t", "from": "rows", "compression": "gzip"}`, `1:61: error: node n: compression: does not go with sqlite [BAD_VALUE]`},
		{`{"to": "out.parquet", "from": "rows", "header": false}`, `1:49: error: node n: header: does not go with parquet [BAD_VALUE]`},
		{`{"to": "-", "from": "rows"}`, `1:8: error: node n: to: "-" does not end in the name of a format (add format: csv, tsv, jsonl, json, parquet or text, or for a database table: NAME) [BAD_VALUE]`},
		{`{"to": "-", "format": "csv", "from": "rows"}`, `1:8: error: node n: to: the program has no standard output to write to [BAD_VALUE]`},
		{`{"to": "-", "table": "t", "from": "rows"}`, `1:8: error: node n: to: a database is a file, not standard output [BAD_VALUE]`},
		{`{"to": "out.csv", "from": "rows", "writes": ["any"]}`, `1:46: warning: node n: a sink writes no state, field "any" stays as it is [UNUSED]`},
	} {
		made, ds := Kind.Compile(nodestest.Node(t, c.node), env)
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.node, got, c.want)
		}
		if !ds.Failed(false) && !made.Effects {
			t.Errorf("%s: a sink has effects", c.node)
		}
	}
}

// Columns that rows cannot have are errors, and columns that the state schema declares
// are empty.
func TestKnownColumns(t *testing.T) {
	env := core.Env{Schema: nodestest.Schema(t, fields), Columns: func(field string) source.Columns {
		return source.Columns{Names: []string{"a", "price"}, Closed: field == "rows" || field == "typed"}
	}}
	for _, c := range []struct{ node, want string }{
		{`{"to": "out.csv", "from": "rows", "columns": ["a", "prise"]}`,
			`1:52: error: node n: columns: the rows of rows have no column "prise" (did you mean "price"? known keys: a, price) [UNKNOWN_FIELD]`},
		{`{"to": "out.csv", "from": "typed", "columns": ["a", "delay"]}`, ``},
		{`{"to": "x.db", "table": "t", "from": "rows", "mode": "upsert", "key": ["b"]}`,
			`1:72: error: node n: key: the rows of rows have no column "b" (known keys: a, price) [UNKNOWN_FIELD]`},
		{`{"to": "x.db", "table": "t", "from": "rows", "mode": "upsert", "key": ["price"]}`, ``},
		{`{"to": "out.csv", "from": "any", "columns": ["prise"]}`, ``},
	} {
		_, ds := Kind.Compile(nodestest.Node(t, c.node), env)
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.node, got, c.want)
		}
	}
}

func rowsOf(t testing.TB, text string) []any {
	t.Helper()
	v, err := value.ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.([]any)
}

// dump returns a table of a database as text: its statement, then a row on each
// line.
func dump(t testing.TB, path, name string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var text string
	if err := db.QueryRow("SELECT sql FROM sqlite_schema WHERE name = ?", name).Scan(&text); err != nil {
		return err.Error()
	}
	list, err := db.Query(`SELECT * FROM "` + name + `" ORDER BY rowid`)
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	names, _ := list.Columns()
	row, into := make([]any, len(names)), make([]any, len(names))
	for i := range row {
		into[i] = &row[i]
	}
	for list.Next() {
		if err := list.Scan(into...); err != nil {
			t.Fatal(err)
		}
		text += "\n" + strings.TrimSpace(fmt.Sprintln(row...))
	}
	return text
}

func compiled(t testing.TB, node string) *handler {
	t.Helper()
	made, ds := Kind.Compile(nodestest.Node(t, node), core.Env{Schema: nodestest.Schema(t, fields)})
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	return made.Handler.(*handler)
}

// input holds one value as the declared read rows and one as the field file.
func input(dir string, rows, file any) core.Input {
	return core.NewInput("run", "n", 1, core.Shared{Dir: dir,
		View:  core.NewView([]string{"rows"}, []any{rows}),
		Extra: core.NewView([]string{"file", "text", "report", "any"}, []any{file, rows, rows, rows})})
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFiles(t *testing.T) {
	const rows = `[{"id":9007199254740993,"t":"x,y"},{"t":null,"z":1.0}]`
	for _, c := range []struct{ name, node, value, file, want, result string }{
		{"csv", `{"to": "a/b/out.csv", "reads": ["rows"]}`, rows, "a/b/out.csv", "id,t,z\n9007199254740993,\"x,y\",\n,,1.0\n",
			`{} -> {"path":"a/b/out.csv","rows":2} (2 rows written to a/b/out.csv)`},
		{"csv columns", `{"to": "out.csv", "reads": ["rows"], "columns": ["z", "id"], "header": false, "delimiter": ";"}`, rows, "out.csv", ";9007199254740993\n1.0;\n", ""},
		{"tsv", `{"to": "out.tsv", "reads": ["rows"], "columns": {"t": "string"}}`, rows, "out.tsv", "t\nx,y\n\"\"\n", ""},
		{"jsonl", `{"to": "out.jsonl", "reads": ["rows"]}`, rows, "out.jsonl", "{\"id\":9007199254740993,\"t\":\"x,y\"}\n{\"t\":null,\"z\":1.0}\n", ""},
		{"jsonl of scalars", `{"to": "out.jsonl", "reads": ["rows"]}`, `[1,"a",null]`, "out.jsonl", "1\n\"a\"\nnull\n", ""},
		{"json", `{"to": "out.json", "reads": ["rows"]}`, rows, "out.json", "[\n{\"id\":9007199254740993,\"t\":\"x,y\"},\n{\"t\":null,\"z\":1.0}\n]\n", ""},
		{"json columns", `{"to": "out.json", "reads": ["rows"], "columns": ["t"]}`, rows, "out.json", "[\n{\"t\":\"x,y\"},\n{\"t\":null}\n]\n", ""},
		{"json of an object", `{"to": "out.json", "from": "$.report"}`, `{"b":1,"a":[]}`, "out.json", "{\"b\":1,\"a\":[]}\n", `{} -> {"path":"out.json"} (written to out.json)`},
		{"text", `{"to": "out.md", "from": "text"}`, `"# hi\n"`, "out.md", "# hi\n", ""},
		{"markdown by format", `{"to": "out", "format": "markdown", "from": "$.text"}`, `"x"`, "out", "x", ""},
		{"no rows, known columns", `{"to": "out.csv", "from": "typed"}`, `[]`, "out.csv", "id,delay\n", ""},
		{"a name from the state", `{"to": "$.file", "reads": ["rows"]}`, `[]`, "named.json", "[]\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			v, err := value.ParseJSON([]byte(c.value))
			if err != nil {
				t.Fatal(err)
			}
			in := input(dir, v, "named.json")
			if strings.Contains(c.node, "typed") {
				in = core.NewInput("run", "n", 1, core.Shared{Dir: dir, Extra: core.NewView([]string{"typed"}, []any{v})})
			}
			r, err := compiled(t, c.node).Handle(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, dir, c.file); got != c.want {
				t.Errorf("file %q, want %q", got, c.want)
			}
			if got := nodestest.Text(r); c.result != "" && got != c.result {
				t.Errorf("result %s, want %s", got, c.result)
			}
		})
	}
}

func TestTypedGoValue(t *testing.T) {
	type order struct {
		ID    int64   `json:"id"`
		Total float64 `json:"total"`
	}
	dir := t.TempDir()
	if _, err := compiled(t, `{"to": "out.csv", "reads": ["rows"]}`).Handle(t.Context(), input(dir, []order{{1, 2}, {3, 4.5}}, nil)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "out.csv"); got != "id,total\n1,2\n3,4.5\n" {
		t.Fatalf("file %q", got)
	}
}

func TestRunFails(t *testing.T) {
	rows := []any{value.ObjectOf("id", int64(1)), value.ObjectOf("id", "x")}
	for _, c := range []struct {
		name, node string
		value      any
		want       string
	}{
		{"no value", `{"to": "out.csv", "reads": ["rows"]}`, value.Missing, "rows has no value"},
		{"no array", `{"to": "out.csv", "reads": ["rows"]}`, "x", "rows: want an array of objects, got string"},
		{"no object", `{"to": "out.csv", "reads": ["rows"]}`, []any{int64(1)}, "rows[0]: want an object, got integer"},
		{"no array for jsonl", `{"to": "out.jsonl", "reads": ["rows"]}`, "x", "rows: want an array, got string"},
		{"no text", `{"to": "out.md", "from": "$.any"}`, rows, "$.any: want a string, got array"},
		{"a declared type", `{"to": "out.csv", "reads": ["rows"], "columns": {"id": "integer"}}`, rows, `out.csv: row 2, column id: want integer, got string "x"`},
		{"a name outside", `{"to": "$.file", "format": "csv", "reads": ["rows"]}`, rows, `../x: "../x" leaves the workflow's folder (DIR); allow_outside: true allows that`},
		{"a template that climbs out", `{"to": "out/{{file}}.csv", "reads": ["rows"]}`, rows, `to: "out/../x.csv" leaves the folder out/`},
		{"a dash of the moment", `{"to": "$.file", "format": "csv", "from": "any"}`, rows, `to: "-" means standard output only if the document says so; ./- is a file`},
		{"a URI", `{"to": "$.file", "format": "csv", "reads": ["rows"]}`, rows, `to: "file:x.db?a=1" is a URI, and files are named by their paths: write x.db`},
		{"parameters of a database", `{"to": "./{{file}}", "table": "t", "reads": ["rows"]}`, rows, `to: "./x.db?mode=rw" ends in parameters of a connection, which have no effect here: write ./x.db`},
		{"a name without format", `{"to": "$.file", "reads": ["rows"]}`, rows, `to: "../x" does not end in the name of a format; add the key format`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := "../x"
			switch {
			case strings.HasPrefix(c.name, "a dash"):
				file = "-"
			case c.name == "a URI":
				file = "file:x.db?a=1"
			case c.name == "parameters of a database":
				file = "x.db?mode=rw"
			}
			_, err := compiled(t, c.node).Handle(t.Context(), input(dir, c.value, file))
			if err == nil || err.Error() != strings.ReplaceAll(c.want, "DIR", dir) {
				t.Fatalf("error %v, want %s", err, c.want)
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Fatalf("left behind: %v", entries)
			}
		})
	}
}

// On a full disk and after a cancellation the old file remains, and no other file is
// left next to it.
func TestFileFailsWhole(t *testing.T) {
	rows := make([]any, 5000)
	for i := range rows {
		rows[i] = value.ObjectOf("a", strings.Repeat("x", 100))
	}
	for _, to := range []string{"out.csv", "out.jsonl", "out.json"} {
		for name, want := range map[string]error{"full": syscall.ENOSPC, "cancelled": context.Canceled} {
			t.Run(to+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, to), []byte("old"), 0o666); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				h := compiled(t, `{"to": "`+to+`", "reads": ["rows"]}`)
				h.wrap = func(w io.Writer) io.Writer {
					return &hook{w: w, left: 100_000, then: func() error {
						if name == "full" {
							return syscall.ENOSPC
						}
						cancel()
						return nil
					}}
				}
				if _, err := h.Handle(ctx, input(dir, rows, nil)); !errors.Is(err, want) {
					t.Fatalf("error %v, want %v", err, want)
				}
				entries, _ := os.ReadDir(dir)
				if len(entries) != 1 || read(t, dir, to) != "old" {
					t.Fatalf("left behind: %v, %s holds %.20q", entries, to, read(t, dir, to))
				}
			})
		}
	}
}

// hook does something once a number of bytes was written.
type hook struct {
	w    io.Writer
	left int
	then func() error
}

func (h *hook) Write(p []byte) (int, error) {
	if h.left -= len(p); h.left <= 0 {
		if err := h.then(); err != nil {
			return 0, err
		}
	}
	return h.w.Write(p)
}

func TestDatabase(t *testing.T) {
	dir := t.TempDir()
	h := compiled(t, `{"to": "db/x.sqlite", "table": "flights", "mode": "upsert", "key": ["id"], "columns": {"id": "integer", "delay": "number"}, "reads": ["rows"]}`)
	for _, rows := range []string{`[{"id":9007199254740993,"delay":1}]`, `[{"id":9007199254740993,"delay":2.5},{"id":2}]`} {
		r, err := h.Handle(t.Context(), input(dir, rowsOf(t, rows), nil))
		if err != nil {
			t.Fatal(err)
		}
		if got := value.JSON(r.EdgeOutput); !strings.HasPrefix(got, `{"path":"db/x.sqlite","rows":`) || !strings.HasSuffix(got, `"table":"flights"}`) {
			t.Errorf("edge output %s", got)
		}
	}
	want := "CREATE TABLE \"flights\" (\"id\" INTEGER, \"delay\" REAL, PRIMARY KEY (\"id\"))\n2 <nil>\n9007199254740993 2.5"
	if got := dump(t, filepath.Join(dir, "db/x.sqlite"), "flights"); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	empty := compiled(t, `{"to": "db/x.sqlite", "table": "later", "from": "typed"}`)
	in := core.NewInput("run", "n", 1, core.Shared{Dir: dir, Extra: core.NewView([]string{"typed"}, []any{[]any{}})})
	if _, err := empty.Handle(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if got := dump(t, filepath.Join(dir, "db/x.sqlite"), "later"); got != "CREATE TABLE \"later\" (\"id\" INTEGER, \"delay\" REAL)" {
		t.Fatalf("a table without rows: %s", got)
	}
}

func TestFanOut(t *testing.T) {
	env := core.Env{Schema: nodestest.Schema(t, fields), Items: true}
	for node, ok := range map[string]bool{
		`{"to": "out.csv", "from": "$item.rows"}`:                              false,
		`{"to": "$item.file", "format": "csv", "from": "$item.rows"}`:          true,
		`{"to": "out/{{$item.file}}-{{$index}}.csv", "from": "$item.rows"}`:    true,
		`{"to": "x.db", "table": "t", "from": "$item.rows"}`:                   false,
		`{"to": "x.db", "table": "t", "mode": "append", "from": "$item.rows"}`: true,
	} {
		made, ds := Kind.Compile(nodestest.Node(t, node), env)
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		if replaces := slices.ContainsFunc(made.Outputs, func(t core.Target) bool { return !t.Adds }); replaces == ok {
			t.Errorf("%s: a fixed target is replaced: %v, want %v", node, replaces, !ok)
		}
		item := value.ObjectOf("file", "f", "rows", []any{value.ObjectOf("a", int64(1))})
		_, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{Dir: t.TempDir(), Item: item, Index: core.Nth(0)}))
		if err != nil {
			t.Errorf("%s: error %v", node, err)
		}
	}
}

// A listed column that no row has is usually misspelt: the file would have an empty
// column and lack the intended one. A column that the state schema declares is empty,
// with a warning.
func TestRule78ColumnsOfASink(t *testing.T) {
	env := core.Env{Schema: nodestest.Schema(t, `{"rows": {"type": "array", "items": {"type": "object", "properties": {"delay": {}, "late": {}}}}}`)}
	for _, to := range []string{`"out.csv"`, `"out.json"`, `"out.parquet"`, `"out.db", "table": "t"`, `"out.db", "table": "t", "mode": "append"`} {
		for columns, want := range map[string]string{
			`["delay", "dely"]`: `no row has the column "dely" (did you mean "delay"? columns: delay)`,
			`["delay", "late"]`: "",
		} {
			dir, log := t.TempDir(), &nodestest.Log{}
			in := core.NewInput("run", "n", 1, core.Shared{Dir: dir, Log: slog.New(log), View: core.NewView([]string{"rows"}, []any{rowsOf(t, `[{"delay":1}]`)})})
			made, ds := Kind.Compile(nodestest.Node(t, `{"to": `+to+`, "columns": `+columns+`, "reads": ["rows"]}`), env)
			if ds.Failed(false) {
				t.Fatal(ds)
			}
			_, err := made.Handler.Handle(t.Context(), in)
			name, _, _ := strings.Cut(strings.Trim(to, `"`), `"`)
			switch {
			case want == "" && (err != nil || log.Text() != "no row has the column late\n"):
				t.Errorf("%s, %s: %v, log %q", to, columns, err, log.Text())
			case want != "" && (err == nil || err.Error() != name+": "+want || log.Text() != ""):
				t.Errorf("%s, %s: %v, log %q", to, columns, err, log.Text())
			}
			if _, err := os.Stat(filepath.Join(dir, name)); want != "" && err == nil {
				t.Errorf("%s is there", name)
			}
		}
	}
}

func TestConformance(t *testing.T) {
	rows, err := value.ParseJSON([]byte(`[{"id":1,"x":"a"},{"id":2,"x":"b"}]`))
	if err != nil {
		t.Fatal(err)
	}
	env := core.Env{Schema: nodestest.Schema(t, fields)}
	shared := func() core.Shared {
		return core.Shared{Dir: t.TempDir(), View: core.NewView([]string{"rows"}, []any{rows})}
	}
	nodestest.Run(t, Kind,
		nodestest.Case{Name: "csv", Env: env, Input: shared(),
			Node: `{"to": "out.csv", "from": "rows", "format": "csv", "compression": "none", "columns": ["id"], "header": true, "delimiter": ",", "allow_outside": false, "reads": ["rows"]}`,
			Want: `{} -> {"path":"out.csv","rows":2} (2 rows written to out.csv)`},
		nodestest.Case{Name: "sqlite", Env: env, Input: shared(),
			Node: `{"to": "x.db", "table": "t", "mode": "upsert", "key": ["id"], "columns": {"id": "integer", "x": "string"}, "reads": ["rows"]}`,
			Want: `{} -> {"path":"x.db","rows":2,"table":"t"} (2 rows written to x.db, table t)`},
	)
}

func TestDocs(t *testing.T) {
	nodestest.CheckDocs(t, Kind)
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	dir := t.TempDir()
	for _, id := range []string{"file", "database"} {
		made, ds := Kind.Compile(nodestest.Node(t, nodestest.ExampleNode(t, example, id)), core.Env{Schema: nodestest.Schema(t, `{"delays": {"type": "array"}}`)})
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		in := core.Shared{Dir: dir, View: core.NewView([]string{"delays"}, []any{rowsOf(t, `[{"flights":1,"origin":"A","mean_delay":2.5}]`)})}
		if _, err := made.Handler.Handle(t.Context(), core.NewInput("r", id, 1, in)); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, dir, "out/delays.csv"); got != "origin,flights,mean_delay\nA,1,2.5\n" {
		t.Errorf("the example writes %q", got)
	}
	if got := dump(t, filepath.Join(dir, "out/flights.db"), "delays"); !strings.HasSuffix(got, "\n1 A 2.5") {
		t.Errorf("the example writes %s", got)
	}
}
