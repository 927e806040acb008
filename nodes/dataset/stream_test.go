package dataset_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// streamed runs a node with stream: true and its reader, and returns what the
// field holds then: the description and the summary, with the rows.
func streamed(t testing.TB, node string, e core.Env) (rows []any, state *value.Object, err error) {
	t.Helper()
	s, state, err := opened(t, node, e)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	for {
		batch, err := s.Next(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			return rows, state, err
		}
		if len(batch) == 0 {
			t.Fatal("an empty batch")
		}
		rows = append(rows, batch...)
	}
	for k, v := range s.Summary().All() {
		state.Set(k, v)
	}
	return rows, state, nil
}

// opened runs a node and opens its stream.
func opened(t testing.TB, node string, e core.Env) (core.Stream, *value.Object, error) {
	t.Helper()
	made, ds := dataset.Kind.Compile(nodestest.Node(t, node), e)
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	in := core.NewInput("run", "n", 1, core.Shared{Dir: e.Dir})
	r, err := made.Handler.Handle(t.Context(), in)
	if err != nil {
		return nil, nil, err
	}
	if made.Stream.Value == "" || len(r.Writes()) != 1 {
		t.Fatalf("stream %q, writes %v", made.Stream.Value, r.Writes())
	}
	described := value.Clone(r.Writes()[made.Stream.Value]).(*value.Object)
	s, err := made.Handler.(core.StreamSource).Open(t.Context(), in, described)
	return s, described, err
}

func TestStream(t *testing.T) {
	dir := folder(t, map[string]string{"small.csv": small, "a.jsonl": "{\"a\":1}\n{\"a\":\"x\"}\n[]\n", "a.json": `[{"a":1},{"a":2}]`, "h.tsv": "a\tb\n", "empty.csv": ""})
	sum := func(name string) string {
		return fmt.Sprintf(`"hash":"sha256:%x"`, sha256.Sum256([]byte(contents(t, dir, name))))
	}
	for _, c := range []struct{ name, node, rows, state string }{
		{"csv", `{"source": "small.csv", "rejects": "out/bad.jsonl", "checks": [{"name": "odd", "expr": "$item.id % 2 == 1"}, {"name": "w", "expr": "false", "severity": "warn"}]`,
			`[{"id":1,"name":"Ada"},{"id":3,"name":"Bob"}]`,
			`{"source":"small.csv","format":"csv","schema":[{"column":"id","type":"integer","nulls":0,"example":1},{"column":"name","type":"string","nulls":0,"example":"Ada"}],` +
				`"rows":2,"rejected":2,` + sum("small.csv") + `,"quality":{"rows":4,"good":2,"rejected":2,"unreadable":{"failed":1,"examples":[{"row":2,"line":3,"reason":"has 1 cell, want 2"}]},"checks":[` +
				`{"name":"odd","expr":"$item.id % 2 == 1","severity":"error","passed":2,"failed":1,"examples":[{"row":4,"line":5,"value":{"$item.id":4}}]},` +
				`{"name":"w","expr":"false","severity":"warn","passed":0,"failed":3,"examples":[{"row":1,"line":2,"value":{}},{"row":3,"line":4,"value":{}},{"row":4,"line":5,"value":{}}]}]}}`},
		{"jsonl", `{"source": "a.jsonl", "on_bad_row": "skip"`, `[{"a":1},{"a":"x"}]`,
			`{"source":"a.jsonl","format":"jsonl","schema":[{"column":"a","type":"any","nulls":0,"example":1}],"rows":2,"rejected":1,` + sum("a.jsonl") + `}`},
		{"json", `{"source": {"file": "a.json"}, "columns": {"a": "integer"}`, `[{"a":1},{"a":2}]`,
			`{"source":"a.json","format":"json","schema":[{"column":"a","type":"integer","declared":true,"nulls":0,"example":1}],"rows":2,` + sum("a.json") + `}`},
		{"a header alone", `{"source": "h.tsv"`, `[]`,
			`{"source":"h.tsv","format":"tsv","schema":[{"column":"a","type":"string","nulls":0,"example":null},{"column":"b","type":"string","nulls":0,"example":null}],"rows":0,` + sum("h.tsv") + `}`},
		{"an empty file", `{"source": "empty.csv", "allow_empty": true`, `[]`, `{"source":"empty.csv","format":"csv","schema":[],"rows":0,` + sum("empty.csv") + `}`},
		{"limit", `{"source": "a.json", "limit": 1`, `[{"a":1}]`, `{"source":"a.json","format":"json","schema":[{"column":"a","type":"integer","nulls":0,"example":1}],"rows":1}`},
		{"a file that may be absent", `{"source": "none.csv", "optional": true`, `[]`,
			`{"source":"none.csv","format":"csv","schema":[],"rows":0,"hash":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, state, err := streamed(t, c.node+`, "stream": true, "writes": ["rows"]}`, env(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			if got := value.JSON(rows); got != c.rows {
				t.Errorf("rows %s, want %s", got, c.rows)
			}
			if got := value.JSON(state); got != c.state {
				t.Errorf("state %s\nwant  %s", got, c.state)
			}
			if !strings.Contains(c.node, "infer_rows") {
				r, err := run(t, c.node+`, "writes": ["rows"]}`, dir, core.Shared{})
				if err != nil || value.JSON(r.Writes()["rows"]) != c.rows {
					t.Errorf("as an array: %s, %v", value.JSON(r.Writes()["rows"]), err)
				}
			}
		})
	}
	if got := contents(t, dir, "out/bad.jsonl"); strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, `{"row":2,"line":3,"node":"n",`) {
		t.Errorf("rejects:\n%s", got)
	}
}

// What can be found before the rows are pulled is an error of the node itself.
func TestStreamFailsEarly(t *testing.T) {
	dir := folder(t, map[string]string{"a.csv": "a,a\n", "b.csv": "x\n", "bad.json": "{}", "b.gz": "this is not gzip", "short.gz": "a\n1\n"})
	for _, c := range []struct{ node, want string }{
		{`{"source": "a.csv"`, `a.csv:1: column "a" appears twice in the header`},
		{`{"source": "b.csv", "columns": {"y": "string"}`, `b.csv: the file has no column "y"; it has "x"`},
		{`{"source": "b.csv", "select": ["y"]`, `b.csv: the file has no column "y"; it has "x"`},
		{`{"source": "later.csv", "check": false`, `there is no file "later.csv": open later.csv: no such file or directory`},
		{`{"source": "later/*.csv", "check": false`, `no file matches "later/*.csv": file does not exist`},
		{`{"source": "bad.json"`, "bad.json:1: want a JSON array of objects; a file with one object on a line has the format jsonl"},
		{`{"source": "short.gz", "format": "csv"`, "short.gz:1: it is not compressed with gzip: unexpected EOF"},
		{`{"source": "b.gz", "format": "csv"`, "b.gz:1: it is not compressed with gzip: gzip: invalid header"},
	} {
		if _, _, err := opened(t, c.node+`, "stream": true, "writes": ["rows"]}`, env(t, dir)); err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.node, err, c.want)
		}
	}
}

func TestCompileStream(t *testing.T) {
	dir := folder(t, map[string]string{"a.csv": "id,x\n1,2\n", "in/1.csv": "", "in/2.json": "", "x[1].csv": ""})
	for _, c := range []struct{ node, want string }{
		{`{"source": "a.csv", "stream": true, "rejects": "bad", "writes": ["rows", "bad"]}`, `1:48: error: node n: rejects: the bad rows of a stream go to a file, "bad" is a field (rejects: bad.csv) [BAD_VALUE]`},
		{`{"source": "in/*.csv", "writes": ["rows"]}`, ""},
		{`{"source": "x[1].csv", "writes": ["rows"]}`, ""},
		{`{"source": "in/*.tsv", "writes": ["rows"]}`, `1:12: error: node n: source: no file matches "in/*.tsv" (if another node makes them, say check: false; if there may be none, optional: true) [MISSING_FILE]`},
		{`{"source": "in/[.csv", "writes": ["rows"]}`, `1:12: error: node n: source: "in/[.csv" is not a pattern: syntax error in pattern [BAD_VALUE]`},
		{`{"source": "../*.csv", "writes": ["rows"]}`, `1:12: error: node n: source: "../*.csv" leaves the workflow's folder (files must lie in the workflow's folder unless allow_outside is true) [BAD_VALUE]`},
		{`{"source": ["in/1.csv", "in/2.json"], "writes": ["rows"]}`, `1:25: error: node n: source: "in/1.csv" is csv and "in/2.json" is json; the files of one table have one format [BAD_VALUE]`},
		{`{"source": {"files": ["a.csv", 3]}, "writes": ["rows"]}`, `1:32: error: node n: source: files[1]: want a string, found number 3 (put it in quotes to make it a string) [WRONG_TYPE]`},
		{`{"source": {"files": ["a.csv"], "file": "a.csv"}, "writes": ["rows"]}`, `1:12: error: node n: source: only one of file, files and uri can be given [BAD_VALUE]`},
		{`{"source": [], "writes": ["rows"]}`, `1:12: error: node n: key "source" is empty [MISSING_KEY]`},
		{`{"source": "-", "writes": ["rows"]}`, `1:12: error: node n: source: standard input has no name, so its format is unknown (add format: csv, tsv, jsonl or json) [MISSING_KEY]`},
		{`{"source": ["-", "a.csv"], "format": "csv", "writes": ["rows"]}`, `1:13: error: node n: source: standard input (-) cannot be combined with files [BAD_VALUE]`},
		{`{"source": "-", "format": "csv", "optional": true, "writes": ["rows"]}`, `1:46: warning: node n: optional: has no effect on standard input [IGNORED]`},
		{`{"source": "a.csv", "select": [], "writes": ["rows"]}`, `1:31: error: node n: select: there are no columns [MISSING_KEY]`},
		{`{"source": "a.csv", "select": ["id", "f", "id"], "file_column": "f", "writes": ["rows"]}`, `1:38: error: node n: select: column "f" appears twice [DUPLICATE_KEY]
1:43: error: node n: select: column "id" appears twice [DUPLICATE_KEY]`},
		{`{"source": "a.csv", "header": ["id"], "select": ["ix"], "writes": ["rows"]}`, `1:50: error: node n: select: the header has no column "ix" (did you mean "id"?) [UNKNOWN_FIELD]`},
		{`{"source": "a.csv", "select": ["id"], "file_column": "f", "checks": [{"name": "c", "expr": "$item.x > 1 && $item.f != ''"}], "writes": ["rows"]}`,
			`1:98: error: node n: check c: the rows have no column "x" here (known keys: id, f) [EXPR_NAME]`},
	} {
		_, ds := dataset.Kind.Compile(nodestest.Node(t, c.node), env(t, dir))
		if got := strings.TrimSpace(nodestest.Findings(ds)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.node, got, c.want)
		}
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

func TestGzip(t *testing.T) {
	const text = "a,b\n1,x\n2,y\n"
	bomb := zipped("a\n") + strings.Repeat(zipped(strings.Repeat(strings.Repeat("0", 1<<16)+"\n", 32)), 10) // 20 MB
	long := zipped("a,b\n" + strings.Repeat("12345,abcdef\n", 20_000))
	dir := folder(t, map[string]string{
		"a.csv.gz": zipped(text), "plain.gz": text, "zip.csv": zipped(text), "two.csv.gz": zipped("a,b\n1,x\n") + zipped("2,y\n"), "empty.csv.gz": "",
		"cut.csv.gz": long[:len(long)-20], "sum.csv.gz": zipped(text)[:len(zipped(text))-8] + "\x00\x00\x00\x00\x0c\x00\x00\x00", "bomb.csv.gz": bomb,
		"tail.csv.gz": zipped(text) + "abc", "zeros.csv.gz": zipped(text) + strings.Repeat("\x00", 600), "half.csv.gz": zipped(text) + zipped(text)[:7],
	})
	if len(bomb) > 1<<20 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	const rows = `[{"a":1,"b":"x"},{"a":2,"b":"y"}]`
	for _, c := range []struct{ node, want string }{
		{`{"source": "a.csv.gz"`, rows},
		{`{"source": "plain.gz", "format": "csv", "compression": "none"`, rows},
		{`{"source": "zip.csv", "compression": "gzip"`, rows},
		{`{"source": "two.csv.gz"`, rows},
		{`{"source": "empty.csv.gz", "allow_empty": true`, "[]"},
		{`{"source": "empty.csv.gz"`, "empty.csv.gz: the file is empty; allow_empty: true allows that"},
		{`{"source": "sum.csv.gz"`, "sum.csv.gz:4: the gzip data is damaged before byte "},
		{`{"source": "bomb.csv.gz"`, "bytes of gzip data expand to more than 200 times their size (max_ratio): raise it if that is meant"},
		{`{"source": "cut.csv.gz"`, "the gzip data is cut off after "},
		{`{"source": "tail.csv.gz"`, fmt.Sprintf("tail.csv.gz:4: the gzip data ends after %d bytes, and what follows it is not gzip data", len(zipped(text)))},
		{`{"source": "zeros.csv.gz"`, fmt.Sprintf("zeros.csv.gz:4: the gzip data ends after %d bytes, and what follows it is not gzip data", len(zipped(text)))},
		{`{"source": "half.csv.gz"`, "half.csv.gz:4: the gzip data is cut off after "},
	} {
		r, err := run(t, c.node+`, "writes": ["rows"]}`, dir, core.Shared{})
		switch got := value.JSON(r.Writes()["rows"]); {
		case err == nil && got != c.want, err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %s, %v, want %s", c.node, got, err, c.want)
		case err != nil && !strings.Contains(err.Error(), ".csv.gz:"):
			t.Errorf("%s: no position in %v", c.node, err)
		}
	}
	if r, err := run(t, `{"source": "bomb.csv.gz", "max_ratio": 2000, "limit": 3, "writes": ["rows"]}`, dir, core.Shared{}); err != nil || len(r.Writes()["rows"].([]any)) != 3 {
		t.Errorf("with a higher ratio: %v", err)
	}
	// The rows in front of the place where the file is cut come first.
	rowsRead, _, err := streamed(t, `{"source": "cut.csv.gz", "stream": true, "writes": ["rows"]}`, env(t, dir))
	if len(rowsRead) < 10_000 || err == nil || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), fmt.Sprintf("cut.csv.gz:%d: ", len(rowsRead)+2)) {
		t.Errorf("%d rows before %v", len(rowsRead), err)
	}
}

func TestSeveralFiles(t *testing.T) {
	dir := folder(t, map[string]string{
		"in/b.csv": "id,n\r\n3,7\r\n", "in/a.csv": "\ufeffid,n\n1,x\n2\n", "in/c.csv.gz": zipped("id,n\n4,8\n"), "in/none.csv": "", "in/sub/d.csv": "id,n\n9,9\n",
		"other/names.csv": "id,m\n", "other/more.csv": "id,n,o\n", "other/less.csv": "id\n",
		"j/1.jsonl": "{\"a\":1}\n", "j/2.jsonl": "{\"a\":2}\n", "x[1].csv": "id,n\n5,5\n", "x1.csv": "id,n\n6,6\n",
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "in/out.csv")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct{ node, want string }{
		{`{"source": "in/*.csv", "allow_empty": true, "on_bad_row": "skip", "writes": ["rows"]}`,
			`{"rows":[{"id":1,"n":"x"},{"id":3,"n":"7"}]} -> {"path":["in/a.csv","in/b.csv","in/none.csv"],"rows":2,"rejected":1} partial_success (2 rows from in/a.csv and 2 more, 1 rejected)`},
		{`{"source": ["in/c.csv.gz", "in/*.csv", "in/b.csv"], "allow_empty": true, "rejects": "bad", "file_column": "file", "select": ["id"], "writes": ["rows", "bad"]}`,
			`{"bad":[{"row":3,"line":3,"file":"in/a.csv","node":"n","check":null,"reason":"has 1 cell, want 2","data":["2"],"raw":"2"}],` +
				`"rows":[{"id":4,"file":"in/c.csv.gz"},{"id":1,"file":"in/a.csv"},{"id":3,"file":"in/b.csv"}]} -> ` +
				`{"path":["in/c.csv.gz","in/a.csv","in/b.csv","in/none.csv"],"rows":3,"rejected":1} partial_success (3 rows from in/c.csv.gz and 3 more, 1 rejected)`},
		{`{"source": {"files": ["j/*.jsonl"]}, "file_column": "f", "writes": ["rows"]}`,
			`{"rows":[{"a":1,"f":"j/1.jsonl"},{"a":2,"f":"j/2.jsonl"}]} -> {"path":["j/1.jsonl","j/2.jsonl"],"rows":2,"rejected":0} (2 rows from j/1.jsonl and 1 more)`},
		{`{"source": "x[1].csv", "writes": ["rows"]}`, `{"rows":[{"id":5,"n":5}]} -> {"path":"x[1].csv","rows":1,"rejected":0} (1 row from x[1].csv)`},
		{`{"source": "y*.csv", "optional": true, "writes": ["rows"]}`, `{"rows":[]} -> {"path":[],"rows":0,"rejected":0} (0 rows from no file)`},
		{`{"source": ["in/b.csv", "other/names.csv"], "writes": ["rows"]}`, `other/names.csv: column 2 is "m", in in/b.csv it is "n"; the files of one table have the same header`},
		{`{"source": ["in/b.csv", "other/more.csv"], "writes": ["rows"]}`, `other/more.csv: column 3, "o", is not in in/b.csv; the files of one table have the same header`},
		{`{"source": ["in/b.csv", "other/less.csv"], "writes": ["rows"]}`, `other/less.csv: column 2, "n", of in/b.csv is missing; the files of one table have the same header`},
		{`{"source": ["in/b.csv", "j/1.jsonl"], "format": "csv", "writes": ["rows"]}`, `j/1.jsonl:1: header: byte 2 of line 1: a quote in a cell that does not begin with one; put the cell in quotes and write "" for the quote in it`},
		{`{"source": "in/b.csv", "file_column": "n", "writes": ["rows"]}`, `in/b.csv: key "n" appears twice (file_column)`},
		{`{"source": "in/*.csv", "writes": ["rows"]}`, `in/a.csv:3: row 2: has 1 cell, want 2`},
	} {
		r, err := run(t, c.node, dir, core.Shared{})
		if err != nil {
			if err.Error() != c.want {
				t.Errorf("%s: error %v\nwant %s", c.node, err, c.want)
			}
			continue
		}
		r.EdgeOutput.(*value.Object).Delete("schema")
		if got := nodestest.Text(r); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.node, got, c.want)
		}
	}
	outside := fmt.Sprintf(`{"source": %q, "allow_outside": true, "on_bad_row": "skip", "limit": 1, "writes": ["rows"]}`, filepath.Join(dir, "in", "[ab].csv"))
	r, err := run(t, outside, t.TempDir(), core.Shared{})
	if path, _ := r.EdgeOutput.(*value.Object).Get("path"); err != nil || value.JSON(path) != fmt.Sprintf("[%q,%q]", filepath.Join(dir, "in/a.csv"), filepath.Join(dir, "in/b.csv")) {
		t.Errorf("outside: %s, %v", value.JSON(path), err)
	}
	relative := `{"source": "../beside/x*.csv", "allow_outside": true, "check": false, "writes": ["rows"]}`
	base := filepath.Dir(folder(t, nil))
	os.Mkdir(filepath.Join(base, "beside"), 0o777)
	os.WriteFile(filepath.Join(base, "beside", "x1.csv"), []byte("a\n1\n"), 0o666)
	os.Mkdir(filepath.Join(base, "here"), 0o777)
	r, err = run(t, relative, filepath.Join(base, "here"), core.Shared{})
	if err != nil {
		t.Fatal(err)
	}
	if path, _ := r.EdgeOutput.(*value.Object).Get("path"); path != "../beside/x1.csv" {
		t.Errorf("a pattern beside the folder: %v", path)
	}
}

// piped is an environment whose standard input is r.
func piped(t testing.TB, r io.Reader) core.Env {
	e := env(t, t.TempDir())
	e.Stdin = r
	return e
}

func TestStandardInput(t *testing.T) {
	const node = `{"source": "-", "format": "csv", "stream": true, "writes": ["rows"]}`
	rows, state, err := streamed(t, node, piped(t, strings.NewReader("a\n1\n")))
	if err != nil || value.JSON(rows) != `[{"a":1}]` || !strings.HasPrefix(value.JSON(state), `{"source":"-","format":"csv","rows":1,"hash":`) {
		t.Errorf("%s, %s, %v", value.JSON(rows), value.JSON(state), err)
	}
	made, ds := dataset.Kind.Compile(nodestest.Node(t, strings.Replace(node, `"stream": true, `, "", 1)), piped(t, strings.NewReader("a\n1\nx\xff\n")))
	if ds.Failed(false) || !made.Stdin {
		t.Fatal(ds, made.Stdin)
	}
	in := core.NewInput("run", "n", 1, core.Shared{})
	if _, err := made.Handler.Handle(t.Context(), in); err == nil || err.Error() != "standard input:3: row 2: column 1 (a) is not UTF-8" {
		t.Errorf("a bad row: %v", err)
	}
	_, err = made.Handler.Handle(t.Context(), in)
	if err == nil || !core.FailureOf(err).Permanent || err.Error() != "standard input can be read once, and it has been read; save it as a file to read it again" {
		t.Errorf("a second attempt: %v", err)
	}
	if _, _, err := streamed(t, node, env(t, t.TempDir())); err == nil || err.Error() != "there is no standard input here" {
		t.Errorf("without standard input: %v", err)
	}
}

// repeat yields a header, a line many times, and some last text.
func repeat(header, line string, n int, last string) io.Reader {
	const block = 1000
	parts := []io.Reader{strings.NewReader(header)}
	lines := strings.Repeat(line, block)
	for range n / block {
		parts = append(parts, strings.NewReader(lines))
	}
	return io.MultiReader(append(parts, strings.NewReader(last))...)
}

// A wrong type in column 7 of row 1,000,001 is named exactly, and a million rows
// in front of it leave no trace in memory.
func TestWrongTypeFarBehind(t *testing.T) {
	in := repeat("a,b,c,d,e,f,delay\n", ",,,SJC,,,-7\n", 1_000_000, ",,,SJC,,,late\n")
	s, _, err := opened(t, `{"source": "-", "format": "csv", "stream": true, "select": ["d", "delay"], "writes": ["rows"]}`, piped(t, in))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	rows, most, before := 0, uint64(0), live()
	for i := 0; ; i++ {
		batch, err := s.Next(t.Context())
		rows += len(batch)
		if err != nil {
			const want = `standard input:1000002: row 1000001: column 7 (delay): want integer (as in the first 10000 rows), got "late"`
			if err.Error() != want || !core.FailureOf(err).Permanent {
				t.Errorf("error %v, want %s", err, want)
			}
			break
		}
		if i%200 == 50 {
			most = max(most, live())
		}
	}
	if rows < 999_000 || rows > 1_000_000 {
		t.Errorf("%d rows came before", rows)
	}
	if most > before+8<<20 {
		t.Errorf("what is kept grew from %d to %d MB", before>>20, most>>20)
	}
}

// live returns the number of bytes in use.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What bad files hold: long cells, quotes over lines, NUL bytes, a quote that is
// never closed.
func TestHardText(t *testing.T) {
	cell := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct{ text, node, want string }{
		"cells of 1 MB":         {"a,b\n" + strings.Repeat(cell+",1\n", 6), `{`, "6 rows"},
		"a quoted cell of 1 MB": {"a,b\n\"" + strings.Repeat("line\n", 1<<18) + "\",1\n", `{`, "1 rows"},
		"a row too long":        {"a,b\n1,2\n" + cell + ",3\n4,5\n", `{"max_row": "512KB", `, "standard input:3: the row is longer than the 524288 bytes that are allowed (max_row)"},
		"a quote left open":     {"a,b\n1,2\n\"3,4\n" + strings.Repeat("5,6\n", 1<<18), `{"max_row": "1MB", `, "standard input:3: byte 1 of line 3: the cell begins with a quote, and no quote ends it within the 1048576 bytes that a row may have (max_row)"},
		"NUL in a cell":         {"a,b\n1,x\x00y\n", `{`, "1 rows"},
		"NUL in the header":     {"a\x00,b\x00\n", `{`, "standard input:1: the name of column 1 has a NUL byte: the file is not text, or is UTF-16; save it as UTF-8"},
		"a long line of JSON":   {`{"a":"` + cell + `"}` + "\n", `{"max_row": 1000, "format": "jsonl", `, "standard input:1: the row is longer than the 1000 bytes that are allowed (max_row)"},
		"a long element":        {`[{},{"a":"` + cell + `"}]`, `{"max_row": 1000, "format": "json", `, "standard input:1: the row is longer than the 1000 bytes that are allowed (max_row)"},
	} {
		t.Run(name, func(t *testing.T) {
			node := c.node + `"source": "-", "stream": true, "writes": ["rows"]`
			if !strings.Contains(node, "format") {
				node += `, "format": "csv"`
			}
			rows, _, err := streamed(t, node+"}", piped(t, strings.NewReader(c.text)))
			if got := fmt.Sprint(len(rows), " rows"); err == nil && got != c.want || err != nil && err.Error() != c.want {
				t.Errorf("%s, error %v, want %s", got, err, c.want)
			}
		})
	}
}

// A run that max_failures ends keeps its rejects, a reader that has enough too, a
// cancelled one leaves none.
func TestRejectsOfStreams(t *testing.T) {
	dir := folder(t, nil)
	e := func(n int) core.Env {
		e := env(t, dir)
		e.Stdin = repeat("a\n", "1\n2\n", n, "x\n")
		return e
	}
	const node = `{"source": "-", "format": "csv", "columns": {"a": "integer"}, "stream": true, "rejects": "bad.jsonl", "writes": ["rows"], "checks": [{"name": "c", "expr": "$item.a != 2"}]`
	lines := func() int { return strings.Count(contents(t, dir, "bad.jsonl"), "\n") }
	rows, _, err := streamed(t, node+`, "max_failures": 1500}`, e(5000))
	const want = `more than 1500 bad rows (max_failures), the first: standard input:3: row 2: check "c": $item.a != 2 is false, $item.a = 2; 1501 rows in bad.jsonl`
	if err == nil || err.Error() != want || lines() != 1501 {
		t.Errorf("%d rows, %d rejects, error %v", len(rows), lines(), err)
	}
	rows, _, err = streamed(t, node+`, "max_failures": "50%"}`, e(5000))
	if err == nil || !strings.HasPrefix(err.Error(), "5001 of 10001 rows are bad, more than 50% (max_failures), the first: ") || lines() != 5001 || len(rows) != 5000 {
		t.Errorf("%d rows, %d rejects, error %v", len(rows), lines(), err)
	}
	s, _, err := opened(t, node+`}`, e(5000))
	if err != nil {
		t.Fatal(err)
	}
	if batch, err := s.Next(t.Context()); err != nil || len(batch) == 0 || lines() != 0 {
		t.Errorf("%d rows, %v, %d lines in the file of the last run", len(batch), err, lines())
	}
	if err := s.Close(); err != nil || lines() == 0 {
		t.Errorf("after a reader that had enough: %v, %d rejects", err, lines())
	}
	ctx, cancel := context.WithCancel(t.Context())
	made, _ := dataset.Kind.Compile(nodestest.Node(t, node+`}`), e(5000))
	in := core.NewInput("run", "n", 1, core.Shared{Dir: dir})
	s, err = made.Handler.(core.StreamSource).Open(ctx, in, value.ObjectOf("source", "-"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s.Close()
	if got := contents(t, dir, "bad.jsonl"); got != "" {
		t.Errorf("a cancelled run wrote %d rejects", lines())
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// The window of inference, and what a declared type changes.
func TestInferRows(t *testing.T) {
	const text = "id,zip\n1,10001\n2,10002\n3,00501\n4.5,10004\n"
	for _, c := range []struct{ node, rows, bad string }{
		{`"infer_rows": 2, "on_bad_row": "skip"`, `[{"id":1,"zip":10001},{"id":2,"zip":10002}]`, "2"},
		{`"infer_rows": 3, "on_bad_row": "skip"`, `[{"id":1,"zip":"10001"},{"id":2,"zip":"10002"},{"id":3,"zip":"00501"}]`, "1"},
		{`"infer_rows": 2, "columns": {"zip": "string", "id": "number"}`, `[{"id":1.0,"zip":"10001"},{"id":2.0,"zip":"10002"},{"id":3.0,"zip":"00501"},{"id":4.5,"zip":"10004"}]`, "0"},
		{`"infer": false, "select": ["zip"]`, `[{"zip":"10001"},{"zip":"10002"},{"zip":"00501"},{"zip":"10004"}]`, "0"},
		{`"select": ["zip", "id"], "limit": 2`, `[{"zip":10001,"id":1},{"zip":10002,"id":2}]`, "0"},
	} {
		dir := folder(t, map[string]string{"a.csv": text})
		rows, state, err := streamed(t, `{"source": "a.csv", "stream": true, "writes": ["rows"], `+c.node+`}`, env(t, dir))
		if err != nil || value.JSON(rows) != c.rows {
			t.Errorf("%s: %s, %v, want %s", c.node, value.JSON(rows), err, c.rows)
			continue
		}
		if bad, _ := state.Get("rejected"); fmt.Sprint(bad) != strings.Replace(c.bad, "0", "<nil>", 1) {
			t.Errorf("%s: %v rejected, want %s", c.node, bad, c.bad)
		}
	}
}

// A stream knows how much of its files was read: of compressed ones as they lie there,
// of Parquet by rows, of a limit by the rows that are wanted. What has no size, like
// standard input, has no extent.
func TestExtent(t *testing.T) {
	text := "n\n" + strings.Repeat("12345678901234567890\n", 20_000)
	dir := folder(t, map[string]string{"a.csv": text, "b.csv": text, "f.parquet": flights(t, 20_000), "g.csv.gz": zipped(text), "empty.csv": ""})
	for _, c := range []struct {
		node  string
		size  bool
		after [3]float64 // shares: of the first batch, in the middle, at the end
	}{
		{`"source": "a.csv", "columns": {"n": "string"}`, true, [3]float64{0.1, 0.5, 1}},
		{`"source": "*.csv", "allow_empty": true, "columns": {"n": "string"}`, true, [3]float64{0.05, 0.5, 1}},
		{`"source": "f.parquet"`, true, [3]float64{0.05, 0.5, 1}},
		{`"source": "g.csv.gz", "columns": {"n": "string"}`, true, [3]float64{1, 1, 1}}, // it is read at once
		{`"source": "a.csv", "columns": {"n": "string"}, "limit": 2048`, true, [3]float64{0.5, 1, 1}},
		{`"source": "empty.csv", "allow_empty": true`, false, [3]float64{}},
		{`"source": "-", "format": "csv"`, false, [3]float64{}},
	} {
		e := env(t, dir)
		if strings.Contains(c.node, `"-"`) {
			e = piped(t, strings.NewReader(text))
		}
		s, _, err := opened(t, `{`+c.node+`, "stream": true, "writes": ["rows"]}`, e)
		if err != nil {
			t.Fatal(err)
		}
		share := func() float64 {
			read, size := s.(core.Measured).Extent()
			if size > 0 != c.size || read > size || read < 0 {
				t.Errorf("%s: %d of %d", c.node, read, size)
			}
			return float64(read) / max(1, float64(size))
		}
		var got []float64
		if before := share(); before != 0 {
			t.Errorf("%s: %v before anything was read", c.node, before)
		}
		for {
			if _, err := s.Next(t.Context()); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			got = append(got, share())
		}
		got = append(got, share())
		for i, at := range []int{0, len(got) / 2, len(got) - 1} {
			if d := got[at] - c.after[i]; d > 0.2 || d < -0.2 {
				t.Errorf("%s: %v read after batch %d of %d, want about %v", c.node, got[at], at+1, len(got), c.after[i])
			}
		}
		s.Close()
	}
}

// A dataset that loads an array also reports its progress.
func TestProgressOfAnArray(t *testing.T) {
	dir := folder(t, map[string]string{"a.csv": "n\n" + strings.Repeat("1\n", 5_000)})
	made, ds := dataset.Kind.Compile(nodestest.Node(t, `{"source": "a.csv", "columns": {"n": "integer"}, "writes": ["rows"]}`), env(t, dir))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	var told, read, size int64
	in := core.NewInput("run", "n", 1, core.Shared{Dir: dir, Reports: &core.Reports{
		Report: func(_ core.Input, done, _ int64) { told = done }, Measure: func(_ core.Input, r, s int64) { read, size = r, s }}})
	if _, err := made.Handler.Handle(t.Context(), in); err != nil || told != 5_000 || read != 10_002 || size != 10_002 {
		t.Errorf("%v: %d rows, %d of %d bytes", err, told, read, size)
	}
}
