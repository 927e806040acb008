package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/document"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestCompile(t *testing.T) {
	const lite, pg = `"dsn": "x.db", `, `"dsn": "postgres://h/d", `
	for _, c := range []struct{ keys, want string }{
		{lite + `"query": "SELECT 1", "writes": ["out"]`, ""},
		{lite + `"query": "SELECT :a", "args": {"a": 1}, "stream": true, "writes": ["out"]`, ""},
		{pg + `"query": "SELECT :a::int, ':b'", "args": {"a": 1}, "writes": ["out"]`, ""},
		{lite + `"exec": "DELETE FROM t"`, ""},
		{lite + `"exec": ["DELETE FROM t", "DELETE FROM u;"]`, ""},
		{lite + `"table": "t", "from": "rows", "mode": "upsert", "key": ["id"], "create": true, "batch": 10, "transaction": "batch"`, ""},
		{pg + `"table": "t", "schema": "s", "reads": ["rows"]`, ""},
		{`"dsn": "data/x.sqlite3", "query": "SELECT 1", "writes": ["out"]`, ""},
		{`"dsn": "sqlite:///abs/x", "allow_outside": true, "query": "SELECT 1", "writes": ["out"]`, ""},
		{`"dsn": "host=db user=etl", "driver": "postgres", "query": "SELECT 1", "writes": ["out"]`, ""},
		{`"dsn": {"secret": "DB"}, "driver": "sqlite", "query": "SELECT 1", "writes": ["out"]`,
			`1:20: warning: node n: dsn: the environment variable DB is not set (the node fails without it) [BAD_VALUE]`},
		{`"query": "SELECT 1"`, `1:1: error: node n: key "dsn" is missing [MISSING_KEY]`},
		{`"dsn": {"secret": "DB"}, "query": "SELECT 1"`, `1:20: error: node n: dsn: a secret does not show which database it is (add driver: postgres, or driver: sqlite) [BAD_VALUE]`},
		{`"dsn": "mysql://h/d", "query": "SELECT 1"`, `1:9: error: node n: dsn: what the database is cannot be seen from it (begin it with postgres:// or sqlite:, or add driver: postgres or sqlite) [BAD_VALUE]`},
		{`"dsn": "{{x}}.db", "query": "SELECT 1"`, `1:9: error: node n: dsn: a template is not allowed here (a connection string of the moment comes from the environment: dsn: {secret: NAME}) [BAD_VALUE]`},
		{`"dsn": "postgres://u:secret@h/d", "exec": "DELETE FROM t"`, `1:9: warning: node n: dsn: the document contains a password (put the string into an environment variable: dsn: {secret: NAME}) [BAD_VALUE]`},
		{`"dsn": "host=h password='a b'", "driver": "postgres", "exec": "DELETE FROM t"`, `1:9: warning: node n: dsn: the document contains a password (put the string into an environment variable: dsn: {secret: NAME}) [BAD_VALUE]`},
		{`"dsn": "../x.db", "query": "SELECT 1"`, `1:9: error: node n: dsn: "../x.db" leaves the workflow's folder (a database lies in the workflow's folder unless allow_outside is true) [BAD_VALUE]`},
		{`"dsn": "sqlite:file:x.db?mode=ro", "query": "SELECT 1"`, `1:9: error: node n: dsn: "file:x.db?mode=ro" is a URI, and files are named by their paths: write x.db [BAD_VALUE]`},
		{`"dsn": "sqlite:x.db?mode=ro", "query": "SELECT 1"`, `1:9: error: node n: dsn: "x.db?mode=ro" ends in parameters of a connection, which have no effect here: write x.db [BAD_VALUE]`},
		{`"dsn": "sqlite::memory:", "query": "SELECT 1"`, `1:9: error: node n: dsn: a database in memory would be gone with the node [BAD_VALUE]`},
		{pg + `"allow_outside": true, "exec": "DELETE FROM t"`, `1:44: error: node n: allow_outside: goes with files of SQLite [BAD_VALUE]`},
		{`"dsn": "x.db", "driver": "oracle", "exec": "DELETE FROM t"`, `1:27: error: node n: driver: "oracle" is none of sqlite, postgres [BAD_VALUE]`},
		{`"dsn": "x.db"`, `1:1: error: node n: wants one of the keys query, exec and table, has 0 (query reads rows, exec changes something, table writes rows) [BAD_VALUE]`},
		{lite + `"query": "SELECT 1", "table": "t"`, `1:1: error: node n: wants one of the keys query, exec and table, has 2 (query reads rows, exec changes something, table writes rows) [BAD_VALUE]`},
		{lite + `"query": "SELECT 1", "writes": ["out"], "mode": "insert"`, `1:65: error: node n: mode: does not go with query [BAD_VALUE]`},
		{lite + `"exec": "DELETE FROM t", "stream": true`, `1:52: error: node n: stream: does not go with exec [BAD_VALUE]`},
		{lite + `"query": "SELECT '{{$.x}}'", "writes": ["out"]`, `1:34: error: node n: query: a template in SQL would let data become code (write :name for a value and add args: {name: $.field}; for an array put a blank between the braces) [BAD_VALUE]`},
		{lite + `"query": "SELECT ?", "writes": ["out"]`, `1:33: error: node n: query: a parameter is written :name (write :name and add args: {name: $.field}) [BAD_VALUE]`},
		{lite + `"query": "SELECT :dya", "args": {"day": 1}, "writes": ["out"]`, `1:33: error: node n: query: there is no argument "dya" (did you mean "day"?) [UNKNOWN_FIELD]
1:50: warning: node n: args: no statement has the parameter :day (a parameter is written :day in the SQL) [UNUSED]`},
		{lite + `"query": "SELECT 1; SELECT 2", "writes": ["out"]`, `1:36: error: node n: query: more than one statement (make a list of them under exec; they run in one transaction) [BAD_VALUE]`},
		{lite + `"exec": ["DELETE FROM t", "DELETE FROM t WHERE id = :id"]`, `1:68: error: node n: exec: there is no argument "id" (add args: {id: $.field}) [UNKNOWN_FIELD]`},
		{lite + `"exec": []`, `1:25: error: node n: exec: want a statement or a list of statements, found a list [WRONG_TYPE]`},
		{lite + `"query": "SELECT 1", "stream": true`, `1:48: error: node n: stream: there is no field to make a stream of (add writes: [rows]) [BAD_VALUE]`},
		{lite + `"query": "SELECT 1", "into": "x", "writes": ["out"]`, `1:46: error: node n: into: field "x" is not among the node's writes (add it: writes: [x]) [UNKNOWN_FIELD]`},
		{lite + `"table": "t"`, `1:1: error: node n: from: name the field: the node reads 0 (from: rows) [BAD_VALUE]`},
		{lite + `"table": "t", "from": "text"`, `1:39: error: node n: from: a table takes a value of type array, text is string [WRONG_TYPE]`},
		{lite + `"table": "t", "from": "rows", "writes": ["out"]`, `1:58: warning: node n: a node that writes a table writes no state, field "out" stays as it is [UNUSED]`},
		{lite + `"table": "t", "from": "rows", "mode": "upsert"`, `1:55: error: node n: mode: upsert needs the key "key" (key: [id]) [BAD_VALUE]`},
		{lite + `"table": "t", "from": "rows", "mode": "append"`, `1:55: error: node n: mode: "append" is none of insert, upsert, replace [BAD_VALUE]`},
		{lite + `"table": "t", "from": "rows", "key": ["i"], "columns": ["id"]`, `1:55: error: node n: key: "i" is not among the columns (did you mean "id"?) [UNKNOWN_FIELD]`},
		{lite + `"table": "t", "from": "rows", "mode": "replace", "transaction": "batch"`, `1:81: error: node n: transaction: replace is one transaction: after a failure in the middle the old rows would be gone [BAD_VALUE]`},
		{lite + `"table": "t", "from": "rows", "batch": 0`, `1:56: error: node n: batch: want a whole number from 1 to 100000, found 0 [BAD_VALUE]`},
		{lite + `"table": "t", "from": "rows", "schema": "s"`, `1:57: error: node n: schema: goes with PostgreSQL [BAD_VALUE]`},
		{lite + `"table": "sqlite_t", "from": "rows"`, `1:26: error: node n: table: names that begin with sqlite_ belong to SQLite [BAD_VALUE]`},
		{pg + `"table": "s.t", "from": "rows"`, `1:36: error: node n: table: the name contains a dot (write schema: s and table: t) [BAD_VALUE]`},
		{pg + `"table": "` + strings.Repeat("x", 64) + `", "from": "rows"`, `1:36: error: node n: table: the name has 64 bytes, PostgreSQL cuts it after 63 [BAD_VALUE]`},
		{lite + `"table": "t", "from": "typed", "columns": ["id", "dely"]`, `1:66: warning: node n: columns: the rows of typed have no declared column "dely" (did you mean "delay"?) [UNKNOWN_FIELD]`},
	} {
		made, ds := Kind.Compile(nodestest.Node(t, "{"+c.keys+"}"), core.Env{Schema: nodestest.Schema(t, fields)})
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.keys, got, c.want)
		}
		if effects := !strings.Contains(c.keys, `"query"`); !ds.Failed(false) && made.Effects != effects {
			t.Errorf("%s: effects %v", c.keys, made.Effects)
		}
	}
}

// onFile runs a node on a file of SQLite and returns the result.
func onFile(t testing.TB, dir, keys, rows, args string) (core.Result, error) {
	t.Helper()
	return compiled(t, "", `{"dsn": "x.db", `+keys+`}`).Handle(t.Context(), input(t, dir, rows, args))
}

func mustFile(t testing.TB, dir, keys, rows, args string) core.Result {
	t.Helper()
	r, err := onFile(t, dir, keys, rows, args)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// selected returns the result of a query as JSON.
func selected(t testing.TB, dir, query string) string {
	t.Helper()
	return value.JSON(mustFile(t, dir, `"writes": ["out"], "query": `+value.JSON(query), "", "").Writes()["out"])
}

func TestSQLiteTypes(t *testing.T) {
	dir := t.TempDir()
	mustFile(t, dir, `"exec": ["CREATE TABLE t (i INTEGER, f REAL, s TEXT, b BOOLEAN, bi BOOLEAN, n TEXT, d DATE, dt DATETIME, tz TIMESTAMP, dx DATE, x)",
		"INSERT INTO t VALUES (9007199254740993, 2, '007', 1, 7, NULL, '2024-01-31', '2024-01-31 10:20:30', '2024-01-31 10:20:30.5+02:00', 'soon', 1.5)"]`, "", "")
	const want = `[{"i":9007199254740993,"f":2.0,"s":"007","b":true,"bi":7,"n":null,"d":"2024-01-31","dt":"2024-01-31 10:20:30","tz":"2024-01-31 10:20:30.5+02:00","dx":"soon","x":1.5}]`
	if got := selected(t, dir, "SELECT * FROM t"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := selected(t, dir, "SELECT max(d) AS d, count(*) AS n, hex(x'00ff') AS h FROM t"); got != `[{"d":"2024-01-31","n":1,"h":"00FF"}]` {
		t.Errorf("got %s", got)
	}
}

func TestSQLiteArguments(t *testing.T) {
	dir := t.TempDir()
	mustFile(t, dir, `"exec": "CREATE TABLE t (a)"`, "", "")
	r := mustFile(t, dir, `"writes": ["out"], "args": {"a": 0, "b": 0, "n": 0, "ids": 0}, "query": "SELECT :a AS a, :b + 1 AS b, :n IS NULL AS n, 3 IN (SELECT value FROM json_each(:ids)) AS found, :a AS again"`,
		"", `{"a": "'; DROP TABLE t; --", "b": 9007199254740992, "n": null, "ids": [1, 3]}`)
	if got := value.JSON(r.Writes()["out"]); got != `[{"a":"'; DROP TABLE t; --","b":9007199254740993,"n":1,"found":1,"again":"'; DROP TABLE t; --"}]` {
		t.Errorf("got %s", got)
	}
	if got := nodestest.Text(r); !strings.HasSuffix(got, ` -> {"rows":1} (1 row from x.db)`) {
		t.Errorf("result %s", got)
	}
	if _, err := onFile(t, dir, `"writes": ["out"], "args": {"a": "$.x"}, "query": "SELECT :a"`, "", "{}"); err == nil || err.Error() != `the argument "a" has no value` {
		t.Errorf("error %v", err)
	}
}

// SQLite names a part of the statement but not its position. If the part occurs
// only once, the error gives its position.
func TestSQLitePlaces(t *testing.T) {
	dir := t.TempDir()
	mustFile(t, dir, `"exec": "CREATE TABLE t (a)"`, "", "")
	for statement, want := range map[string]string{
		"SELEC 1":                            "x.db: test.json:1:45: SQL logic error: near",
		"SELECT a FROM t WERE a = 1":         "x.db: SQL logic error: near", // over the a that follows, which appears twice
		"SELECT a FROM t WHERE nocol = 1":    "x.db: test.json:1:67: SQL logic error: no such column",
		"SELECT a FROM unknown":              "x.db: test.json:1:59: SQL logic error: no such table",
		"SELECT anocol, nocol, nocol2":       "x.db: test.json:1:52: SQL logic error: no such column",
		"SELECT a, nocol2, nocol FROM t":     "x.db: test.json:1:55: SQL logic error: no such column",
		"SELECT nocol FROM t WHERE nocol= 1": "x.db: SQL logic error: no such column", // twice
		"SELECT a FROM t WHERE":              "x.db: SQL logic error: incomplete input",
	} {
		_, err := onFile(t, dir, `"writes": ["out"], "query": "`+statement+`"`, "", "")
		if err == nil || !strings.HasPrefix(err.Error(), want) || !core.FailureOf(err).Permanent {
			t.Errorf("%s: %v, want %s", statement, err, want)
		}
	}
	_, err := onFile(t, dir, `"exec": "DELETE FROM nowhere"`, "", "")
	if err == nil || !strings.HasPrefix(err.Error(), "x.db: test.json:1:") {
		t.Errorf("exec: %v", err)
	}
}

func TestSQLiteQueryFails(t *testing.T) {
	dir := t.TempDir()
	mustFile(t, dir, `"exec": "CREATE TABLE t (a)"`, "", "")
	for query, want := range map[string]string{
		"SELECT * FROM u":                 "SQL logic error: no such table: u (1)",
		"SELEC 1":                         `SQL logic error: near "SELEC": syntax error (1)`,
		"SELECT 1 AS a, 2 AS a":           `x.db: two columns of the result have one name: key "a" appears twice; give one of them another name with AS`,
		"INSERT INTO t VALUES (1)":        "read-only",
		"SELECT x'00' AS b":               "x.db: row 1: column b: a BLOB; turn it into text in the query, with hex() or CAST(... AS TEXT)",
		"SELECT 9e999 AS x":               "x.db: row 1: column x: an infinite number, which a state cannot hold; turn it into null or text in the query",
		"CREATE TABLE IF NOT EXISTS t(a)": "x.db: the statement has no result",
	} {
		_, err := onFile(t, dir, `"writes": ["out"], "query": "`+query+`"`, "", "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error\n     %v\nwant %s", query, err, want)
		} else if !core.FailureOf(err).Permanent {
			t.Errorf("%s: another attempt meets it again: %v", query, err)
		}
	}
	if got := selected(t, dir, "SELECT count(*) AS n FROM t"); got != `[{"n":0}]` {
		t.Errorf("a query has written: %s", got)
	}
	// A database that is not there is not made by a query, and may come.
	empty := t.TempDir()
	_, err := onFile(t, empty, `"writes": ["out"], "query": "SELECT 1"`, "", "")
	if err == nil || err.Error() != "x.db: there is no such database" || core.FailureOf(err).Permanent {
		t.Errorf("error %v", err)
	}
	if entries, _ := os.ReadDir(empty); len(entries) > 0 {
		t.Errorf("left behind %v", entries)
	}
}

func TestSQLiteStream(t *testing.T) {
	dir := t.TempDir()
	mustFile(t, dir, `"exec": ["CREATE TABLE t (a INTEGER)", "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 2500) INSERT INTO t SELECT i FROM s"]`, "", "")
	h := compiled(t, "", `{"dsn": "x.db", "stream": true, "writes": ["out"], "query": "SELECT a FROM t ORDER BY a"}`)
	in := input(t, dir, "", "")
	r, err := h.Handle(t.Context(), in)
	if err != nil || nodestest.Text(r) != `{"out":{"source":"x.db"}} (rows of x.db)` {
		t.Fatalf("%s, %v", nodestest.Text(r), err)
	}
	rows, err := h.(core.StreamSource).Open(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for {
		batch, err := rows.Next(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(batch))
	}
	if fmt.Sprint(sizes) != "[1000 1000 500]" || !strings.HasPrefix(value.JSON(rows.Summary()), `{"rows":2500,"hash":"`) {
		t.Errorf("batches %v, summary %s", sizes, value.JSON(rows.Summary()))
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if rows, err = h.(core.StreamSource).Open(ctx, in, nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := rows.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	rows.Close()
	bad := compiled(t, "", `{"dsn": "x.db", "stream": true, "writes": ["out"], "query": "SELECT a FROM u"}`)
	if _, err := bad.Handle(t.Context(), in); err == nil || !core.FailureOf(err).Permanent {
		t.Errorf("a wrong statement is found when the rows are read: %v", err)
	}
}

func TestSQLiteExec(t *testing.T) {
	dir := t.TempDir()
	r := mustFile(t, dir, `"args": {"n": 0}, "exec": ["CREATE TABLE t (a INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (:n), (2), (3)", "CREATE INDEX i ON t (a)", "DELETE FROM t WHERE a > 1", "SELECT 1"]`, "", `{"n": 1}`)
	if got := nodestest.Text(r); got != `{} -> {"rows":5,"statements":[0,3,0,2,0]} (5 statements on x.db, 5 rows)` {
		t.Errorf("result %s", got)
	}
	_, err := onFile(t, dir, `"exec": ["INSERT INTO t VALUES (7)", "INSERT INTO t VALUES (1)"]`, "", "")
	if want := "x.db: statement 2: constraint failed: UNIQUE constraint failed: t.a (1555)"; err == nil || err.Error() != want || !core.FailureOf(err).Permanent {
		t.Errorf("error %v, want %s", err, want)
	}
	if got := selected(t, dir, "SELECT a FROM t"); got != `[{"a":1}]` {
		t.Errorf("after a failure %s", got)
	}
}

func TestSQLiteLoad(t *testing.T) {
	dir := t.TempDir()
	const keys = `"table": "t", "from": "rows", "key": ["id"], `
	if _, err := onFile(t, dir, keys+`"mode": "insert"`, `[{"id":1}]`, ""); err == nil || err.Error() != `x.db: table t: there is no table "t" (create: true makes it)` {
		t.Errorf("error %v", err)
	}
	mustFile(t, dir, keys+`"create": true`, `[{"id":1,"v":1.5},{"id":2,"v":null}]`, "")
	mustFile(t, dir, `"exec": "CREATE INDEX kept ON t (v)"`, "", "")
	mustFile(t, dir, keys+`"mode": "upsert"`, `[{"id":2,"v":3.0},{"id":3,"v":4.0}]`, "")
	if got := selected(t, dir, "SELECT * FROM t"); got != `[{"id":1,"v":1.5},{"id":2,"v":3.0},{"id":3,"v":4.0}]` {
		t.Errorf("upsert: %s", got)
	}
	r := mustFile(t, dir, keys+`"mode": "replace"`, `[{"id":7}]`, "")
	if got := nodestest.Text(r); got != `{} -> {"table":"t","rows":1} (1 row written to x.db, table t)` {
		t.Errorf("result %s", got)
	}
	if got := selected(t, dir, "SELECT id, (SELECT count(*) FROM sqlite_schema WHERE name = 'kept') AS kept FROM t"); got != `[{"id":7,"kept":1}]` {
		t.Errorf("replace: %s", got)
	}
	mustFile(t, dir, `"exec": "INSERT INTO t (id) VALUES (8)"`, "", "")
	// A failure in the middle of a stream.
	broken := &feed{batches: [][]any{valueOf(t, `[{"id":20},{"id":21}]`).([]any), valueOf(t, `[{"id":22},{"id":7}]`).([]any)}}
	_, err := compiled(t, "", `{"dsn": "x.db", "table": "t", "from": "rows", "key": ["id"]}`).Handle(t.Context(), fedBy(dir, broken))
	if want := "x.db: table t: row 4 (id 7): constraint failed: UNIQUE constraint failed: t.id (1555) (mode: upsert updates the row that is there)"; err == nil || err.Error() != want || broken.closed != 1 {
		t.Errorf("error %v, want %s, closed %d times", err, want, broken.closed)
	}
	// A cancellation behind the last row.
	ctx, cancel := context.WithCancel(t.Context())
	last := &feed{batches: [][]any{valueOf(t, `[{"id":30}]`).([]any)}, end: cancel}
	if _, err := compiled(t, "", `{"dsn": "x.db", "table": "t", "from": "rows", "batch": 1}`).Handle(ctx, fedBy(dir, last)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got := selected(t, dir, "SELECT count(*) AS n FROM t"); got != `[{"n":2}]` {
		t.Errorf("after a failure %s", got)
	}
}

// A file stays in the workflow's folder, also where the environment names it.
func TestFileStaysInside(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "x.db")
	for _, dsn := range []string{outside, "sqlite:" + outside, "../x.db"} {
		for _, keys := range []string{`"query": "SELECT 1", "writes": ["out"]`, `"exec": "CREATE TABLE t (a)"`} {
			h := compiled(t, dsn, `{"dsn": {"secret": "DSN"}, "driver": "sqlite", `+keys+`}`)
			_, err := h.Handle(t.Context(), input(t, dir, "", ""))
			if err == nil || strings.Contains(err.Error(), outside) || strings.Contains(err.Error(), "../x") {
				t.Errorf("%s: error %v", dsn, err)
			}
			if _, err := os.Stat(outside); err == nil {
				t.Fatal("a file was made outside")
			}
		}
	}
}

func TestConformance(t *testing.T) {
	env := core.Env{Schema: nodestest.Schema(t, fields)}
	dir := t.TempDir()
	mustFile(t, dir, `"exec": ["CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)", "INSERT INTO t VALUES (1, 'a')"]`, "", "")
	in := core.Shared{Dir: dir, Args: value.ObjectOf("id", int64(1)), View: core.NewView([]string{"rows"}, []any{valueOf(t, `[{"id":1,"x":"a"}]`)})}
	nodestest.Run(t, Kind,
		nodestest.Case{Name: "query", Env: env, Input: in,
			Node: `{"dsn": "x.db", "driver": "sqlite", "query": "SELECT * FROM t WHERE id = :id", "into": "out", "allow_outside": false, "args": {"id": 1}, "writes": ["out"]}`,
			Want: `{"out":[{"id":1,"x":"a"}]} -> {"rows":1} (1 row from x.db)`},
		nodestest.Case{Name: "stream", Env: env, Input: in,
			Node: `{"dsn": "x.db", "query": "SELECT * FROM t WHERE id = :id", "stream": true, "args": {"id": 1}, "writes": ["out"]}`,
			Want: `{"out":{"source":"x.db"}} (rows of x.db)`},
		nodestest.Case{Name: "exec", Env: env, Input: in,
			Node: `{"dsn": "x.db", "exec": ["UPDATE t SET x = 'a' WHERE id = :id"], "args": {"id": 1}}`,
			Want: `{} -> {"rows":1,"statements":[1]} (1 statement on x.db, 1 row)`},
		nodestest.Case{Name: "table", Env: env, Input: in,
			Node: `{"dsn": "x.db", "table": "t", "from": "rows", "mode": "upsert", "key": ["id"], "columns": {"id": "integer", "x": "string"}, "create": false, "batch": 5, "transaction": "all"}`,
			Want: `{} -> {"table":"t","rows":1} (1 row written to x.db, table t)`},
	)
}

// The example is run exactly as printed.
func TestDocs(t *testing.T) {
	nodestest.CheckDocs(t, Kind)
	example, ds := document.Parse("doc.go", nodestest.Example(t))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	dir := t.TempDir()
	var last core.Result
	for _, id := range []string{"save", "mark", "late"} {
		n := nodestest.Node(t, nodestest.ExampleNode(t, example, id))
		made, ds := Kind.Compile(n, core.Env{Schema: nodestest.Schema(t, `{"flights": {"type": "array"}, "late": {"type": "array"}}`)})
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		rows := example.Get("state").Get("schema").Get("flights").Get("default").Plain()
		in := core.Shared{Dir: dir, View: core.NewView([]string{"flights"}, []any{rows})}
		if n.Args != nil {
			in.Args = n.Args.Plain().(*value.Object)
		}
		var err error
		if last, err = made.Handler.Handle(t.Context(), core.NewInput("r", id, 1, in)); err != nil {
			t.Fatal(err)
		}
	}
	if got := value.JSON(last.Writes()["late"]); got != `[{"id":1,"delay":12}]` {
		t.Errorf("the example gives %s", got)
	}
}
