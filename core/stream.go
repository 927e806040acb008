package core

import "context"

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
	Summary() *Object
	// Close frees what the stream holds. It may be called before the end, and
	// is called exactly once.
	Close() error
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
	Open(ctx context.Context, in Input, described *Object) (Stream, error)
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
