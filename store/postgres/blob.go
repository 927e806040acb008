package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/wavefold/wavefold/store"
)

// Put implements store.Store. Data that is stored already is not sent again.
func (s *Store) Put(ctx context.Context, data []byte) (string, error) {
	sum := store.BlobName(data)
	if data == nil {
		data = []byte{}
	}
	err := s.do(ctx, func(ctx context.Context, _ bool) error {
		tag, err := s.pool.Exec(ctx, `UPDATE wavefold_blobs SET stored = clock_timestamp() WHERE sum = $1`, sum) // Prune keeps young blobs
		if err != nil || tag.RowsAffected() > 0 {
			return err
		}
		_, err = s.pool.Exec(ctx, `INSERT INTO wavefold_blobs (sum, stored, data) VALUES ($1, clock_timestamp(), $2)
			ON CONFLICT (sum) DO UPDATE SET stored = excluded.stored`, sum, data)
		return err
	})
	if err != nil {
		return "", err
	}
	return sum, nil
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, sum string) (data []byte, err error) {
	if !store.IsBlobName(sum) {
		return nil, &store.DamageError{Blob: sum, Err: store.ErrNotFound}
	}
	err = s.do(ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `SELECT data FROM wavefold_blobs WHERE sum = $1`, sum).Scan(&data)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, &store.DamageError{Blob: sum, Err: store.ErrNotFound}
	case err != nil:
		return nil, err
	case store.BlobName(data) != sum:
		return nil, &store.DamageError{Blob: sum, Err: errors.New("its content has another SHA-256")}
	}
	return data, nil
}
