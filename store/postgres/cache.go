package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/wavefold/wavefold/store"
)

var _ store.Cacher = (*Store)(nil)

// PutCached implements store.Cacher.
func (s *Store) PutCached(ctx context.Context, e store.CacheEntry) error {
	form, err := e.Encode()
	if err != nil {
		return err
	}
	var expires *time.Time
	if !e.Expires.IsZero() {
		expires = &e.Expires
	}
	return s.do(ctx, func(ctx context.Context, _ bool) error {
		_, err := s.pool.Exec(ctx, `INSERT INTO wavefold_cache (key, expires, data) VALUES ($1, $2, $3)
			ON CONFLICT (key) DO UPDATE SET expires = excluded.expires, data = excluded.data`, e.Key, expires, form)
		return err
	})
}

// GetCached implements store.Cacher.
func (s *Store) GetCached(ctx context.Context, key string) (store.CacheEntry, error) {
	var form []byte
	err := s.do(ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `SELECT data FROM wavefold_cache WHERE key = $1`, key).Scan(&form)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return store.CacheEntry{}, fmt.Errorf("entry %s of the cache: %w", key, store.ErrNotFound)
	}
	if err != nil {
		return store.CacheEntry{}, err
	}
	return store.DecodeCacheEntry(key, form)
}
