package sql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/sink"
	"github.com/wavefold/wavefold/nodes/transform"
)

// runDocument runs a document in a folder and returns the result and the events as
// text.
func runDocument(t *testing.T, dir, dsn, document string) (*wavefold.Result, string, error) {
	t.Helper()
	path := filepath.Join(dir, "flow.yaml")
	if err := os.WriteFile(path, []byte(document), 0o666); err != nil {
		t.Fatal(err)
	}
	engine := wavefold.EngineOf(core.NewRegistry(kindWith(dsn), sink.Kind{}, transform.Kind{}))
	g, err := engine.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var events strings.Builder
	r, err := g.Run(t.Context(), wavefold.WithListener(func(e core.Event) { events.WriteString(core.JSON(e) + "\n") }))
	return r, events.String(), err
}

func TestExampleInTheEngine(t *testing.T) {
	r, _, err := runDocument(t, t.TempDir(), "", string(nodestest.Example(t)))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.State.Get("late"); core.JSON(got) != `[{"id":1,"delay":12}]` {
		t.Errorf("late is %s", core.JSON(got))
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
	state := core.JSON(r.State)
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
	// What the server refuses while the rows are read is the reader's failure.
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
