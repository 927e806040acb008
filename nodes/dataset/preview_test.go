package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func TestPreview(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.csv": "id,name\n1,Ada\n2\n3,\n", "h.csv": "id,name\n", "b.jsonl": "{\"a\":1}\n{\"a\":\"x\"}\n",
		"long.csv": "n\n" + strings.Repeat("7\n", 30_000), "f.parquet": flights(t, 20_000), "g.parquet": flights(t, 7),
		"a.csvs": "n\n7\n8\n", "b.csvs": "n\n1,2\n1,2,3\n1,2\n1,2\n",
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
			[]dataset.Column{{"id", "integer", true, 0, int64(1)}, {"name", "string", false, 1, "Ada"}}, `[{"id":1,"name":"Ada"},{"id":3,"name":null}]`, ":3: has 1 cell, want 2", 3, true},
		{`{"source": "h.csv"`, []dataset.Column{{"id", "string", false, 0, nil}, {"name", "string", false, 0, nil}}, `[]`, "", 0, true},
		{`{"source": "b.jsonl", "stream": true`, []dataset.Column{{"a", "any", false, 0, int64(1)}}, `[{"a":1},{"a":"x"}]`, "", 2, true},
		{`{"source": "long.csv", "stream": true`, []dataset.Column{{"n", "integer", false, 0, int64(7)}}, `[{"n":7},{"n":7}]`, "", 10_240, false},
		{`{"source": "f.parquet", "select": ["delay"]`, []dataset.Column{{"delay", "integer", false, 0, int64(0)}}, `[{"delay":0},{"delay":1}]`, "", 20_000, true},
		{`{"source": ["f.parquet", "f.parquet", "g.parquet"], "select": ["delay"]`, []dataset.Column{{"delay", "integer", false, 0, int64(0)}}, `[{"delay":0},{"delay":1}]`, "", 20_007, true},
		{`{"source": "*.csvs", "format": "csv", "max_failures": 1`, []dataset.Column{{"n", "integer", false, 0, int64(7)}}, `[{"n":7},{"n":8}]`, "b.csvs:2: has 2 cells, want 1; b.csvs:3: has 3 cells, want 1; b.csvs:4: has 2 cells, want 1", 6, true},
	} {
		got, err := dataset.Preview(t.Context(), nodestest.Node(t, c.node+`, "writes": ["rows"]}`), env(t, dir), in, dataset.PreviewOptions{Rows: 2})
		if err != nil {
			t.Errorf("%s: %v", c.node, err)
			continue
		}
		list := []any{}
		for _, r := range got.Rows {
			list = append(list, r)
		}
		if value.JSON(list) != c.rows || places(got.Bad) != c.bad || got.Count != c.count || got.Whole != c.whole {
			t.Errorf("%s: rows %s, bad %q, %d, whole %v", c.node, value.JSON(list), places(got.Bad), got.Count, got.Whole)
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
	if _, err := dataset.Preview(t.Context(), nodestest.Node(t, `{"source": "none.csv", "writes": ["rows"]}`), env(t, dir), in, dataset.PreviewOptions{Rows: 2}); err == nil || !strings.Contains(err.Error(), "MISSING_FILE") {
		t.Errorf("a node with findings: %v", err)
	}
	if _, err := dataset.Preview(t.Context(), nodestest.Node(t, `{"source": "-", "format": "csv", "writes": ["rows"]}`), piped(t, strings.NewReader("a\n")), in, dataset.PreviewOptions{Rows: 2}); err == nil {
		t.Error("standard input was read")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dataset.Preview(ctx, nodestest.Node(t, `{"source": "a.csv", "writes": ["rows"]}`), env(t, dir), in, dataset.PreviewOptions{Rows: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, name := range []string{"bad.csv"} {
		if _, err := env(t, dir).Files.Open(name); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

func places(bad []dataset.BadRow) string {
	var out []string
	for _, b := range bad {
		out = append(out, fmt.Sprintf("%s:%d: %s", b.File, b.Line, b.Reason))
	}
	return strings.Join(out, "; ")
}

// Types come from the rows that are looked at, whatever the node says, and only
// Count reads on. Standard input is read when that is allowed.
func TestPreviewReadsTheBeginning(t *testing.T) {
	long := "n\n" + strings.Repeat("7\n", 30_000) + "x\n"
	dir := folder(t, map[string]string{"long.csv": long})
	in := core.NewInput("", "n", 1, core.Shared{Dir: dir})
	for _, c := range []struct {
		options dataset.PreviewOptions
		count   int64
		whole   bool
	}{
		{dataset.PreviewOptions{Rows: 1}, 10_240, false},
		{dataset.PreviewOptions{Rows: 1, Count: true}, 30_001, true},
	} {
		for name, source := range map[string]string{"long.csv": `"long.csv"`, "standard input": `"-", "format": "csv"`} {
			from := &counting{r: strings.NewReader(long)}
			c.options.Stdin = name == "standard input"
			e := env(t, dir)
			if c.options.Stdin {
				e = piped(t, from)
			}
			got, err := dataset.Preview(t.Context(), nodestest.Node(t, `{"source": `+source+`, "writes": ["rows"]}`), e, in, c.options)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got.Count != c.count || got.Whole != c.whole || got.Looked != 10_240 || got.Columns[0].Type != "integer" || len(got.Rows) != 1 || got.BadRows != 0 {
				t.Errorf("%s, %+v: %+v", name, c.options, got)
			}
			if size := int64(len(long)); c.options.Stdin && got.Bytes != -1 || !c.options.Stdin && got.Bytes != size {
				t.Errorf("%s: %d bytes", name, got.Bytes)
			}
			if c.options.Stdin && !c.whole && from.n == len(long) {
				t.Errorf("%s was read whole", name)
			}
		}
	}
}

type counting struct {
	r io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p[:min(len(p), 4096)])
	c.n += n
	return n, err
}
