package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// chunks is a stream of the rows from, from+1, ... to-1 in batches of a size. It knows its
// position, unless blind.
type chunks struct {
	from, to, size int
	blind          bool
	blindFrom      int // the row from which it does not know its position; 0 means none
}

func (c *chunks) Next(context.Context) ([]any, error) {
	if c.from >= c.to {
		return nil, io.EOF
	}
	var rows []any
	for ; c.from < c.to && len(rows) < c.size; c.from++ {
		rows = append(rows, value.ObjectOf("n", int64(c.from)))
	}
	return rows, nil
}

func (c *chunks) Position() (*value.Object, error) {
	if c.blind || c.blindFrom > 0 && c.from >= c.blindFrom {
		return nil, nil
	}
	return value.ObjectOf("from", int64(c.from)), nil
}

func (c *chunks) Summary() *value.Object { return nil }
func (c *chunks) Close() error           { return nil }

// stored is a position in the form that it has after it was recorded.
func stored(t *testing.T, p *value.Object) *value.Object {
	t.Helper()
	v, err := value.ParseJSON([]byte(value.JSON(p)))
	if err != nil {
		t.Fatal(err)
	}
	return v.(*value.Object)
}

// TestContinue: a source that continues at a position returns exactly the rows after it, for
// sources of all kinds, positions after every row, and readers of batches of any size; and so
// does a source that continues at a position of a source that was continued.
func TestContinue(t *testing.T) {
	const rows = 23
	var array []any
	for i := range rows {
		array = append(array, value.ObjectOf("n", int64(i)))
	}
	sources := map[string]func(at *value.Object) *Source{
		"an array": func(*value.Object) *Source { return ArraySource(array) },
	}
	for _, size := range []int{1, 5, 100} {
		for _, c := range []chunks{{blind: true}, {}, {blindFrom: 11}} {
			c.to, c.size = rows, size
			sources[fmt.Sprintf("blind=%t from %d, batches of %d", c.blind, c.blindFrom, size)] = func(at *value.Object) *Source {
				s := c
				if p := StreamPosition(at); p != nil {
					from, _ := p.Get("from")
					s.from = int(from.(int64))
				}
				return StreamSource(&s)
			}
		}
	}
	in := core.NewInput("r", "n", 1, core.Shared{})
	for name, source := range sources {
		for _, step := range []int{1, 3, 4, rows} {
			t.Run(fmt.Sprintf("%s, read by %d", name, step), func(t *testing.T) {
				var at *value.Object
				for done := 0; done <= rows; {
					s := source(at)
					if err := s.Track(in, "rows", at); err != nil {
						t.Fatal(err)
					}
					// Two batches for each process, so that positions build on each other.
					for range 2 {
						batch, err := s.NextOf(t.Context(), step)
						if err == io.EOF {
							if done != rows {
								t.Fatalf("the end after %d rows", done)
							}
							return
						}
						if err != nil {
							t.Fatalf("after %d rows, at %s: %v", done, value.JSON(at), err)
						}
						for _, r := range batch {
							if n, _ := r.(*value.Object).Get("n"); n != int64(done) {
								t.Fatalf("row %v after %d rows, at %s", n, done, value.JSON(at))
							}
							done++
						}
					}
					at = stored(t, s.Position())
				}
			})
		}
	}
}

// TestContinueChanged: a source that has no position must have the same rows again.
func TestContinueChanged(t *testing.T) {
	first := StreamSource(&chunks{to: 20, size: 4, blind: true})
	in := core.NewInput("r", "save", 1, core.Shared{})
	if err := first.Track(in, "rows of load", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := first.NextOf(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	at := stored(t, first.Position())
	tests := []struct {
		name   string
		stream *chunks
		ok     bool
	}{
		{"the same", &chunks{to: 20, size: 4, blind: true}, true},
		{"other batches", &chunks{to: 20, size: 7, blind: true}, true},
		{"rows were added", &chunks{to: 25, size: 4, blind: true}, true},
		{"one row less in front", &chunks{from: 1, to: 20, size: 4, blind: true}, false},
		{"too few rows", &chunks{to: 9, size: 4, blind: true}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := StreamSource(tt.stream)
			if err := s.Track(in, "rows of load", at); err != nil {
				t.Fatal(err)
			}
			rows, err := s.Next(t.Context())
			if tt.ok {
				if n, _ := rows[0].(*value.Object).Get("n"); err != nil || n != int64(10) {
					t.Errorf("got row %v, %v, want row 10", n, err)
				}
				return
			}
			changed, ok := errors.AsType[*core.SourceChangedError](err)
			if !ok || changed.Node != "save" || changed.Source != "rows of load" || !core.FailureOf(err).FailsRun {
				t.Errorf("got %v, want a SourceChangedError of rows of load that ends the run", err)
			}
		})
	}
}

// TestContinueWatches: a column that only rows before the position had is not missing.
func TestContinueWatches(t *testing.T) {
	rows := []any{value.ObjectOf("a", int64(1), "b", int64(1)), value.ObjectOf("a", int64(2)), value.ObjectOf("a", int64(3))}
	in := core.NewInput("r", "n", 1, core.Shared{})
	run := func(at *value.Object) (*value.Object, error) {
		s := ArraySource(rows)
		s.Watch([]string{"a", "b", "c"}, []string{"c"})
		if err := s.Track(in, "rows", at); err != nil {
			t.Fatal(err)
		}
		if at != nil {
			_, err := s.All(t.Context())
			if absent := s.Absent(); len(absent) != 1 || absent[0] != "c" {
				t.Errorf("absent are %q, want c", absent)
			}
			return nil, err
		}
		_, err := s.NextOf(t.Context(), 2)
		return stored(t, s.Position()), err
	}
	at, err := run(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run(at); err != nil {
		t.Errorf("continued: %v", err)
	}
}
