package wavefold

import (
	"context"
	"errors"
	"io"
	"iter"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// streamAttempt is one attempt of a stream reader to run the part that makes the stream.
type streamAttempt[T any] struct {
	// run emits the batches. The receiver may change a batch that is free.
	run      func(emit func(batch []T, free bool) error) error
	ctxErr   func() error // the error of the context that the attempt began with, which outlives a single call of Next
	upstream *progress    // the stream it reads, nil for a part at the beginning of a stream
	close    func() error // nil if there is nothing to close
}

// makeStream makes the node describe a stream of source, and open the stream when it
// is read.
func makeStream[T any](n *node, isNil bool, out Stream[T], source string, start func(context.Context, core.Input) (*streamAttempt[T], error), takes string) Part {
	n.writes = Fields(out)
	n.setFunc(isNil, func(context.Context, core.Input) (core.Result, error) {
		r := core.Write(out.Name(), value.ObjectOf("source", source))
		r.Note = "a stream of " + source
		return r, nil
	})
	n.run.writesTo, n.run.readsFrom = out.Name(), takes
	n.run.open = func(ctx context.Context, in core.Input) (core.Stream, error) {
		w, err := start(ctx, in)
		if err != nil {
			return nil, err
		}
		w.ctxErr = ctx.Err
		return &goStream[T]{streamAttempt: *w, spec: out.s, source: source}, nil
	}
	return n
}

// goStream is an open stream of Go values. Its reader calls Each, which runs the part's
// function on the reader's own goroutine, or Next, between whose calls the function is
// suspended. A goStream is not safe for concurrent use.
type goStream[T any] struct {
	streamAttempt[T]
	spec   *spec
	source string
	rows   int64

	nextBatch func() ([]T, bool) // nil before the first Next
	stop      func()
	pending   []T // rows of the last batch that Next has not returned yet
	err       error
}

var _ core.Batches = (*goStream[int])(nil)

var (
	errReaderDone = errors.New("the reader of the stream wants no more rows")
	errLateEmit   = errors.New("emit was called after the function it was given to had returned")
)

// Element returns the type of a row.
func (m *goStream[T]) Element() reflect.Type { return reflect.TypeFor[T]() }

// Each runs the function; yield gets a *[]T.
func (m *goStream[T]) Each(_ context.Context, yield func(batch any, free bool) bool) error {
	var lent []T
	return m.each(func(batch []T, free bool) bool {
		lent = batch
		return yield(&lent, free)
	})
}

// each runs the function until it returns. Batches emitted after yield has returned
// false, or after the function has returned, are discarded. If the reader has stopped,
// the function's error is ignored.
func (m *goStream[T]) each(yield func(batch []T, free bool) bool) error {
	readerDone, returned := false, false
	defer func() { returned = true }()
	err := m.run(func(batch []T, free bool) error {
		switch {
		case returned:
			return errLateEmit
		case readerDone:
			return errReaderDone
		}
		if err := m.ctxErr(); err != nil || len(batch) == 0 {
			return err
		}
		m.rows += int64(len(batch))
		if !yield(batch[:len(batch):len(batch)], free) {
			readerDone = true
			return errReaderDone
		}
		return nil
	})
	if readerDone {
		return nil
	}
	return err
}

// nextRows limits the number of rows that Next returns.
const nextRows = 1024

// Next returns rows as values of the state.
func (m *goStream[T]) Next(ctx context.Context) ([]any, error) {
	if m.nextBatch == nil {
		m.nextBatch, m.stop = iter.Pull(func(yield func([]T) bool) {
			m.err = m.each(func(batch []T, _ bool) bool { return yield(batch) })
		})
	}
	if len(m.pending) == 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var ok bool
		if m.pending, ok = m.nextBatch(); !ok {
			return nil, m.end()
		}
	}
	n := min(len(m.pending), nextRows)
	rows, err := m.encode(m.pending[:n])
	m.pending = m.pending[n:]
	return rows, err
}

// end returns how the function ended: io.EOF if it succeeded. If the function itself
// returns io.EOF, that is an error rather than the end of the stream, because the rows
// that it has not emitted yet would be lost.
func (m *goStream[T]) end() error {
	switch {
	case m.err == nil:
		return io.EOF
	case errors.Is(m.err, io.EOF):
		return errors.New(m.err.Error())
	}
	return m.err
}

// encode converts rows to values of the state.
func (m *goStream[T]) encode(batch []T) ([]any, error) {
	from := reflect.ValueOf(batch)
	all, err := m.spec.rows.Encode(from)
	if rows, ok := all.([]any); ok && err == nil {
		return rows, nil
	}
	rows := make([]any, len(batch)) // find the row with the error; or a slice of bytes, which is encoded as a string
	for i := range rows {
		if rows[i], err = m.spec.codec.Encode(from.Index(i)); err != nil {
			return nil, inputError("row %d: %w", m.rows-int64(len(m.pending)-i-1), err)
		}
	}
	return rows, nil
}

// Summary returns the number of rows.
func (m *goStream[T]) Summary() *value.Object {
	out := value.ObjectOf("source", m.source, core.RowCount, m.rows)
	if m.upstream != nil {
		out.Set("from", m.upstream.rows)
	}
	return out
}

// Close stops the function if it is suspended, and closes the stream it reads.
func (m *goStream[T]) Close() error {
	if m.stop != nil {
		m.stop()
	}
	if m.streamAttempt.close == nil {
		return nil
	}
	return m.streamAttempt.close()
}
