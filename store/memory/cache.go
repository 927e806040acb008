package memory

import (
	"context"
	"fmt"

	"github.com/wavefold/wavefold/store"
)

var _ store.Cacher = (*Store)(nil)

// PutCached implements store.Cacher.
func (s *Store) PutCached(_ context.Context, e store.CacheEntry) error {
	form, err := e.Encode()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache[e.Key] = form
	return nil
}

// GetCached implements store.Cacher.
func (s *Store) GetCached(_ context.Context, key string) (store.CacheEntry, error) {
	s.mu.Lock()
	form, ok := s.cache[key]
	s.mu.Unlock()
	if !ok {
		return store.CacheEntry{}, fmt.Errorf("entry %s of the cache: %w", key, store.ErrNotFound)
	}
	return store.DecodeCacheEntry(key, form)
}

// sweepCache removes the entries of the cache that have expired.
func (s *Store) sweepCache(pruned *store.Pruned) {
	now := s.now()
	for key, form := range s.cache {
		if e, err := store.DecodeCacheEntry(key, form); err == nil && e.Expired(now) {
			delete(s.cache, key)
			pruned.Cached++
			pruned.Bytes += int64(len(form))
		}
	}
}
