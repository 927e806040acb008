//go:build unix

package hostile

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// randomTable returns an incompressible table of three megabytes, more than SQLite buffers
// before it writes.
func randomTable() string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("id,text\n")
	for i := range 30_000 {
		fmt.Fprintf(&b, "%d,", i)
		for range 6 {
			fmt.Fprintf(&b, "%016x", r.Uint64())
		}
		b.WriteString("\n")
	}
	return b.String()
}

// If no file can grow beyond 64 KB, as on a full disk, no partial file is left: the older
// file is unchanged, and there is no other file next to it. The error names the file as the
// user does.
func TestFullDisk(t *testing.T) {
	needs(t, "sh")
	text := randomTable()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }))
	t.Cleanup(srv.Close)
	const (
		load   = "- {id: load, kind: dataset, source: in.csv, writes: [rows]}\n    "
		stream = "- {id: load, kind: dataset, source: in.csv, writes: [rows], stream: true}\n    "
	)
	for name, c := range map[string]struct{ nodes, file, want string }{
		"csv":              {load + "- {id: save, kind: sink, reads: [rows], to: x.csv}", "x.csv", "node save: x.csv: cannot be written: "},
		"jsonl":            {load + "- {id: save, kind: sink, reads: [rows], to: out/x.jsonl}", "out/x.jsonl", "node save: out/x.jsonl: cannot be written: "},
		"json":             {load + "- {id: save, kind: sink, reads: [rows], to: x.json}", "x.json", "node save: x.json: cannot be written: "},
		"a stream":         {stream + "- {id: save, kind: sink, reads: [rows], to: x.tsv}", "x.tsv", "node save: x.tsv: cannot be written: "},
		"parquet":          {load + "- {id: save, kind: sink, reads: [rows], to: x.parquet}", "x.parquet", "node save: x.parquet: cannot be written: "},
		"parquet, streams": {stream + "- {id: save, kind: sink, reads: [rows], to: x.parquet}", "x.parquet", "node save: x.parquet: cannot be written: "},
		"gzip":             {load + "- {id: save, kind: sink, reads: [rows], to: x.csv.gz}", "x.csv.gz", "node save: x.csv.gz: cannot be written: "},
		"a new database":   {load + "- {id: save, kind: sink, reads: [rows], to: x.db, table: t}", "", "node save: x.db: "},
		"sql":              {stream + "- {id: save, kind: sql, dsn: 'sqlite:x.db', reads: [rows], table: t, create: true}", "", "node save: x.db: table t: "},
		"rejects": {"- {id: load, kind: dataset, source: in.csv, writes: [rows], checks: [{name: never, expr: $item.id < 0}], rejects: x.jsonl}\n    - {id: save, kind: wait, duration: 0s}",
			"x.jsonl", "node load: rejects: x.jsonl: cannot be written: "},
		"an answer": {"- {id: load, kind: http, url: '" + srv.URL + "', save: x.csv}\n    - {id: save, kind: wait, duration: 0s}", "x.csv", "node load: save: x.csv: cannot be written: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "in.csv"), text)
			write(t, filepath.Join(dir, "flow.yaml"), "name: full\nversion: 0.1.0\nstate: {schema: {rows: {}}}\ngraph:\n  nodes:\n    "+c.nodes+"\n  edges: [{from: load, to: save}]\n")
			if c.file != "" {
				write(t, filepath.Join(dir, c.file), "old")
			}
			cmd := command(t, dir)
			cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `ulimit -f 128 && exec "$0" run -q flow.yaml`, os.Args[0]}
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.want) || strings.Contains(string(out), ".wavefold-") {
				t.Errorf("%v\n%s\nwant an error with %s", err, out, c.want)
			}
			old := "old"
			if name == "rejects" { // the file of an earlier run must not be mistaken for it
				old = ""
			}
			if c.file != "" && read(t, filepath.Join(dir, c.file)) != old {
				t.Errorf("%s is not %q", c.file, old)
			}
			onlyWhole(t, dir, "in.csv", "flow.yaml", c.file)
		})
	}
}

// onlyWhole fails the test if the folder contains more than these files. Empty files do not
// count: a new database without tables is one.
func onlyWhole(t *testing.T, dir string, names ...string) {
	t.Helper()
	known := map[string]bool{}
	for _, n := range names {
		known[filepath.Join(dir, n)] = true
	}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || known[path] {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() > 0 {
			t.Errorf("left behind: %s of %d bytes", e.Name(), info.Size())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
