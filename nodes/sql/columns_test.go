package sql

import (
	"context"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// headedFeed is a feed that knows its columns.
type headedFeed struct {
	*feed
	columns []string
}

func (h headedFeed) Header(context.Context) ([]string, bool, error) { return h.columns, true, nil }

// A listed column that no row has fails the node at the end of the rows: one transaction
// is undone, batches that are stored stay and are counted. With a header the node fails
// before the first row.
func TestRule78ColumnsOfATable(t *testing.T) {
	for _, c := range []struct {
		name, keys, want, stored string
		header                   []string
	}{
		{"one transaction", "", `x.db: table t: no row has the column "nam" (did you mean "name"? columns: id, name)`, "0", nil},
		{"batches", `"transaction": "batch", "batch": 4, `, `x.db: table t: no row has the column "nam" (did you mean "name"? columns: id, name); the 8 rows before are stored`, "8", nil},
		{"a header", `"transaction": "batch", "batch": 4, `, `x.db: table t: the rows have no column "nam" (did you mean "name"? columns: id, name)`, "0", []string{"id", "name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			mustFile(t, dir, `"exec": "CREATE TABLE t (id, name, nam)"`, "", "")
			rows := &feed{batches: [][]any{numbered(1, 5), numbered(6, 10)}}
			var s core.Stream = rows
			if c.header != nil {
				s = headedFeed{rows, c.header}
			}
			_, err := compiled(t, "", `{"dsn": "x.db", "table": "t", "from": "rows", `+c.keys+`"columns": ["id", "nam"]}`).Handle(t.Context(), fedBy(dir, s))
			if err == nil || err.Error() != c.want || rows.closed != 1 {
				t.Errorf("error %v, want %s, closed %d times", err, c.want, rows.closed)
			}
			if got := selected(t, dir, "SELECT count(*) AS n FROM t"); got != `[{"n":`+c.stored+`}]` {
				t.Errorf("stored %s", got)
			}
		})
	}
}

// The columns of a query are known before its rows.
func TestHeaderOfAQuery(t *testing.T) {
	dir := t.TempDir()
	mustFile(t, dir, `"exec": "CREATE TABLE t (id, name)"`, "", "")
	h := compiled(t, "", `{"dsn": "x.db", "query": "SELECT name, id AS n FROM t", "writes": ["out"], "stream": true}`)
	s, err := h.(core.StreamSource).Open(t.Context(), input(t, dir, "", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	columns, ok, err := core.HeaderOf(t.Context(), s)
	if value.JSON(columns) != `["name","n"]` || !ok || err != nil {
		t.Error(columns, ok, err)
	}
}
