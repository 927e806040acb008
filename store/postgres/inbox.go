package postgres

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wavefold/wavefold/store"
)

const post = `WITH journal AS (SELECT run FROM wavefold_runs WHERE run = $1 AND records > 0),
	posted AS (INSERT INTO wavefold_messages (run, name, posted, data) SELECT run, $2, clock_timestamp(), $3 FROM journal ON CONFLICT DO NOTHING RETURNING run)
	SELECT (SELECT count(*) FROM journal), (SELECT count(pg_notify('` + channel + `', run)) FROM posted)`

// Post implements store.Store.
func (s *Store) Post(ctx context.Context, run string, m store.Message) error {
	if err := store.CheckMessage(m); err != nil {
		return err
	}
	return s.do(ctx, func(ctx context.Context, again bool) error {
		var journals, posted int
		err := s.pool.QueryRow(ctx, post, run, m.Name, []byte(m.Data)).Scan(&journals, &posted)
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == foreignKeyViolation || err == nil && journals == 0 {
			return notFound(run) // it may have been pruned at this moment
		}
		if err != nil || posted > 0 {
			return err
		}
		first := store.Message{Name: m.Name}
		err = s.pool.QueryRow(ctx, `SELECT posted, data FROM wavefold_messages WHERE run = $1 AND name = $2`, run, m.Name).Scan(&first.Posted, &first.Data)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return notFound(run)
		case err != nil:
			return err
		case again && string(first.Data) == string(m.Data):
			return nil // the result of the first attempt was lost
		}
		return &store.TakenError{First: first}
	})
}

// Inbox implements store.Store.
func (s *Store) Inbox(ctx context.Context, run string) (list []store.Message, err error) {
	type row struct {
		Name   *string // nil in the only row of an empty inbox
		Posted *time.Time
		Data   []byte
	}
	var all []row
	err = s.do(ctx, func(ctx context.Context, _ bool) error {
		rows, err := s.pool.Query(ctx, `SELECT m.name, m.posted, m.data FROM wavefold_runs r LEFT JOIN wavefold_messages m USING (run)
			WHERE r.run = $1 AND r.records > 0 ORDER BY m.posted, m.name`, run)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[row])
		return err
	})
	if err == nil && len(all) == 0 {
		err = notFound(run)
	}
	for _, r := range all {
		if r.Name != nil {
			list = append(list, store.Message{Name: *r.Name, Posted: *r.Posted, Data: r.Data})
		}
	}
	return list, err
}

// Watch implements store.Store. It waits for an unreachable server for as long as ctx lasts.
func (s *Store) Watch(ctx context.Context, run string) iter.Seq2[store.Message, error] {
	return func(yield func(store.Message, error) bool) {
		if _, err := s.records(ctx, run); err != nil {
			if ctx.Err() == nil {
				yield(store.Message{}, err)
			}
			return
		}
		w, leave := s.watcher.join(s, run)
		defer leave()
		for seen := map[string]bool{}; ; {
			changed := w.next() // before the inbox is read, so that no message is missed
			list, err := s.Inbox(ctx, run)
			if err != nil && ctx.Err() == nil && (errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrClosed)) {
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
			case <-s.closing.Done():
				yield(store.Message{}, store.ErrClosed)
				return
			case <-changed:
			}
		}
	}
}
