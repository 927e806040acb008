package scheduler

import (
	"context"
	"time"

	"github.com/wavefold/wavefold/core"
)

// reading is a read of a stream in progress. A batch that has waited long enough for more elements
// continues without them. A read cannot be interrupted, so it runs on a goroutine that the source
// owns. There is one such goroutine at a time, the elements that it reads are the next ones taken,
// and closing the source ends it.
type reading struct {
	got  chan struct{} // closed when the read has ended; rows and err are valid from then on
	rows []any
	err  error
}

// fillFor is fill, except that it returns once the first element is there and has waited for the
// given time. The read may continue then.
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

// read starts a read.
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

// awaitReading waits for the read in progress; it returns nil if there is none.
func (s *rowSource) awaitReading() *reading {
	r := s.reading
	if r != nil {
		<-r.got
		s.reading = nil
	}
	return r
}

// stopReading cancels the read in progress and reports whether it ended within the grace period.
func (s *rowSource) stopReading(grace time.Duration) bool {
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
