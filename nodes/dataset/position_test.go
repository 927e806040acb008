package dataset_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/dataset"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// openAt opens the stream of a node at a position.
func openAt(t *testing.T, node, dir string, at *value.Object) (core.Stream, error) {
	t.Helper()
	made, ds := dataset.Kind.Compile(nodestest.Node(t, node), env(t, dir))
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	in := core.NewInput("run", "load", 1, core.Shared{Dir: dir})
	r, err := made.Handler.Handle(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	described := r.Writes()["rows"].(*value.Object)
	in = core.NewInput("run", "load", 1, core.Shared{Dir: dir, Durability: &core.Durability{Position: at}})
	return made.Handler.(core.StreamSource).Open(t.Context(), in, described)
}

// parsed is a position in the form that it has after it was recorded.
func parsed(t *testing.T, p *value.Object) *value.Object {
	t.Helper()
	v, err := value.ParseJSON([]byte(value.JSON(p)))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Object)
}

// longCSV and longJSONL have rows enough for several batches.
func longCSV(rows int) string {
	var b strings.Builder
	b.WriteString("id,name,note,empty\r\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,n%d,\"a \"\"quoted\"\"\r\nline %d\",\r\n", i, i%7, i)
	}
	return b.String()
}

func longJSONL(rows int) string {
	var b strings.Builder
	for i := range rows {
		fmt.Fprintf(&b, "{\"id\": %d, \"tags\": [\"ä\", %d]}\n\n", i, i)
	}
	return b.String()
}

// TestPosition: a stream that begins at the position after any batch of another one has the
// rows that follow and the same summary, with the hash of the whole file.
func TestPosition(t *testing.T) {
	const rows = 5000
	for _, c := range []struct{ name, text, node string }{
		{"a.csv", longCSV(rows), `{"source": "a.csv", "stream": true, "writes": ["rows"], "infer_rows": 2000}`},
		{"a.csv", "\xef\xbb\xbf" + longCSV(rows), `{"source": "a.csv", "stream": true, "writes": ["rows"], "infer_rows": 1100, "min_rows": 5000, "columns": {"id": "number"}, "select": ["name", "id"]}`},
		{"a.csv", longCSV(rows), `{"source": "a.csv", "stream": true, "writes": ["rows"], "limit": 3000, "infer": false}`},
		{"a.tsv", strings.ReplaceAll(longCSV(rows), ",", "\t"), `{"source": "a.tsv", "stream": true, "writes": ["rows"], "infer_rows": 1500}`},
		{"a.jsonl", longJSONL(rows), `{"source": "a.jsonl", "stream": true, "writes": ["rows"]}`},
		{"a.parquet", flights(t, rows), `{"source": "a.parquet", "stream": true, "writes": ["rows"], "min_rows": 5000}`},
		{"a.parquet", flights(t, rows), `{"source": "a.parquet", "stream": true, "writes": ["rows"], "limit": 3000, "select": ["origin"]}`},
	} {
		t.Run(c.node, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.name), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			all, positions, want := readFrom(t, c.node, dir, nil)
			known := 0
			for done, at := range positions {
				if at == nil {
					continue
				}
				known++
				rest, _, summary := readFrom(t, c.node, dir, parsed(t, at))
				if !slices.EqualFunc(rest, all[done:], value.Equal) {
					t.Errorf("after %d rows, at %s: %d rows follow, want %d, the same", done, value.JSON(at), len(rest), len(all)-done)
				}
				if summary != want {
					t.Errorf("after %d rows: the summary is %s, want %s", done, summary, want)
				}
			}
			if known < 2 {
				t.Errorf("the stream knows its position at %d places", known)
			}
		})
	}
}

// readFrom reads a stream from a position to its end. positions are the positions by the
// number of rows before them.
func readFrom(t *testing.T, node, dir string, at *value.Object) (rows []any, positions map[int]*value.Object, summary string) {
	t.Helper()
	s, err := openAt(t, node, dir, at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, _, err := core.HeaderOf(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	positions = map[int]*value.Object{}
	for {
		p, err := core.PositionOf(s)
		if err != nil {
			t.Fatal(err)
		}
		positions[len(rows)] = p
		batch, err := s.Next(t.Context())
		if err == io.EOF {
			return rows, positions, value.JSON(s.Summary())
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, batch...)
	}
}

// TestNoPosition: sources and settings whose results need all rows begin again.
func TestNoPosition(t *testing.T) {
	dir := t.TempDir()
	bad := longCSV(3000) + "x\r\n" + longCSV(3000)[len("id,name,note,empty\r\n"):]
	for name, text := range map[string]string{"a.csv": longCSV(3000), "b.csv": longCSV(3000), "a.json": `[{"id": 1}]`, "bad.csv": bad} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, node := range map[string]string{
		"several files": `{"source": ["a.csv", "b.csv"], "stream": true, "writes": ["rows"], "infer_rows": 1}`,
		"json":          `{"source": "a.json", "stream": true, "writes": ["rows"]}`,
		"checks":        `{"source": "a.csv", "stream": true, "writes": ["rows"], "infer_rows": 1, "checks": [{"name": "c", "expr": "$item.id >= 0"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, positions, _ := readFrom(t, node, dir, nil)
			for done, p := range positions {
				if p != nil {
					t.Errorf("after %d rows the position is %s", done, value.JSON(p))
				}
			}
		})
	}
	t.Run("rejected rows", func(t *testing.T) {
		_, positions, _ := readFrom(t, `{"source": "bad.csv", "stream": true, "writes": ["rows"], "infer_rows": 100, "max_failures": 5, "rejects": "r.csv"}`, dir, nil)
		for done, p := range positions {
			if p != nil && done > 3000 {
				t.Errorf("after %d rows and a bad one the position is %s", done, value.JSON(p))
			}
		}
	})
}

// TestSourceChanged: a file may grow after the part that was read. Any other change ends the
// run.
func TestSourceChanged(t *testing.T) {
	const node = `{"source": "a.csv", "stream": true, "writes": ["rows"], "infer_rows": 100}`
	text := longCSV(5000)
	for _, c := range []struct {
		name    string
		text    string
		changed string
	}{
		{"only the time", text, ""},
		{"rows were added", text + "5000,x,y,\r\n", ""},
		{"a byte that was read", strings.Replace(text, "n1", "m1", 1), "bytes are others"},
		{"cut off", text[:1000], "it has 1000 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.csv")
			write := func(text string, at int64) {
				if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, time.Time{}, time.Unix(at, 0))); err != nil {
					t.Fatal(err)
				}
			}
			write(text, 1000)
			all, positions, _ := readFrom(t, node, dir, nil)
			var at *value.Object
			done := 0
			for n, p := range positions {
				if p != nil && n > done && n < len(all) {
					done, at = n, p
				}
			}
			write(c.text, 2000)
			s, err := openAt(t, node, dir, parsed(t, at))
			if c.changed == "" {
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				rows, err := s.Next(t.Context())
				if err != nil || !value.Equal(rows[0], all[done]) {
					t.Errorf("after %d rows follows %s, want %s, %v", done, value.JSON(rows[0]), value.JSON(all[done]), err)
				}
				return
			}
			e, ok := errors.AsType[*core.SourceChangedError](err)
			if !ok || e.Node != "load" || e.Source != "a.csv" || !strings.Contains(e.Reason, c.changed) || !strings.Contains(err.Error(), "[RESUME_SOURCE_CHANGED]") {
				t.Errorf("got %v, want a change: %s", err, c.changed)
			}
		})
	}
}

// TestParquetChanged: a Parquet file cannot grow, and a change of what was read is found.
func TestParquetChanged(t *testing.T) {
	const node = `{"source": "a.parquet", "stream": true, "writes": ["rows"], "select": ["delay"]}`
	text := flights(t, 5000)
	other := []byte(text)
	for i := 10; i < 200; i++ {
		other[i] ^= 1
	}
	for _, c := range []struct{ name, text, changed string }{
		{"only the time", text, ""},
		{"longer", flights(t, 5001), "bytes, and had"},
		{"bytes that were read", string(other), "are others"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"a.parquet": text})
			all, positions, _ := readFrom(t, node, dir, nil)
			at := parsed(t, positions[2048])
			path := filepath.Join(dir, "a.parquet")
			if err := errors.Join(os.WriteFile(path, []byte(c.text), 0o600), os.Chtimes(path, time.Time{}, time.Unix(2000, 0))); err != nil {
				t.Fatal(err)
			}
			if c.changed == "" {
				if rest, _, _ := readFrom(t, node, dir, at); !slices.EqualFunc(rest, all[2048:], value.Equal) {
					t.Errorf("%d rows follow", len(rest))
				}
				return
			}
			made, _ := dataset.Kind.Compile(nodestest.Node(t, node), env(t, dir))
			in := core.NewInput("run", "load", 1, core.Shared{Dir: dir, Durability: &core.Durability{Position: at}})
			_, err := made.Handler.(core.StreamSource).Open(t.Context(), in, value.ObjectOf("source", "a.parquet"))
			e, ok := errors.AsType[*core.SourceChangedError](err)
			if !ok || !strings.Contains(e.Reason, c.changed) {
				t.Errorf("got %v, want a change: %s", err, c.changed)
			}
		})
	}
}

// TestStandardInputOfResumedRun: the standard input of another process is not the standard
// input that the run has begun to read.
func TestStandardInputOfResumedRun(t *testing.T) {
	e := env(t, t.TempDir())
	e.Stdin = strings.NewReader("id\n1\n")
	made, ds := dataset.Kind.Compile(nodestest.Node(t, `{"source": "-", "format": "csv", "writes": ["rows"]}`), e)
	if ds.Failed(false) {
		t.Fatal(ds)
	}
	in := core.NewInput("run", "n", 1, core.Shared{Durability: &core.Durability{Resumed: true}})
	_, err := made.Handler.Handle(t.Context(), in)
	if err == nil || !strings.Contains(err.Error(), "standard input cannot be read twice") || !core.FailureOf(err).FailsRun {
		t.Errorf("got %v", err)
	}
}
