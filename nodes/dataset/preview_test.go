package dataset_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestPreview(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.csv": "id,name\n1,Ada\n2\n3,\n", "h.csv": "id,name\n", "b.jsonl": "{\"a\":1}\n{\"a\":\"x\"}\n",
		"long.csv": "n\n" + strings.Repeat("7\n", 30_000), "f.parquet": flights(t, 20_000),
	})
	in := core.NewInput("", "n", 1, core.Shared{Dir: dir})
	for _, c := range []struct {
		node    string
		columns []dataset.Column
		rows    string
		bad     string
		count   int64
		whole   bool
	}{
		{`{"source": "a.csv", "columns": {"id": "integer"}, "checks": [{"name": "c", "expr": "false"}], "rejects": "bad.csv"`,
			[]dataset.Column{{"id", "integer", true, 0, int64(1)}, {"name", "string", false, 1, "Ada"}}, `[{"id":1,"name":"Ada"},{"id":3,"name":null}]`, "row 2, line 3: has 1 cell, want 2", 3, true},
		{`{"source": "h.csv"`, []dataset.Column{{"id", "string", false, 0, nil}, {"name", "string", false, 0, nil}}, `[]`, "", 0, true},
		{`{"source": "b.jsonl", "stream": true`, []dataset.Column{{"a", "any", false, 0, int64(1)}}, `[{"a":1},{"a":"x"}]`, "", 2, true},
		{`{"source": "long.csv", "stream": true`, []dataset.Column{{"n", "integer", false, 0, int64(7)}}, `[{"n":7},{"n":7}]`, "", 10_240, false},
		{`{"source": "f.parquet", "select": ["delay"]`, []dataset.Column{{"delay", "integer", false, 0, int64(0)}}, `[{"delay":0},{"delay":1}]`, "", 20_000, true},
	} {
		got, err := dataset.Preview(t.Context(), nodestest.Node(t, c.node+`, "writes": ["rows"]}`), env(t, dir), in, 2)
		if err != nil {
			t.Errorf("%s: %v", c.node, err)
			continue
		}
		list := []any{}
		for _, r := range got.Rows {
			list = append(list, r)
		}
		if core.JSON(list) != c.rows || strings.Join(got.Bad, "; ") != c.bad || got.Count != c.count || got.Whole != c.whole {
			t.Errorf("%s: rows %s, bad %q, %d, whole %v", c.node, core.JSON(list), got.Bad, got.Count, got.Whole)
		}
		if len(got.Columns) != len(c.columns) {
			t.Fatalf("%s: columns %v", c.node, got.Columns)
		}
		for i := range c.columns {
			if got.Columns[i] != c.columns[i] {
				t.Errorf("%s: column %v, want %v", c.node, got.Columns[i], c.columns[i])
			}
		}
	}
	if _, err := dataset.Preview(t.Context(), nodestest.Node(t, `{"source": "none.csv", "writes": ["rows"]}`), env(t, dir), in, 2); err == nil || !strings.Contains(err.Error(), "MISSING_FILE") {
		t.Errorf("a node with findings: %v", err)
	}
	if _, err := dataset.Preview(t.Context(), nodestest.Node(t, `{"source": "-", "format": "csv", "writes": ["rows"]}`), piped(t, strings.NewReader("a\n")), in, 2); err == nil {
		t.Error("standard input was read")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dataset.Preview(ctx, nodestest.Node(t, `{"source": "a.csv", "writes": ["rows"]}`), env(t, dir), in, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, name := range []string{"bad.csv"} {
		if _, err := env(t, dir).Files.Open(name); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}
