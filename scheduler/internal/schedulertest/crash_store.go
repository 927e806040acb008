package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wavefold/wavefold/store"
)

var (
	errCrash       = errors.New("the process has crashed")
	errUnreachable = errors.New("the store cannot be reached")
)

// crashingStore is the store as a process sees it. After a number of records, the process crashes: what
// it does then is lost, or too late.
type crashingStore struct {
	store.Store
	p       *process
	way     Crash // in which the process will crash
	host    string
	stalled chan struct{} // closed when the process has stalled
	awake   chan struct{} // closed when its writes continue
	wake    func()        // closes awake
	// wakeLate is the number of calls of Append after which the process before this one, which has
	// stalled, continues.
	wakeLate int

	mu        sync.Mutex
	begun     bool
	left      int // records until the crash, less than 0 for no crash
	dead      Crash
	unflushed []store.Record // in memory, if power will be lost
}

func newCrashingStore(p *process) *crashingStore {
	s := &crashingStore{p: p, way: CrashKill, left: -1, stalled: make(chan struct{}), awake: make(chan struct{}), wakeLate: p.c.draw(5, "wake", p.n)}
	if len(p.c.Ways) > 0 {
		s.way = p.c.Ways[p.c.draw(len(p.c.Ways), "way", p.n)]
	}
	s.wake = sync.OnceFunc(func() { close(s.awake) })
	if p.late != nil { // on its own host it would be found alive
		p.hosts++
	}
	s.host = fmt.Sprint("host-", p.hosts)
	s.Store = p.disk.open(p.t)
	return s
}

// crashed returns how the process has crashed, "" if it has not.
func (s *crashingStore) crashed() Crash {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// Append implements store.Store.
func (s *crashingStore) Append(ctx context.Context, run string, token uint32, list []store.Record, flush bool) error {
	s.mu.Lock()
	if d := s.p.disk; d.memory == nil && !s.begun && s.p.hosts > 0 { // what other hosts have written is flushed first
		d.flushed, s.begun = d.journals(), true
	}
	if s.dead == "" && s.left >= 0 && s.left < len(list) {
		s.dead = s.way
		s.mu.Unlock()
		return s.crash(ctx, run, token, list)
	}
	defer s.mu.Unlock()
	if s.dead != "" { // a process that has stalled is back in the call that has stalled
		return errCrash
	}
	if late := s.p.late; late != nil {
		if s.wakeLate--; s.wakeLate < 0 {
			late.store.wake()
		}
	}
	if s.left >= 0 {
		s.left -= len(list)
	}
	if d := s.p.disk; d.memory == nil && flush && slices.Contains(s.p.c.Ways, CrashPower) {
		defer func() { d.flushed = d.journals() }()
	}
	if s.left < 0 || s.way != CrashPower || s.p.disk.memory == nil {
		return s.write(ctx, run, token, list, flush)
	}
	if s.unflushed = append(s.unflushed, list...); !flush {
		return nil
	}
	list, s.unflushed = s.unflushed, nil
	return s.write(ctx, run, token, list, true)
}

func (s *crashingStore) write(ctx context.Context, run string, token uint32, list []store.Record, flush bool) error {
	err := s.Store.Append(ctx, run, token, list, flush)
	if err == nil && s.p.c.Posted {
		for _, rec := range list {
			s.p.hear(rec)
		}
	}
	return err
}

// crash ends the process in a call of Append.
func (s *crashingStore) crash(ctx context.Context, run string, token uint32, list []store.Record) error {
	d, n := s.p.disk, s.left
	if d.memory == nil {
		before := d.journals()
		if err := s.Store.Append(ctx, run, token, list, false); err != nil {
			return err
		}
		switch after := d.journals(); s.dead {
		case CrashPower:
			d.crash(s.p.t, d.flushed, after, func(n int) int { return s.p.c.draw(n, "torn", s.p.n) }, s.p.c.draw(3, "lease", s.p.n))
			d.flushed = d.journals()
		case CrashKill:
			d.crash(s.p.t, before, after, func(n int) int { return s.p.c.draw(n, "torn", s.p.n) }, 0)
		case CrashStall:
			d.replace(s.p.t, after, before)
			return s.stall(ctx, run, token, list, func() { d.replace(s.p.t, before, after) })
		}
		return errCrash
	}
	kept := append(s.unflushed, list[:n]...)
	if s.dead == CrashPower {
		kept = kept[:s.p.c.draw(len(kept)+1, "torn", s.p.n)]
	}
	if len(kept) > 0 {
		if err := s.write(ctx, run, token, kept, false); err != nil {
			return err
		}
	}
	if s.dead == CrashStall {
		return s.stall(ctx, run, token, list[n:], func() {})
	}
	return errCrash
}

// stall waits until another process has the run. late does what the process would have done if it
// had only just checked its lease.
func (s *crashingStore) stall(ctx context.Context, run string, token uint32, list []store.Record, late func()) error {
	close(s.stalled)
	<-s.awake
	late()
	err := s.Store.Append(ctx, run, token, list, true)
	if err == nil {
		s.p.fault("stale write of process %d: it was accepted", s.p.n)
		return errCrash
	}
	return err
}

// Acquire implements store.Store. A process that has stalled either waits, or cannot reach the store.
func (s *crashingStore) Acquire(ctx context.Context, run string, h store.Holder, ttl time.Duration) (store.Lease, error) {
	switch dead := s.crashed(); {
	case ttl == 0 || dead == "":
	case dead != CrashStall:
		return store.Lease{}, errCrash
	case s.p.c.draw(2, "unreachable", s.p.n) == 0:
		return store.Lease{}, errUnreachable
	default:
		<-s.awake
	}
	h.Host = s.host
	return s.Store.Acquire(ctx, run, h, ttl)
}

// Post implements store.Store.
func (s *crashingStore) Post(ctx context.Context, run string, m store.Message) error {
	if dead := s.crashed(); dead != "" && dead != CrashStall {
		return errCrash
	}
	return s.Store.Post(ctx, run, m)
}
