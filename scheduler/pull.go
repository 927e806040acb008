package scheduler

import (
	"context"
	"io"
	"slices"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// rowSource is an open stream from which the rows of a pipeline are fetched, one at a time, or the
// items of a fan-out, several at a time. It exists from the first row to the last. If a row is
// requested out of order, for example after a restart, the stream is opened again.
type rowSource struct {
	streams  *streams
	stream   core.Stream
	rows     []any // read and not taken
	next     int   // index of the next row to be taken
	reading  *reading
	progress *progress // nil if there is no listener
	// ctx is the context of reads from the stream. It lasts as long as the stream is open, because
	// what the stream opens depends on it, whereas the context of a frame ends with each command.
	ctx    context.Context
	cancel context.CancelFunc
}

// sourceKey identifies a pipeline or fan-out in a run.
type sourceKey struct {
	frame int64
	node  int32
}

// pull fetches a row of a pipeline: an element of the stream, or a batch of them. For a fan-out it
// fetches a list of items. At the end of the stream the answer has no row.
func (x *executor) pull(e *machine.Event) {
	o, key := &e.Outcome, sourceKey{x.c.ID.Frame, x.c.ID.Node}
	s := x.run.takeSource(key)
	row, err := guarded(func() (any, error) {
		if x.c.Plan.Vertices[x.c.Node.Vertex].Unit == nil {
			return s.items(x)
		}
		return s.row(x)
	})
	switch {
	case err == io.EOF:
		var res core.Result
		s.streams.report(&res)
		s.close()
		x.outcome(x.ctx, &res, nil, o)
	case err != nil:
		s.close()
		o.Failure = x.failure(x.ctx, s.streams.blame(err))
	default:
		o.Output, o.HasOutput = row, true
		if x.run.rec.resumable() && len(s.rows) == 0 && s.reading == nil { // otherwise the stream is ahead
			e.Position, o.Failure = s.position(x)
		}
		s.pulling(x, s.taken(x, row))
		x.run.keepSource(key, s)
	}
}

// position returns the position of the stream, or nil if it has none.
func (s *rowSource) position(x *executor) (at *value.Object, f *core.Failure) {
	_, err := guarded(func() (any, error) {
		var err error
		at, err = core.PositionOf(s.stream)
		return nil, err
	})
	if err != nil {
		f = x.failure(x.ctx, s.streams.blame(err))
	}
	return at, f
}

// taken returns the number of elements that were taken, including the latest.
func (s *rowSource) taken(x *executor, row any) int {
	u := x.c.Plan.Vertices[x.c.Node.Vertex].Unit
	switch list, _ := row.([]any); {
	case u == nil:
		return s.next
	case u.Batch > 0:
		return x.c.Call.Taken + len(list)
	}
	return x.c.Call.Taken + 1
}

// row returns the row that the command requests, io.EOF after the last.
func (s *rowSource) row(x *executor) (any, error) {
	n, u := int(x.c.ID.From), x.c.Plan.Vertices[x.c.Node.Vertex].Unit
	if s.stream == nil || s.next != n {
		if err := s.open(x, x.c.Call.Taken); err != nil {
			return nil, err
		}
	}
	s.next = n + 1
	if u.Batch == 0 {
		if err := s.fill(x.ctx, 1); err != nil {
			return nil, err
		}
		row := s.rows[0]
		s.rows = s.rows[1:]
		return row, nil
	}
	fill := s.fill
	if u.Flush > 0 {
		fill = func(ctx context.Context, n int) error { return s.fillFor(ctx, n, u.Flush) }
	}
	if err := fill(x.ctx, u.Batch); err != nil && (err != io.EOF || len(s.rows) == 0) {
		return nil, err
	}
	batch := s.rows[:min(u.Batch, len(s.rows))]
	s.rows = s.rows[len(batch):]
	return batch[:len(batch):len(batch)], nil
}

// maxItems limits the number of items fetched at once.
const maxItems = 1024

// items returns the items that have been read, beginning with the one that the command requests.
// There is at least one; after the last, the error is io.EOF.
func (s *rowSource) items(x *executor) (any, error) {
	n := int(x.c.ID.From)
	if s.stream == nil || s.next != n {
		if err := s.open(x, n); err != nil {
			return nil, err
		}
	}
	if err := s.fill(x.ctx, 1); err != nil {
		return nil, err
	}
	list := s.rows[:min(len(s.rows), maxItems)]
	s.rows, s.next = s.rows[len(list):], n+len(list)
	return list[:len(list):len(list)], nil
}

// open starts reading the stream after the first skip elements.
func (s *rowSource) open(x *executor, skip int) error {
	if err := s.openAt(x, nil); err != nil {
		return err
	}
	for skip > 0 {
		rows, err := s.takeRows(x.ctx, int64(skip))
		if err != nil {
			return err
		}
		skip -= len(rows)
	}
	return nil
}

// openAt starts reading the stream at a position, or at its first element if the position is nil.
func (s *rowSource) openAt(x *executor, at *value.Object) error {
	s.close()
	s.streams, s.rows, s.progress = &streams{x: *x}, nil, nil
	s.ctx, s.cancel = context.WithCancel(x.run.ctx)
	opened, err := s.streams.open(s.ctx, x.c.Node, x.c.Call, &x.c.Node.Streams()[0], at)
	if err != nil {
		return err
	}
	s.stream = opened
	return nil
}

// takeRows takes up to n elements, at least one.
func (s *rowSource) takeRows(ctx context.Context, n int64) ([]any, error) {
	if err := s.fill(ctx, 1); err != nil {
		return nil, err
	}
	rows := s.rows[:min(n, int64(len(s.rows)))]
	s.rows = s.rows[len(rows):]
	return rows, nil
}

// fill reads until there are n elements, or until the stream ends. ctx is the context of the
// command.
func (s *rowSource) fill(ctx context.Context, n int) error {
	if len(s.rows) >= n {
		return nil
	}
	defer context.AfterFunc(ctx, s.cancel)()
	for len(s.rows) < n {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := s.stream.Next(s.ctx)
		if err != nil {
			return err
		}
		s.add(more)
	}
	return nil
}

func (s *rowSource) add(more []any) {
	if len(s.rows) == 0 {
		s.rows = more
	} else {
		s.rows = append(s.rows[:len(s.rows):len(s.rows)], more...)
	}
}

// close ends the reading. It ignores errors of the stream.
func (s *rowSource) close() {
	if s.stream == nil {
		return
	}
	s.cancel()
	s.awaitReading()
	guarded(func() (any, error) { return nil, s.stream.Close() })
	s.stream = nil
}

// takeSource removes and returns the source of a pipeline. The caller is its only user until the
// source is kept again.
func (r *run) takeSource(key sourceKey) *rowSource {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sources[key]
	delete(r.sources, key)
	if s == nil {
		s = &rowSource{}
	}
	return s
}

func (r *run) keepSource(key sourceKey, s *rowSource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources == nil {
		r.sources = map[sourceKey]*rowSource{}
	}
	r.sources[key] = s
}

// closeSources ends the reading of streams that were not read to the end. A stream that ignores the
// end of its context for the grace period is left behind, like a handler.
func (r *run) closeSources() {
	for _, s := range r.sources {
		if s.stopReading(r.opts.Grace) {
			s.close()
		} else {
			r.stray = append(r.stray, s.streams.x.c.Plan.Nodes[s.streams.x.c.Node.Streams()[0].Maker].ID)
		}
	}
	slices.Sort(r.stray)
	r.sources = nil
}
