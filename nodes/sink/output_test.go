package sink

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

func unzipped(t *testing.T, data []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestGzip(t *testing.T) {
	for _, c := range []struct{ node, file, want string }{
		{`{"to": "out.csv.gz", "from": "rows"}`, "out.csv.gz", "a,b\n1,\n,x\n"},
		{`{"to": "out.TSV.GZ", "from": "rows"}`, "out.TSV.GZ", "a\tb\n1\t\n\tx\n"},
		{`{"to": "out.json", "from": "rows", "compression": "gzip"}`, "out.json", "[\n{\"a\":1},\n{\"b\":\"x\"}\n]\n"},
		{`{"to": "$.file", "from": "rows"}`, "named.jsonl.gz", "{\"a\":1}\n{\"b\":\"x\"}\n"},
		{`{"to": "out.json.gz", "from": "$.any[0].a"}`, "out.json.gz", "1\n"},
	} {
		rows := rowsOf(t, `[{"a":1},{"b":"x"}]`)
		var first string
		for i := range 2 { // the second one as a stream
			dir := t.TempDir()
			in := input(dir, rows, "named.jsonl.gz")
			if i == 1 && strings.Contains(c.node, `"rows"`) && !strings.Contains(c.node, "$") {
				in, _ = streamed(dir, &stream{batches: [][]any{rows}})
			}
			if _, err := compiled(t, c.node).Handle(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			text := read(t, dir, c.file)
			if got := unzipped(t, []byte(text)); got != c.want {
				t.Errorf("%s: %q, want %q", c.node, got, c.want)
			}
			if i == 1 && text != first {
				t.Errorf("%s: the bytes differ", c.node)
			}
			first = text
		}
	}
	// The file's name and the key compression may contradict one another.
	dir := t.TempDir()
	if _, err := compiled(t, `{"to": "out.csv.gz", "compression": "none", "from": "rows"}`).Handle(t.Context(), input(dir, rowsOf(t, `[{"a":1}]`), nil)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "out.csv.gz"); got != "a\n1\n" {
		t.Errorf("%q", got)
	}
}

// toStdout compiles a node with standard output.
func toStdout(t *testing.T, node string, w io.Writer) *handler {
	t.Helper()
	made, ds := Kind.Compile(nodestest.Node(t, node), core.Env{Schema: nodestest.Schema(t, fields), Stdout: w})
	if ds.Failed(false) || !made.Stdout {
		t.Fatalf("%v, stdout %v", ds, made.Stdout)
	}
	return made.Handler.(*handler)
}

func TestStdout(t *testing.T) {
	rows := rowsOf(t, `[{"a":1},{"a":2}]`)
	for node, want := range map[string]string{
		`{"to": "-", "format": "csv", "from": "rows"}`:                                          "a\n1\n2\n",
		`{"to": "-", "format": "json", "from": "$.any[0].a"}`:                                   "1\n",
		`{"to": "-", "format": "jsonl", "from": "rows"}`:                                        "{\"a\":1}\n{\"a\":2}\n",
		`{"to": "-", "format": "csv", "compression": "gzip", "from": "rows", "columns": ["a"]}`: "a\n1\n2\n",
	} {
		var b bytes.Buffer
		dir := t.TempDir()
		r, err := toStdout(t, node, &b).Handle(t.Context(), input(dir, rows, nil))
		if err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if strings.Contains(node, "gzip") {
			got = unzipped(t, b.Bytes())
		}
		if got != want {
			t.Errorf("%s: %q, want %q", node, got, want)
		}
		if got := nodestest.Text(r); got != `{} -> {"path":"-","rows":2} (2 rows written to standard output)` && !strings.Contains(node, "$") {
			t.Errorf("%s: result %s", node, got)
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%s: files %v", node, entries)
		}
	}
	// A file may have the name all the same.
	dir := t.TempDir()
	if _, err := compiled(t, `{"to": "./-", "format": "csv", "from": "rows"}`).Handle(t.Context(), input(dir, rows, nil)); err != nil || read(t, dir, "-") != "a\n1\n2\n" {
		t.Errorf("a file - : %v", err)
	}
}

// What has been written cannot be taken back, so there is no other attempt after
// it; before the first byte there is.
func TestStdoutFails(t *testing.T) {
	large := make([]any, 5000)
	for i := range large {
		large[i] = value.ObjectOf("a", strings.Repeat("x", 100))
	}
	for _, c := range []struct {
		name      string
		left      int
		then      error
		permanent bool
	}{
		{"at once", 0, syscall.ENOSPC, false},
		{"in the middle", 200_000, syscall.ENOSPC, true},
	} {
		var b bytes.Buffer
		h := toStdout(t, `{"to": "-", "format": "csv", "from": "rows"}`, &hook{w: &b, left: c.left, then: func() error { return c.then }})
		_, err := h.Handle(t.Context(), input(t.TempDir(), large, nil))
		if !errors.Is(err, c.then) || core.FailureOf(err).Permanent != c.permanent || !strings.HasPrefix(err.Error(), "standard output: ") {
			t.Errorf("%s: %v, permanent %v", c.name, err, core.FailureOf(err).Permanent)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	h := toStdout(t, `{"to": "-", "format": "csv", "from": "rows"}`, &hook{w: io.Discard, left: 100_000, then: func() error { cancel(); return nil }})
	if _, err := h.Handle(ctx, input(t.TempDir(), large, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A disk without room: a small file system where the machine allows to make one.
func TestDiskIsFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no small file system can be made: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	rows := make([]any, 4000)
	for i := range rows {
		rows[i] = value.ObjectOf("a", strings.Repeat("x", i%200), "i", int64(i*7919%4000))
	}
	for _, node := range []string{`{"to": "out.csv", "from": "rows"}`, `{"to": "out.json", "from": "rows"}`,
		`{"to": "out.db", "table": "t", "from": "rows"}`} {
		in, _ := streamed(dir, &stream{batches: [][]any{rows[:1000], rows[1000:]}})
		if _, err := compiled(t, node).Handle(t.Context(), in); err == nil || !strings.Contains(err.Error(), "no space") && !strings.Contains(err.Error(), "full") {
			t.Errorf("%s: error %v", node, err)
		}
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if info, _ := e.Info(); info.Size() > 0 || e.Name() != "out.db" {
				t.Errorf("%s: left behind: %s of %d bytes", node, e.Name(), info.Size())
			}
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
