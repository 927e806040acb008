package wavefold

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/gotype"
)

// Stream is a field of a graph's state for rows of type T that are never all in memory:
// one part makes them, another one reads them in batches. The state only holds their
// number. A Stream is immutable and may be used in any number of graphs.
//
// Parts that make a stream do not run on their own: the part at the end, a StreamFold,
// StreamRead or StreamSink, calls them while it runs. All parts of a chain run on one
// goroutine, and a batch passes through all of them before the next one is made, so
// that rows do not accumulate. An error or panic in any of them is a failure of the
// part at the end, and names the part in which it occurred. Retry and Timeout belong to
// the part at the end, and another attempt begins with the first row.
//
// A batch is only lent to its receiver, like the bytes passed to an io.Writer: the
// receiver must not change it, and must not keep it or a part of it beyond the
// iteration or call. Rows may be copied out of it. The maker of the batch may reuse it
// when emit has returned.
//
// The rows of a Stream can come from a node of a kind, such as a dataset with stream:
// true, and can be read by one, such as a sink: list the stream in Writes or Reads of a
// Node. The rows are then converted to T and back by the rules of encoding/json.
type Stream[T any] struct{ s *spec }

func (s Stream[T]) field() *spec { return s.s }

// NewStream declares a stream.
func NewStream[T any](name string) Stream[T] {
	t := reflect.TypeFor[T]()
	s := &spec{typ: reflect.SliceOf(t), codec: gotype.New(t), stream: true, rows: gotype.New(reflect.SliceOf(t))}
	s.decl = core.FieldDecl{Default: value.Missing, Type: &value.Type{Kind: value.ArrayType, Items: gotype.Of(t)}, Pos: here()}
	s.decl.Name = source.At(name, s.decl.Pos)
	if s.codec.Err != nil {
		s.findings.Errorf(source.CodeWrongType, s.decl.Pos, "stream %q: %v", name, s.codec.Err)
	}
	return Stream[T]{s}
}

// Name returns the field's name. It is empty if NewStream did not make the Stream.
func (s Stream[T]) Name() string { return Field[T](s).Name() }

// Field returns the stream as a field, for the parts that take one row at a time and
// may process several concurrently: Each, Expand, ForEach and Pipeline. It also sets
// the rows of a stream that no part makes, as in a test: Field().Is(rows).
func (s Stream[T]) Field() Field[[]T] {
	if s.s == nil {
		return Field[[]T]{}
	}
	f := *s.s
	f.codec = f.rows
	return Field[[]T]{&f}
}

// Rows returns the number of rows, if the stream was read to its end; ok reports
// whether it was.
func (s Stream[T]) Rows(r *Result) (n int64, ok bool) {
	if r == nil || r.Report == nil {
		return 0, false
	}
	v, _ := r.State.Get(s.Name())
	summary, _ := v.(*value.Object)
	v, _ = summary.Get(core.RowCount)
	n, ok = v.(int64)
	return n, ok
}

// StreamSource begins a stream. Its function passes batches to emit and returns after
// the last one. emit returns when the batch has passed through all parts. Its error
// means that no more rows are wanted, or that the context has ended; the function must
// return it. If no more rows are wanted, the function's own result is ignored. The
// function must call emit on its own goroutine. A StreamSource takes After, From, When,
// Else, On, AllDone, AnyOf, KOfN, Quorum, Race, Phase and Describe.
func StreamSource[T any](id string, out Stream[T], fn func(ctx context.Context, emit func([]T) error) error, options ...Option) Part {
	n := newNode("StreamSource", id, options)
	return makeStream(n, fn == nil, out, id, func(ctx context.Context, _ core.Input) (*streamAttempt[T], error) {
		return &streamAttempt[T]{run: func(emit func([]T, bool) error) error { return fn(ctx, lendBatches(emit)) }}, nil
	}, "")
}

// StreamFrom is a StreamSource whose rows depend on a field, such as a file name, a
// list, or a start time. It takes the options of a StreamSource.
func StreamFrom[A, T any](id string, in Field[A], out Stream[T], fn func(ctx context.Context, a A, emit func([]T) error) error, options ...Option) Part {
	n := newNode("StreamFrom", id, options)
	n.view = Fields(in)
	return makeStream(n, fn == nil, out, in.Name(), func(ctx context.Context, i core.Input) (*streamAttempt[T], error) {
		a, err := in.read(i.View())
		if err != nil {
			return nil, err
		}
		return &streamAttempt[T]{run: func(emit func([]T, bool) error) error { return fn(ctx, a, lendBatches(emit)) }}, nil
	}, "")
}

// StreamMap converts each row of a stream to a row of another one. It takes the options
// of a StreamSource.
func StreamMap[A, B any](id string, in Stream[A], out Stream[B], fn func(context.Context, A) (B, error), options ...Option) Part {
	return batchStage("StreamMap", id, in, out, fn == nil, true, func(ctx context.Context, rows []A, made []B) ([]B, int, error) {
		for i := range rows {
			b, err := fn(ctx, rows[i])
			if err != nil {
				return nil, i, err
			}
			made = append(made, b)
		}
		return made, 0, nil
	}, options)
}

// StreamFilter keeps the rows of a stream for which its function returns true. It takes
// the options of a StreamSource.
func StreamFilter[T any](id string, in, out Stream[T], fn func(context.Context, T) (bool, error), options ...Option) Part {
	return batchStage("StreamFilter", id, in, out, fn == nil, true, func(ctx context.Context, rows, kept []T) ([]T, int, error) {
		for i := range rows {
			keep, err := fn(ctx, rows[i])
			if err != nil {
				return nil, i, err
			}
			if keep {
				kept = append(kept, rows[i])
			}
		}
		return kept, 0, nil
	}, options)
}

// StreamBatch converts one stream to another by a function that is called once per
// batch. The function appends its results, any number of rows, to made and returns it.
// made is empty and has capacity for as many rows as came in. The returned slice is
// passed to the next part, and then reused for the next call. It takes the options of a
// StreamSource.
func StreamBatch[A, B any](id string, in Stream[A], out Stream[B], fn func(ctx context.Context, rows []A, made []B) ([]B, error), options ...Option) Part {
	return batchStage("StreamBatch", id, in, out, fn == nil, false, func(ctx context.Context, rows []A, made []B) ([]B, int, error) {
		made, err := fn(ctx, rows, made)
		return made, unknownRow, err
	}, options)
}

// batchStage is a part that converts batches. fn appends to made and returns the row
// that an error is about. inPlace says that made may use the memory of rows: fn never
// writes an element of made before it has read the element of rows at the same index.
func batchStage[A, B any](what, id string, in Stream[A], out Stream[B], isNil, inPlace bool, fn func(ctx context.Context, rows []A, made []B) ([]B, int, error), options []Option) Part {
	inPlace = inPlace && reflect.TypeFor[A]() == reflect.TypeFor[B]()
	return streamStage(what, id, in, out, isNil, func(ctx context.Context, r *streamReader[A], emit func([]B, bool) error) error {
		var (
			buffer []B
			failed error
		)
		err := r.each(ctx, func(batch []A, free bool) bool {
			made := buffer
			if free && inPlace {
				made = any(batch).([]B)
			} else if cap(buffer) < len(batch) {
				buffer = make([]B, 0, len(batch))
				made = buffer
			}
			out, row, err := fn(ctx, batch, made[:0])
			if err != nil {
				failed = r.rowError(batch, row, err)
				return false
			}
			reusesBuffer := cap(out) == cap(made) && sameArray(out, made)
			// A slice with a larger capacity than both was allocated by fn, so it can
			// be reused.
			if cap(out) > max(cap(buffer), cap(batch)) {
				buffer = out
			}
			failed = emit(out, reusesBuffer)
			return failed == nil
		})
		if failed != nil {
			return failed
		}
		return err
	}, options)
}

// sameArray reports whether two slices begin at the same address.
func sameArray[T any](a, b []T) bool {
	return cap(a) > 0 && cap(b) > 0 && &a[:1][0] == &b[:1][0]
}

// StreamStage is the general form of a part that converts one stream to another: it
// ranges over batches and passes batches, of any size, to emit. Its function is called
// once for all rows, so it can keep state between batches in its variables, and emit
// rows that it held back at the end. An error from rows comes from an earlier part; the
// function must return it. A function that needs no more rows may return before their
// end. It takes the options of a StreamSource.
func StreamStage[A, B any](id string, in Stream[A], out Stream[B], fn func(ctx context.Context, rows iter.Seq2[[]A, error], emit func([]B) error) error, options ...Option) Part {
	return streamStage("StreamStage", id, in, out, fn == nil, func(ctx context.Context, r *streamReader[A], emit func([]B, bool) error) error {
		return fn(ctx, r.batches(ctx), lendBatches(emit))
	}, options)
}

// lendBatches returns an emit for batches that do not belong to the engine.
func lendBatches[T any](emit func(batch []T, free bool) error) func([]T) error {
	return func(batch []T) error { return emit(batch, false) }
}

// streamStage is a part that converts one stream to another.
func streamStage[A, B any](what, id string, in Stream[A], out Stream[B], isNil bool, fn func(ctx context.Context, r *streamReader[A], emit func([]B, bool) error) error, options []Option) Part {
	n := newNode(what, id, options)
	n.view = Fields(in)
	return makeStream(n, isNil, out, in.Name(), func(ctx context.Context, i core.Input) (*streamAttempt[B], error) {
		r, err := in.open(ctx, i)
		if err != nil {
			return nil, err
		}
		return &streamAttempt[B]{upstream: &r.progress, close: r.close, run: func(emit func([]B, bool) error) error {
			return r.result(fn(ctx, r, emit))
		}}, nil
	}, in.Name())
}

// StreamFold ends a stream and reduces all rows to one value. Its function gets its
// result for the preceding batches, initially the zero R, and the next batch. The value
// is written after the last row. It takes the options of all nodes.
func StreamFold[T, R any](id string, in Stream[T], out Field[R], fn func(ctx context.Context, value R, rows []T) (R, error), options ...Option) Part {
	n := newNode("StreamFold", id, options)
	n.writes = Fields(out)
	return readStream(n, fn == nil, in, func(ctx context.Context, r *streamReader[T]) (core.Result, error) {
		var (
			value  R
			failed error
		)
		err := r.each(ctx, func(batch []T, _ bool) bool {
			if value, failed = fn(ctx, value, batch); failed != nil {
				failed = r.rowError(batch, unknownRow, failed)
			}
			return failed == nil
		})
		if failed != nil {
			err = failed
		}
		return writeResult(out, value, err)
	})
}

// StreamRead is the general form of StreamFold: its function is called once and ranges
// over the batches. It must return an error that it gets from rows. It may return
// before the rows end. It takes the options of all nodes.
func StreamRead[T, R any](id string, in Stream[T], out Field[R], fn func(ctx context.Context, rows iter.Seq2[[]T, error]) (R, error), options ...Option) Part {
	n := newNode("StreamRead", id, options)
	n.writes = Fields(out)
	return readStream(n, fn == nil, in, func(ctx context.Context, r *streamReader[T]) (core.Result, error) {
		v, err := fn(ctx, r.batches(ctx))
		return writeResult(out, v, r.result(err))
	})
}

// StreamSink ends a stream outside of the graph: its function writes a file or calls a
// service. The function must not treat its output as complete until rows has ended
// without an error. It takes the options of all nodes.
func StreamSink[T any](id string, in Stream[T], fn func(ctx context.Context, rows iter.Seq2[[]T, error]) error, options ...Option) Part {
	n := newNode("StreamSink", id, options)
	n.effects = new(true)
	return readStream(n, fn == nil, in, func(ctx context.Context, r *streamReader[T]) (core.Result, error) {
		return core.Result{}, r.result(fn(ctx, r.batches(ctx)))
	})
}

// readStream makes the node read a stream to its end.
func readStream[T any](n *node, isNil bool, in Stream[T], fn func(ctx context.Context, r *streamReader[T]) (core.Result, error)) Part {
	n.view = Fields(in)
	n.setFunc(isNil, func(ctx context.Context, i core.Input) (core.Result, error) {
		r, err := in.open(ctx, i)
		if err != nil {
			return core.Result{}, err
		}
		res, err := fn(ctx, r)
		if err = errors.Join(err, r.close()); err != nil {
			return core.Result{}, err
		}
		res.Note = fmt.Sprintf("%d rows of %s", r.rows, in.Name())
		return res, nil
	})
	n.run.readsFrom = in.Name()
	return n
}
