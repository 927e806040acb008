// Package memory is a store.Store in the memory of the process: for tests, and for runs that wait
// for people and may be lost with the process. Nothing survives the process.
package memory

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/wavefold/wavefold/store"
)

// youngBlob is the age up to which Prune keeps a blob that no journal names.
const youngBlob = time.Hour

// Store keeps runs in memory. It does not limit their memory: Prune frees it.
type Store struct {
	now func() time.Time

	mu    sync.Mutex // guards the fields below
	runs  map[string]*run
	blobs map[string]blob
	cache map[string][]byte // by key

	queues map[string][]waiter // the holders that wait for the lease of a run
}

var _ store.Store = (*Store)(nil)

type run struct {
	records []store.Record
	bytes   int64
	updated time.Time
	lease   store.Lease
	inbox   []store.Message
	posted  chan struct{} // closed and replaced by each message

	attached map[string]*attachment
}

type blob struct {
	data []byte
	at   time.Time
}

// New returns an empty store. Leases and messages have the time of now, which must be safe for
// concurrent use; nil means time.Now.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{now: now, runs: map[string]*run{}, blobs: map[string]blob{}, cache: map[string][]byte{}, queues: map[string][]waiter{}}
}

// run returns a run that has a journal.
func (s *Store) run(name string) (*run, error) {
	if r := s.runs[name]; r != nil && len(r.records) > 0 {
		return r, nil
	}
	return nil, fmt.Errorf("run %s: %w", name, store.ErrNotFound)
}

// Append implements store.Store. All appends are as durable as the process.
func (s *Store) Append(_ context.Context, name string, token uint32, recs []store.Record, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[name]
	if r == nil || r.lease.Token != token || r.lease.Expires.IsZero() {
		fenced := &store.FencedError{Run: name, Token: token}
		if r != nil {
			fenced.Now = r.lease.Token
		}
		return fenced
	}
	if err := store.CheckAppend(name, uint64(len(r.records)), recs); err != nil {
		return err
	}
	for _, rec := range recs {
		rec.Token, rec.Data, rec.Version = token, bytes.Clone(rec.Data), cmp.Or(rec.Version, store.Format)
		r.records = append(r.records, rec)
		r.bytes += int64(len(rec.Data))
	}
	r.updated = s.now()
	return nil
}

// Read implements store.Store. It yields the records that were there when the iteration began.
func (s *Store) Read(ctx context.Context, name string, from uint64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		s.mu.Lock()
		r, err := s.run(name)
		var records []store.Record
		if err == nil {
			records = r.records
		}
		s.mu.Unlock()
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		for _, rec := range records[min(max(from, 1)-1, uint64(len(records))):] {
			if err := ctx.Err(); err != nil {
				yield(store.Record{}, err)
				return
			}
			rec.Data = bytes.Clone(rec.Data)
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// List implements store.Store.
func (s *Store) List(_ context.Context, q store.Query) iter.Seq2[store.Summary, error] {
	return func(yield func(store.Summary, error) bool) {
		s.mu.Lock()
		all := s.summaries()
		s.mu.Unlock()
		for _, sum := range q.Select(all) {
			if !yield(sum, nil) {
				return
			}
		}
	}
}

func (s *Store) summaries() (all []store.Summary) {
	for name, r := range s.runs {
		if len(r.records) == 0 {
			continue
		}
		sum := store.Summary{Run: name, Updated: r.updated, Bytes: r.bytes}
		for _, rec := range r.records {
			if err := sum.Add(rec); err != nil {
				sum.Status = store.StatusDamaged
				break
			}
		}
		if r.lease.Held(s.now()) {
			sum.SetHolder(r.lease)
		}
		all = append(all, sum)
	}
	return all
}

// Acquire implements store.Store.
func (s *Store) Acquire(_ context.Context, name string, h store.Holder, ttl time.Duration) (store.Lease, error) {
	if name == "" {
		return store.Lease{}, errors.New("a run needs a name")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[name]
	if r == nil {
		r = &run{lease: store.Lease{Run: name}, posted: make(chan struct{}), attached: map[string]*attachment{}}
	}
	now, own := s.now(), r.lease.ID == h.ID && !r.lease.Expires.IsZero()
	switch {
	case ttl == 0 && own:
		r.lease.Expires = time.Time{}
	case ttl == 0:
		return store.Lease{Run: name, Holder: h}, nil
	case own:
		r.lease.Expires = now.Add(ttl)
	case r.lease.Held(now):
		return store.Lease{}, &store.HeldError{Lease: r.lease}
	default:
		r.lease = store.Lease{Run: name, Token: r.lease.Token + 1, Holder: h, Since: now, Expires: now.Add(ttl)}
		s.runs[name] = r
	}
	return r.lease, nil
}

// Post implements store.Store.
func (s *Store) Post(_ context.Context, name string, m store.Message) error {
	if err := store.CheckMessage(m); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.run(name)
	if err != nil {
		return err
	}
	for _, first := range r.inbox {
		if first.Name == m.Name {
			return &store.TakenError{First: clone(first)}
		}
	}
	m = clone(m)
	m.Posted = s.now()
	r.inbox = append(r.inbox, m)
	store.SortMessages(r.inbox)
	close(r.posted)
	r.posted = make(chan struct{})
	return nil
}

func clone(m store.Message) store.Message {
	m.Data = bytes.Clone(m.Data)
	return m
}

// Inbox implements store.Store.
func (s *Store) Inbox(_ context.Context, name string) ([]store.Message, error) {
	list, _, err := s.inbox(name)
	return list, err
}

// inbox also returns a channel that is closed when the next message is posted.
func (s *Store) inbox(name string) ([]store.Message, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.run(name)
	if err != nil {
		return nil, nil, err
	}
	list := slices.Clone(r.inbox)
	for i, m := range list {
		list[i] = clone(m)
	}
	return list, r.posted, nil
}

// Watch implements store.Store.
func (s *Store) Watch(ctx context.Context, name string) iter.Seq2[store.Message, error] {
	return func(yield func(store.Message, error) bool) {
		seen := map[string]bool{}
		for {
			list, posted, err := s.inbox(name)
			if err != nil {
				yield(store.Message{}, err)
				return
			}
			for _, m := range list {
				if seen[m.Name] {
					continue
				}
				seen[m.Name] = true
				if !yield(m, nil) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-posted:
			}
		}
	}
}

// Put implements store.Store.
func (s *Store) Put(_ context.Context, data []byte) (string, error) {
	sum := store.BlobName(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[sum]
	if !ok {
		b.data = bytes.Clone(data)
	}
	b.at = s.now()
	s.blobs[sum] = b
	return sum, nil
}

// Get implements store.Store.
func (s *Store) Get(_ context.Context, sum string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[sum]
	if !ok {
		return nil, &store.DamageError{Blob: sum, Err: store.ErrNotFound}
	}
	return bytes.Clone(b.data), nil
}

// Prune implements store.Store.
func (s *Store) Prune(_ context.Context, q store.Query) (store.Pruned, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var pruned store.Pruned
	for _, sum := range q.SelectPrune(s.summaries()) {
		pruned.Runs = append(pruned.Runs, sum.Run)
		pruned.Bytes += sum.Bytes
		if !q.DryRun {
			delete(s.runs, sum.Run)
		}
	}
	if !q.DryRun {
		s.sweepCache(&pruned)
	}
	if !q.DryRun && len(pruned.Runs) > 0 {
		s.sweep(&pruned)
	}
	return pruned, nil
}

// sweep removes the blobs that no journal names.
func (s *Store) sweep(pruned *store.Pruned) {
	named := map[string]bool{}
	for _, r := range s.runs {
		for _, rec := range r.records {
			for sum := range store.BlobNames(rec.Data) {
				named[sum] = true
			}
		}
	}
	for sum, b := range s.blobs {
		if !named[sum] && s.now().Sub(b.at) >= youngBlob {
			delete(s.blobs, sum)
			pruned.Blobs++
			pruned.Bytes += int64(len(b.data))
		}
	}
}
