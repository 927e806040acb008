package wavefold

import (
	"context"
	"errors"
	"io"
	"iter"
	"reflect"

	"github.com/wavefold/wavefold/core"
)

// work is what a part that makes a stream does in one attempt of the reader.
type work[T any] struct {
	// run hands over the batches; those that are free may be changed by who gets them.
	run   func(emit func(batch []T, free bool) error) error
	live  func() error // the error of the context it began with, which outlives a single call of Next
	from  *progress    // what it reads, nil for the beginning of a stream
	close func() error // nil for nothing to close
}

// makesStream makes the node describe a stream of source, and open it when it is read.
func makesStream[T any](n *node, isNil bool, out Stream[T], source string, start func(context.Context, core.Input) (*work[T], error), takes string) Part {
	n.writes = Fields(out)
	n.does(isNil, func(context.Context, core.Input) (core.Result, error) {
		r := core.Write(out.Name(), core.ObjectOf("source", source))
		r.Note = "a stream of " + source
		return r, nil
	})
	n.run.makes, n.run.takes = out.Name(), takes
	n.run.open = func(ctx context.Context, in core.Input) (core.Stream, error) {
		w, err := start(ctx, in)
		if err != nil {
			return nil, err
		}
		w.live = ctx.Err
		return &making[T]{work: *w, of: out.s, source: source}, nil
	}
	return n
}

// making is a stream of Go values at work. Its reader calls Each, which runs the part's
// function on the reader's own stack, or Next, for which the function waits between two
// batches. One goroutine uses it at a time.
type making[T any] struct {
	work[T]
	of     *spec
	source string
	rows   int64

	next func() ([]T, bool) // nil before the first Next
	stop func()
	left []T // of the batch that the function handed over last
	err  error
}

var _ core.Batches = (*making[int])(nil)

var (
	errEnough = errors.New("the reader of the stream wants no more rows")
	errLate   = errors.New("emit was called after the function it was given to had returned")
)

// Element returns the type of a row.
func (m *making[T]) Element() reflect.Type { return reflect.TypeFor[T]() }

// Each runs the function; yield gets a *[]T.
func (m *making[T]) Each(_ context.Context, yield func(batch any, free bool) bool) error {
	var lent []T
	return m.each(func(batch []T, free bool) bool {
		lent = batch
		return yield(&lent, free)
	})
}

// each runs the function until it returns. What it emits after yield has returned false,
// or after it has returned itself, goes nowhere; nor does its error once the reader has
// what it wants.
func (m *making[T]) each(yield func(batch []T, free bool) bool) error {
	enough, ended := false, false
	defer func() { ended = true }()
	err := m.run(func(batch []T, free bool) error {
		switch {
		case ended:
			return errLate
		case enough:
			return errEnough
		}
		if err := m.live(); err != nil || len(batch) == 0 {
			return err
		}
		m.rows += int64(len(batch))
		if !yield(batch[:len(batch):len(batch)], free) {
			enough = true
			return errEnough
		}
		return nil
	})
	if enough {
		return nil
	}
	return err
}

// nextRows is how many rows are turned into values of the state at a time.
const nextRows = 1024

// Next returns rows as values of the state.
func (m *making[T]) Next(ctx context.Context) ([]any, error) {
	if m.next == nil {
		m.next, m.stop = iter.Pull(func(yield func([]T) bool) {
			m.err = m.each(func(batch []T, _ bool) bool { return yield(batch) })
		})
	}
	if len(m.left) == 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var ok bool
		if m.left, ok = m.next(); !ok {
			return nil, m.end()
		}
	}
	n := min(len(m.left), nextRows)
	rows, err := m.encode(m.left[:n])
	m.left = m.left[n:]
	return rows, err
}

// end is how the function ended, io.EOF when it went well. An io.EOF of the function's own
// is not the end of the rows: they would be lost that it had not emitted yet.
func (m *making[T]) end() error {
	switch {
	case m.err == nil:
		return io.EOF
	case errors.Is(m.err, io.EOF):
		return errors.New(m.err.Error())
	}
	return m.err
}

// encode makes values of the state of rows, the first of those that are left.
func (m *making[T]) encode(batch []T) ([]any, error) {
	from := reflect.ValueOf(batch)
	all, err := m.of.rows.Encode(from)
	if rows, ok := all.([]any); ok && err == nil {
		return rows, nil
	}
	rows := make([]any, len(batch)) // which row it is, or bytes, which make a text as a list
	for i := range rows {
		if rows[i], err = m.of.codec.Encode(from.Index(i)); err != nil {
			return nil, badInput("row %d: %w", m.rows-int64(len(m.left)-i-1), err)
		}
	}
	return rows, nil
}

// Summary tells how many rows there were.
func (m *making[T]) Summary() *core.Object {
	out := core.ObjectOf("source", m.source, core.RowCount, m.rows)
	if m.from != nil {
		out.Set("from", m.from.rows)
	}
	return out
}

// Close ends the function if it waits for its batch to be read, and what it reads from.
func (m *making[T]) Close() error {
	if m.stop != nil {
		m.stop()
	}
	if m.work.close == nil {
		return nil
	}
	return m.work.close()
}
