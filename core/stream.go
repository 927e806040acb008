package core

import (
	"context"
	"reflect"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Stream yields the rows of a table batch by batch, without keeping the whole table. Only
// one goroutine uses it at a time.
//
// The node that makes a stream ends before anything is read: it writes only a description
// of the rows. The one reader of the stream pulls the rows while it runs, so a slow reader
// slows the source down and nothing is queued in between.
type Stream interface {
	// Next returns the next rows, at least one, and io.EOF after the last. The slice
	// belongs to the caller. The rows are objects that may be kept but must not be changed.
	Next(ctx context.Context) ([]any, error)
	// Summary describes what was read, once Next has returned io.EOF. It has RowCount;
	// RejectedRows if some rows were removed, which makes the result of the reader partial;
	// and anything else that identifies the content. The state shows it in place of the
	// rows.
	Summary() *value.Object
	// Close releases the resources of the stream. It may be called before the end, and is
	// called exactly once.
	Close() error
}

// Batches is implemented by streams whose rows are values of a Go type. A reader that knows
// the type calls Each instead of Next, which avoids converting the rows.
type Batches interface {
	Stream
	// Element returns the type of a row.
	Element() reflect.Type
	// Each calls yield with one batch after the other until there are no more or yield
	// returns false. A batch is a *[]T with at least one row, where T is the type that
	// Element returns. It must not be kept after yield has returned. It may be changed if
	// free is true. Each is called once, and not together with Next.
	Each(ctx context.Context, yield func(batch any, free bool) bool) error
}

// Measured is implemented by streams that know the size of their source and how much of it
// was read, for example in bytes of files. size is 0 while it is not known. The reader
// calls it, also before the first call of Next.
type Measured interface {
	Stream
	Extent() (read, size int64)
}

// Headed is implemented by streams that know the columns of their rows before the
// first row.
type Headed interface {
	Stream
	// Header returns the columns that every row has, in order; ok is false if they are not
	// known before the rows are read. A reader calls it before the first call of Next. It
	// may read the beginning of the source.
	Header(ctx context.Context) (columns []string, ok bool, err error)
}

// HeaderOf returns the columns of a stream that implements Headed; ok is false for
// any other.
func HeaderOf(ctx context.Context, s Stream) (columns []string, ok bool, err error) {
	if h, is := s.(Headed); is {
		return h.Header(ctx)
	}
	return nil, false, nil
}

// Members of a summary.
const (
	RowCount     = "rows"     // number of rows read
	RejectedRows = "rejected" // number of rows removed by the stream
)

// StreamSource is a handler that can make a stream. Its Handle checks what can be checked
// early and writes a description, an object, to the field of Compiled.Stream. Open converts
// that description to rows, once for each attempt of the reader. Its input is the same as
// the input of Handle, except for edge inputs and for Input.Position.
type StreamSource interface {
	Handler
	Open(ctx context.Context, in Input, described *value.Object) (Stream, error)
}

// StreamUser is implemented by handlers that declare the streams of their node themselves:
// handlers given in Go, and functions that documents call. Kinds declare them in Compiled.
type StreamUser interface {
	Handler
	// StreamFields returns the written field that becomes a stream, or "" if there is none,
	// and the read fields that the handler accepts as streams. A handler that makes a
	// stream is a StreamSource.
	StreamFields() (made string, taken []string)
}

// StreamsOf returns the streams of a node as its handler declares them, for Stream and
// Streams of Compiled.
func StreamsOf(h Handler, n *Node) (made source.Text, taken []source.Text) {
	u, ok := h.(StreamUser)
	if !ok {
		return source.Text{}, nil
	}
	write, reads := u.StreamFields()
	for _, w := range n.Writes {
		if w.Value == write {
			made = w
		}
	}
	for _, r := range n.Reads {
		for _, name := range reads {
			if r.Value == name {
				taken = append(taken, r)
			}
		}
	}
	return made, taken
}

// StreamOpener opens the streams among the fields that a node reads; ok is false for a
// field that holds an ordinary value. The stream begins at the position at if it is
// Positioned, and otherwise, or if at is nil, at its first row.
type StreamOpener func(ctx context.Context, field string, at *value.Object) (s Stream, ok bool, err error)

// Stream opens a field as a stream; ok is false if the field holds an ordinary value or is
// not among the node's reads. Each call starts at the first row. The caller closes the
// stream.
func (in Input) Stream(ctx context.Context, field string) (s Stream, ok bool, err error) {
	return in.StreamAt(ctx, field, nil)
}

// StreamAt is Stream for a reader that continues after a crash: at is a position of the
// stream that it has recorded, which is not nil. Only the stream of the field itself begins
// there; streams that its maker reads are opened by the maker.
func (in Input) StreamAt(ctx context.Context, field string, at *value.Object) (s Stream, ok bool, err error) {
	if open := in.shared().Open; open != nil {
		return open(ctx, field, at)
	}
	return nil, false, nil
}
