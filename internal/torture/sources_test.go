package torture_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sources are the nodes that make a stream of the same rows, by the name of the stream. PAGES is the
// address of a server.
var sources = []struct{ name, nodes string }{
	{"csv", `{id: csv, kind: dataset, source: rows.csv, stream: true, writes: [csv]}`},
	{"jsonl", `{id: jsonl, kind: dataset, source: rows.jsonl, stream: true, writes: [jsonl]}`},
	{"parquet", `{id: parquet, kind: dataset, source: rows.parquet, stream: true, writes: [parquet]}`},
	{"json", `{id: json, kind: dataset, source: rows.json, stream: true, writes: [json]}`},
	{"gzip", `{id: gzip, kind: dataset, source: rows.csv.gz, stream: true, writes: [gzip]}`},
	{"checked", `{id: checked, kind: dataset, source: rows.csv, checks: [{name: c, expr: "$item.id > 3"}], max_failures: 3, stream: true, writes: [checked]}`},
	{"pages", `{id: pages, kind: http, url: "PAGES", pages: {by: number, param: page}, stream: true, writes: [pages]}`},
	{"keyed", `{id: keyed, kind: sql, dsn: "sqlite:rows.db", query: "SELECT id, name FROM t ORDER BY id", key: [id], stream: true, writes: [keyed]}`},
	{"query", `{id: query, kind: sql, dsn: "sqlite:rows.db", query: "SELECT id, name FROM t ORDER BY name", stream: true, writes: [query]}`},
	{"sorted", `{id: unsorted, kind: dataset, source: rows.jsonl, stream: true, writes: [unsorted]}
    - {id: sorted, kind: transform, from: unsorted, steps: [{sort: [name]}], stream: true, writes: [sorted]}`},
}

// readers are nodes that read a stream NAME once.
var readers = []struct{ name, node string }{
	{"insert in batches", `{id: to_NAME, kind: sql, dsn: "sqlite:NAME.db", from: NAME, table: t, create: true, transaction: batch, batch: 300}`},
	{"insert", `{id: to_NAME, kind: sql, dsn: "sqlite:NAME.db", from: NAME, table: t, create: true, batch: 300}`},
	{"replace", `{id: to_NAME, kind: sql, dsn: "sqlite:NAME.db", from: NAME, table: t, create: true, mode: replace}`},
	{"upsert", `{id: to_NAME, kind: sql, dsn: "sqlite:NAME.db", from: NAME, table: t, create: true, mode: upsert, key: [id], transaction: batch, batch: 300}`},
	{"sink to a table", `{id: to_NAME, kind: sink, to: NAME.db, from: NAME, table: t, mode: append}`},
	{"csv", `{id: to_NAME, kind: sink, to: out_NAME.csv, from: NAME}`},
	{"jsonl", `{id: to_NAME, kind: sink, to: out_NAME.jsonl, from: NAME}`},
	{"parquet", `{id: to_NAME, kind: sink, to: out_NAME.parquet, from: NAME}`},
	{"json", `{id: to_NAME, kind: sink, to: out_NAME.json, from: NAME}`},
	{"gzip", `{id: to_NAME, kind: sink, to: out_NAME.csv.gz, from: NAME}`},
	{"transform", `{id: to_NAME, kind: transform, from: NAME, steps: [{sort: [name]}], writes: [out_NAME]}`},
	{"fan-out", `{id: to_NAME, kind: template, text: "{{$item.id}} {{$item.name}}", for_each: {source: $.NAME, collect: out_NAME}, writes: [out_NAME]}`},
	{"pipeline", `{id: to_NAME, kind: transform, from: $item, steps: [{derive: {next: $item.id + 1}}], writes: [out_NAME]}`},
}

// sourceRows is the number of rows of a source, in several batches.
const sourceRows = 1100

// TestSources kills runs in which each reader reads each source. The files, tables and values must
// equal the files, tables and values of a run that was not killed.
func TestSources(t *testing.T) {
	level := map[string]effort{"": {every: 60, instants: 1, share: 4}, "ci": {every: 40, instants: 3, share: 1}, "all": {every: 2, instants: 50, share: 1}}[os.Getenv("WAVEFOLD_TORTURE")]
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("WAVEFOLD_TORTURE_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("WAVEFOLD_TORTURE_SEED=%d", seed)
	dir := t.TempDir()
	writeSources(t, dir)
	pages := httptest.NewServer(http.HandlerFunc(servePage))
	t.Cleanup(pages.Close)
	tally := &tally{}
	t.Run("readers", func(t *testing.T) {
		for i, r := range readers {
			if (uint64(i)+seed)%uint64(level.share) > 0 {
				continue
			}
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				own := t.TempDir()
				if err := os.CopyFS(own, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				text := strings.ReplaceAll(document(r.name, r.node), "PAGES", pages.URL+slow[r.name])
				if err := os.WriteFile(filepath.Join(own, "job.yaml"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				j := &job{name: r.name, args: []string{"job.yaml"}, files: os.DirFS(own), long: true}
				j.torture(t, level, rand.New(rand.NewPCG(seed, uint64(i))), tally)
			})
		}
	})
	t.Logf("%d kills, %d of them found no process", tally.kills, tally.late)
}

// slow are the readers for which the pages take so long that they make checkpoints, one a second.
var slow = map[string]string{"csv": "?wait=150ms", "jsonl": "?wait=150ms"}

// document is a workflow in which a reader reads each source.
func document(name, reader string) string {
	var fields, nodes, edges, units strings.Builder
	for _, s := range sources {
		fmt.Fprintf(&fields, "    %s: {type: array}\n    out_%s: {type: array, merge: array_append}\n", s.name, s.name)
		fmt.Fprintf(&nodes, "    - %s\n    - %s\n", s.nodes, strings.ReplaceAll(reader, "NAME", s.name))
		fmt.Fprintf(&edges, "    - {from: %s, to: to_%s}\n", s.name, s.name)
		if name == "pipeline" {
			fmt.Fprintf(&units, "    - {id: unit_%s, items: $.%s, stages: [to_%s], batch: 40}\n", s.name, s.name, s.name)
		}
	}
	text := "name: job\nstate:\n  schema:\n    unsorted: {type: array}\n" + fields.String() + "graph:\n  nodes:\n" + nodes.String() + "  edges:\n" + edges.String() + "    - {from: unsorted, to: sorted}\n"
	if units.Len() > 0 {
		text += "  pipelines:\n" + units.String()
	}
	return text
}

// writeSources writes the files that the sources read.
func writeSources(t *testing.T, dir string) {
	t.Helper()
	var rows, zipped bytes.Buffer
	fmt.Fprintln(&rows, "id,name")
	for i := 1; i <= sourceRows; i++ {
		fmt.Fprintf(&rows, "%d,n%d\n", i, i*7919%sourceRows)
	}
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(rows.Bytes())
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const convert = `name: convert
state: {schema: {rows: {type: array}}}
graph:
  nodes:
    - {id: load, kind: dataset, source: rows.csv, writes: [rows]}
    - {id: jsonl, kind: sink, reads: [rows], to: rows.jsonl}
    - {id: json, kind: sink, reads: [rows], to: rows.json}
    - {id: parquet, kind: sink, reads: [rows], to: rows.parquet}
    - {id: db, kind: sink, reads: [rows], to: rows.db, table: t}
  edges: [{from: load, to: jsonl}, {from: load, to: json}, {from: load, to: parquet}, {from: load, to: db}]
`
	for name, data := range map[string][]byte{"rows.csv": rows.Bytes(), "rows.csv.gz": zipped.Bytes(), "convert.yaml": []byte(convert)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "run", "-q", "--store", "none", "convert.yaml")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), childVariable+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// servePage serves the rows in pages of 100.
func servePage(w http.ResponseWriter, r *http.Request) {
	wait, _ := time.ParseDuration(r.URL.Query().Get("wait"))
	time.Sleep(wait)
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	var list []string
	for i := (page-1)*100 + 1; i <= min(page*100, sourceRows); i++ {
		list = append(list, fmt.Sprintf(`{"id": %d, "name": "n%d"}`, i, i*7919%sourceRows))
	}
	fmt.Fprintf(w, "[%s]", strings.Join(list, ","))
}
