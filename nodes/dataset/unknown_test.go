package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// A check that reads a missing column used to hold for every row, or for no row. With a header the
// node fails before the first row, otherwise at the end of the rows.
func TestRule78ColumnsOfChecks(t *testing.T) {
	const header, end = `checks: the rows have no column "amnt" (columns: k, amount)`, `checks: no row has the column "amnt" (columns: k, amount)`
	for _, c := range []struct{ file, keys, check, want string }{
		{"a.csv", "", "!($item.amnt > 2)", header},
		{"a.csv", `, "on_bad_row": "skip"`, "$item.amnt > 2", header},
		{"a.csv", "", "$item.amount > 0", ""},
		{"a.csv", "", "coalesce($item.amnt, 1) > 0", ""},
		{"a.csv", `, "file_column": "_file"`, "$item._file == 'a.csv'", ""},
		{"a.jsonl", "", "!($item.amnt > 2)", end},
		{"a.jsonl", "", "!($item.amount > 2)", ""}, // a column of some rows
		{"a.json", "", "!($item.amnt > 2)", end},
		{"a.jsonl", `, "columns": {"amnt": {"type": "number", "optional": true}}`, "!($item.amnt > 2)", ""},
		{"empty.jsonl", `, "allow_empty": true`, "!($item.amnt > 2)", ""},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.csv": "k,amount\na,1\nb,2\n", "a.jsonl": "{\"k\":\"a\"}\n{\"k\":\"b\",\"amount\":1}\n", "a.json": `[{"k":"a","amount":1}]`, "empty.jsonl": "\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		made, ds := Kind.Compile(nodestest.Node(t, `{"source": "`+c.file+`", "writes": ["rows"]`+c.keys+`, "checks": [{"name": "c", "expr": "`+c.check+`"}]}`), core.Env{Dir: dir, Files: os.DirFS(dir)})
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		_, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, core.Shared{Dir: dir}))
		if (err != nil || c.want != "") && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("%s%s, %s: %v, want %s", c.file, c.keys, c.check, err, c.want)
		}
	}
}
