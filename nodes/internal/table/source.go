package table

import (
	"context"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/columncheck"
)

// batchRows is the number of rows in a batch of an array. After each batch progress is
// reported and cancellation is checked.
const batchRows = 1000

// Source yields the rows that a node reads, batch by batch, from an array of the state
// or from a stream. It is used by one goroutine.
type Source struct {
	rest   []any       // of an array, or rows of the stream that were read ahead
	stream core.Stream // nil for an array
	end    bool        // the stream has ended
	total  int64
	begun  bool
	header []string            // of a stream that knows its columns in advance
	wanted columncheck.Columns // the watched columns
	empty  []string            // columns that no row needs to have
	// tracking is nil unless Track was called.
	tracking *tracking
}

// ArraySource returns a source of the rows of an array.
func ArraySource(rows []any) *Source { return &Source{rest: rows, total: int64(len(rows))} }

// StreamSource returns a source of the rows of a stream. Closing the source closes the
// stream.
func StreamSource(s core.Stream) *Source { return &Source{stream: s} }

// Head returns the rows that determine the columns: all rows of an array, the first
// batch of a stream. Next returns the same rows again.
func (s *Source) Head(ctx context.Context) ([]any, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	if len(s.rest) > 0 || s.ended() {
		return s.rest, nil
	}
	rows, err := s.pull(ctx)
	if err == io.EOF {
		return nil, nil
	}
	s.rest = rows
	return rows, err
}

// Streamed reports whether there may be rows after the rows of Head.
func (s *Source) Streamed() bool { return !s.ended() }

// Total returns the number of all rows, or 0 if it is not known.
func (s *Source) Total() int64 { return s.total }

// Next returns the next rows, at most 1000 of an array, or io.EOF after the last one.
func (s *Source) Next(ctx context.Context) ([]any, error) { return s.next(ctx, batchRows) }

// All returns the remaining rows.
func (s *Source) All(ctx context.Context) ([]any, error) {
	var all []any
	for {
		rows, err := s.Next(ctx)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
}

// NextOf is Next with batches of exactly n rows, except the last one.
func (s *Source) NextOf(ctx context.Context, n int) ([]any, error) {
	rows, err := s.next(ctx, n)
	if err != nil || len(rows) == n {
		return rows, err
	}
	rows = rows[:len(rows):len(rows)]
	for len(rows) < n {
		more, err := s.next(ctx, n-len(rows))
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// next returns between 1 and n rows.
func (s *Source) next(ctx context.Context, n int) ([]any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	rows, err := s.take(ctx, n)
	if s.tracking != nil {
		s.tracking.taken += int64(len(rows))
	}
	return rows, err
}

// take is next after begin.
func (s *Source) take(ctx context.Context, n int) ([]any, error) {
	if len(s.rest) > 0 {
		n = min(n, len(s.rest))
		rows := s.rest[:n:n]
		s.rest = s.rest[n:]
		s.wanted.Look(rows)
		return rows, nil
	}
	rows, err := s.pull(ctx)
	if len(rows) > n {
		rows, s.rest = rows[:n:n], rows[n:]
	}
	s.wanted.Look(rows)
	if err == io.EOF {
		if lost := core.Permanent(s.wanted.Missing(s.empty)); lost != nil {
			return nil, lost
		}
	}
	return rows, err
}

// Header returns the columns of a stream that knows them in advance, after Head or Next
// was called. It returns nil for other sources.
func (s *Source) Header() []string { return s.header }

// Watch looks for columns in the following rows. If there are rows and none has one of
// the columns, Head or Next returns an error: if the source has a header, when it is
// read, otherwise Next in place of io.EOF. Columns in empty are not required.
func (s *Source) Watch(columns, empty []string) {
	s.wanted, s.empty = columncheck.New(columns), empty
}

// Absent returns the watched columns that no row has had so far.
func (s *Source) Absent() []string { return s.wanted.Absent() }

// begin skips the rows before the position of Track, and checks the header of a stream that
// knows its columns in advance. It does so once.
func (s *Source) begin(ctx context.Context) error {
	if s.begun {
		return nil
	}
	s.begun = true
	if err := s.checkHeader(ctx); err != nil {
		return err
	}
	if s.tracking != nil {
		return s.resume(ctx)
	}
	return nil
}

func (s *Source) checkHeader(ctx context.Context) error {
	if s.stream == nil {
		return nil
	}
	columns, ok, err := core.HeaderOf(ctx, s.stream)
	if err != nil || !ok {
		return err
	}
	s.header = columns
	return core.Permanent(s.wanted.Header(columns, s.empty))
}

func (s *Source) ended() bool { return s.stream == nil || s.end }

func (s *Source) pull(ctx context.Context) ([]any, error) {
	if s.ended() {
		return nil, io.EOF
	}
	if s.tracking != nil {
		if err := s.tracking.advance(s.stream); err != nil {
			return nil, err
		}
	}
	rows, err := s.stream.Next(ctx)
	s.end = err == io.EOF
	if s.tracking != nil {
		s.tracking.read(rows)
	}
	return rows, err
}

// Close closes the stream. Rows that were returned stay valid.
func (s *Source) Close() error {
	if s.stream == nil {
		return nil
	}
	return s.stream.Close()
}
