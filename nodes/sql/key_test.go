package sql

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestQueryKey(t *testing.T) {
	const unordered, unselected = `node n: key: the rows of the query are not in the order of id`, `node n: key: the query does not select id`
	for _, c := range []struct{ query, want string }{
		{"SELECT id FROM t ORDER BY id", ""},
		{"SELECT * FROM t order by ID asc", ""},
		{`SELECT t.*, 1 AS one FROM t ORDER BY "id" LIMIT 5;`, ""},
		{"SELECT max(x) OVER (ORDER BY y) AS m, x AS id FROM t ORDER BY id, x -- by id", ""},
		{"WITH w AS (SELECT 1 AS id) SELECT id FROM w UNION SELECT id FROM t ORDER BY id", ""},
		{"SELECT id FROM t", unordered},
		{"SELECT id FROM (SELECT id FROM t ORDER BY id) x", unordered},
		{"SELECT id FROM t ORDER BY id DESC", unordered},
		{"SELECT id FROM t ORDER BY id COLLATE NOCASE", unordered},
		{"SELECT id FROM t ORDER BY id + 1", unordered},
		{"SELECT id FROM t ORDER BY x, id", unordered},
		{"SELECT y AS id FROM t ORDER BY t.id", unordered},
		{"SELECT id FROM t WHERE x = 'ORDER BY id'", unordered},
		{"SELECT id FROM t /* ORDER BY id */", unordered},
		{"SELECT x, max(y) FROM t ORDER BY id", unselected},
	} {
		_, ds := Kind.Compile(nodestest.Node(t, `{"dsn": "x.db", "stream": true, "writes": ["out"], "key": ["id"], "query": `+value.JSON(c.query)+`}`),
			core.Env{Schema: nodestest.Schema(t, fields)})
		got := nodestest.Findings(ds)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.query, got, c.want)
		}
	}
}

// readAt reads the stream of a query from a position to its end. positions are the positions by the
// number of rows before them.
func readAt(t *testing.T, h core.Handler, dir, args string, at *value.Object) (rows []any, positions map[int]*value.Object, summary string, err error) {
	t.Helper()
	shared := input(t, dir, "", args).Shared()
	shared.Durability = &core.Durability{Position: at}
	s, err := h.(core.StreamSource).Open(t.Context(), core.NewInput("run", "n", 1, shared), nil)
	if err != nil {
		return nil, nil, "", err
	}
	defer s.Close()
	positions = map[int]*value.Object{}
	for {
		p, err := core.PositionOf(s)
		if err != nil {
			t.Fatal(err)
		}
		if p != nil {
			positions[len(rows)] = valueOf(t, value.JSON(p)).(*value.Object)
		}
		batch, err := s.Next(t.Context())
		if err == io.EOF {
			return rows, positions, value.JSON(s.Summary()), nil
		}
		if err != nil {
			return rows, positions, "", err
		}
		rows = append(rows, batch...)
	}
}

// keyQueries are queries with 2500 rows and the key k, for both databases.
var keyQueries = []struct{ query, args string }{
	{"SELECT id AS k, name FROM t ORDER BY k", ""},
	{"SELECT id + :n AS k, name FROM t ORDER BY k ASC, name; -- by k", `{"n": 7}`},
	{"SELECT name AS k, id FROM t ORDER BY k", ""},
	{"WITH w AS (SELECT id AS k, name FROM t) SELECT * FROM w WHERE k > :n ORDER BY k LIMIT 2500", `{"n": 0}`},
}

func testKey(t *testing.T, dir string, handler func(keys string) core.Handler) {
	for _, c := range keyQueries {
		args := c.args
		if args == "" {
			args = "{}"
		}
		h := handler(`"stream": true, "writes": ["out"], "key": ["k"], "args": ` + args + `, "query": ` + value.JSON(c.query))
		all, positions, want, err := readAt(t, h, dir, c.args, nil)
		if err != nil || len(all) != 2500 || len(positions) != 3 {
			t.Errorf("%s: %d rows, positions at %d places, error %v", c.query, len(all), len(positions), err)
			continue
		}
		for done, at := range positions {
			rest, _, summary, err := readAt(t, h, dir, c.args, at)
			if err != nil || !slices.EqualFunc(rest, all[done:], value.Equal) || summary != want {
				t.Errorf("%s: after %d rows, at %s: %d rows follow, want %d, the same; the summary is %s, want %s; error %v",
					c.query, done, value.JSON(at), len(rest), len(all)-done, summary, want, err)
			}
		}
	}
}

// TestKey: a query that is ordered by a key continues after any of its batches.
func TestKey(t *testing.T) {
	dir := t.TempDir()
	execute(t, dir, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) INSERT INTO t SELECT i, 'ä' || (i * 7) || 'x' FROM n")
	testKey(t, dir, func(keys string) core.Handler { return compiled(t, "", `{"dsn": "x.db", `+keys+`}`) })
}

func TestPostgresKey(t *testing.T) {
	s := server(t)
	s.must("CREATE TABLE t (id bigint PRIMARY KEY, name text); INSERT INTO t SELECT i, 'ä' || (i * 7) || 'x' FROM generate_series(1, 2500) i")
	testKey(t, "", func(keys string) core.Handler { return onServer(s, keys) })
	for _, of := range []string{"(name || '-')::varchar(20)", "timestamptz '2024-01-31 10:20:30.123456+02' + id * interval '1 day'", "md5(name)::uuid", "id::numeric"} {
		h := onServer(s, `"stream": true, "writes": ["out"], "key": ["k"], "query": "SELECT `+of+` AS k FROM t ORDER BY k"`)
		all, positions, _, err := readAt(t, h, "", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		rest, _, _, err := readAt(t, h, "", "", positions[1000])
		if err != nil || !slices.EqualFunc(rest, all[1000:], value.Equal) {
			t.Errorf("%s: %d rows follow, error %v", of, len(rest), err)
		}
	}
}

// TestKeyFails: values that cannot be a key end the reading.
func TestKeyFails(t *testing.T) {
	dir := t.TempDir()
	execute(t, dir, "CREATE TABLE t (id, day DATE)", "INSERT INTO t VALUES (1, '2024-01-01'), (2, '2024-01-02'), (2, '2024-01-03')")
	for _, c := range []struct{ query, key, want string }{
		{"SELECT * FROM t ORDER BY id", "id", "x.db: row 3: two rows have the key id 2; a key is unique"},
		{"SELECT * FROM t ORDER BY name", "name", `x.db: test.json:1:`},
		{"SELECT * FROM t ORDER BY rowid", "rowid", `x.db: the result has no column "rowid" (key)`},
		{"SELECT * FROM t ORDER BY day", "day", `x.db: key: dates and times of the column "day" may be stored in another form than they are read; select CAST(day AS TEXT) under another name and make that the key`},
		{"SELECT NULL AS id ORDER BY id", "id", "x.db: row 1: key: id is null, want an integer or a string"},
		{"SELECT 1.5 AS id ORDER BY id", "id", "x.db: row 1: key: id is number, want an integer or a string"},
	} {
		h := compiled(t, "", `{"dsn": "x.db", "stream": true, "writes": ["out"], "key": ["`+c.key+`"], "query": `+value.JSON(c.query)+`}`)
		_, _, _, err := readAt(t, h, dir, "", nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !core.FailureOf(err).Permanent {
			t.Errorf("%s: error\n     %v\nwant %s", c.query, err, c.want)
		}
	}
}

// TestKeyedSource: a node that copies rows from one table to another after crashes stores each row
// once.
func TestKeyedSource(t *testing.T) {
	for _, write := range []string{
		`"mode": "insert", "transaction": "batch", "batch": 700`, `"mode": "insert"`, `"mode": "upsert", "key": ["id"]`, `"mode": "replace"`,
	} {
		dirs := map[*nodestest.Store]string{}
		nodestest.EachCrash(t, func(t *testing.T) *nodestest.Store {
			s := &nodestest.Store{}
			dirs[s] = t.TempDir()
			execute(t, dirs[s], "CREATE TABLE a (id INTEGER PRIMARY KEY)", "CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (5000)",
				"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) INSERT INTO a SELECT i FROM n")
			return s
		}, func(t *testing.T, s *nodestest.Store) error {
			dir := dirs[s]
			from := compiled(t, "", `{"dsn": "x.db", "stream": true, "writes": ["out"], "key": ["id"], "query": "SELECT id FROM a ORDER BY id"}`)
			to := compiled(t, "", `{"dsn": "y.db", "from": "rows", "table": "t", "create": true, `+write+`}`)
			shared := core.Shared{Dir: dir, Durability: s.Durability()}
			shared.Open = func(ctx context.Context, _ string, at *value.Object) (core.Stream, bool, error) {
				own := core.Shared{Dir: dir, Durability: &core.Durability{Position: at}}
				opened, err := from.(core.StreamSource).Open(ctx, core.NewInput("run", "a", 1, own), nil)
				return opened, true, err
			}
			_, err := s.Handle(t, to, core.NewInput("run", "n", 1, shared))
			if err != nil {
				return err
			}
			r, err := compiled(t, "", `{"dsn": "y.db", "writes": ["out"], "query": "SELECT count(*) AS n, sum(id) AS s, max(rows) AS marked FROM t, wavefold_commits"}`).
				Handle(t.Context(), input(t, dir, "", ""))
			if got := value.JSON(r.Writes()["out"]); err != nil || got != `[{"n":2500,"s":3126250,"marked":2500}]` {
				t.Errorf("%s: the table has %s, %v", write, got, err)
			}
			return nil
		})
	}
}
