package dataset

import (
	"context"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/columncheck"
	"github.com/wavefold/wavefold/nodes/internal/parquet"
	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
)

// describe checks the files of a stream: that they exist, that their header is valid and
// that their first rows can be read. It does not read standard input, which can be read
// only once.
func (h *handler) describe(ctx context.Context, in core.Input, names []string, later *rowcheck.LateFiles) (core.Result, error) {
	if err := h.replaceRejects(ctx, in, names, later, nil); err != nil {
		return core.Result{}, err
	}
	r, src, err := h.reader(in, h.place(in.Shared()), names, false)
	if err != nil {
		return core.Result{}, err
	}
	defer src.Close()
	out := &value.Object{}
	h.setSource(out, "source", names)
	out.Set("format", string(r.Format()))
	if len(names) != 1 || names[0] != standardInput {
		batch, err := r.Next(ctx)
		if err != nil && err != io.EOF {
			return core.Result{}, err
		}
		if columns := r.Columns(); columns != nil {
			reads := columncheck.NewReads(h.reads)
			if err := core.Permanent(reads.Header(columns, h.mayLack)); err != nil {
				return core.Result{}, at(sourceName(names), err)
			}
		}
		out.Set("schema", h.schema(r, h.profile(batch.Rows)))
	}
	res := core.Send(out)
	res.Delta = map[string]any{h.into: value.Clone(out)}
	res.Note = "a stream of " + sourceName(names)
	return res, nil
}

// Open opens the stream.
func (h *handler) Open(ctx context.Context, in core.Input, described *value.Object) (core.Stream, error) {
	names, err := sourceOf(described, "source")
	if err != nil {
		return nil, err
	}
	t, err := h.begin(ctx, in, names, nil, true)
	if err != nil {
		return nil, err
	}
	if p := in.Position(); p != nil {
		if err := t.resume(ctx, p); err != nil {
			t.Close()
			return nil, at(sourceName(names), err)
		}
	}
	return &stream{loading: t}, nil
}

// stream yields the rows of a table while it is being read.
type stream struct {
	*loading
	ahead *ahead // the batch that Header read
}

// ahead is a batch that was read in advance.
type ahead struct {
	rows []any
	err  error
}

var (
	_ core.Measured = (*stream)(nil)
	_ core.Headed   = (*stream)(nil)
)

// Header returns the columns of a file with a header. It reads the first rows for that.
func (s *stream) Header(ctx context.Context) (columns []string, ok bool, err error) {
	if f := s.reader.Format(); !f.Delimited() && f != parquet.Format {
		return nil, false, nil
	}
	if s.ahead == nil {
		s.ahead = &ahead{}
		s.ahead.rows, s.ahead.err = s.next(ctx)
	}
	if s.ahead.err != nil && s.ahead.err != io.EOF {
		return nil, false, s.ahead.err
	}
	columns = s.reader.Columns()
	return columns, columns != nil, nil
}

// Extent returns how many bytes of the files were read, before decompression, and their
// size.
func (s *stream) Extent() (read, size int64) { return s.extent() }

// Next returns the next good rows.
func (s *stream) Next(ctx context.Context) ([]any, error) {
	good, err := s.following(ctx)
	if err == io.EOF {
		for check, n := range s.checks.Warnings().All() {
			s.in.Logger().Warn("check failed", "check", check, "rows", n)
		}
	}
	return good, err
}

func (s *stream) following(ctx context.Context) ([]any, error) {
	if a := s.ahead; a != nil && (a.rows != nil || a.err != nil) {
		s.ahead = &ahead{}
		return a.rows, a.err
	}
	return s.next(ctx)
}

// Summary describes what was read. A table that was cut off by limit has no hash.
func (s *stream) Summary() *value.Object {
	out := value.ObjectOf(core.RowCount, s.rows)
	if n := s.checks.Rejected(); n > 0 {
		out.Set(core.RejectedRows, int64(n))
	}
	if sum := s.files.sum(); sum != "" {
		out.Set("hash", sum)
	}
	if s.h.policy.HasChecks() {
		out.Set("quality", s.checks.Quality())
	}
	return out
}

// Close ends the stream. If the reader stopped early, the rows that were rejected up to
// there are in the file of rejects.
func (s *stream) Close() error {
	if s.err == nil {
		s.end(context.Background(), nil)
	}
	s.loading.Close()
	return nil
}
