package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/store"
)

var _ store.Queuer = (*Store)(nil)

// Enqueue implements store.Queuer.
func (s *Store) Enqueue(_ context.Context, run string, h store.Holder, ttl time.Duration) (store.Queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	list := s.waiting(run)
	i := slices.IndexFunc(list, func(l store.Lease) bool { return l.ID == h.ID })
	switch {
	case i >= 0 && ttl > 0:
		list[i].Expires = now.Add(ttl)
	case i >= 0:
		s.queues[run] = slices.Delete(list, i, i+1)
	case ttl > 0:
		s.queues[run] = append(list, store.Lease{Run: run, Holder: h, Since: now, Expires: now.Add(ttl)})
	}
	return s.queue(run), nil
}

// waiting removes what has expired from a queue, and returns the rest.
func (s *Store) waiting(run string) []store.Lease {
	now := s.now()
	list := slices.DeleteFunc(s.queues[run], func(l store.Lease) bool { return !l.Held(now) })
	if s.queues[run] = list; len(list) == 0 {
		delete(s.queues, run)
	}
	return list
}

func (s *Store) queue(run string) store.Queue {
	q := store.Queue{Run: run, Waiting: slices.Clone(s.waiting(run))}
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
