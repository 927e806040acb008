package wavefold

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/gotype"
)

// Stream is a field of a graph's state for rows of type T that are never there as a
// whole: one part makes them, one other reads them, batch after batch. What the state
// shows is how many there were. A Stream is immutable and may be used in any number of
// graphs.
//
// Parts that make a stream do nothing by themselves: they are called by the part at the
// end, a StreamFold, StreamRead or StreamSink, while it runs. Parts in a row work as one, on one
// goroutine, and a batch goes through all of them before the next one is made, so that
// nothing piles up. An error or panic is the failure of the part at the end and names the
// part it came from; Retry and Timeout belong there, and another attempt begins with the
// first row.
//
// A batch is lent, as the bytes of an io.Writer are: whoever is handed one neither changes
// it nor keeps it, or a part of it, beyond the iteration or call. Rows may be copied out of
// it. Whoever made the batch may fill it anew when emit has returned.
//
// The rows of a Stream can come from a node of a kind, such as a dataset with stream: true,
// and can go into one, such as a sink: name it in Writes and Reads of a Node. They are
// turned into T and back by the rules of encoding/json then.
type Stream[T any] struct{ s *spec }

func (s Stream[T]) field() *spec { return s.s }

// NewStream declares a stream.
func NewStream[T any](name string) Stream[T] {
	t := reflect.TypeFor[T]()
	s := &spec{typ: reflect.SliceOf(t), codec: gotype.New(t), stream: true, rows: gotype.New(reflect.SliceOf(t))}
	s.decl = core.FieldDecl{Default: core.Missing, Type: &core.Type{Kind: core.ArrayType, Items: gotype.Of(t)}, Pos: here()}
	s.decl.Name = core.At(name, s.decl.Pos)
	if s.codec.Err != nil {
		s.findings.Errorf(core.CodeWrongType, s.decl.Pos, "stream %q: %v", name, s.codec.Err)
	}
	return Stream[T]{s}
}

// Name returns the field's name; a Stream that NewStream did not make has none.
func (s Stream[T]) Name() string { return Field[T](s).Name() }

// Field returns the stream as a field, for the parts that take one row at a time and may
// work at several at once: Each, Expand, ForEach and Pipeline. It is also how a stream that
// no part makes, as in a test, is given its rows: Field().Is(rows).
func (s Stream[T]) Field() Field[[]T] {
	if s.s == nil {
		return Field[[]T]{}
	}
	f := *s.s
	f.codec = f.rows
	return Field[[]T]{&f}
}

// Rows returns how many rows were read, once the stream was read to its end; ok tells
// whether it was.
func (s Stream[T]) Rows(r *Result) (n int64, ok bool) {
	if r == nil || r.Report == nil {
		return 0, false
	}
	v, _ := r.State.Get(s.Name())
	summary, _ := v.(*core.Object)
	v, _ = summary.Get(core.RowCount)
	n, ok = v.(int64)
	return n, ok
}

// StreamSource begins a stream. Its function hands batch after batch to emit and returns
// after the last one. emit returns when the batch has gone through all parts; its error
// says that no more rows are wanted, or that the context has ended, and is to be returned.
// When no more are wanted, it does not matter what the function returns.
// It is called by one goroutine, the function's own. A StreamSource takes After, From,
// When, Else, On, AllDone, AnyOf, KOfN, Quorum, Race, Phase and Describe.
func StreamSource[T any](id string, out Stream[T], fn func(ctx context.Context, emit func([]T) error) error, options ...Option) Part {
	n := newNode("StreamSource", id, options)
	return makesStream(n, fn == nil, out, id, func(ctx context.Context, _ core.Input) (*work[T], error) {
		return &work[T]{run: func(emit func([]T, bool) error) error { return fn(ctx, lend(emit)) }}, nil
	}, "")
}

// StreamFrom is a StreamSource that makes its rows of a field: a file's name, a list, the
// time to start from. It takes the options of a StreamSource.
func StreamFrom[A, T any](id string, in Field[A], out Stream[T], fn func(ctx context.Context, a A, emit func([]T) error) error, options ...Option) Part {
	n := newNode("StreamFrom", id, options)
	n.view = Fields(in)
	return makesStream(n, fn == nil, out, in.Name(), func(ctx context.Context, i core.Input) (*work[T], error) {
		a, err := in.read(i.Shared().View)
		if err != nil {
			return nil, err
		}
		return &work[T]{run: func(emit func([]T, bool) error) error { return fn(ctx, a, lend(emit)) }}, nil
	}, "")
}

// StreamMap makes one stream of another, one row of each row. It takes the options of a
// StreamSource.
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

// StreamFilter lets the rows of a stream through for which its function returns true. It
// takes the options of a StreamSource.
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

// StreamBatch makes one stream of another by a function that is called once for a batch:
// it appends what it makes of rows, any number of rows, to made and returns that. made is
// empty and has room for as many rows as came in; what was returned is handed to the next
// part, and then to the next call. It takes the options of a StreamSource.
func StreamBatch[A, B any](id string, in Stream[A], out Stream[B], fn func(ctx context.Context, rows []A, made []B) ([]B, error), options ...Option) Part {
	return batchStage("StreamBatch", id, in, out, fn == nil, false, func(ctx context.Context, rows []A, made []B) ([]B, int, error) {
		made, err := fn(ctx, rows, made)
		return made, wholeBatch, err
	}, options)
}

// batchStage is a part that makes a batch of a batch. The function appends to made and
// names the row that an error is about. One that never writes to a place in made before it
// has read the same place in rows may work in place.
func batchStage[A, B any](what, id string, in Stream[A], out Stream[B], isNil, inPlace bool, fn func(ctx context.Context, rows []A, made []B) ([]B, int, error), options []Option) Part {
	inPlace = inPlace && reflect.TypeFor[A]() == reflect.TypeFor[B]()
	return streamStage(what, id, in, out, isNil, func(ctx context.Context, r *reading[A], emit func([]B, bool) error) error {
		var (
			room   []B
			failed error
		)
		err := r.each(ctx, func(batch []A, free bool) bool {
			made := room
			if free && inPlace {
				made = any(batch).([]B)
			} else if cap(room) < len(batch) {
				room = make([]B, 0, len(batch))
				made = room
			}
			out, row, err := fn(ctx, batch, made[:0])
			if err != nil {
				failed = r.failed(batch, row, err)
				return false
			}
			ours := cap(out) == cap(made) && sameRoom(out, made)
			// A larger one is not what the function was lent, which is no larger than room.
			if cap(out) > max(cap(room), cap(batch)) {
				room = out
			}
			failed = emit(out, ours)
			return failed == nil
		})
		if failed != nil {
			return failed
		}
		return err
	}, options)
}

// sameRoom reports whether two slices begin at the same place.
func sameRoom[T any](a, b []T) bool {
	return cap(a) > 0 && cap(b) > 0 && &a[:1][0] == &b[:1][0]
}

// StreamStage makes one stream of another in the general form: it takes batches in and
// hands batches, of any size, to emit. Its function is called once for all rows, so what it
// remembers from batch to batch stands in its variables, and what it holds back it emits at
// the end. The error of rows is that of a part further up, and is to be returned; a function
// that has enough may return before the rows end. It takes the options of a StreamSource.
func StreamStage[A, B any](id string, in Stream[A], out Stream[B], fn func(ctx context.Context, rows iter.Seq2[[]A, error], emit func([]B) error) error, options ...Option) Part {
	return streamStage("StreamStage", id, in, out, fn == nil, func(ctx context.Context, r *reading[A], emit func([]B, bool) error) error {
		return fn(ctx, r.batches(ctx), lend(emit))
	}, options)
}

// lend is emit for batches that are not the engine's.
func lend[T any](emit func(batch []T, free bool) error) func([]T) error {
	return func(batch []T) error { return emit(batch, false) }
}

// streamStage is a part that makes one stream of another.
func streamStage[A, B any](what, id string, in Stream[A], out Stream[B], isNil bool, fn func(ctx context.Context, r *reading[A], emit func([]B, bool) error) error, options []Option) Part {
	n := newNode(what, id, options)
	n.view = Fields(in)
	return makesStream(n, isNil, out, in.Name(), func(ctx context.Context, i core.Input) (*work[B], error) {
		r, err := in.open(ctx, i)
		if err != nil {
			return nil, err
		}
		return &work[B]{from: &r.progress, close: r.close, run: func(emit func([]B, bool) error) error {
			return r.verdict(fn(ctx, r, emit))
		}}, nil
	}, in.Name())
}

// StreamFold is the end of a stream: it makes one value of all rows. Its function is given
// what it returned for the batches before, the zero R at first, and the next batch. The
// value is written when there are no more rows. It takes the options of all nodes.
func StreamFold[T, R any](id string, in Stream[T], out Field[R], fn func(ctx context.Context, value R, rows []T) (R, error), options ...Option) Part {
	n := newNode("StreamFold", id, options)
	n.writes = Fields(out)
	return readsStream(n, fn == nil, in, func(ctx context.Context, r *reading[T]) (core.Result, error) {
		var (
			value  R
			failed error
		)
		err := r.each(ctx, func(batch []T, _ bool) bool {
			if value, failed = fn(ctx, value, batch); failed != nil {
				failed = r.failed(batch, wholeBatch, failed)
			}
			return failed == nil
		})
		if failed != nil {
			err = failed
		}
		return written(out, value, err)
	})
}

// StreamRead is StreamFold in the general form: its function is called once and ranges
// over the batches; an error of rows is to be returned. It may return before the rows end.
// It takes the options of all nodes.
func StreamRead[T, R any](id string, in Stream[T], out Field[R], fn func(ctx context.Context, rows iter.Seq2[[]T, error]) (R, error), options ...Option) Part {
	n := newNode("StreamRead", id, options)
	n.writes = Fields(out)
	return readsStream(n, fn == nil, in, func(ctx context.Context, r *reading[T]) (core.Result, error) {
		v, err := fn(ctx, r.batches(ctx))
		return written(out, v, r.verdict(err))
	})
}

// StreamSink is the end of a stream that leaves the graph: its function writes a file or
// calls a service. It must not take what it wrote for complete before rows has ended
// without an error. It takes the options of all nodes.
func StreamSink[T any](id string, in Stream[T], fn func(ctx context.Context, rows iter.Seq2[[]T, error]) error, options ...Option) Part {
	n := newNode("StreamSink", id, options)
	n.effects = new(true)
	return readsStream(n, fn == nil, in, func(ctx context.Context, r *reading[T]) (core.Result, error) {
		return core.Result{}, r.verdict(fn(ctx, r.batches(ctx)))
	})
}

// readsStream makes the node read a stream to its end.
func readsStream[T any](n *node, isNil bool, in Stream[T], fn func(ctx context.Context, r *reading[T]) (core.Result, error)) Part {
	n.view = Fields(in)
	n.does(isNil, func(ctx context.Context, i core.Input) (core.Result, error) {
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
	n.run.takes = in.Name()
	return n
}
