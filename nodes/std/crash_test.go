package std_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/nodestest"
	"github.com/wavefold/wavefold/nodes/sql"
)

// TestCrashBetweenFileAndTable loads a file into a table, with a crash at each commit and
// checkpoint. The table has every row once, and the stream is read as if there had been no
// crash: its summary has all rows and the hash of the whole file.
func TestCrashBetweenFileAndTable(t *testing.T) {
	const rows = 2500
	var csv, jsonl strings.Builder
	csv.WriteString("id,name\n")
	for i := range rows {
		fmt.Fprintf(&csv, "%d,\"n\n%d\"\n", i, i)
		fmt.Fprintf(&jsonl, "{\"id\": %d, \"name\": \"n%d\"}\n", i, i)
	}
	for _, c := range []struct{ file, text, keys string }{
		{"a.csv", csv.String(), `, "infer_rows": 100`},
		{"a.csv", csv.String(), ""}, // all rows are read to infer the types, so it begins again
		{"a.jsonl", jsonl.String(), ""},
		{"a.csv", csv.String(), `, "infer_rows": 100, "checks": [{"name": "c", "expr": "$item.id % 1000 != 7"}], "max_failures": 10`},
	} {
		t.Run(c.file+c.keys, func(t *testing.T) {
			schema := nodestest.Schema(t, `{"rows": {"type": "array"}, "out": {"type": "array"}}`)
			compile := func(k core.Kind, node, dir string) core.Handler {
				made, ds := k.Compile(nodestest.Node(t, node), core.Env{Schema: schema, Dir: dir, Files: os.DirFS(dir), Items: true})
				if ds.Failed(false) {
					t.Fatal(ds)
				}
				return made.Handler
			}
			dirs := map[*nodestest.Store]string{}
			summaries := map[string]int{}
			nodestest.EachCrash(t, func(t *testing.T) *nodestest.Store {
				s := &nodestest.Store{}
				dirs[s] = t.TempDir()
				if err := os.WriteFile(filepath.Join(dirs[s], c.file), []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
				return s
			}, func(t *testing.T, s *nodestest.Store) error {
				dir := dirs[s]
				maker := compile(dataset.Kind, `{"source": "`+c.file+`", "stream": true, "writes": ["rows"]`+c.keys+`}`, dir)
				made, err := maker.Handle(t.Context(), core.NewInput("r", "load", 1, core.Shared{Dir: dir}))
				if err != nil {
					t.Fatal(err)
				}
				described := made.Writes()["rows"].(*value.Object)
				var stream core.Stream
				reader := core.NewInput("r", "save", 1, core.Shared{Dir: dir, Durability: s.Durability(),
					View: core.NewView([]string{"rows"}, []any{described}),
					Open: func(ctx context.Context, field string, at *value.Object) (core.Stream, bool, error) {
						in := core.NewInput("r", "load", 1, core.Shared{Dir: dir, Durability: &core.Durability{Position: at}})
						stream, err = maker.(core.StreamSource).Open(ctx, in, described)
						return stream, true, err
					}})
				load := compile(sql.Kind, `{"dsn": "x.db", "reads": ["rows"], "table": "t", "create": true, "transaction": "batch", "batch": 900}`, dir)
				if _, err := s.Handle(t, load, reader); err != nil {
					return err
				}
				summaries[value.JSON(stream.Summary())]++
				count := compile(sql.Kind, `{"dsn": "x.db", "writes": ["out"], "query": "SELECT count(*) AS n, count(DISTINCT id) AS d, sum(id) AS s FROM t"}`, dir)
				r, err := count.Handle(t.Context(), core.NewInput("r", "count", 1, core.Shared{Dir: dir}))
				good, sum := rows, rows*(rows-1)/2
				if strings.Contains(c.keys, "checks") {
					good, sum = good-3, sum-7-1007-2007
				}
				want := fmt.Sprintf(`[{"n":%d,"d":%d,"s":%d}]`, good, good, sum)
				if got := value.JSON(r.Writes()["out"]); err != nil || got != want {
					t.Errorf("the table has %s, want %s, %v", got, want, err)
				}
				return nil
			})
			if len(summaries) != 1 {
				t.Errorf("the summaries differ: %v", summaries)
			}
		})
	}
}
