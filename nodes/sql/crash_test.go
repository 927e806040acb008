package sql

import (
	"context"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// seekable is a stream of the rows {id} from, from+1, ... to, in batches of a size. It knows
// its position unless blind.
type seekable struct {
	from, to, size int
	blind          bool
	closed         bool
}

func (s *seekable) Next(context.Context) ([]any, error) {
	if s.from > s.to {
		return nil, io.EOF
	}
	rows := numbered(s.from, min(s.from+s.size-1, s.to))
	s.from += len(rows)
	return rows, nil
}

func (s *seekable) Position() (*value.Object, error) {
	if s.blind {
		return nil, nil
	}
	return value.ObjectOf("from", int64(s.from)), nil
}

func (s *seekable) Summary() *value.Object { return nil }
func (s *seekable) Close() error           { s.closed = true; return nil }

// storedInput is an input of a stored run whose field rows is a stream, or without one an
// array of the rows with the ids 1 to 10.
func storedInput(t *testing.T, s *nodestest.Store, dir string, stream *seekable) core.Input {
	shared := core.Shared{Dir: dir, Durability: s.Durability(), Args: value.ObjectOf("n", int64(1))}
	if stream == nil {
		shared.View = core.NewView([]string{"rows"}, []any{numbered(1, 10)})
	} else {
		shared.Open = func(_ context.Context, field string, at *value.Object) (core.Stream, bool, error) {
			opened := *stream
			if from, ok := at.Get("from"); ok {
				opened.from = int(from.(int64))
			}
			return &opened, field == "rows", nil
		}
	}
	return core.NewInput("run", "n", 1, shared)
}

// crashCases are nodes and the rows that their table has at the end. Before, it has the row
// with the id 100.
var crashCases = []struct{ name, keys, want string }{
	{"insert in batches", `"reads": ["rows"], "table": "t", "transaction": "batch", "batch": 4`, "1,2,3,4,5,6,7,8,9,10,100"},
	{"insert", `"reads": ["rows"], "table": "t", "batch": 4`, "1,2,3,4,5,6,7,8,9,10,100"},
	{"upsert in batches", `"reads": ["rows"], "table": "t", "mode": "upsert", "key": ["id"], "transaction": "batch", "batch": 4`, "1,2,3,4,5,6,7,8,9,10,100"},
	{"replace", `"reads": ["rows"], "table": "t", "mode": "replace", "batch": 4`, "1,2,3,4,5,6,7,8,9,10"},
	{"exec", `"args": {"n": 1}, "exec": ["INSERT INTO t (id, name) VALUES (:n, 'x')", "INSERT INTO t (id, name) VALUES (2, 'x')"]`, "1,2,100"},
}

// sources are the sources of rows for the nodes of crashCases.
var sources = map[string]*seekable{
	"an array":                nil,
	"a stream":                {from: 1, to: 10, size: 4},
	"a stream, one by one":    {from: 1, to: 10, size: 1},
	"a stream from the start": {from: 1, to: 10, size: 4, blind: true},
}

// testCrashes runs each case with a crash at every commit and checkpoint. open makes a
// database with an empty table and returns the handler for keys and a function that lists
// the ids of the table.
func testCrashes(t *testing.T, sources map[string]*seekable, open func(t *testing.T) (dir string, handler func(keys string) core.Handler, ids func() string)) {
	for _, c := range crashCases {
		for name, stream := range sources {
			if c.name == "exec" && stream != nil {
				continue // it reads no rows
			}
			t.Run(c.name+" from "+name, func(t *testing.T) {
				var plain string // the result without a crash
				results := map[string]bool{}
				runs := 0
				type db struct {
					dir string
					h   core.Handler
					ids func() string
				}
				dbs := map[*nodestest.Store]db{}
				nodestest.EachCrash(t, func(t *testing.T) *nodestest.Store {
					dir, handler, ids := open(t)
					s := &nodestest.Store{}
					dbs[s] = db{dir, handler(c.keys), ids}
					return s
				}, func(t *testing.T, s *nodestest.Store) error {
					d := dbs[s]
					r, err := s.Handle(t, d.h, storedInput(t, s, d.dir, stream))
					if err != nil {
						return err
					}
					runs++
					if got := d.ids(); got != c.want {
						t.Errorf("run %d: the table has %s, want %s", runs, got, c.want)
					}
					plain = nodestest.Text(r)
					results[plain] = true
					// The record of the result was lost: the node runs once more.
					s.Start(0)
					r, err = s.Handle(t, d.h, storedInput(t, s, d.dir, stream))
					if got := d.ids(); err != nil || got != c.want || nodestest.Text(r) != plain {
						t.Errorf("run %d, repeated: the table has %s, want %s; the result is %s, want %s; error %v", runs, got, c.want, nodestest.Text(r), plain, err)
					}
					return nil
				})
				if len(results) != 1 {
					t.Errorf("the results differ: %v", results)
				}
			})
		}
	}
}

func TestCrash(t *testing.T) {
	testCrashes(t, sources, func(t *testing.T) (string, func(string) core.Handler, func() string) {
		dir := t.TempDir()
		execute(t, dir, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)", "INSERT INTO t VALUES (100, 'x')")
		return dir, func(keys string) core.Handler { return compiled(t, "", `{"dsn": "x.db", `+keys+`}`) },
			func() string { return ids(t, dir) }
	})
}

func TestPostgresCrash(t *testing.T) {
	s := server(t)
	few := map[string]*seekable{"an array": nil, "a stream": sources["a stream"]}
	testCrashes(t, few, func(t *testing.T) (string, func(string) core.Handler, func() string) {
		s.must("DROP TABLE IF EXISTS t, wavefold_commits; CREATE TABLE t (id bigint PRIMARY KEY, name text); INSERT INTO t VALUES (100, 'x')")
		return "", func(keys string) core.Handler { return onServer(s, keys) },
			func() string { return strings.TrimSpace(s.must("SELECT string_agg(id::text, ',' ORDER BY id) FROM t")) }
	})
}

// execute runs statements on x.db in a folder.
func execute(t *testing.T, dir string, statements ...string) {
	t.Helper()
	h := compiled(t, "", `{"dsn": "x.db", "exec": `+value.JSON(list(statements))+`}`)
	if _, err := h.Handle(t.Context(), input(t, dir, "", "")); err != nil {
		t.Fatal(err)
	}
}

func list(texts []string) []any {
	var out []any
	for _, s := range texts {
		out = append(out, s)
	}
	return out
}

// ids lists the ids in the table t of x.db.
func ids(t *testing.T, dir string) string {
	t.Helper()
	h := compiled(t, "", `{"dsn": "x.db", "writes": ["out"], "query": "SELECT group_concat(id) AS ids FROM (SELECT id FROM t ORDER BY id)"}`)
	r, err := h.Handle(t.Context(), input(t, dir, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	v, _ := r.Writes()["out"].([]any)[0].(*value.Object).Get("ids")
	return fmt.Sprint(v)
}

// TestRetryInBatches: an attempt that fails in the middle continues after the batches of the
// one before, which without a store is not possible.
func TestRetryInBatches(t *testing.T) {
	dir := t.TempDir()
	execute(t, dir, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT CHECK (id <> 7 OR name = 'ok'))", "INSERT INTO t VALUES (100, 'x')")
	h := compiled(t, "", `{"dsn": "x.db", "reads": ["rows"], "table": "t", "transaction": "batch", "batch": 3}`)
	s := &nodestest.Store{}
	s.Start(0)
	_, err := s.Handle(t, h, storedInput(t, s, dir, sources["a stream"]))
	if got := ids(t, dir); err == nil || got != "1,2,3,4,5,6,100" {
		t.Fatalf("the table has %s, error %v", got, err)
	}
	execute(t, dir, "CREATE TABLE u (id INTEGER PRIMARY KEY, name TEXT)", "INSERT INTO u SELECT * FROM t", "DROP TABLE t", "ALTER TABLE u RENAME TO t")
	if _, err := s.Handle(t, h, storedInput(t, s, dir, sources["a stream"])); err != nil {
		t.Fatal(err)
	}
	if got := ids(t, dir); got != "1,2,3,4,5,6,7,8,9,10,100" {
		t.Errorf("the table has %s", got)
	}
}

// TestWithoutMarkers: without markers, the node continues at its checkpoint, and the rows of
// one batch may be stored twice.
func TestWithoutMarkers(t *testing.T) {
	counts := map[int]int{}
	dirs := map[*nodestest.Store]string{}
	nodestest.EachCrash(t, func(t *testing.T) *nodestest.Store {
		s := &nodestest.Store{}
		dirs[s] = t.TempDir()
		execute(t, dirs[s], "CREATE TABLE t (id INTEGER, name TEXT)")
		return s
	}, func(t *testing.T, s *nodestest.Store) error {
		h := compiled(t, "", `{"dsn": "x.db", "reads": ["rows"], "table": "t", "transaction": "batch", "batch": 5, "markers": false}`)
		_, err := s.Handle(t, h, storedInput(t, s, dirs[s], sources["a stream"]))
		if err == nil {
			counts[strings.Count(ids(t, dirs[s]), ",")+1]++
		}
		return err
	})
	if counts[10] == 0 || counts[15] != 2 || len(counts) != 2 {
		t.Errorf("how often the table has how many rows: %v, want 10, and 15 after 2 of the crashes", counts)
	}
	check := compiled(t, "", `{"dsn": "x.db", "writes": ["out"], "query": "SELECT count(*) AS n FROM sqlite_schema WHERE name = 'wavefold_commits'"}`)
	for _, dir := range dirs {
		r, err := check.Handle(t.Context(), input(t, dir, "", ""))
		if err != nil || value.JSON(r.Writes()["out"]) != `[{"n":0}]` {
			t.Errorf("markers were stored: %s, %v", value.JSON(r.Writes()["out"]), err)
		}
	}
}

// TestNoStoreNoMarkers: a run without a store leaves no table behind.
func TestNoStoreNoMarkers(t *testing.T) {
	dir := t.TempDir()
	h := compiled(t, "", `{"dsn": "x.db", "reads": ["rows"], "table": "t", "create": true, "transaction": "batch"}`)
	if _, err := h.Handle(t.Context(), input(t, dir, `[{"id": 1}]`, "")); err != nil {
		t.Fatal(err)
	}
	r, err := compiled(t, "", `{"dsn": "x.db", "writes": ["out"], "query": "SELECT name FROM sqlite_schema"}`).Handle(t.Context(), input(t, dir, "", ""))
	if got := value.JSON(r.Writes()["out"]); err != nil || got != `[{"name":"t"}]` {
		t.Errorf("the database has the tables %s, %v", got, err)
	}
}

// TestKilled kills a process in the middle of a load, at any place, and loads again.
func TestKilled(t *testing.T) {
	const variable = "WAVEFOLD_TEST_KILLED"
	load := func(t *testing.T, dir string, s *nodestest.Store) (core.Result, error) {
		h := compiled(t, "", `{"dsn": "x.db", "reads": ["rows"], "table": "t", "transaction": "batch", "batch": 10}`)
		s.Start(0)
		return s.Handle(t, h, storedInput(t, s, dir, &seekable{from: 1, to: 100_000_000, size: 64}))
	}
	if dir := os.Getenv(variable); dir != "" {
		_, err := load(t, dir, &nodestest.Store{}) // until it is killed
		t.Fatal(err)
	}
	dir := t.TempDir()
	execute(t, dir, "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")
	child := osexec.Command(os.Args[0], "-test.run=^TestKilled$")
	child.Env = append(os.Environ(), variable+"="+dir)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.db")
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for first := int64(-1); ; <-look.C { // until it has grown
		info, err := os.Stat(path)
		if err == nil && first < 0 {
			first = info.Size()
		} else if err == nil && info.Size() > first+1<<16 {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("nothing was stored")
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	h := compiled(t, "", `{"dsn": "x.db", "reads": ["rows"], "table": "t", "transaction": "batch", "batch": 1000}`)
	s := &nodestest.Store{}
	s.Start(0)
	rows := int64(20_000)
	r, err := s.Handle(t, h, storedInput(t, s, dir, &seekable{from: 1, to: int(rows), size: 64}))
	if err != nil {
		t.Fatal(err)
	}
	count, err := compiled(t, "", `{"dsn": "x.db", "writes": ["out"], "query": "SELECT count(*) AS n, max(id) AS last FROM t"}`).Handle(t.Context(), input(t, dir, "", ""))
	if want := `[{"n":20000,"last":20000}]`; err != nil || value.JSON(count.Writes()["out"]) != want {
		t.Errorf("the table has %s, want %s; %v", value.JSON(count.Writes()["out"]), want, err)
	}
	if n, _ := r.EdgeOutput.(*value.Object).Get("rows"); n != rows {
		t.Errorf("the result is %s", nodestest.Text(r))
	}
}
