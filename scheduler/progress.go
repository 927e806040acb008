package scheduler

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavefold/wavefold/core"
)

// progressEvery is the minimum time between two progress events of an attempt. Without it, a reader
// of a million rows would emit a thousand events a second, which no person reads and a log has to
// store.
const progressEvery = 100 * time.Millisecond

// progress converts reports of a handler into events: the first report, the report of the last
// step, and reports at least progressEvery after the event before. It is safe for concurrent use.
type progress struct {
	run        *run
	streams    *streams // that the handler reads, or nil if there are none
	event      core.Event
	told       atomic.Int64 // time of the last event, in nanoseconds
	read, size atomic.Int64
}

func (p *progress) measure(read, size int64) {
	p.read.Store(read)
	p.size.Store(size)
}

func (p *progress) report(done, of int64) {
	p.run.signOfLife()
	now := p.run.time()
	before, complete := p.told.Load(), done == of && of > 0
	if !complete && (now.UnixNano()-before < int64(progressEvery) || !p.told.CompareAndSwap(before, now.UnixNano())) {
		return
	}
	e := p.event
	e.Time, e.Done, e.Of = now, done, of
	if e.Read, e.Size = p.read.Load(), p.size.Load(); e.Size == 0 {
		e.Read, e.Size = p.streams.extent()
	}
	p.run.log(e)
}

// reporter makes the progress of a worker's attempt when its handler reports something for the first
// time. Most handlers never do.
type reporter struct {
	core.Reports
	run      *run
	mu       sync.Mutex
	streams  *streams // that the attempt reads, or nil if there are none
	progress *progress
}

// newReporter returns the reporter of a worker.
func (r *run) newReporter() *reporter {
	p := &reporter{run: r}
	p.Report = func(in core.Input, done, of int64) { p.of(in).report(done, of) }
	p.Measure = func(in core.Input, read, size int64) { p.of(in).measure(read, size) }
	return p
}

// begin is called before the handler of each attempt.
func (p *reporter) begin(s *streams) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streams, p.progress = s, nil
}

// of returns the progress of the attempt with an input. A handler may have left a goroutine that
// still reports after the next attempt of the worker has begun.
func (p *reporter) of(in core.Input) *progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, index := in.Element()
	if t := p.progress; t == nil || t.event.Node != in.Node() || t.event.Item != index || t.event.Attempt != in.Attempt() {
		p.progress = &progress{run: p.run, streams: p.streams, event: core.Event{V: core.EventVersion, Type: core.Progress,
			Run: p.run.opts.Run, Node: in.Node(), Item: index, Attempt: in.Attempt()}}
	}
	return p.progress
}

// pulling reports how many rows a pipeline or fan-out has taken, and how much of the stream that
// is. Rows that were read but not taken do not count.
func (s *rowSource) pulling(x *executor, taken int) {
	if !x.run.logged() {
		return
	}
	if s.progress == nil {
		s.progress = &progress{run: x.run, streams: s.streams, event: core.Event{V: core.EventVersion, Type: core.Progress, Run: x.run.opts.Run}}
		name := x.c.Call.Name(x.c.Node)
		if x.c.Plan.Vertices[x.c.Node.Vertex].Unit != nil {
			s.progress.event.Unit = name
		} else {
			s.progress.event.Node = name
		}
	}
	if read, size := s.streams.extent(); size > 0 {
		s.progress.measure(int64(float64(read)*float64(taken)/float64(taken+len(s.rows))), size)
	}
	s.progress.report(int64(s.next), 0)
}
