package scheduler

import (
	"context"
	"time"

	"github.com/wavefold/wavefold/core"
)

// This file is how a batch that has waited long enough for more elements goes on
// without them. Nobody can be made to return early from reading, so it is done on a
// goroutine of its own, which the source owns: there is one at a time, what it has read
// is the next thing that is taken, and closing the source ends it.

// reading is one read of a stream that is under way.
type reading struct {
	got  chan struct{} // closed when it has ended; rows and err hold from then on
	rows []any
	err  error
}

// fillFor is fill that gives up once the first of the elements has waited for so long
// since it was wanted and there. The reading may go on then.
func (s *rowSource) fillFor(ctx context.Context, n int, wait time.Duration) error {
	var enough <-chan time.Time
	for len(s.rows) < n {
		if enough == nil && len(s.rows) > 0 {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			enough = timer.C
		}
		if s.reading == nil {
			s.read()
		}
		select {
		case <-s.reading.got:
			r := s.awaitReading()
			if r.err != nil {
				return r.err
			}
			s.add(r.rows)
		case <-enough:
			return nil
		case <-ctx.Done():
			s.cancel()
			s.awaitReading()
			return ctx.Err()
		}
	}
	return nil
}

// read begins to read.
func (s *rowSource) read() {
	r := &reading{got: make(chan struct{}), err: &core.Failure{Class: core.ClassPanic, Permanent: true,
		Message: "the stream ended its goroutine with runtime.Goexit"}}
	s.reading = r
	ctx, stream := s.ctx, s.stream
	go func() {
		defer close(r.got)
		_, r.err = guarded(func() (any, error) {
			var err error
			r.rows, err = stream.Next(ctx)
			return nil, err
		})
	}()
}

// awaitReading waits for what is being read; it returns nil if nothing is.
func (s *rowSource) awaitReading() *reading {
	r := s.reading
	if r != nil {
		<-r.got
		s.reading = nil
	}
	return r
}

// leaves cancels what is being read and reports whether it ended within a time.
func (s *rowSource) leaves(grace time.Duration) bool {
	if s.reading == nil {
		return true
	}
	s.cancel()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-s.reading.got:
		return true
	case <-timer.C:
		return false
	}
}
