package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/wavefold/wavefold/store"
)

// hold is the lease of a run that a holder of this store has.
type hold struct {
	holder  string
	token   uint32
	summary store.Summary // of the journal; Records is the number of the last record. It belongs to the caller of Append
	failed  error         // of an append; all later ones fail, too. It is guarded by the mutex of the store
}

// Append implements store.Store. Every append is flushed.
func (s *Store) Append(ctx context.Context, run string, token uint32, recs []store.Record, _ bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closing.Err() != nil {
		return store.ErrClosed
	}
	s.mu.Lock()
	h := s.held[run]
	var failed error
	if h != nil {
		failed = h.failed
	}
	s.mu.Unlock()
	switch {
	case h == nil || h.token != token:
		return s.fenced(ctx, run, token)
	case failed != nil:
		return failed
	}
	if err := store.CheckAppend(run, h.summary.Records, recs); err != nil {
		return err
	}
	if len(recs) == 0 {
		return s.checkLease(ctx, run, h)
	}
	a := newAppended(run, h, recs)
	done := false
	err := s.do(ctx, func(ctx context.Context, again bool) (err error) {
		if done, err = s.insert(ctx, a); err == nil && !done && again {
			done, err = s.inserted(ctx, a)
		}
		return err
	})
	switch {
	case err != nil:
		s.mu.Lock()
		h.failed = err
		s.mu.Unlock()
		return err
	case !done:
		return s.fenced(ctx, run, token)
	}
	h.summary = a.summary
	return nil
}

// appended is what one call of Append adds.
type appended struct {
	run      string
	hold     *hold
	last     uint64 // the number of the record before it
	bytes    int64
	types    []int16
	versions []int16
	data     [][]byte
	blobs    []string      // that the records name
	summary  store.Summary // with the records
	changed  bool          // the records change more of the summary than their number
}

func newAppended(run string, h *hold, recs []store.Record) *appended {
	a := &appended{run: run, hold: h, last: h.summary.Records, summary: h.summary}
	for _, rec := range recs {
		a.types = append(a.types, int16(rec.Type))
		a.versions = append(a.versions, int16(cmp.Or(rec.Version, store.Format)))
		a.data = append(a.data, rec.Data)
		a.bytes += int64(len(rec.Data))
		for sum := range store.BlobNames(rec.Data) {
			a.blobs = append(a.blobs, sum)
		}
		a.changed = a.changed || rec.Type == store.Head || rec.Type == store.Mark || rec.Type == store.End
		if a.summary.Status == store.StatusDamaged {
			a.summary.Records++
		} else if err := a.summary.Add(rec); err != nil {
			a.summary.Status, a.summary.Reason = store.StatusDamaged, err.Error()
		}
	}
	return a
}

// lockRun is the part of a statement that locks the row of a run if the lease is held, and updates it.
const (
	lockRun = `WITH held AS (UPDATE wavefold_runs SET records = records + cardinality($5::int2[]), bytes = bytes + $8, updated = clock_timestamp()`
	where   = ` WHERE run = $1 AND token = $2 AND holder = $3 AND expires IS NOT NULL AND records = $4 RETURNING run)`
	insert  = ` INSERT INTO wavefold_records (run, seq, token, type, version, data)
		SELECT held.run, $4 + r.n, $2, r.type, r.version, r.data
		FROM held, unnest($5::int2[], $6::int2[], $7::bytea[]) WITH ORDINALITY AS r (type, version, data, n)`

	insertRecords = lockRun + where + insert
	insertAll     = lockRun + `, workflow = $9, status = $10, started = $11, summary = $12` + where +
		`, names AS (INSERT INTO wavefold_blob_names (run, sum) SELECT held.run, b.sum FROM held, unnest($13::text[]) AS b (sum) ON CONFLICT DO NOTHING)` + insert
)

// insert adds the records. It reports false if the run is not held or has another number of records.
func (s *Store) insert(ctx context.Context, a *appended) (bool, error) {
	args := []any{a.run, int64(a.hold.token), a.hold.holder, int64(a.last), a.types, a.versions, a.data, a.bytes}
	statement := insertRecords
	if a.changed || len(a.blobs) > 0 {
		summary, err := json.Marshal(a.summary)
		if err != nil {
			return false, err
		}
		statement = insertAll
		args = append(args, plain(a.summary.Workflow), a.summary.Status, a.summary.Started, strings.ToValidUTF8(string(summary), "?"), a.blobs)
	}
	tag, err := s.pool.Exec(ctx, statement, args...)
	return tag.RowsAffected() > 0, err
}

// plain returns a string that a column of type text can store.
func plain(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "?")
}

// inserted reports whether the records are in the journal: the result of the first attempt was lost, and
// no other process appends under the lease.
func (s *Store) inserted(ctx context.Context, a *appended) (there bool, err error) {
	err = s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM wavefold_runs WHERE run = $1 AND token = $2 AND holder = $3 AND records = $4)`,
		a.run, int64(a.hold.token), a.hold.holder, int64(a.last)+int64(len(a.data))).Scan(&there)
	return there, err
}

// checkLease returns a *store.FencedError if the holder does not have the lease.
func (s *Store) checkLease(ctx context.Context, run string, h *hold) error {
	var held bool
	err := s.do(ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM wavefold_runs WHERE run = $1 AND token = $2 AND holder = $3 AND expires IS NOT NULL)`,
			run, int64(h.token), h.holder).Scan(&held)
	})
	if err == nil && !held {
		return s.fenced(ctx, run, h.token)
	}
	return err
}

// fenced returns the error for a caller that does not have the lease.
func (s *Store) fenced(ctx context.Context, run string, token uint32) error {
	err := &store.FencedError{Run: run, Token: token}
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	var now int64
	if s.pool.QueryRow(ctx, `SELECT token FROM wavefold_runs WHERE run = $1`, run).Scan(&now) == nil { // only for the message
		err.Now = uint32(now)
	}
	return err
}

// notFound is the error for a run without a journal.
func notFound(run string) error { return fmt.Errorf("run %s: %w", run, store.ErrNotFound) }

// records returns the number of records of a run. The error is ErrNotFound if it has none.
func (s *Store) records(ctx context.Context, run string) (n uint64, err error) {
	err = s.do(ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `SELECT records FROM wavefold_runs WHERE run = $1 AND records > 0`, run).Scan(&n)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = notFound(run)
	}
	return n, err
}

// readSize is the number of records that one query reads. Large values are in blobs, so a record has at most some
// 100 KiB.
const readSize = 256

// Read implements store.Store. It yields the records that were there when the iteration began, and
// has no connection while the caller handles them.
func (s *Store) Read(ctx context.Context, run string, from uint64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		last, err := s.records(ctx, run)
		for next := max(from, 1); err == nil && next <= last; {
			var page []store.Record
			if page, err = s.page(ctx, run, next, last); err != nil {
				break
			}
			for _, rec := range page {
				if !yield(rec, nil) {
					return
				}
			}
			next += uint64(len(page))
		}
		if err != nil {
			yield(store.Record{}, err)
		}
	}
}

// page returns at least one record, from the number next on.
func (s *Store) page(ctx context.Context, run string, next, last uint64) (page []store.Record, err error) {
	err = s.do(ctx, func(ctx context.Context, _ bool) error {
		rows, err := s.pool.Query(ctx, `SELECT seq, token, type, version, data FROM wavefold_records WHERE run = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq`,
			run, int64(next), int64(min(last, next+readSize-1)))
		if err != nil {
			return err
		}
		page, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (rec store.Record, err error) {
			err = row.Scan(&rec.Seq, &rec.Token, &rec.Type, &rec.Version, &rec.Data)
			return rec, err
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, rec := range page {
		if i > 0 && (rec.Version > store.Format || rec.Seq != next+uint64(i)) {
			return page[:i], nil // the next call returns the error
		}
		if rec.Version > store.Format {
			return nil, &store.FormatError{Format: int(rec.Version)}
		}
		if rec.Seq != next+uint64(i) {
			return nil, s.missing(ctx, run, next, last)
		}
	}
	if len(page) == 0 {
		return nil, s.missing(ctx, run, next, last)
	}
	return page, nil
}

// missing returns the error for a missing record: the run was pruned, or the table was changed by other
// means.
func (s *Store) missing(ctx context.Context, run string, seq, last uint64) error {
	if _, err := s.records(ctx, run); err != nil {
		return err
	}
	return &store.DamageError{Run: run, Record: seq, Of: last, Err: errors.New("the record is missing")}
}
