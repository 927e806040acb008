package sink

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/leftover"
	"github.com/wavefold/wavefold/nodes/nodestest"
)

// seekable is a stream of rows in batches of a size. It knows its position unless blind.
type seekable struct {
	rows  []any
	from  int
	size  int
	blind bool
}

func (s *seekable) Next(context.Context) ([]any, error) {
	if s.from == len(s.rows) {
		return nil, io.EOF
	}
	from := s.from
	s.from = min(s.from+s.size, len(s.rows))
	return append([]any{}, s.rows[from:s.from]...), nil
}

func (s *seekable) Position() (*value.Object, error) {
	if s.blind {
		return nil, nil
	}
	return value.ObjectOf("from", int64(s.from)), nil
}

func (s *seekable) Summary() *value.Object { return nil }
func (s *seekable) Close() error           { return nil }

// stored is an input of a stored run whose field rows is a stream or, if size is 0, an array.
func stored(s *nodestest.Store, dir string, rows []any, size int, blind, later bool) core.Input {
	shared := core.Shared{Dir: dir, Durability: s.Durability(), Defer: later}
	if size == 0 {
		shared.View = core.NewView([]string{"rows"}, []any{rows})
		return core.NewInput("run", "n", 1, shared)
	}
	shared.Open = func(_ context.Context, field string, at *value.Object) (core.Stream, bool, error) {
		opened := &seekable{rows: rows, size: size, blind: blind}
		if from, ok := at.Get("from"); ok {
			opened.from = int(from.(int64))
		}
		return opened, field == "rows", nil
	}
	return core.NewInput("run", "n", 1, shared)
}

// eager returns a handler that makes a checkpoint after each batch.
func eager(t *testing.T, node string) *handler {
	h := *compiled(t, node)
	h.every = 0
	return &h
}

// TestCrash: a sink that is repeated after a crash at any commit or checkpoint leaves the same
// file as one without a crash, and no other.
func TestCrash(t *testing.T) {
	rows := rowsOf(t, `[{"id":1,"t":"x,y"},{"t":null,"id":2},{"id":3,"t":"\"q\""},{"id":4,"t":"a\nb"},{"id":5},{"id":6,"t":"z"},{"id":7,"t":"ä"}]`)
	sources := []struct {
		name  string
		size  int
		blind bool
	}{{"array", 0, false}, {"stream", 2, false}, {"stream from the start", 2, true}}
	for _, to := range []struct{ name, keys string }{
		{"out/a.csv", ""},
		{"a.csv", `, "header": false, "columns": ["t", "id"]`},
		{"a.tsv", ""},
		{"a.jsonl", ""},
		{"a.json", ""},
		{"a.csv.gz", ""},
		{"a.parquet", ""},
	} {
		name, node := to.name, `{"to": "`+to.name+`", "from": "rows"`+to.keys+`}`
		for _, from := range sources {
			for _, later := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s from %s, later=%t", node, from.name, later), func(t *testing.T) {
					h := eager(t, node)
					plain := t.TempDir()
					without := stored(&nodestest.Store{}, plain, rows, from.size, from.blind, false).Shared()
					without.Durability = nil
					if _, err := compiled(t, node).Handle(t.Context(), core.NewInput("run", "n", 1, without)); err != nil {
						t.Fatal(err)
					}
					want := read(t, plain, name)
					dirs := map[*nodestest.Store]string{}
					nodestest.EachCrash(t, func(t *testing.T) *nodestest.Store {
						s := &nodestest.Store{Freeze: true, Folder: t.TempDir()}
						dirs[s] = t.TempDir()
						return s
					}, func(t *testing.T, s *nodestest.Store) error {
						dir := dirs[s]
						r, err := s.Handle(t, h, stored(s, dir, rows, from.size, from.blind, later))
						if err == nil && r.Placement != nil {
							place := core.HandlerFunc(func(ctx context.Context, _ core.Input) (core.Result, error) { return r.Placement.Place(ctx) })
							r, err = s.Handle(t, place, core.Input{})
						}
						if err != nil {
							return err
						}
						if got := read(t, dir, name); got != want {
							t.Errorf("got\n%s\nwant\n%s", got, want)
						}
						if n, _ := r.EdgeOutput.(*value.Object).Get("rows"); n != int64(len(rows)) {
							t.Errorf("the result is %s", nodestest.Text(r))
						}
						if entries, _ := os.ReadDir(filepath.Dir(filepath.Join(dir, name))); len(entries) != 1 {
							t.Errorf("%d files are in the folder, want 1", len(entries))
						}
						if left, err := leftover.Files(s.Folder); len(left) != 0 || err != nil {
							t.Errorf("notes are left: %v, %v", left, err)
						}
						return nil
					})
				})
			}
		}
	}
}

// TestCrashInDatabase is TestCrash for a table.
func TestCrashInDatabase(t *testing.T) {
	rows := rowsOf(t, `[{"id":1},{"id":2},{"id":3}]`)
	for mode, want := range map[string]int{"append": 4, "replace": 3, "upsert": 4} {
		t.Run(mode, func(t *testing.T) {
			key := ""
			if mode == "upsert" {
				key = `, "key": ["id"]`
			}
			h := eager(t, `{"to": "x.db", "table": "t", "from": "rows", "mode": "`+mode+`"`+key+`}`)
			dirs := map[*nodestest.Store]string{}
			nodestest.EachCrash(t, func(t *testing.T) *nodestest.Store {
				s, dir := &nodestest.Store{}, t.TempDir()
				dirs[s] = dir
				first := eager(t, `{"to": "x.db", "table": "t", "from": "rows", "key": ["id"]}`)
				in := core.NewInput("before", "n", 1, core.Shared{Dir: dir, View: core.NewView([]string{"rows"}, []any{rowsOf(t, `[{"id":100}]`)})})
				if _, err := first.Handle(t.Context(), in); err != nil {
					t.Fatal(err)
				}
				return s
			}, func(t *testing.T, s *nodestest.Store) error {
				for range 2 { // the record of the result was lost
					if _, err := s.Handle(t, h, stored(s, dirs[s], rows, 2, false, false)); err != nil {
						return err
					}
				}
				if got := strings.Count(dump(t, filepath.Join(dirs[s], "x.db"), "t"), "\n"); got != want {
					t.Errorf("the table has %d rows, want %d", got, want)
				}
				return nil
			})
		})
	}
}

// TestContinuesAfterCheckpoint: after a crash, the source is read from the checkpoint on, and
// the file is not written again.
func TestContinuesAfterCheckpoint(t *testing.T) {
	rows := rowsOf(t, `[{"id":1},{"id":2},{"id":3},{"id":4},{"id":5},{"id":6}]`)
	h := eager(t, `{"to": "a.csv", "from": "rows"}`)
	s := &nodestest.Store{Freeze: true}
	dir := t.TempDir()
	s.Start(4) // after the second batch is recorded: two points for each checkpoint
	if _, err := s.Handle(t, h, stored(s, dir, rows, 2, false, false)); err != nodestest.ErrCrashed {
		t.Fatal(err)
	}
	want := `{"attempt":1,"bytes":11,"rows":4,"source":{"at":{"from":2},"skip":2},"columns":["id"],"closed":true}`
	if got := value.JSON(s.Last("run/n")); got != want {
		t.Errorf("the checkpoint is %s, want %s", got, want)
	}
	s.Start(0)
	in := stored(s, dir, rows, 2, false, false)
	opened := int64(-1)
	shared := in.Shared()
	open := shared.Open
	shared.Open = func(ctx context.Context, field string, at *value.Object) (core.Stream, bool, error) {
		from, _ := at.Get("from")
		opened, _ = from.(int64)
		return open(ctx, field, at)
	}
	if _, err := s.Handle(t, h, core.NewInput("run", "n", 1, shared)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "a.csv"); opened != 2 || got != "id\n1\n2\n3\n4\n5\n6\n" {
		t.Errorf("the stream was opened at %d, the file is %q", opened, got)
	}
}

// TestAnotherAttemptBeginsAgain: the next attempt does not use the checkpoint, because it has
// another file.
func TestAnotherAttemptBeginsAgain(t *testing.T) {
	rows := rowsOf(t, `[{"id":1},{"id":2},{"id":3},{"id":4}]`)
	h := eager(t, `{"to": "a.csv", "from": "rows"}`)
	s := &nodestest.Store{Freeze: true}
	dir := t.TempDir()
	s.Start(2)
	if _, err := s.Handle(t, h, stored(s, dir, rows, 2, false, false)); err != nodestest.ErrCrashed {
		t.Fatal(err)
	}
	s.Start(0)
	shared := stored(s, dir, rows, 2, false, false).Shared()
	if _, err := s.Handle(t, h, core.NewInput("run", "n", 2, shared)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, dir, "a.csv"); got != "id\n1\n2\n3\n4\n" {
		t.Errorf("the file is %q", got)
	}
}
