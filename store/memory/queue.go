package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/store"
)

var _ store.Queuer = (*Store)(nil)

// waiter is a holder in a queue.
type waiter struct {
	store.Lease
	withdrawn *store.WithdrawnError // nil if it was not asked to leave
}

// Enqueue implements store.Queuer.
func (s *Store) Enqueue(_ context.Context, run string, h store.Holder, ttl time.Duration) (store.Queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	list := s.waiting(run)
	i := find(list, h.ID)
	var withdrawn *store.WithdrawnError
	if i >= 0 {
		withdrawn = list[i].withdrawn
	}
	switch {
	case i >= 0 && ttl > 0:
		list[i].Expires = now.Add(ttl)
	case i >= 0:
		s.queues[run] = slices.Delete(list, i, i+1)
	case ttl > 0:
		s.queues[run] = append(list, waiter{Lease: store.Lease{Run: run, Holder: h, Since: now, Expires: now.Add(ttl)}})
	}
	if withdrawn != nil {
		return store.Queue{}, withdrawn
	}
	return s.queue(run), nil
}

// Withdraw implements store.Queuer.
func (s *Store) Withdraw(_ context.Context, run, id, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.waiting(run)
	i := find(list, id)
	if i < 0 {
		return fmt.Errorf("the queue for run %s: %w", run, store.ErrNotFound)
	}
	list[i].withdrawn = &store.WithdrawnError{Run: run, By: by}
	return nil
}

func find(list []waiter, id string) int {
	return slices.IndexFunc(list, func(w waiter) bool { return w.ID == id })
}

// waiting removes what has expired from a queue, and returns the rest.
func (s *Store) waiting(run string) []waiter {
	now := s.now()
	list := slices.DeleteFunc(s.queues[run], func(w waiter) bool { return !w.Held(now) })
	if s.queues[run] = list; len(list) == 0 {
		delete(s.queues, run)
	}
	return list
}

func (s *Store) queue(run string) store.Queue {
	q := store.Queue{Run: run}
	for _, w := range s.waiting(run) {
		q.Waiting = append(q.Waiting, w.Lease)
	}
	if r := s.runs[run]; r != nil && r.lease.Held(s.now()) {
		lease := r.lease
		q.Holder = &lease
	}
	return q
}

// Queues implements store.Queuer.
func (s *Store) Queues(context.Context) ([]store.Queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []store.Queue
	for run := range s.queues {
		if q := s.queue(run); len(q.Waiting) > 0 {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b store.Queue) int { return strings.Compare(a.Run, b.Run) })
	return list, nil
}
