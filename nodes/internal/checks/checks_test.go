package checks

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/internal/eval"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// compiled decodes options as a kind does.
func compiled(t *testing.T, options string, writes string) (*Policy, *eval.Scope) {
	t.Helper()
	n := nodestest.Node(t, `{"writes": [`+writes+`]}`)
	var o Options
	if ds := core.Decode(nodestest.Tree(t, options), &o); ds.Failed(false) {
		t.Fatal(ds)
	}
	s := eval.NewScope(n, nil)
	return o.Compile(s, n, eval.Columns{}, n.Pos, ""), s
}

func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		options  string
		tolerant int // bad rows before the error
		message  string
	}{
		{`{}`, 0, "f.csv:3: row 2: why"},
		{`{"on_bad_row": "fail"}`, 0, "f.csv:3: row 2: why"},
		{`{"max_failures": 0}`, 0, "more than 0 bad rows (max_failures), the first: f.csv:3: row 2: why"},
		{`{"on_bad_row": "skip", "max_failures": 2}`, 2, "more than 2 bad rows (max_failures), the first: f.csv:3: row 2: why"},
		{`{"rejects": "bad", "max_failures": 1}`, 1, "more than 1 bad rows (max_failures), the first: f.csv:3: row 2: why"},
		{`{"on_bad_row": "skip"}`, 9, ""},
		{`{"rejects": "bad.csv"}`, 9, ""},
	} {
		p, s := compiled(t, c.options, `"bad"`)
		if len(s.Found) > 0 {
			t.Errorf("%s: %v", c.options, s.Found)
		}
		col := p.Collector("f.csv")
		for i := range 9 {
			err := col.Reject(Bad{Row: i + 2, Line: i + 3, Reason: "why"})
			if i < c.tolerant {
				if err != nil {
					t.Errorf("%s: bad row %d: %v", c.options, i, err)
				}
				continue
			}
			if err == nil || err.Error() != c.message || !core.FailureOf(err).Permanent {
				t.Errorf("%s: bad row %d: %v, want %s", c.options, i, err, c.message)
			}
			break
		}
	}
}

func TestRecordsAreInOrderOfRows(t *testing.T) {
	p, _ := compiled(t, `{"rejects": "bad"}`, `"bad"`)
	for source, want := range map[string]string{
		"":  `[{"row":1,"check":"c","reason":"x","data":null},{"row":4,"check":null,"reason":"y","data":[1]}]`,
		"f": `[{"row":1,"line":null,"check":"c","reason":"x","data":null},{"row":4,"line":9,"check":null,"reason":"y","data":[1]}]`,
	} {
		col := p.Collector(source)
		col.Reject(Bad{Row: 4, Line: 9, Reason: "y", Data: []any{int64(1)}})
		col.Reject(Bad{Row: 1, Check: "c", Reason: "x"})
		if got := core.JSON(col.Records()); got != want || col.Rejected() != 2 {
			t.Errorf("records %s, want %s", got, want)
		}
	}
}

func TestFilter(t *testing.T) {
	p, s := compiled(t, `{"on_bad_row": "skip", "checks": [{"name": "e", "expr": "$item.a > 1"}, {"name": "w", "expr": "$item.t != 'x'", "severity": "warning"}]}`, "")
	rows := []any{core.ObjectOf("a", int64(2), "t", "x"), core.ObjectOf("a", int64(3)), core.ObjectOf("a", int64(1), "t", "x"), core.ObjectOf("t", strings.Repeat("x", 100))}
	col := p.Collector("")
	good, err := col.Filter(t.Context(), rows[:2], s.Slots().Row(core.Shared{}), nil)
	if err != nil || len(good) != 2 || &good[0] != &rows[0] {
		t.Errorf("good rows alone: %v, %v, want the rows themselves", good, err)
	}
	good, err = col.Filter(t.Context(), rows, s.Slots().Row(core.Shared{}), func(i int) (row, line int) { return i, 0 })
	if err != nil || len(good) != 2 || col.Rejected() != 2 {
		t.Errorf("%d good rows, %d rejected, %v", len(good), col.Rejected(), err)
	}
	if got := core.JSON(col.Warnings()); got != `{"w":2}` {
		t.Errorf("warnings %s: those of bad rows do not count", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := col.Filter(ctx, rows, s.Slots().Row(core.Shared{}), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestReasonShortensValues(t *testing.T) {
	p, s := compiled(t, `{"checks": [{"name": "c", "expr": "$item.t == 'y' && $item.none"}]}`, "")
	_, err := p.Collector("").Filter(t.Context(), []any{core.ObjectOf("t", strings.Repeat("é", 100))}, s.Slots().Row(core.Shared{}), func(int) (row, line int) { return 1, 0 })
	if err == nil || !strings.Contains(err.Error(), `é..., $item.none = missing`) || len(err.Error()) > 200 {
		t.Errorf("error %v", err)
	}
}

func TestClose(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "taken.csv"), 0o777); err != nil {
		t.Fatal(err)
	}
	place, work := files.Place{Dir: dir}, errors.New("the work failed")
	for _, c := range []struct {
		file    string
		workErr error
		want    string
		written bool
	}{
		{"bad.csv", nil, "", true},
		{"bad.csv", work, "the work failed", false},
		{"bad.csv", &tooMany{"too many"}, "too many", true},
		{"taken.csv", nil, "rejects: taken.csv is not a regular file", false},
		{"taken.csv", &tooMany{"too many"}, "too many\nrejects: taken.csv is not a regular file", false},
		{"../bad.csv", nil, `rejects: "../bad.csv" leaves the workflow's folder`, false},
	} {
		os.Remove(filepath.Join(dir, "bad.csv"))
		p, _ := compiled(t, `{"rejects": "`+c.file+`"}`, "")
		err := p.Collector("f").Close(t.Context(), core.Shared{}, place, c.workErr)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%s after %v: %v, want %s", c.file, c.workErr, err, c.want)
		}
		if _, err := os.Stat(filepath.Join(dir, "bad.csv")); (err == nil) != c.written {
			t.Errorf("%s after %v: written %v", c.file, c.workErr, err == nil)
		}
	}
}
