package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/sink"
	"github.com/wavefold/wavefold/nodes/transform"
	"github.com/wavefold/wavefold/nodes/workflow"
)

// runDocument runs a document in a folder and returns the result and the events as
// text.
func runDocument(t *testing.T, dir, dsn, document string, options ...wavefold.RunOption) (*wavefold.Result, string, error) {
	t.Helper()
	g, err := loadDocument(t, dir, dsn, document)
	if err != nil {
		t.Fatal(err)
	}
	var events strings.Builder
	r, err := g.Run(t.Context(), append(options, wavefold.WithListener(func(e core.Event) { events.WriteString(value.JSON(e) + "\n") }))...)
	return r, events.String(), err
}

func loadDocument(t *testing.T, dir, dsn, document string) (*wavefold.Graph, error) {
	t.Helper()
	path := filepath.Join(dir, "flow.yaml")
	if err := os.WriteFile(path, []byte(document), 0o666); err != nil {
		t.Fatal(err)
	}
	g, err := wavefold.EngineOf(core.NewRegistry(kindWith(dsn), sink.Kind, transform.Kind, workflow.Kind)).Load(path)
	if err != nil {
		return nil, err
	}
	return g, g.Compile()
}

func TestExampleInTheEngine(t *testing.T) {
	r, _, err := runDocument(t, t.TempDir(), "", string(nodestest.Example(t)))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.State.Get("late"); value.JSON(got) != `[{"id":1,"delay":12}]` {
		t.Errorf("late is %s", value.JSON(got))
	}
}

// Rows go from a server through a transform into a file of SQLite and from there
// into a file, and are never in the state.
func TestStreamsInTheEngine(t *testing.T) {
	s := server(t)
	s.must("CREATE TABLE flights AS SELECT i AS id, 'F' || i AS flight, i % 90 AS delay FROM generate_series(1, 12000) i")
	dir := t.TempDir()
	r, events, err := runDocument(t, dir, s.dsn(), `
name: copy
state:
  schema:
    flights: {type: array}
    late: {type: array}
    kept: {type: array}
graph:
  nodes:
    - {id: read, kind: sql, dsn: {secret: DSN}, driver: postgres, args: {least: 10}, query: "SELECT * FROM flights WHERE delay >= :least::int ORDER BY id", stream: true, writes: [flights]}
    - {id: derive, kind: transform, from: flights, derive: {hours: $item.delay / 60}, stream: true, writes: [late]}
    - {id: store, kind: sql, dsn: "sqlite:out/late.db", from: late, table: late, create: true, key: [id]}
    - {id: ask, kind: sql, dsn: "sqlite:out/late.db", query: "SELECT count(*) AS rows, round(sum(hours), 3) AS hours FROM late", writes: [kept]}
    - {id: save, kind: sink, reads: [kept], to: out/kept.csv}
  edges: [{from: read, to: derive}, {from: derive, to: store}, {from: store, to: ask}, {from: ask, to: save}]
`)
	if err != nil {
		t.Fatal(err)
	}
	state := value.JSON(r.State)
	for _, want := range []string{`"flights":{"source":"postgres","rows":10661,"hash":"`, `"kept":[{"rows":10661,"hours":8785.0}]`} {
		if !strings.Contains(state, want) {
			t.Errorf("state %s, want %s", state, want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "out/kept.csv")); err != nil || string(text) != "rows,hours\n10661,8785.0\n" {
		t.Errorf("%q, %v", text, err)
	}
	if strings.Contains(events, s.Password) || strings.Contains(events, s.Host) {
		t.Errorf("the events show the server: %s", events)
	}
	if !strings.Contains(events, `"progress"`) {
		t.Error("nobody told the progress")
	}
	// An error of the server while the rows are read fails the reader.
	_, events, err = runDocument(t, dir, s.dsn(), `
name: fails
state: {schema: {rows: {type: array}}}
graph:
  nodes:
    - {id: read, kind: sql, dsn: {secret: DSN}, driver: postgres, query: "SELECT id, 1 / (5000 - id) AS x FROM flights", stream: true, writes: [rows]}
    - {id: store, kind: sql, dsn: "sqlite:out/late.db", from: rows, table: late, columns: [id], mode: upsert, key: [id]}
  edges: [{from: read, to: store}]
`)
	if want := `node store: out/late.db: table late: stream "rows" of node read: postgres: row 5000: division by zero [22012]`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if strings.Contains(events, s.Password) {
		t.Errorf("events %s", events)
	}
}

// upsertDocument stores lists of rows in a table, one item each.
const upsertDocument = `
name: keys
state: {schema: {parts: {type: array, default: [[{id: 1, v: a}, {id: 2, v: a}, {id: 2, v: b}], [{id: 3, v: c}, {id: 2, v: c}], [{id: 4, v: d}]]}}}
graph:
  nodes: [{id: save, kind: sql, for_each: {source: $.parts, concurrency: 4, max_failures: 9}, dsn: {secret: DSN}, driver: postgres, from: $item, table: t, mode: upsert, key: [id]}]
`

// Items that store one key in PostgreSQL are warned of, each key is there once, and in a
// strict run the later item stores nothing.
func TestPostgresUpsertsOfItems(t *testing.T) {
	s := server(t)
	s.must("CREATE TABLE t (id int PRIMARY KEY, v text)")
	r, _, err := runDocument(t, t.TempDir(), s.dsn(), upsertDocument)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || r.Warnings[0].Node != "save" ||
		!strings.HasSuffix(r.Warnings[0].Text, "table t: 1 key was upserted by more than one execution of the node, and no order between them decides which row is left") {
		t.Errorf("warnings %v", r.Warnings)
	}
	if got, want := s.must("SELECT string_agg(id::text, ' ' ORDER BY id) FROM t"), "1 2 3 4"; strings.TrimSpace(got) != want {
		t.Errorf("the table has the ids %s, want %s", got, want)
	}
	s.must("TRUNCATE t")
	_, _, err = runDocument(t, t.TempDir(), s.dsn(), upsertDocument, wavefold.WithStrict())
	if err == nil || !strings.Contains(err.Error(), "a warning fails a strict run: ") || !strings.Contains(err.Error(), "table t: 1 key was upserted by save[") {
		t.Errorf("strict: %v", err)
	}
	got := strings.TrimSpace(s.must("SELECT string_agg(id::text || v, ' ' ORDER BY id) FROM t"))
	if got != "1a 2b 4d" && got != "2c 3c 4d" { // whichever came first
		t.Errorf("strict: the table has %s", got)
	}
}

// Nodes with no path between them must not replace one table of a server; nodes on one path
// may, where a node between them reads the table. A nested run keeps its rows until its turn.
func TestPostgresClaims(t *testing.T) {
	s := server(t)
	const document = `
name: claims
state: {schema: {one: {type: array, default: [{id: 1}]}, two: {type: array, default: [{id: 2}]}, seen: {type: array}}}
graph:
  nodes:
    - %s
    - %s
    - {id: read, kind: sql, dsn: {secret: DSN}, driver: postgres, query: SELECT id FROM t, writes: [seen]}
`
	const path = "  edges: [{from: a, to: read}, {from: read, to: b}]\n"
	direct := func(id, rows string) string {
		return fmt.Sprintf("{id: %s, kind: sql, dsn: {secret: DSN}, driver: postgres, from: $.%s, table: t, create: true, mode: replace}", id, rows)
	}
	nested := func(id, rows string) string {
		return fmt.Sprintf("{id: %s, kind: workflow, file: inner.yaml, args: {rows: $.%s}}", id, rows)
	}
	for name, node := range map[string]func(id, rows string) string{"nodes": direct, "nested": nested} {
		dir := t.TempDir()
		inner := "name: inner\ninputs: {rows: {type: array, required: true}}\ngraph:\n  nodes:\n    - " + direct("save", "rows") + "\n"
		if err := os.WriteFile(filepath.Join(dir, "inner.yaml"), []byte(inner), 0o666); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(document, node("a", "one"), node("b", "two"))
		if _, err := loadDocument(t, dir, s.dsn(), text); err == nil || !strings.Contains(err.Error(), "node b: ") || !strings.Contains(err.Error(), "table t") {
			t.Errorf("%s: without a path: %v", name, err)
		}
		s.must("DROP TABLE IF EXISTS t; CREATE TABLE t (id bigint); INSERT INTO t VALUES (9)")
		r, _, err := runDocument(t, dir, s.dsn(), text+path)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatal(name, err, r.Warnings)
		}
		if seen, _ := r.State.Get("seen"); value.JSON(seen) != `[{"id":1}]` {
			t.Errorf("%s: the node between them read %s", name, value.JSON(seen))
		}
		if got := strings.TrimSpace(s.must("SELECT string_agg(id::text, ' ') FROM t")); got != "2" {
			t.Errorf("%s: the table has %s, want the row of the later node", name, got)
		}
	}
}
