package transform

import (
	"context"
	"io"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/rowcheck"
)

// batchRows is the number of rows in a batch of a stream.
const batchRows = 1024

// stream reports settings that are not allowed for a stream, and returns the stream's
// field.
func (b *builder) stream(h *handler) source.Text {
	pos := b.node.Config.Get("stream").Pos
	if h.single {
		b.scope.Errorf(source.CodeStream, pos, "stream", "field %q is declared as an object and cannot be a stream", h.into)
	}
	if i := slices.IndexFunc(h.policies, func(p *rowcheck.Policy) bool { return p.Field() != "" }); i >= 0 {
		b.scope.Errorf(source.CodeStream, pos, "stream", "the rejects of a stream go to a file, %q is a field", h.policies[i].Field()).
			WithHint("rejects: rejects.csv")
	}
	return source.At(h.into, pos)
}

// streamHandler returns a stream instead of transforming the table at once.
type streamHandler struct{ *handler }

var (
	_ core.StreamSource = streamHandler{}
	_ core.ColumnReader = streamHandler{}
)

// WithReads returns a handler that also checks the columns that expressions read.
func (h streamHandler) WithReads(reads []source.ColumnRead) core.Handler {
	return streamHandler{h.withReads(reads)}
}

// Handle describes the stream. It checks what can be checked before rows are read.
func (h streamHandler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if err := ctx.Err(); err != nil {
		return core.Result{}, err
	}
	later := rowcheck.NewLateFiles(in.Shared())
	return later.Deliver(h.describe(ctx, in, later))
}

// describe returns the description of the stream. Files of rejects without rows are
// left to later.
func (h streamHandler) describe(ctx context.Context, in core.Input, later *rowcheck.LateFiles) (core.Result, error) {
	a := &attempt{handler: h.handler, in: in, shared: in.Shared()}
	err := a.collect(ctx, later) // replace the files of rejects even if no node reads the stream
	for _, c := range a.collectors {
		c.Discard()
	}
	if err != nil {
		return core.Result{}, err
	}
	if in.Shared().Open == nil {
		if _, _, err := h.table(in.Shared()); err != nil {
			return core.Result{}, err
		}
	}
	described := value.ObjectOf("source", h.from.Name.Value)
	r := core.Send(described)
	r.Delta = map[string]any{h.into: described}
	r.Note = "a stream of " + h.from.Name.Value
	return r, nil
}

// Open sets up the steps.
func (h streamHandler) Open(ctx context.Context, in core.Input, _ *value.Object) (core.Stream, error) {
	a, err := h.start(ctx, in, nil)
	if err != nil {
		return nil, err
	}
	return &stream{a: a}, nil
}

// stream yields the rows of the last step.
type stream struct {
	a    *attempt
	rows int64
	err  error // the reason why there are no more rows
}

var _ core.Headed = (*stream)(nil)

// Header returns the columns of the result, if the columns of the source are known.
func (s *stream) Header(ctx context.Context) (columns []string, ok bool, err error) {
	if err := s.a.begin(ctx); err != nil {
		s.err = s.a.finish(ctx, err)
		return nil, false, s.err
	}
	if s.a.header == nil {
		return nil, false, nil
	}
	return s.a.header.names, true, nil
}

// Next processes rows until a batch is ready.
func (s *stream) Next(ctx context.Context) ([]any, error) {
	if s.err != nil {
		return nil, s.err
	}
	done, err := s.a.advance(ctx, batchRows)
	if err == nil && !done || err == nil && len(s.a.out.rows) > 0 {
		rows := s.a.out.drain()
		s.a.reads.Look(rows)
		s.rows += int64(len(rows))
		return rows, nil
	}
	if err == nil {
		err = s.a.unread()
	}
	if s.err = s.a.finish(ctx, err); s.err == nil {
		s.a.warn()
		s.err = io.EOF
	}
	return nil, s.err
}

// Summary returns the number of rows and the results of the checks.
func (s *stream) Summary() *value.Object {
	out := value.ObjectOf("source", s.a.handler.from.Name.Value, core.RowCount, s.rows, "from", s.a.from)
	s.a.addCheckResults(out)
	return out
}

// Close closes the source of the table.
func (s *stream) Close() error { return s.a.close() }
