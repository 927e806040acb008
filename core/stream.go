package core

import (
	"context"
	"reflect"

	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// A Stream yields the rows of a table that is never kept whole, batch after
// batch. One goroutine uses it at a time.
//
// The node that makes a stream ends before anything is read: what it writes is
// only a description of the rows. The stream's one reader pulls them while it
// runs, so a slow reader slows the source down and nothing piles up between.
type Stream interface {
	// Next returns the next rows, at least one of them, and io.EOF after the
	// last. The slice belongs to the caller; the rows are objects that must not
	// be changed and may be kept.
	Next(ctx context.Context) ([]any, error)
	// Summary describes what was read, once Next has returned io.EOF: RowCount,
	// RejectedRows if some were taken out, which makes the result of the reader
	// partial, and whatever else tells this content from another. The state shows
	// it in place of the rows.
	Summary() *value.Object
	// Close frees what the stream holds. It may be called before the end, and
	// is called exactly once.
	Close() error
}

// Batches is implemented by streams whose rows are values of a Go type. A reader
// that knows the type calls Each in place of Next, so that the rows stay what they
// are.
type Batches interface {
	Stream
	// Element returns the type of a row.
	Element() reflect.Type
	// Each calls yield with one batch after the other until there are no more or
	// yield returns false. A batch is a *[]T of the type that Element tells, with
	// at least one row. It is lent until yield returns and must not be kept; it may
	// be changed if free is true. Each is called once, and Next not beside it.
	Each(ctx context.Context, yield func(batch any, free bool) bool) error
}

// Measured is implemented by streams that know how much of their source there is and
// how much of it was read, such as bytes of files; size is 0 while that is not known.
// It is called by whoever reads, before the first call of Next too.
type Measured interface {
	Stream
	Extent() (read, size int64)
}

// Headed is implemented by streams that know the columns of their rows before the
// first row.
type Headed interface {
	Stream
	// Header returns the columns that every row has, in their order; ok is false if
	// they are not known before the rows. A reader calls it before the first call of
	// Next. It may read the beginning of the source.
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
	RowCount     = "rows"     // how many rows were read
	RejectedRows = "rejected" // how many were taken out on the way
)

// StreamSource is a handler that can make a stream. Its Handle checks what can
// be checked early and writes a description, an object, to the field of
// Compiled.Stream; Open turns that description into rows, once for each attempt
// of the reader. It is given what Handle was given, seen from the same place in
// the graph, except for edge inputs.
type StreamSource interface {
	Handler
	Open(ctx context.Context, in Input, described *value.Object) (Stream, error)
}

// StreamUser is implemented by handlers that say themselves which streams their
// node makes and takes, as a kind says it in Compiled: those a node is given in
// Go, and functions that documents call.
type StreamUser interface {
	Handler
	// StreamFields returns the written field that becomes a stream, "" for none,
	// and the read fields that the handler takes as streams. A handler that makes
	// a stream is a StreamSource.
	StreamFields() (made string, taken []string)
}

// StreamsOf returns what a handler says of the streams of its node, for Stream and
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

// StreamOpener opens the streams among the fields a node reads; ok is false for
// a field that holds an ordinary value.
type StreamOpener func(ctx context.Context, field string) (s Stream, ok bool, err error)

// Stream opens a field as a stream; ok is false when the field holds an ordinary
// value or is not among the node's reads. Each call begins with the first row.
// The caller closes the stream.
func (in Input) Stream(ctx context.Context, field string) (s Stream, ok bool, err error) {
	if open := in.shared().Open; open != nil {
		return open(ctx, field)
	}
	return nil, false, nil
}
