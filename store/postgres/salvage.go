package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/wavefold/wavefold/store"
)

var _ store.Salvager = (*Store)(nil)

const (
	// keepDamaged moves the records from a number on to wavefold_damaged_records.
	keepDamaged = `WITH gone AS (DELETE FROM wavefold_records WHERE run = $1 AND seq >= $2 RETURNING run, seq, token, type, version, data)
		INSERT INTO wavefold_damaged_records (run, removed, seq, token, type, version, data) SELECT run, now(), seq, token, type, version, data FROM gone`
	// cutRun updates the row of a run whose lease is held.
	cutRun = `UPDATE wavefold_runs SET records = $4, bytes = $5, workflow = $6, status = $7, started = $8, summary = $9, updated = clock_timestamp()
		WHERE run = $1 AND token = $2 AND holder = $3 AND expires IS NOT NULL`
)

// Salvage implements store.Salvager. The table wavefold_damaged_records has the records that were cut off, until the
// run is removed.
func (s *Store) Salvage(ctx context.Context, run string, token uint32) (*store.DamageError, error) {
	if s.closing.Err() != nil {
		return nil, store.ErrClosed
	}
	s.mu.Lock()
	h := s.held[run]
	s.mu.Unlock()
	if h == nil || h.token != token {
		return nil, s.fenced(ctx, run, token)
	}
	good := store.Summary{Run: run}
	var bytes int64
	var err error
	for rec, rerr := range s.Read(ctx, run, 1) {
		if err = rerr; err == nil {
			bytes += int64(len(rec.Data))
			err = good.Add(rec)
		}
		if err != nil {
			break
		}
	}
	damage, ok := errors.AsType[*store.DamageError](err)
	if !ok {
		return nil, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return s.cut(ctx, tx, h, &good, bytes) })
	if err != nil {
		return damage, s.failed(err)
	}
	h.summary, h.summary.Bytes = good, bytes
	return damage, nil
}

// cut removes the records after the records that a summary describes.
func (s *Store) cut(ctx context.Context, tx pgx.Tx, h *hold, good *store.Summary, bytes int64) error {
	summary, err := json.Marshal(good)
	if err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, cutRun, good.Run, int64(h.token), h.holder, int64(good.Records), bytes, plain(good.Workflow), good.Status, good.Started, strings.ToValidUTF8(string(summary), "?"))
	if err == nil && tag.RowsAffected() == 0 {
		return s.fenced(ctx, good.Run, h.token)
	}
	if err == nil {
		_, err = tx.Exec(ctx, keepDamaged, good.Run, int64(good.Records)+1)
	}
	return err
}
