package scheduler

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/internal/columncheck"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// streams are the streams that an attempt of a node opens, including the streams of the makers
// further up a chain. Descriptions of what was read become part of the node's writes. It is used by
// one goroutine at a time, the handler's.
type streams struct {
	x    executor // a copy: the executor of an attempt must stay on the stack
	read []pulled
	mu   sync.Mutex // guards the list extents
	// working is the stream whose maker is active, nil while the reader is. After a panic it
	// identifies whose code panicked.
	working *stream
	extents []*extent
}

// extent counts how much of a stream was read. It is atomic because a node may report its progress
// from several goroutines.
type extent struct{ read, size atomic.Int64 }

// extent returns how much was read of all opened streams. size is 0 unless the sizes of all streams
// that can be measured are known.
func (s *streams) extent() (read, size int64) {
	if s == nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.extents {
		if e.size.Load() == 0 {
			return 0, 0
		}
		read, size = read+e.read.Load(), size+e.size.Load()
	}
	return read, size
}

// measure starts to record how much of a stream is read.
func (s *streams) measure(opened core.Stream) *extent {
	m, ok := opened.(core.Measured)
	if !ok {
		return nil
	}
	e := &extent{}
	e.note(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extents = append(s.extents, e)
	return e
}

func (e *extent) note(m core.Measured) {
	read, size := m.Extent()
	e.read.Store(read)
	e.size.Store(size)
}

// pulled is the result of the last reading of a stream.
type pulled struct {
	field   string
	summary *value.Object
}

// opener opens the streams of a node; c holds what was captured for the node.
func (s *streams) opener(n *plan.Node, c *machine.Call) core.StreamOpener {
	reads := n.Streams()
	if len(reads) == 0 {
		return nil
	}
	return func(ctx context.Context, field string, at *value.Object) (core.Stream, bool, error) {
		for i := range reads {
			if s.x.p.Schema.Fields[reads[i].Field].Name == field {
				opened, err := s.open(ctx, n, c, &reads[i], at)
				return opened, true, err
			}
		}
		return nil, false, nil
	}
}

// open opens a stream with the input of its maker. If the stream is core.Positioned, it begins at
// the position at, unless that is nil.
func (s *streams) open(ctx context.Context, n *plan.Node, c *machine.Call, r *plan.StreamRead, at *value.Object) (core.Stream, error) {
	p := s.x.p
	maker, field := &p.Nodes[r.Maker], p.Schema.Fields[r.Field].Name
	read := slices.IndexFunc(n.Reads, func(read plan.Read) bool { return read.Field == r.Field })
	described, ok := c.Values[read].(*value.Object)
	if !ok {
		return nil, core.Permanent(fmt.Errorf("the stream %q has not been made: node %s did not run", field, maker.ID))
	}
	source, ok := maker.Handler.(core.StreamSource)
	if !ok {
		return nil, core.Permanent(fmt.Errorf("node %s cannot make a stream: its handler is a %T", maker.ID, maker.Handler))
	}
	in, err := s.input(ctx, n, maker, c, r, at)
	if err != nil {
		return nil, fmt.Errorf("stream %q of node %s: %w", field, maker.ID, err)
	}
	opened, err := source.Open(ctx, in, described)
	if err != nil {
		return nil, fmt.Errorf("stream %q of node %s: %w", field, maker.ID, err)
	}
	st := &stream{Stream: opened, of: s, maker: maker.ID, field: field, extent: s.measure(opened)}
	if _, ok := opened.(core.Positioned); !ok || at == nil { // otherwise earlier rows had the columns, see stream.Position
		st.wanted, st.optional = maker.Wanted(r.Field)
	}
	if b, ok := opened.(core.Batches); ok {
		return &batches{stream: st, batches: b}, nil
	}
	return st, nil
}

// input returns the input of the maker of a stream.
func (s *streams) input(ctx context.Context, n, maker *plan.Node, c *machine.Call, r *plan.StreamRead, at *value.Object) (core.Input, error) {
	seen := &machine.Call{Values: c.Values[r.Captured:][:len(maker.Reads)], CallContext: &machine.CallContext{Path: c.Path, Inputs: c.Inputs}}
	for _, ref := range maker.NodeRefs() {
		seen.Nodes = append(seen.Nodes, c.Nodes[slices.Index(n.NodeRefs(), ref)])
	}
	shared, err := s.x.captured(ctx, maker, seen, -1)
	if err != nil {
		return core.Input{}, err
	}
	shared.Open = s.opener(maker, seen)
	if s.x.run.logged() { // the stream may outlast the attempt
		own := s.x.run.newReporter()
		own.streams = s
		shared.Reports = &own.Reports
	}
	if at != nil {
		own := core.Durability{Position: at}
		if shared.Durability != nil {
			own = *shared.Durability
			own.Position = at
		}
		shared.Durability = &own
	}
	return core.NewInput(s.x.run.opts.Run, seen.Name(maker), int(s.x.c.ID.Attempt), shared), nil
}

// stream is an open stream that records what is read.
type stream struct {
	core.Stream
	of           *streams
	maker, field string
	extent       *extent // nil if it is not known
	// wanted are the columns that expressions read of the rows and that the maker does not check.
	// optional lists the columns that may be absent.
	wanted   columncheck.Reads
	optional []string
}

// Next returns the next rows. Its errors name the maker.
func (s *stream) Next(ctx context.Context) ([]any, error) {
	reader := s.of.working
	s.of.working = s
	rows, err := s.Stream.Next(ctx)
	s.of.working = reader
	if s.extent != nil {
		s.extent.note(s.Stream.(core.Measured))
	}
	s.wanted.Look(rows)
	if err == io.EOF {
		if lost := core.Permanent(s.wanted.Missing(s.optional)); lost != nil {
			return rows, s.named(lost)
		}
		if warned := s.of.x.alarm.err(); warned != nil { // a reader that reads to the end may put something in place
			return rows, warned
		}
	}
	switch {
	case err == io.EOF:
		s.of.end(s.field, s.Summary())
	case err != nil:
		err = s.named(err)
	}
	return rows, err
}

var (
	_ core.Headed     = (*stream)(nil)
	_ core.Positioned = (*stream)(nil)
)

// Position returns the position of the maker's stream. It is nil if the maker's stream has none, and
// while some column that expressions read has not been found: the rest of the rows may lack it.
func (s *stream) Position() (*value.Object, error) {
	if !s.wanted.Complete() {
		return nil, nil
	}
	p, err := core.PositionOf(s.Stream)
	if err != nil {
		err = s.named(err)
	}
	return p, err
}

// Header returns the columns of the rows, if the maker knows them.
func (s *stream) Header(ctx context.Context) (columns []string, ok bool, err error) {
	reader := s.of.working
	s.of.working = s
	columns, ok, err = core.HeaderOf(ctx, s.Stream)
	s.of.working = reader
	if err != nil {
		err = s.named(err)
	}
	return columns, ok, err
}

// named adds the name of the maker to an error.
func (s *stream) named(err error) error {
	return fmt.Errorf("stream %q of node %s: %w", s.field, s.maker, err)
}

// batches is a stream whose rows are Go values.
type batches struct {
	*stream
	batches core.Batches
}

var _ core.Batches = (*batches)(nil)

// Element returns the type of a row.
func (s *batches) Element() reflect.Type { return s.batches.Element() }

// Each passes the batches to yield. Its errors name the maker.
func (s *batches) Each(ctx context.Context, yield func(batch any, free bool) bool) error {
	reader, stopped := s.of.working, false
	s.of.working = s.stream
	err := s.batches.Each(ctx, func(batch any, free bool) bool {
		s.of.working = reader
		stopped = !yield(batch, free)
		s.of.working = s.stream
		return !stopped
	})
	s.of.working = reader
	if err != nil {
		return s.named(err)
	}
	if !stopped {
		s.of.end(s.field, s.Summary())
	}
	return nil
}

// blame adds the name of the maker to the panic of a reader, if the maker's code panicked.
func (s *streams) blame(err error) error {
	f, ok := err.(*core.Failure)
	if s.working == nil || !ok || f.Class != core.ClassPanic {
		return err
	}
	return s.working.named(err)
}

// end stores the summary of a stream that was read to its end.
func (s *streams) end(field string, summary *value.Object) {
	i := slices.IndexFunc(s.read, func(p pulled) bool { return p.field == field })
	if i < 0 {
		i, s.read = len(s.read), append(s.read, pulled{field: field})
	}
	s.read[i].summary = summary
}

// report adds what was read to the node's result. If a maker left out rows, the result is partial,
// as the maker's own would be.
func (s *streams) report(res *core.Result) {
	if len(s.read) == 0 {
		return
	}
	if res.Delta == nil {
		res.Delta = make(map[string]any, len(s.read))
	}
	for _, p := range s.read {
		res.Delta[p.field] = p.summary
		if rejected, _ := p.summary.Get(core.RejectedRows); rejected != nil && rejected != int64(0) && res.Status == core.StatusNone {
			res.Status = core.PartialSuccess
		}
	}
}
