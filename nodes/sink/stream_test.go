package sink

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/table"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// stream gives batches; err is what it ends with when it does not simply end.
type stream struct {
	batches [][]any
	err     error
	closed  int
}

func (s *stream) Next(context.Context) ([]any, error) {
	if len(s.batches) == 0 {
		if s.err != nil {
			return nil, s.err
		}
		return nil, io.EOF
	}
	rows := s.batches[0]
	s.batches = s.batches[1:]
	return rows, nil
}

func (s *stream) Summary() *value.Object { return nil }
func (s *stream) Close() error           { s.closed++; return nil }

// streamed is an input whose field rows is a stream, and its reported progress.
func streamed(dir string, s *stream) (core.Input, *[]int64) {
	var progress []int64
	return core.NewInput("run", "n", 1, core.Shared{Dir: dir,
		View:    core.NewView([]string{"rows", "typed"}, []any{value.ObjectOf("source", "x"), value.ObjectOf("source", "x")}),
		Reports: &core.Reports{Report: func(_ core.Input, done, _ int64) { progress = append(progress, done) }},
		Open: func(_ context.Context, field string, _ *value.Object) (core.Stream, bool, error) {
			return s, field == "rows" || field == "typed", nil
		}}), &progress
}

// What a stream becomes is what an array of the same rows becomes.
func TestStreamIsWrittenLikeAnArray(t *testing.T) {
	rows := rowsOf(t, `[{"id":9007199254740993,"t":"x,y"},{"t":null,"id":3,"z":1.0},{"id":1,"t":"\"q\"","z":2.5},{"id":2},{}]`)
	for _, node := range []string{
		`{"to": "out.csv", "from": "rows"}`,
		`{"to": "out.csv", "from": "$.rows", "columns": ["z", "id"], "header": false, "delimiter": ";"}`,
		`{"to": "out.tsv", "from": "rows", "columns": {"id": "integer", "t": "string", "z": "number"}}`,
		`{"to": "out.jsonl", "from": "rows"}`,
		`{"to": "out.json", "from": "rows"}`,
		`{"to": "out.json", "from": "rows", "columns": ["t"]}`,
		`{"to": "out.db", "table": "t", "from": "rows"}`,
		`{"to": "out.db", "table": "t", "from": "rows", "mode": "append", "columns": {"id": "integer", "t": "string", "z": "number"}}`,
	} {
		h := compiled(t, node)
		get := func(in core.Input, dir string) string {
			r, err := h.Handle(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			name, _ := r.EdgeOutput.(*value.Object).Get("path")
			n, _ := r.EdgeOutput.(*value.Object).Get("rows")
			if n != int64(5) {
				t.Errorf("%s: %v rows", node, n)
			}
			if name == "out.db" {
				return dump(t, filepath.Join(dir, "out.db"), "t")
			}
			return read(t, dir, name.(string))
		}
		dir := t.TempDir()
		want := get(input(dir, rows, nil), dir)
		for _, cut := range []int{2, 3, 5} {
			s := &stream{batches: [][]any{rows[:cut], rows[cut:]}}
			if cut == 5 {
				s.batches = s.batches[:1]
			}
			dir := t.TempDir()
			in, progress := streamed(dir, s)
			if got := get(in, dir); got != want {
				t.Errorf("%s: after %d rows another batch:\n%s\nwant\n%s", node, cut, got, want)
			}
			if s.closed != 1 {
				t.Errorf("%s: the stream is closed %d times", node, s.closed)
			}
			if len(*progress) == 0 || !slices.IsSorted(*progress) || (*progress)[len(*progress)-1] != 5 {
				t.Errorf("%s: progress %v", node, *progress)
			}
		}
	}
}

func TestStreamWithoutRows(t *testing.T) {
	for node, want := range map[string]string{
		`{"to": "out", "format": "csv", "from": "rows"}`:                    "",
		`{"to": "out", "format": "csv", "from": "typed"}`:                   "id,delay\n",
		`{"to": "out", "format": "csv", "from": "rows", "columns": ["b"]}`:  "b\n",
		`{"to": "out", "format": "jsonl", "from": "rows"}`:                  "",
		`{"to": "out", "format": "json", "from": "rows", "columns": ["b"]}`: "[]\n",
	} {
		dir := t.TempDir()
		in, _ := streamed(dir, &stream{})
		if _, err := compiled(t, node).Handle(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if got := read(t, dir, "out"); got != want {
			t.Errorf("%s: %q, want %q", node, got, want)
		}
	}
}

// Declared columns are there although no row of the first batch has them.
func TestDeclaredColumns(t *testing.T) {
	for name, in := range map[string]func(dir string) core.Input{
		"array": func(dir string) core.Input {
			return core.NewInput("run", "n", 1, core.Shared{Dir: dir, Extra: core.NewView([]string{"typed"}, []any{rowsOf(t, `[{"x":1,"id":2},{"delay":3}]`)})})
		},
		"stream": func(dir string) core.Input {
			in, _ := streamed(dir, &stream{batches: [][]any{rowsOf(t, `[{"x":1,"id":2}]`), rowsOf(t, `[{"delay":3}]`)}})
			return in
		},
	} {
		dir := t.TempDir()
		if _, err := compiled(t, `{"to": "out.csv", "from": "typed"}`).Handle(t.Context(), in(dir)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, dir, "out.csv"); got != "x,id,delay\n1,2,\n,,3\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Whatever error occurs halfway, the old file or table remains, and no other file is
// left next to it.
func TestStreamFailsWhole(t *testing.T) {
	first := make([]any, 3000)
	for i := range first {
		first[i] = value.ObjectOf("id", int64(i), "t", strings.Repeat("x", 100))
	}
	broken := errors.New("the source broke")
	for _, to := range []string{`"to": "out.csv"`, `"to": "out.tsv", "columns": {"id": "integer"}`, `"to": "out.jsonl", "columns": {"id": "integer"}`,
		`"to": "out.json", "columns": {"id": "integer"}`, `"to": "out.db", "table": "t", "columns": {"id": "integer"}`} {
		for _, c := range []struct {
			name   string
			stream *stream
			want   string
			skip   string
		}{
			{"the source breaks", &stream{batches: [][]any{first}, err: broken}, "the source broke", ""},
			{"another type", &stream{batches: [][]any{first, rowsOf(t, `[{"id":"x"}]`)}}, `row 3001`, "out.csv"},
			{"another column", &stream{batches: [][]any{first, rowsOf(t, `[{"id":1,"t":"x"},{"id":1,"new":2}]`)}}, `row 3002: unknown column "new"`, "columns"},
		} {
			if c.skip != "" && strings.Contains(to, c.skip) {
				continue
			}
			t.Run(to+" "+c.name, func(t *testing.T) {
				dir := t.TempDir()
				name := "out.db"
				if !strings.Contains(to, name) {
					_, rest, _ := strings.Cut(to, `"out.`)
					ext, _, _ := strings.Cut(rest, `"`)
					name = "out." + ext
				}
				h := compiled(t, `{`+to+`, "from": "rows"}`)
				if _, err := h.Handle(t.Context(), input(dir, rowsOf(t, `[{"id":7}]`), nil)); err != nil {
					t.Fatal(err)
				}
				content := func() string {
					if name == "out.db" {
						return dump(t, filepath.Join(dir, name), "t")
					}
					return read(t, dir, name)
				}
				old := content()
				in, _ := streamed(dir, c.stream)
				_, err := h.Handle(t.Context(), in)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("error %v, want %s", err, c.want)
				}
				if permanent := core.FailureOf(err).Permanent; permanent == (c.name == "the source breaks") {
					t.Errorf("permanent is %v: %v", permanent, err)
				}
				if got := content(); got != old {
					t.Errorf("the old content became %.200s", got)
				}
				if entries, _ := os.ReadDir(dir); len(entries) != 1 || c.stream.closed != 1 {
					t.Errorf("left behind %v, closed %d times", entries, c.stream.closed)
				}
			})
		}
	}
}

func TestStreams(t *testing.T) {
	for from, want := range map[string]int{"rows": 1, "$.rows": 1, "$.rows[0].x": 0, "$.report.rows": 0} {
		made, ds := Kind.Compile(nodestest.Node(t, `{"to": "out.csv", "from": "`+from+`"}`), core.Env{})
		if ds.Failed(false) || len(made.Streams) != want {
			t.Errorf("%s: streams %v, %v", from, made.Streams, ds)
		}
	}
	s := &stream{}
	in, _ := streamed(t.TempDir(), s)
	h := compiled(t, `{"to": "$.file", "from": "rows", "format": "json"}`)
	h.asDeclared.format = table.Text // as a name of the moment may say
	h.to = compiled(t, `{"to": "out.md", "from": "text"}`).to
	if _, err := h.Handle(t.Context(), in); err == nil || err.Error() != "rows: want a string, found a stream of rows" || s.closed != 1 {
		t.Errorf("a text of a stream: %v, closed %d times", err, s.closed)
	}
}

// headed is a stream that knows its columns before its rows.
type headed struct {
	*stream
	columns []string
}

func (h headed) Header(context.Context) ([]string, bool, error) { return h.columns, true, nil }

// A table without rows keeps the columns of its header: the columns that a stream knows,
// the known columns of the nodes before it, or the columns that the output of the node
// with the header lists.
func TestHeaderOfATableWithoutRows(t *testing.T) {
	output := value.ObjectOf("schema", []any{value.ObjectOf("column", "id", "type", "integer"), value.ObjectOf("column", "t", "type", "any")})
	for _, c := range []struct {
		name, node string
		known      source.Columns
		headed     []string
		output     any
		want       string
	}{
		{"a stream", `"to": "out.csv"`, source.Columns{}, []string{"id", "t"}, nil, "id,t\n"},
		{"a stream without columns", `"to": "out.csv"`, source.Columns{}, nil, nil, ""},
		{"columns that are known", `"to": "out.tsv"`, source.Columns{Names: []string{"a", "b"}, Closed: true}, nil, nil, "a\tb\n"},
		{"a header", `"to": "out.csv"`, source.Columns{Header: "load"}, nil, output, "id,t\n"},
		{"a header, listed columns", `"to": "out.csv", "columns": ["x"]`, source.Columns{Header: "load"}, nil, output, "x\n"},
		{"a header, no header wanted", `"to": "out.csv", "header": false`, source.Columns{Header: "load"}, nil, output, ""},
		{"a mocked node", `"to": "out.csv"`, source.Columns{Header: "load"}, nil, value.ObjectOf("rows", int64(0)), ""},
		{"json", `"to": "out.json"`, source.Columns{Header: "load"}, nil, output, "[]\n"},
	} {
		dir := t.TempDir()
		e := core.Env{Schema: nodestest.Schema(t, fields)}
		e.Columns = func(string) source.Columns { return c.known }
		made, ds := Kind.Compile(nodestest.Node(t, `{"from": "rows", `+c.node+`}`), e)
		if ds.Failed(false) {
			t.Fatal(ds)
		}
		if refers := len(made.OptionalNodes) == 1; refers != (c.known.Header != "" && !strings.Contains(c.node, "columns")) {
			t.Errorf("%s: refers to %v", c.name, made.OptionalNodes)
		}
		s := core.Shared{Dir: dir, View: core.NewView([]string{"rows"}, []any{[]any{}})}
		if c.headed != nil {
			s.Open = func(context.Context, string, *value.Object) (core.Stream, bool, error) {
				return headed{&stream{}, c.headed}, true, nil
			}
		}
		if len(made.OptionalNodes) > 0 {
			s.Nodes = func(string) (core.Status, any, bool) { return core.Success, c.output, true }
		}
		if _, err := made.Handler.Handle(t.Context(), core.NewInput("run", "n", 1, s)); err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(c.node, `"to": "`), `"`)
		if got := read(t, dir, name); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
