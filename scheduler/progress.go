package scheduler

import (
	"sync/atomic"
	"time"

	"github.com/wavefold/wavefold/core"
)

// progressEvery is the least time between two events of the progress of an attempt. A
// reader of a million rows tells it a thousand times a second, which nobody reads and
// a log must hold.
const progressEvery = 100 * time.Millisecond

// progress makes events of what a handler reports: of the first report, of the last
// step and of what comes progressEvery after the event before. It may be used from
// many goroutines.
type progress struct {
	run        *run
	events     *delivery
	streams    *streams // that the handler reads, nil for none
	event      core.Event
	told       atomic.Int64 // when, in nanoseconds
	read, size atomic.Int64
}

func (p *progress) measure(read, size int64) {
	p.read.Store(read)
	p.size.Store(size)
}

func (p *progress) report(done, of int64) {
	p.run.signOfLife()
	now := time.Now()
	before, complete := p.told.Load(), done == of && of > 0
	if !complete && (now.UnixNano()-before < int64(progressEvery) || !p.told.CompareAndSwap(before, now.UnixNano())) {
		return
	}
	e := p.event
	e.Time, e.Done, e.Of = now, done, of
	if e.Read, e.Size = p.read.Load(), p.size.Load(); e.Size == 0 {
		e.Read, e.Size = p.streams.extent()
	}
	p.events.add(e)
}

// pulling tells how many rows a pipeline or fan-out has been handed, and how much of the
// stream that is: what was read and not handed over does not count.
func (s *rowSource) pulling(x *executor, taken int) {
	if x.run.events == nil {
		return
	}
	if s.progress == nil {
		s.progress = &progress{run: x.run, events: x.run.events, streams: s.streams, event: core.Event{V: core.EventVersion, Type: core.Progress, Run: x.run.opts.Run}}
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
