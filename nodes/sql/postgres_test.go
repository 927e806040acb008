package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/postgrestest"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestPostgresTypes(t *testing.T) {
	s := server(t)
	s.must(`CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN small AS int CHECK (value < 10)`)
	h := onServer(s, `"writes": ["out"], "query": `+value.JSON(`
		SELECT 1::smallint AS i2, 2::int AS i4, 9007199254740993 AS i8, 1.5::real AS f4, 0.1234567890123456::float8 AS f8, 2::float8 AS whole, true AS b,
			'x'::text AS t, 'y'::varchar(3) AS v, 'z'::char(3) AS c, null::int AS n,
			12.50::numeric(10,2) AS d, 9007199254740993::numeric AS dw, sum(1::bigint) AS s,
			'2024-01-31'::date AS day, '2024-01-31 10:20:30.5+02'::timestamptz AS tz, '2024-01-31 10:20:30'::timestamp AS ts, '10:20'::time AS tm,
			'infinity'::timestamp AS inf, '44-03-15 BC'::timestamp AS bc, interval '1 day 2 hours' AS iv,
			'{"b":[1,{"c":null}],"a":9007199254740993}'::jsonb AS jb, '[1,  2]'::json AS j, 'null'::jsonb AS jn,
			ARRAY[1,2,null] AS ai, ARRAY['a,b','"q"','NULL',null] AS at, '{{1,2},{3,4}}'::int[] AS aa, '{}'::text[] AS ae, ARRAY[1.5,2]::numeric[] AS an,
			'[0:1]={7,8}'::int[] AS ab, 'ok'::mood AS m, 3::small AS dom, '\x00ff'::bytea AS by, '00000000-0000-0000-0000-00000000002a'::uuid AS u, '10.0.0.1'::inet AS ip`))
	r, err := h.Handle(t.Context(), input(t, "", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"i2":1,"i4":2,"i8":9007199254740993,"f4":1.5,"f8":0.1234567890123456,"whole":2.0,"b":true,"t":"x","v":"y","c":"z  ","n":null,` +
		`"d":12.5,"dw":9007199254740993,"s":1,"day":"2024-01-31","tz":"2024-01-31T08:20:30.5Z","ts":"2024-01-31T10:20:30","tm":"10:20:00",` +
		`"inf":"infinity","bc":"0044-03-15 00:00:00 BC","iv":"1 day 02:00:00","jb":{"a":9007199254740993,"b":[1,{"c":null}]},"j":[1,2],"jn":null,` +
		`"ai":[1,2,null],"at":["a,b","\"q\"","NULL",null],"aa":[[1,2],[3,4]],"ae":[],"an":[1.5,2],"ab":[7,8],` +
		`"m":"ok","dom":3,"by":"\\x00ff","u":"00000000-0000-0000-0000-00000000002a","ip":"10.0.0.1"}`
	if got := value.JSON(r.Writes()["out"].([]any)[0]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := r.Note; got != "1 row from postgres" {
		t.Errorf("note %q", got)
	}
}

func TestPostgresArguments(t *testing.T) {
	s := server(t)
	h := onServer(s, `"writes": ["out"], "args": {"day": 0, "ids": 0, "list": 0, "o": 0, "f": 0, "b": 0, "n": 0, "q": 0, "e": 0}, "query": `+value.JSON(`
		SELECT :day::date + 1 AS day, 3 = ANY(:ids::int[]) AS found, :list::jsonb AS list, :o::jsonb -> 'k' AS k, :f::float8 * 2 AS f, :f::int AS whole,
			NOT :b::bool AS b, :n::text IS NULL AS n, :q::text AS q, length(:e::text) AS e, :day::text AS again`))
	in := input(t, "", "", `{"day": "2024-01-31", "ids": [1, 3], "list": [1, "x"], "o": {"k": [true]}, "f": 2.0, "b": true, "n": null, "q": "'; DROP TABLE x; --", "e": ""}`)
	r, err := h.Handle(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"day":"2024-02-01","found":true,"list":[1,"x"],"k":[true],"f":4.0,"whole":2,"b":false,"n":true,"q":"'; DROP TABLE x; --","e":0,"again":"2024-01-31"}]`
	if got := value.JSON(r.Writes()["out"]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPostgresQueryFails(t *testing.T) {
	s := server(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close forgotten connections
	s.must("CREATE TABLE t (id int)")
	for _, c := range []struct{ query, args, want string }{ // @ is the place of the word in quotes
		{"SELECT * FROM flihgts", "", `postgres: @: relation "flihgts" does not exist [42P01]`},
		{"SELECT :a::int, 'ää', größe FROM t", `{"a": 1}`, `postgres: @: column "größe" does not exist [42703]`},
		{"SELECT :a::int + 1", `{"a": "x"}`, `postgres: invalid input syntax for type integer: "x" [22P02]`},
		{"SELECT :a::text", `{"a": "x\u0000"}`, `postgres: parameter 1: a string with a NUL byte, which PostgreSQL cannot store`},
		{"SELECT 1 AS a, 2 AS a", "", `postgres: two columns of the result have one name: key "a" appears twice; give one of them another name with AS`},
		{"INSERT INTO t VALUES (1) RETURNING id", "", `postgres: cannot execute INSERT in a read-only transaction [25006]`},
		{"SELECT 1/(2-x) FROM generate_series(0, 5) x", "", `postgres: row 3: division by zero [22012]`},
		{"SELECT 'NaN'::float8", "", `postgres: row 1: column float8: NaN is not a number that a state can hold; turn it into null or text in the query`},
		{"SELECT 18446744073709551616 AS n", "", `postgres: row 1: column n: 18446744073709551616 does not fit 64 bits; turn it into text in the query`},
		{"SET search_path TO x", "", `postgres: the statement has no result`},
		{"SELECT", "", `postgres: the statement has no result`},
	} {
		args := c.args
		if args == "" {
			args = "{}"
		}
		for _, stream := range []string{"", `"stream": true, `} {
			node := `{"dsn": {"secret": "DSN"}, "driver": "postgres", ` + stream + `"writes": ["out"], "args": ` + args + `, "query": "` + c.query + `"}`
			h := compiled(t, s.dsn(), node)
			in := input(t, "", "", args)
			_, err := h.Handle(t.Context(), in)
			if err == nil && stream != "" {
				var rows core.Stream
				if rows, err = h.(core.StreamSource).Open(t.Context(), in, nil); err == nil {
					for err == nil {
						_, err = rows.Next(t.Context())
					}
					rows.Close()
				}
			}
			want := c.want
			if strings.Contains(want, "@") {
				word := strings.Split(want, `"`)[1]
				want = strings.Replace(want, "@", fmt.Sprint("test.json:1:", strings.Index(node, word)), 1)
			}
			if err == nil || err.Error() != want {
				t.Errorf("%s%s: error\n     %v\nwant %s", stream, c.query, err, want)
			} else if !core.FailureOf(err).Permanent {
				t.Errorf("%s: another attempt meets it again", c.query)
			}
		}
	}
	s.idle()
}

func TestPostgresStream(t *testing.T) {
	s := server(t)
	h := onServer(s, `"stream": true, "writes": ["out"], "args": {"n": 2500}, "query": "SELECT i, 'x' || i % 3 AS name FROM generate_series(1, :n) i ORDER BY i"`)
	in := input(t, "", "", `{"n": 2500}`)
	r, err := h.Handle(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := nodestest.Text(r); got != `{"out":{"source":"postgres"}} (rows of postgres)` {
		t.Errorf("result %s", got)
	}
	var hashes []any
	for range 2 {
		rows, err := h.(core.StreamSource).Open(t.Context(), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for {
			batch, err := rows.Next(t.Context())
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range batch {
				n++
				if want := fmt.Sprintf(`{"i":%d,"name":"x%d"}`, n, n%3); value.JSON(row) != want {
					t.Fatalf("row %s, want %s", value.JSON(row), want)
				}
			}
		}
		count, _ := rows.Summary().Get(core.RowCount)
		hash, _ := rows.Summary().Get("hash")
		if hashes = append(hashes, hash); n != 2500 || count != int64(2500) || hashes[0] != hash {
			t.Errorf("%d rows, summary %s", n, value.JSON(rows.Summary()))
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A reader that has enough, or is cancelled, does not wait for the rest, and the
// server is left alone.
func TestPostgresStreamEndsEarly(t *testing.T) {
	s := server(t)
	h := onServer(s, `"stream": true, "writes": ["out"], "query": "SELECT generate_series(1, 1000000000) AS i, repeat('x', 1000) AS text"`)
	for _, cancelled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		rows, err := h.(core.StreamSource).Open(ctx, input(t, "", "", ""), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rows.Next(ctx); err != nil {
			t.Fatal(err)
		}
		if cancelled {
			cancel()
			if _, err := rows.Next(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want a cancellation", err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		cancel()
	}
	s.idle()
}

// idle waits until only the test itself is connected.
func (s *testServer) idle() {
	s.t.Helper()
	for range 100 {
		if s.must("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'wavefold'; SELECT pg_sleep(0.02); "+
			"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'wavefold'") == "0\n" {
			return
		}
	}
	s.t.Error("a connection is still open")
}

func TestPostgresExec(t *testing.T) {
	s := server(t)
	h := onServer(s, `"args": {"a": 1, "b": "x"}, "exec": ["CREATE TABLE t (a int, b text)", "INSERT INTO t SELECT i, :b FROM generate_series(1, :a) i", "UPDATE t SET b = 'y' WHERE a = 2", "SELECT 1"]`)
	in := input(t, "", "", `{"a": 3, "b": "it's"}`)
	r, err := h.Handle(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := nodestest.Text(r); got != `{} -> {"rows":4,"statements":[0,3,1,0]} (4 statements on postgres, 4 rows)` {
		t.Errorf("result %s", got)
	}
	if got := s.must("SELECT * FROM t ORDER BY a"); got != "1|it's\n2|y\n3|it's\n" {
		t.Errorf("table %s", got)
	}
	h = onServer(s, `"exec": ["DELETE FROM t", "INSERT INTO t VALUES (1, 'z')", "INSERT INTO nowhere VALUES (1)"]`)
	_, err = h.Handle(t.Context(), input(t, "", "", ""))
	if want := `postgres: test.json:1:121: statement 3: relation "nowhere" does not exist [42P01]`; err == nil || err.Error() != want {
		t.Errorf("error\n     %v\nwant %s", err, want)
	}
	if got := s.must("SELECT count(*) FROM t"); got != "3\n" {
		t.Errorf("after a failure %s rows", got)
	}
}

func TestPostgresLoad(t *testing.T) {
	for _, c := range []struct {
		name, before, keys, rows string
		after, want, note        string
	}{
		{"insert", "CREATE TABLE t (id int, name text)", `"table": "t"`, `[{"id":1,"name":"a\tb\\n\n\r"},{"name":null},{"id":3,"name":"\\N"}]`,
			"SELECT id, replace(replace(replace(name, E'\t', '<tab>'), E'\n', '<nl>'), E'\r', '<cr>') FROM t ORDER BY id", "1|a<tab>b\\n<nl><cr>\n3|\\N\n~|~\n",
			`{} -> {"table":"t","rows":3} (3 rows written to postgres, table t)`},
		{"every type", `CREATE TABLE t (i2 smallint, i8 bigint, f4 real, d numeric(10,2), b boolean, day date, tz timestamptz, u uuid, j json, jb jsonb, ai int[], at text[], c char(2), t text)`,
			`"table": "t"`,
			`[{"i2":1.0,"i8":9007199254740993,"f4":2,"d":"12.345","b":true,"day":"2024-01-31","tz":"2024-01-31T10:00:00Z","u":"00000000-0000-0000-0000-00000000002a","j":{"a":[1]},"jb":"[1]","ai":[1,null],"at":["a,b","\"\\",null],"c":"x","t":[1]}, {"d":1.5,"j":7,"jb":true,"t":2.0}]`,
			"SET timezone TO 'UTC'; SELECT * FROM t", "1|9007199254740993|2|12.35|t|2024-01-31|2024-01-31 10:00:00+00|00000000-0000-0000-0000-00000000002a|{\"a\":[1]}|[1]|{1,NULL}|{\"a,b\",\"\\\"\\\\\",NULL}|x |[1]\n" +
				"~|~|~|1.50|~|~|~|~|7|true|~|~|~|2.0\n", ""},
		{"only listed columns", "CREATE TABLE t (id int, name text DEFAULT 'd')", `"table": "t", "columns": ["id"]`, `[{"id":1,"name":"a"}]`, "SELECT * FROM t", "1|d\n", ""},
		{"upsert", "CREATE TABLE t (id int PRIMARY KEY, name text, kept int DEFAULT 7); INSERT INTO t VALUES (1, 'old', 8), (2, 'old', 9)",
			`"table": "t", "mode": "upsert", "key": ["id"]`, `[{"id":2,"name":"a"},{"id":3,"name":"b"},{"id":3,"name":"c"}]`,
			"SELECT * FROM t ORDER BY id", "1|old|8\n2|a|9\n3|c|7\n", ""},
		{"upsert of keys only", "CREATE TABLE t (a int, b text, UNIQUE (a, b))", `"table": "t", "mode": "upsert", "key": ["a", "b"]`, `[{"a":1,"b":"x"},{"a":1,"b":"x"},{"a":1,"b":"y"}]`,
			"SELECT * FROM t ORDER BY b", "1|x\n1|y\n", ""},
		{"replace", "CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t VALUES (1, 'old')", `"table": "t", "mode": "replace"`, `[{"id":2}]`, "SELECT * FROM t", "2|~\n", ""},
		{"replace by nothing", "CREATE TABLE t (id int); INSERT INTO t VALUES (1)", `"table": "t", "mode": "replace"`, `[]`, "SELECT count(*) FROM t", "0\n", `{} -> {"table":"t","rows":0} (0 rows written to postgres, table t)`},
		{"create", "SELECT 1", `"table": "t", "create": true, "key": ["id"]`, `[{"id":1,"f":1.5,"b":true,"j":{"a":1},"s":"x","mixed":1,"none":null},{"id":2,"mixed":"y"}]`,
			"SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 't' AND table_schema = current_schema() UNION ALL SELECT t::text FROM t",
			"id bigint, f double precision, b boolean, j jsonb, s text, mixed text, none text\n(1,1.5,t,\"{\"\"a\"\": 1}\",x,1,)\n(2,,,,,y,)\n", ""},
		{"create with declared types", "SELECT 1", `"table": "t", "create": true, "from": "typed"`, `[]`,
			"SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 't' AND table_schema = current_schema()", "id bigint, delay double precision\n", ""},
		{"nothing to write", "CREATE TABLE t (id int); INSERT INTO t VALUES (1)", `"table": "t"`, `[]`, "SELECT count(*) FROM t", "1\n", ""},
		{"odd names", `CREATE TABLE "order" ("select" int, "a""b" int, "ä %d 'x'" int, "wavefold_row" int, PRIMARY KEY ("a""b"))`, `"table": "order", "mode": "upsert", "key": ["a\"b"]`,
			`[{"select":1,"a\"b":2,"ä %d 'x'":3,"wavefold_row":4},{"select":5,"a\"b":2,"ä %d 'x'":3,"wavefold_row":4}]`, `SELECT * FROM "order"`, "5|2|3|4\n", ""},
		{"small batches", "CREATE TABLE t (id int PRIMARY KEY, v int)", `"table": "t", "mode": "upsert", "key": ["id"], "batch": 2`, `[{"id":1,"v":1},{"id":2,"v":2},{"id":1,"v":3},{"id":3,"v":4},{"id":3,"v":5}]`,
			"SELECT * FROM t ORDER BY id", "1|3\n2|2\n3|5\n", ""},
		{"a transaction for each batch", "CREATE TABLE t (id int PRIMARY KEY, v int)", `"table": "t", "mode": "upsert", "key": ["id"], "batch": 2, "transaction": "batch"`, `[{"id":1,"v":1},{"id":2,"v":2},{"id":1,"v":3}]`,
			"SELECT id, v, (SELECT count(DISTINCT xmin::text) FROM t) FROM t ORDER BY id", "1|3|2\n2|2|2\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := server(t)
			s.must(c.before)
			from := `, "from": "rows"`
			if strings.Contains(c.keys, `"from"`) {
				from = ""
			}
			r, err := onServer(s, c.keys+from).Handle(t.Context(), input(t, "", c.rows, ""))
			if err != nil {
				t.Fatal(err)
			}
			if got := s.must(c.after); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if got := nodestest.Text(r); c.note != "" && got != c.note {
				t.Errorf("result %s, want %s", got, c.note)
			}
		})
	}
}

// The schema of a table may be named; names may be long, but not longer than the
// server keeps them.
func TestPostgresSchema(t *testing.T) {
	s := server(t)
	long := strings.Repeat("x", 63)
	s.must("CREATE SCHEMA other_one; CREATE TABLE other_one." + long + " (id int)")
	h := onServer(s, `"table": "`+long+`", "schema": "other_one", "from": "rows"`)
	if _, err := h.Handle(t.Context(), input(t, "", `[{"id":1}]`, "")); err != nil {
		t.Fatal(err)
	}
	if got := s.must("SELECT * FROM other_one." + long); got != "1\n" {
		t.Errorf("got %s", got)
	}
}

func TestPostgresLoadFails(t *testing.T) {
	const table = "CREATE TABLE t (id int PRIMARY KEY, email text UNIQUE, v smallint CHECK (v < 100), name varchar(3) NOT NULL DEFAULT 'x'); INSERT INTO t VALUES (1, 'a@b', 1), (2, 'c@d', 2)"
	for _, c := range []struct{ name, before, keys, rows, want string }{
		{"a key violation", table, `"table": "t"`, `[{"id":7},{"id":8},{"id":1}]`,
			`row 3: duplicate key value violates unique constraint "t_pkey": Key (id)=(1) already exists. [23505] (mode: upsert updates the row that is there)`},
		{"a key violation with the key known", table, `"table": "t", "key": ["id"]`, `[{"id":7},{"id":1},{"id":8}]`,
			`row 2 (id 1): duplicate key value violates unique constraint "t_pkey": Key (id)=(1) already exists. [23505] (mode: upsert updates the row that is there)`},
		{"in a later batch", table, `"table": "t", "batch": 2`, `[{"id":7},{"id":8},{"id":9},{"id":7}]`,
			`row 4: duplicate key value violates unique constraint "t_pkey": Key (id)=(7) already exists. [23505] (mode: upsert updates the row that is there)`},
		{"another key of an upsert", table, `"table": "t", "mode": "upsert", "key": ["id"]`, `[{"id":1,"email":"n@n"},{"id":7,"email":"x@y"},{"id":8,"email":"c@d"},{"id":9,"email":"z"}]`,
			`row 3 (id 8): duplicate key value violates unique constraint "t_email_key": Key (email)=(c@d) already exists. [23505]`},
		{"an upsert against an earlier row", table, `"table": "t", "mode": "upsert", "key": ["id"], "batch": 3`, `[{"id":5,"email":"1"},{"id":6,"email":"2"},{"id":7,"email":"3"},{"id":8,"email":"4"},{"id":9,"email":"2"},{"id":10,"email":"6"}]`,
			`row 5 (id 9): duplicate key value violates unique constraint "t_email_key": Key (email)=(2) already exists. [23505]`},
		{"a check of an upsert", table, `"table": "t", "mode": "upsert", "key": ["id"]`, `[{"id":1,"v":5},{"id":2,"v":500}]`,
			`row 2 (id 2): new row for relation "t" violates check constraint "t_v_check": Failing row contains (2, null, 500, x). [23514]`},
		{"a check", table, `"table": "t"`, `[{"id":4,"v":5},{"id":5,"v":500}]`,
			`row 2: new row for relation "t" violates check constraint "t_v_check": Failing row contains (5, null, 500, x). [23514]`},
		{"no value", table, `"table": "t"`, `[{"id":4,"name":"a"},{"id":5,"name":null}]`,
			`row 2: null value in column "name" of relation "t" violates not-null constraint: Failing row contains (5, null, null, null). [23502]`},
		{"text into integer", table, `"table": "t"`, `[{"id":4},{"id":"5"}]`, `row 2: column id: want integer, got string "5" (the column is integer)`},
		{"decimals into integer", table, `"table": "t"`, `[{"id":4.5}]`, `row 1: column id: want integer, got number 4.5 (the column is integer)`},
		{"out of range", table, `"table": "t"`, `[{"id":4},{"id":5,"v":70000}]`, `row 2: column v: value "70000" is out of range for type smallint [22003]`},
		{"too long", table, `"table": "t"`, `[{"id":4,"name":"a"},{"id":5,"name":"long"}]`, `row 2: column name: value too long for type character varying(3) [22001]`},
		{"integer into date", "CREATE TABLE t (day date)", `"table": "t"`, `[{"day":5}]`, `row 1: column day: want string, got integer 5 (the column is date)`},
		{"no date", "CREATE TABLE t (day date)", `"table": "t"`, `[{"day":"2024-02-30"}]`, `row 1: column day: date/time field value out of range: "2024-02-30" [22008]`},
		{"a NUL byte", "CREATE TABLE t (x text)", `"table": "t"`, `[{"x":"a"},{"x":"a\u0000"}]`, `row 2: column x: a string with a NUL byte, which PostgreSQL cannot store`},
		{"a long integer into floats", "CREATE TABLE t (x float8)", `"table": "t"`, `[{"x":9007199254740993}]`, `row 1: column x: the column is double precision, which would change the integer 9007199254740993`},
		{"a foreign key", "CREATE TABLE o (id int PRIMARY KEY); CREATE TABLE t (id int REFERENCES o)", `"table": "t"`, `[{"id":1}]`,
			`among the rows 1 to 1: insert or update on table "t" violates foreign key constraint "t_id_fkey": Key (id)=(1) is not present in table "o". [23503]`},
		{"no key column", table, `"table": "t", "mode": "upsert", "key": ["id"]`, `[{"email":"x"}]`, `no row has the key column "id"`},
		{"no key", table, `"table": "t", "mode": "upsert", "key": ["id"]`, `[{"id":3},{"email":"x"}]`, `row 2: column id: no value, but it is part of the key`},
		{"no unique key in the table", "CREATE TABLE t (id int)", `"table": "t", "mode": "upsert", "key": ["id"]`, `[{"id":3}]`, `table "t" has no primary key or unique index on (id), which upsert needs`},
		{"no such table", "SELECT 1", `"table": "t"`, `[{"id":3}]`, `there is no table "t" (create: true makes it)`},
		{"no such column", table, `"table": "t"`, `[{"id":3,"emial":"x"}]`, `table "t" has no column "emial", did you mean "email"?`},
		{"a long name", "SELECT 1", `"table": "t", "create": true`, `[{"` + strings.Repeat("x", 64) + `":3}]`, `column "` + strings.Repeat("x", 64) + `": the name has 64 bytes, PostgreSQL cuts it after 63; rename it`},
		{"a view", "CREATE VIEW t AS SELECT 1 AS id", `"table": "t"`, `[{"id":3}]`, `cannot copy to view "t" (To enable copying to a view, provide an INSTEAD OF INSERT trigger.) [42809]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := server(t)
			s.must(c.before)
			content := func() string {
				if !strings.Contains(c.before, "TABLE t ") {
					return ""
				}
				return s.must("SELECT t::text, xmin FROM t ORDER BY 1")
			}
			old := content()
			_, err := onServer(s, c.keys+`, "from": "rows"`).Handle(t.Context(), input(t, "", c.rows, ""))
			if want := "postgres: table t: " + c.want; err == nil || err.Error() != want {
				t.Fatalf("error\n     %v\nwant %s", err, want)
			}
			if !core.FailureOf(err).Permanent {
				t.Error("another attempt meets it again")
			}
			if got := content(); got != old {
				t.Errorf("the table became\n%s", got)
			}
		})
	}
}

// With a transaction for each batch, the batches before the failure remain, and
// the error gives their rows.
func TestPostgresBatchesBeforeAFailure(t *testing.T) {
	for mode, permanent := range map[string]bool{"insert": true, "upsert": false} {
		t.Run(mode, func(t *testing.T) {
			s := server(t)
			s.must("CREATE TABLE t (id int PRIMARY KEY, name text)")
			h := onServer(s, `"table": "t", "from": "rows", "mode": "`+mode+`", "key": ["id"], "batch": 2, "transaction": "batch"`)
			broken := &feed{batches: [][]any{numbered(1, 5), numbered(6, 7)}, then: func() error { return errors.New("the source broke") }}
			_, err := h.Handle(t.Context(), fedBy("", broken))
			if err == nil || !strings.HasSuffix(err.Error(), "the source broke; the 4 rows before are stored") {
				t.Errorf("error %v", err)
			}
			if got := core.FailureOf(err).Permanent; got != permanent {
				t.Errorf("permanent is %v: %v", got, err)
			}
			if got := s.must("SELECT count(*), max(id) FROM t"); got != "4|4\n" || broken.closed != 1 {
				t.Errorf("rows %s, closed %d times", got, broken.closed)
			}
		})
	}
}

// Whatever happens halfway, other connections never see only a part of the rows,
// and no connection stays open.
func TestPostgresLoadEndsInTheMiddle(t *testing.T) {
	for _, mode := range []string{`"mode": "insert"`, `"mode": "upsert", "key": ["id"]`, `"mode": "replace"`} {
		t.Run(mode[9:15], func(t *testing.T) {
			s := server(t)
			s.must("CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t VALUES (-1, 'old')")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			seen := ""
			cancelling := &feed{batches: [][]any{numbered(1, 3000), numbered(3001, 6000)}, then: func() error {
				seen = s.must("SELECT count(*), min(id) FROM t")
				cancel()
				return nil
			}}
			_, err := onServer(s, `"table": "t", "from": "rows", `+mode).Handle(ctx, fedBy("", cancelling))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want a cancellation", err)
			}
			s.idle()
			if got := s.must("SELECT count(*), min(id) FROM t"); got != "1|-1\n" || seen != got || cancelling.closed != 1 {
				t.Errorf("others saw %s, there are %s, closed %d times", seen, got, cancelling.closed)
			}
		})
	}
}

// The server goes away in the middle: an error that another attempt may cure.
func TestPostgresServerGone(t *testing.T) {
	own, stop, err := postgrestest.Start()
	if err != nil {
		postgrestest.Missing(t, err)
	}
	defer stop()
	s := &testServer{own, t, "public"}
	s.must("CREATE TABLE t (id int PRIMARY KEY, name text)")
	h := onServer(s, `"table": "t", "from": "rows"`)
	dying := &feed{batches: [][]any{numbered(1, 2500), numbered(2501, 5000)}, then: func() error { own.Kill(); return nil }}
	read, err := onServer(s, `"stream": true, "writes": ["out"], "query": "SELECT generate_series(1, 1000000000) AS i, repeat('x', 1000) AS text"`).(core.StreamSource).
		Open(t.Context(), input(t, "", "", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	lost := func(err error, before string) bool {
		text := fmt.Sprint(err)
		return err != nil && !core.FailureOf(err).Permanent && strings.HasPrefix(text, before) && strings.Contains(text, "the connection to the server was lost: ") &&
			!strings.Contains(text, "pass word") && !strings.Contains(text, own.Host)
	}
	if _, err = h.Handle(t.Context(), fedBy("", dying)); !lost(err, "postgres: table t: ") {
		t.Errorf("amid the rows that are sent: %v", err)
	}
	for err = nil; err == nil; {
		_, err = read.Next(t.Context())
	}
	if !lost(err, "postgres: row ") {
		t.Errorf("amid the rows that are read: %v", err)
	}
	if _, err := h.Handle(t.Context(), fedBy("", &feed{})); err == nil || core.FailureOf(err).Permanent || strings.Contains(err.Error(), own.Password) {
		t.Errorf("without a server: %v", err)
	}
}

// 1,500 columns, most of them empty: the server keeps a row on one page.
func TestPostgresManyColumns(t *testing.T) {
	s := server(t)
	var names []string
	for i := range 1500 {
		names = append(names, fmt.Sprint("c", i))
	}
	keys, err := value.NewKeys(names)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]any, 3)
	for i := range rows {
		values := make([]any, len(names))
		values[0], values[1499] = int64(i), "last"
		rows[i] = value.NewRow(keys, values)
	}
	h := onServer(s, `"table": "t", "create": true, "from": "rows", "mode": "upsert", "key": ["c0"]`)
	if _, err := h.Handle(t.Context(), fedBy("", &feed{batches: [][]any{rows}})); err != nil {
		t.Fatal(err)
	}
	if got := s.must("SELECT c0, c1, c1499 FROM t ORDER BY c0"); got != "0|~|last\n1|~|last\n2|~|last\n" {
		t.Errorf("got %s", got)
	}
}
