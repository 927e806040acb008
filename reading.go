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
	"github.com/wavefold/wavefold/internal/gotype"
)

// reading is the reading of a stream in one attempt. One goroutine uses it at a time.
type reading[T any] struct {
	progress
	name  string
	codec *gotype.Codec
	// stream is where the rows come from; nil when the field holds an ordinary array,
	// list.
	stream core.Stream
	list   []any
	begun  bool
	err    error // what the rows ended with
}

// progress counts rows and tells how far it is.
type progress struct {
	in   core.Input
	rows int64
}

// progressRows is after how many rows the progress is told.
const progressRows = 1 << 16

func (p *progress) add(n int) {
	if before := p.rows; before == 0 || before/progressRows != (before+int64(n))/progressRows {
		p.in.Progress(before+int64(n), 0)
	}
	p.rows += int64(n)
}

var errReadOnce = errors.New("the rows of a stream can be read once, while the part's function runs")

// open opens the field for one attempt. The caller closes it.
func (s Stream[T]) open(ctx context.Context, in core.Input) (*reading[T], error) {
	r := &reading[T]{progress: progress{in: in}, name: s.Name(), codec: s.s.codec}
	stream, ok, err := in.Stream(ctx, r.name)
	if ok || err != nil {
		r.stream = stream
		return r, err
	}
	v, ok := in.Shared().View.Get(r.name)
	if !ok {
		return nil, badInput("stream %q has no rows: no part makes it, and no input gave it any", r.name)
	}
	if r.list, ok = v.([]any); !ok {
		return nil, badInput("stream %q: want an array, got %s", r.name, core.TypeName(v))
	}
	return r, nil
}

// close ends the reading: who still ranges over the rows is given none.
func (r *reading[T]) close() error {
	r.begun = true
	if r.stream == nil {
		return nil
	}
	return r.stream.Close()
}

// batches yields the rows once, and an error at the end if they did not all come.
func (r *reading[T]) batches(ctx context.Context) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		more := true
		if r.begun {
			r.err = errReadOnce
		} else {
			r.begun = true
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

// verdict is the error of a function that read the rows and returned err. One that takes
// an error for the end has not seen all of them.
func (r *reading[T]) verdict(err error) error {
	if err == nil {
		return r.err
	}
	return err
}

// wholeBatch stands for the row that an error is about when it is not known.
const wholeBatch = -1

// failed names the row of the current batch in an error.
func (r *reading[T]) failed(batch []T, row int, err error) error {
	first := r.rows - int64(len(batch)) + 1
	if row == wholeBatch {
		return fmt.Errorf("rows %d to %d: %w", first, r.rows, err)
	}
	return fmt.Errorf("row %d: %w", first+int64(row), err)
}

// each hands over batches until there are no more or yield returns false. Those that
// are free may be changed.
func (r *reading[T]) each(ctx context.Context, yield func(batch []T, free bool) bool) error {
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

// arrayRows is how many rows of an array are decoded at a time.
const arrayRows = 1024

// next returns the next rows as values of the state.
func (r *reading[T]) next(ctx context.Context) ([]any, error) {
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

// decode makes values of T of rows.
func (r *reading[T]) decode(batch []T, rows []any) error {
	clear(batch)
	to := reflect.ValueOf(batch)
	for i, row := range rows {
		if err := r.codec.Decode(to.Index(i), row); err != nil {
			return badInput("stream %q: row %d: %w", r.name, r.rows+int64(i)+1, err)
		}
	}
	return nil
}
