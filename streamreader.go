package wavefold

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/gotype"
)

// streamReader is one attempt to read a stream. It is not safe for concurrent use.
type streamReader[T any] struct {
	progress
	name  string
	codec *gotype.Codec
	// stream is the source of the rows. It is nil if the field holds an ordinary array,
	// which is then in list.
	stream  core.Stream
	list    []any
	started bool
	err     error // the error after the last row
}

// progress counts rows and reports progress.
type progress struct {
	in   core.Input
	rows int64
}

// progressRows is the number of rows between progress reports.
const progressRows = 1 << 16

func (p *progress) add(n int) {
	if before := p.rows; before == 0 || before/progressRows != (before+int64(n))/progressRows {
		p.in.Progress(before+int64(n), 0)
	}
	p.rows += int64(n)
}

var errReadOnce = errors.New("the rows of a stream can be read once, while the part's function runs")

// open opens the field for one attempt. The caller closes it.
func (s Stream[T]) open(ctx context.Context, in core.Input) (*streamReader[T], error) {
	r := &streamReader[T]{progress: progress{in: in}, name: s.Name(), codec: s.s.codec}
	stream, ok, err := in.Stream(ctx, r.name)
	if ok || err != nil {
		r.stream = stream
		return r, err
	}
	v, ok := in.View().Get(r.name)
	if !ok {
		return nil, inputError("stream %q has no rows: no part makes it, and no input gave it any", r.name)
	}
	if r.list, ok = v.([]any); !ok {
		return nil, inputError("stream %q: want an array, got %s", r.name, value.TypeName(v))
	}
	return r, nil
}

// close ends the reading. An iteration that is still in progress gets no more rows.
func (r *streamReader[T]) close() error {
	r.started = true
	if r.stream == nil {
		return nil
	}
	return r.stream.Close()
}

// batches yields the rows once, and then an error if some are missing.
func (r *streamReader[T]) batches(ctx context.Context) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		more := true
		if r.started {
			r.err = errReadOnce
		} else {
			r.started = true
			r.err = r.each(ctx, func(batch []T, _ bool) bool {
				more = yield(batch, nil)
				return more
			})
		}
		if r.err != nil && more {
			yield(nil, r.err)
		}
	}
}

// result returns the result of a function that read the rows and returned err. If the
// function ignored an error of the rows, the read error is returned, because the
// function has not seen all rows.
func (r *streamReader[T]) result(err error) error {
	if err == nil {
		return r.err
	}
	return err
}

// unknownRow, in place of a row, means that the row with the error is not known.
const unknownRow = -1

// rowError adds the row of the current batch to an error.
func (r *streamReader[T]) rowError(batch []T, row int, err error) error {
	first := r.rows - int64(len(batch)) + 1
	if row == unknownRow {
		return fmt.Errorf("rows %d to %d: %w", first, r.rows, err)
	}
	return fmt.Errorf("row %d: %w", first+int64(row), err)
}

// each yields batches until there are no more or yield returns false. The receiver may
// change a batch that is free.
func (r *streamReader[T]) each(ctx context.Context, yield func(batch []T, free bool) bool) error {
	if b, ok := r.stream.(core.Batches); ok && b.Element() == reflect.TypeFor[T]() {
		return b.Each(ctx, func(lent any, free bool) bool {
			batch := *lent.(*[]T)
			r.add(len(batch))
			return yield(batch, free)
		})
	}
	var batch []T
	for {
		rows, err := r.next(ctx)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			batch = slices.Grow(batch[:0], len(rows))[:len(rows)]
			err = r.decode(batch, rows)
		}
		if err != nil {
			return err
		}
		r.add(len(batch))
		if !yield(batch[:len(batch):len(batch)], true) {
			return nil
		}
	}
}

// arrayRows limits the number of rows of an array that are decoded at a time.
const arrayRows = 1024

// next returns the next rows as values of the state.
func (r *streamReader[T]) next(ctx context.Context) ([]any, error) {
	if r.stream != nil {
		return r.stream.Next(ctx)
	}
	n := min(len(r.list), arrayRows)
	if n == 0 {
		return nil, io.EOF
	}
	rows := r.list[:n]
	r.list = r.list[n:]
	return rows, ctx.Err()
}

// decode converts rows to values of type T.
func (r *streamReader[T]) decode(batch []T, rows []any) error {
	clear(batch)
	to := reflect.ValueOf(batch)
	for i, row := range rows {
		if err := r.codec.Decode(to.Index(i), row); err != nil {
			return inputError("stream %q: row %d: %w", r.name, r.rows+int64(i)+1, err)
		}
	}
	return nil
}
