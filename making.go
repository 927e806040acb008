package wavefold

import (
	"context"
	"errors"
	"io"
	"iter"
	"reflect"

	"github.com/wavefold/wavefold/core"
)

// work is one attempt of a stream reader to run the part that makes the stream.
type work[T any] struct {
	// run emits the batches. The receiver may change a batch that is free.
	run   func(emit func(batch []T, free bool) error) error
	live  func() error // the error of the context that the attempt began with, which outlives a single call of Next
	from  *progress    // the stream it reads, nil for a part at the beginning of a stream
	close func() error // nil if there is nothing to close
}

// makesStream makes the node describe a stream of source, and open the stream when it
// is read.
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

// making is an open stream of Go values. Its reader calls Each, which runs the part's
// function on the reader's own goroutine, or Next, between whose calls the function is
// suspended. making is not safe for concurrent use.
type making[T any] struct {
	work[T]
	of     *spec
	source string
	rows   int64

	next func() ([]T, bool) // nil before the first Next
	stop func()
	left []T // rows of the last batch that Next has not returned yet
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

// each runs the function until it returns. Batches emitted after yield has returned
// false, or after the function has returned, are discarded. If the reader has stopped,
// the function's error is ignored.
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

// nextRows limits the number of rows that Next returns.
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

// end returns how the function ended: io.EOF if it succeeded. If the function itself
// returns io.EOF, that is an error rather than the end of the stream, because rows it
// had not emitted yet would be lost.
func (m *making[T]) end() error {
	switch {
	case m.err == nil:
		return io.EOF
	case errors.Is(m.err, io.EOF):
		return errors.New(m.err.Error())
	}
	return m.err
}

// encode converts rows to values of the state.
func (m *making[T]) encode(batch []T) ([]any, error) {
	from := reflect.ValueOf(batch)
	all, err := m.of.rows.Encode(from)
	if rows, ok := all.([]any); ok && err == nil {
		return rows, nil
	}
	rows := make([]any, len(batch)) // find the row with the error; or a slice of bytes, which is encoded as a string
	for i := range rows {
		if rows[i], err = m.of.codec.Encode(from.Index(i)); err != nil {
			return nil, badInput("row %d: %w", m.rows-int64(len(m.left)-i-1), err)
		}
	}
	return rows, nil
}

// Summary returns the number of rows.
func (m *making[T]) Summary() *core.Object {
	out := core.ObjectOf("source", m.source, core.RowCount, m.rows)
	if m.from != nil {
		out.Set("from", m.from.rows)
	}
	return out
}

// Close stops the function if it is suspended, and closes the stream it reads.
func (m *making[T]) Close() error {
	if m.stop != nil {
		m.stop()
	}
	if m.work.close == nil {
		return nil
	}
	return m.work.close()
}
