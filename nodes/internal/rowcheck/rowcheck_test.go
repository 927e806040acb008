package rowcheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/filename"
	"github.com/wavefold/wavefold/nodes/internal/files"
	"github.com/wavefold/wavefold/nodes/internal/table"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// compiled decodes and compiles options as a kind does.
func compiled(t *testing.T, options string, writes string) (*Policy, *table.Scope) {
	t.Helper()
	n := nodestest.Node(t, `{"writes": [`+writes+`]}`)
	var o Options
	if ds := source.Decode(nodestest.Tree(t, options), &o); ds.Failed(false) {
		t.Fatal(ds)
	}
	s := table.NewScope(n, core.Env{})
	return o.Compile(s, n, source.Columns{}, n.Pos, "", filename.OutputName), s
}

// collector returns a collector for the rows of a task.
func collector(t *testing.T, options string, task Task) (*Collector, *table.Row) {
	t.Helper()
	p, s := compiled(t, options, `"bad"`)
	if s.Found.Failed(false) {
		t.Fatal(s.Found)
	}
	c, err := p.Collector(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Discard)
	return c, s.Slots().Row(core.Shared{})
}

// bads returns n rows that could not be read, from row 2 on.
func bads(n int) (out []table.BadRow) {
	for i := range n {
		out = append(out, table.BadRow{RowPlace: table.RowPlace{Row: int64(i + 2), Line: int64(i + 3)}, Reason: "why"})
	}
	return out
}

func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		options  string
		tolerant int // bad rows that are tolerated
		message  string
	}{
		{`{}`, 0, "f.csv:3: row 2: why"},
		{`{"on_bad_row": "fail"}`, 0, "f.csv:3: row 2: why"},
		{`{"max_failures": 0}`, 0, "more than 0 bad rows (max_failures), the first: f.csv:3: row 2: why"},
		{`{"on_bad_row": "skip", "max_failures": 2}`, 2, "more than 2 bad rows (max_failures), the first: f.csv:3: row 2: why"},
		{`{"rejects": "bad", "max_failures": 1}`, 1, "more than 1 bad rows (max_failures), the first: f.csv:3: row 2: why"},
		{`{"on_bad_row": "skip"}`, 9, ""},
		{`{"rejects": "bad.csv"}`, 9, ""},
		{`{"rejects": "bad.csv", "max_failures": 1}`, 1, "more than 1 bad rows (max_failures), the first: f.csv:3: row 2: why; 2 rows in bad.csv"},
	} {
		col, env := collector(t, c.options, Task{Source: "f.csv", Place: files.Place{Dir: t.TempDir()}})
		for i, b := range bads(9) {
			_, err := col.Filter(t.Context(), table.Batch{Bad: []table.BadRow{b}}, env)
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

// rowsOf returns rows whose column a has these values.
func rowsOf(values ...bool) (out []any) {
	for _, v := range values {
		out = append(out, value.ObjectOf("a", v))
	}
	return out
}

const mustHold = `"checks": [{"name": "holds", "expr": "$item.a"}]`

func TestTolerance(t *testing.T) {
	for text, want := range map[string]string{
		`-1`: `want a number of rows from 0, or a share such as "5%", found number -1`, `"5"`: `found string "5"`, `"101%"`: `found string "101%"`,
		`"x%"`: `found string "x%"`, `0.05`: `found number 0.05`, `"-1%"`: `found string "-1%"`, `"NaN%"`: `found string "NaN%"`,
	} {
		var tol Tolerance
		if ds := tol.DecodeValue(nodestest.Tree(t, text)); !ds.Failed(false) || !strings.Contains(ds[0].Message, want) {
			t.Errorf("%s: %v, want %s", text, ds, want)
		}
	}
	for _, c := range []struct {
		text      string
		bad, all  int64
		exceeded  bool
		asMessage string
	}{
		{`"29%"`, 29, 100, false, ""}, {`"29%"`, 30, 100, true, "30 of 100 rows are bad, more than 29% (max_failures)"},
		{`"0.01%"`, 1, 10_000, false, ""}, {`" 5 % "`, 1, 19, true, "1 of 19 rows are bad, more than 5 % (max_failures)"},
		{`"0%"`, 0, 0, false, ""}, {`"0%"`, 1, 100, true, "1 of 100 rows are bad, more than 0% (max_failures)"}, {`"100%"`, 5, 5, false, ""},
		{`3`, 3, 3, false, ""}, {`3`, 4, 1000, true, "more than 3 bad rows (max_failures)"},
	} {
		var tol Tolerance
		if ds := tol.DecodeValue(nodestest.Tree(t, c.text)); ds.Failed(false) {
			t.Fatal(ds)
		}
		if got := tol.exceeded(c.bad, c.all); got != c.exceeded || got && tol.message(c.bad, c.all) != c.asMessage {
			t.Errorf("%s: %d of %d: %v, %s", c.text, c.bad, c.all, got, tol.message(c.bad, c.all))
		}
	}
}

// A share is checked at the end, or as soon as the result is certain if the number of
// rows is known.
func TestShareOfBadRows(t *testing.T) {
	rows := rowsOf(false, false, true, true, true, true, true, true, true, true)
	const options = `{"on_bad_row": "skip", "max_failures": "10%", ` + mustHold + `}`
	const reason = `row 1: check "holds": $item.a is false, $item.a = false`
	c, env := collector(t, options, Task{})
	good, err := c.Filter(t.Context(), table.Batch{Rows: rows}, env)
	if err != nil || len(good) != 8 {
		t.Fatalf("%d good rows, %v", len(good), err)
	}
	if err := c.Close(t.Context(), nil); err == nil || err.Error() != "2 of 10 rows are bad, more than 10% (max_failures), the first: "+reason {
		t.Errorf("at the end: %v", err)
	}
	c, env = collector(t, options, Task{Total: 10})
	if _, err := c.Filter(t.Context(), table.Batch{Rows: rows[:2]}, env); err == nil || !strings.HasPrefix(err.Error(), "2 of 10 rows are bad, more than 10%") {
		t.Errorf("with 10 rows announced: %v", err)
	}
	c, env = collector(t, options, Task{})
	if _, err := c.Filter(t.Context(), table.Batch{Rows: rows[1:]}, env); err != nil || c.Close(t.Context(), nil) == nil {
		t.Errorf("1 of 9 rows is more than 10%%: %v", err)
	}
	c, env = collector(t, options, Task{})
	if _, err := c.Filter(t.Context(), table.Batch{Rows: append(rowsOf(true), rows[1:]...)}, env); err != nil || c.Close(t.Context(), nil) != nil {
		t.Errorf("1 of 10 rows is 10%%: %v", err)
	}
}

// Rows that could not be read and rows that fail a check are collected in the order of
// the table.
func TestBadRowsAreInOrder(t *testing.T) {
	b := table.Batch{
		Rows:  rowsOf(false, true, false),
		Place: func(i int) table.RowPlace { return table.RowPlace{Row: int64(2 + 2*i), Line: int64(3 + 2*i)} },
		Bad:   []table.BadRow{{RowPlace: table.RowPlace{Row: 1, Line: 2}, Reason: "x", Data: []any{int64(1)}}, {RowPlace: table.RowPlace{Row: 3, Line: 4}, Reason: "y"}, {RowPlace: table.RowPlace{Row: 7, Line: 8}, Reason: "z"}},
	}
	c, env := collector(t, `{"rejects": "bad", `+mustHold+`}`, Task{Source: "f.csv", Node: "n"})
	good, err := c.Filter(t.Context(), b, env)
	if err != nil || value.JSON(good) != `[{"a":true}]` {
		t.Fatalf("good rows %s, %v", value.JSON(good), err)
	}
	var order []string
	for _, r := range c.Records() {
		row, _ := r.(*value.Object).Get("row")
		reason, _ := r.(*value.Object).Get("reason")
		order = append(order, fmt.Sprint(row, " ", reason))
	}
	if got := strings.Join(order, "; "); got != "1 x; 2 $item.a is false, $item.a = false; 3 y; 6 $item.a is false, $item.a = false; 7 z" {
		t.Errorf("rejected %s", got)
	}
	c, env = collector(t, `{`+mustHold+`}`, Task{Source: "f.csv"})
	b.Bad = b.Bad[1:]
	if _, err := c.Filter(t.Context(), b, env); err == nil || err.Error() != `f.csv:3: row 2: check "holds": $item.a is false, $item.a = false` {
		t.Errorf("the first bad row is not the one that fails: %v", err)
	}
}

func TestRecords(t *testing.T) {
	for _, c := range []struct {
		task Task
		want string
	}{
		{Task{Node: "n"}, `[{"row":4,"node":"n","check":null,"reason":"y","data":[1]}]`},
		{Task{Node: "a/1/n", Source: "f"}, `[{"row":4,"line":9,"node":"a/1/n","check":null,"reason":"y","data":[1]}]`},
		{Task{Node: "n", Source: "f", Several: true}, `[{"row":4,"line":9,"file":"f2","node":"n","check":null,"reason":"y","data":[1]}]`},
	} {
		col, env := collector(t, `{"rejects": "bad"}`, c.task)
		if got := value.JSON(col.Records()); got != "[]" {
			t.Errorf("before: %s", got)
		}
		col.Filter(t.Context(), table.Batch{Bad: []table.BadRow{{RowPlace: table.RowPlace{Row: 4, Line: 9, File: "f2"}, Reason: "y", Data: []any{int64(1)}}}}, env)
		if got := value.JSON(col.Records()); got != c.want || col.Rejected() != 1 {
			t.Errorf("records %s, want %s", got, c.want)
		}
	}
}

const twoChecks = `{"on_bad_row": "skip", "checks": [{"name": "e", "expr": "$item.a > 1"}, {"name": "w", "expr": "$item.t != 'x'", "severity": "warn"}]}`

func TestFilter(t *testing.T) {
	rows := []any{value.ObjectOf("a", int64(2), "t", "x"), value.ObjectOf("a", int64(3)), value.ObjectOf("a", int64(1), "t", "x"), value.ObjectOf("t", strings.Repeat("x", 100))}
	col, env := collector(t, twoChecks, Task{})
	good, err := col.Filter(t.Context(), table.Batch{Rows: rows[:2]}, env)
	if err != nil || len(good) != 2 || &good[0] != &rows[0] {
		t.Errorf("good rows alone: %v, %v, want the rows themselves", good, err)
	}
	col, env = collector(t, twoChecks, Task{})
	good, err = col.Filter(t.Context(), table.Batch{Rows: rows}, env)
	if err != nil || len(good) != 2 || col.Rejected() != 2 {
		t.Errorf("%d good rows, %d rejected, %v", len(good), col.Rejected(), err)
	}
	if got := value.JSON(col.Warnings()); got != `{"w":2}` {
		t.Errorf("warnings %s", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := col.Filter(ctx, table.Batch{Rows: rows}, env); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// $index continues from batch to batch.
func TestIndexOverBatches(t *testing.T) {
	c, env := collector(t, `{"on_bad_row": "skip", "checks": [{"name": "even", "expr": "$index % 2 == 0"}]}`, Task{})
	n := 0
	for range 5 {
		good, err := c.Filter(t.Context(), table.Batch{Rows: rowsOf(true, true, true)}, env)
		if err != nil {
			t.Fatal(err)
		}
		n += len(good)
	}
	if n != 8 || c.Rejected() != 7 {
		t.Errorf("%d good rows of 15, %d rejected", n, c.Rejected())
	}
}

// The report does not depend on the sizes of batches, and shows at most three examples
// for each check.
func TestQuality(t *testing.T) {
	var rows []any
	for i := range 10 {
		rows = append(rows, value.ObjectOf("a", int64(i%3), "t", []string{"x", "y"}[i%2], "long", strings.Repeat("é", 100)))
	}
	unreadable := []table.BadRow{{RowPlace: table.RowPlace{Row: 11, Line: 12}, Reason: "cut off"}}
	place := func(first int) func(int) table.RowPlace {
		return func(i int) table.RowPlace {
			return table.RowPlace{Row: int64(first + i + 1), Line: int64(first + i + 2)}
		}
	}
	const want = `{"rows":11,"good":3,"rejected":8,"unreadable":{"failed":1,"examples":[{"row":11,"line":12,"reason":"cut off"}]},"checks":[` +
		`{"name":"e","expr":"$item.a > 1","severity":"error","passed":3,"failed":7,"examples":[{"row":1,"line":2,"value":{"$item.a":0}},{"row":2,"line":3,"value":{"$item.a":1}},{"row":4,"line":5,"value":{"$item.a":0}}]},` +
		`{"name":"w","expr":"$item.t != 'x'","severity":"warn","passed":5,"failed":5,"examples":[{"row":1,"line":2,"value":{"$item.t":"x"}},{"row":3,"line":4,"value":{"$item.t":"x"}},{"row":5,"line":6,"value":{"$item.t":"x"}}]}]}`
	for _, size := range []int{1, 3, 10} {
		c, env := collector(t, twoChecks, Task{Source: "f.csv"})
		for from := 0; from < len(rows); from += size {
			b := table.Batch{Rows: rows[from:min(from+size, len(rows))], Place: place(from)}
			if from+size >= len(rows) {
				b.Bad = unreadable
			}
			if _, err := c.Filter(t.Context(), b, env); err != nil {
				t.Fatal(err)
			}
		}
		if got := value.JSON(c.Quality()); got != want {
			t.Errorf("in batches of %d:\n got %s\nwant %s", size, got, want)
		}
	}
	c, env := collector(t, `{"on_bad_row": "skip", "checks": [{"name": "c", "expr": "$item.long == 'y' && $item.none > 1"}]}`, Task{})
	c.Filter(t.Context(), table.Batch{Rows: rows[:1]}, env)
	if got := value.JSON(c.Quality()); !strings.Contains(got, `é...","$item.none":"missing"}`) {
		t.Errorf("values are not shortened: %s", got)
	}
	c, env = collector(t, `{"report": "q.json"}`, Task{})
	c.Filter(t.Context(), table.Batch{Rows: rows}, env)
	if got := value.JSON(c.Quality()); got != `{"rows":10,"good":10,"rejected":0,"checks":[]}` {
		t.Errorf("without checks: %s", got)
	}
}

func TestReasonShortensValues(t *testing.T) {
	c, env := collector(t, `{"checks": [{"name": "c", "expr": "$item.t == 'y' && $item.none"}]}`, Task{})
	_, err := c.Filter(t.Context(), table.Batch{Rows: []any{value.ObjectOf("t", strings.Repeat("é", 100))}}, env)
	if err == nil || !strings.Contains(err.Error(), `é..., $item.none = missing`) || len(err.Error()) > 200 {
		t.Errorf("error %v", err)
	}
}

func TestClose(t *testing.T) {
	dir := t.TempDir()
	place, work := files.Place{Dir: dir}, errors.New("the work failed")
	for _, c := range []struct {
		workErr    error
		want       string
		incomplete bool
	}{
		{nil, "", false},
		{work, "the work failed", true},
		{core.Permanent(&tooMany{"too many"}), "too many", false},
	} {
		for _, name := range []string{"bad.csv", "q.json"} {
			os.Remove(filepath.Join(dir, name))
		}
		col, env := collector(t, `{"rejects": "bad.csv", "report": "q.json"}`, Task{Source: "f", Node: "n", Place: place})
		if _, err := col.Filter(t.Context(), table.Batch{Rows: rowsOf(true), Place: func(int) table.RowPlace { return table.RowPlace{Row: 1} }, Bad: bads(1)}, env); err != nil {
			t.Fatal(err)
		}
		err := col.Close(t.Context(), c.workErr)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("after %v: %v, want %s", c.workErr, err, c.want)
		}
		for name, want := range map[string]string{
			"bad.csv": "row,line,node,check,reason,data\n2,3,n,,why,\n",
			"q.json":  "{\n  \"node\": \"n\",\n  \"source\": \"f\",\n  \"rows\": 2,\n  \"good\": 1,\n  \"rejected\": 1,\n  \"unreadable\": {\n    \"failed\": 1,\n    \"examples\": [\n      {\n        \"row\": 2,\n        \"line\": 3,\n        \"reason\": \"why\"\n      }\n    ]\n  },\n  \"checks\": []\n}\n",
		} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if c.incomplete {
				want = strings.Replace(want, `"rows"`, "\"incomplete\": true,\n  \"rows\"", 1)
			}
			if err != nil || string(text) != want {
				t.Errorf("%s after %v: %q, %v", name, c.workErr, text, err)
			}
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

// A file that cannot be written fails the node before its work begins.
func TestFilesThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "taken.csv"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"taken.csv":  "rejects: taken.csv is not a regular file",
		"../bad.csv": `rejects: "../bad.csv" leaves the workflow's folder (` + dir + `)`,
	} {
		p, _ := compiled(t, `{"rejects": "`+name+`"}`, "")
		if _, err := p.Collector(t.Context(), Task{Place: files.Place{Dir: dir}}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, s := compiled(t, `{"report": "q.csv"}`, ""); !s.Found.Has(source.CodeBadValue) {
		t.Errorf("a report in csv: %v", s.Found)
	}
}

// If the disk becomes full while rejects are written, the node fails at once, and the
// file of the last run has been removed.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad.jsonl"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	col, env := collector(t, `{"rejects": "bad.jsonl"}`, Task{Source: "f", Place: files.Place{Dir: dir}, Wrap: func(io.Writer) io.Writer { return full }})
	n := 0
	for ; err == nil && n < 10_000; n++ {
		_, err = col.Filter(t.Context(), table.Batch{Bad: bads(10)}, env)
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "rejects: ") {
		t.Errorf("after %d batches: %v", n, err)
	}
	if err := col.Close(t.Context(), err); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("close: %v", err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "bad.jsonl")); string(text) != "" {
		t.Errorf("the file of the attempt is %q", text)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// Bad rows are not kept in memory: a million of them are written to the file as they
// are found.
func TestRejectsAreNotKept(t *testing.T) {
	col, env := collector(t, `{"rejects": "bad.jsonl"}`, Task{Source: "f", Place: files.Place{Dir: t.TempDir()}, Wrap: func(io.Writer) io.Writer { return io.Discard }})
	for range 1000 {
		if _, err := col.Filter(t.Context(), table.Batch{Bad: bads(10)}, env); err != nil {
			t.Fatal(err)
		}
	}
	if col.list != nil || len(col.bad.examples) > maxExamples || col.Rejected() != 10_000 {
		t.Errorf("%d records and %d examples kept of %d", len(col.list), len(col.bad.examples), col.Rejected())
	}
}
