package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/wavefold/wavefold/store"
)

var _ store.Queuer = (*Store)(nil)

const (
	enqueue = `INSERT INTO wavefold_queue AS q (run, holder, host, pid, username, process, since, expires)
		VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp(), clock_timestamp() + $7 * interval '1 microsecond')
		ON CONFLICT (run, holder) DO UPDATE SET expires = excluded.expires RETURNING withdrawn`
	dequeue  = `DELETE FROM wavefold_queue WHERE run = $1 AND holder = $2 RETURNING withdrawn`
	withdraw = `UPDATE wavefold_queue SET withdrawn = $3 WHERE run = $1 AND holder = $2 AND expires > clock_timestamp()`
	// waiting has a parameter for the run, null for all.
	waiting = `SELECT run, holder, host, pid, username, process, since, expires FROM wavefold_queue
		WHERE ($1::text IS NULL OR run = $1) AND expires > clock_timestamp() ORDER BY run, place`
)

// Enqueue implements store.Queuer. Places expire by the clock of the database.
func (s *Store) Enqueue(ctx context.Context, run string, h store.Holder, ttl time.Duration) (store.Queue, error) {
	if run == "" {
		return store.Queue{}, errors.New("a run needs a name")
	}
	err := s.do(ctx, func(ctx context.Context, _ bool) error {
		var row pgx.Row
		if ttl == 0 {
			row = s.pool.QueryRow(ctx, dequeue, run, h.ID)
		} else {
			row = s.pool.QueryRow(ctx, enqueue, run, h.ID, h.Host, h.PID, h.User, s.process, ttl.Microseconds())
		}
		var by *string
		switch err := row.Scan(&by); {
		case err != nil && !errors.Is(err, pgx.ErrNoRows): // which means that it is not in the queue
			return err
		case by != nil:
			return &store.WithdrawnError{Run: run, By: *by}
		}
		return nil
	})
	if err != nil {
		return store.Queue{}, err
	}
	list, err := s.queues(ctx, &run)
	if err != nil {
		return store.Queue{}, err
	}
	q := store.Queue{Run: run}
	if len(list) > 0 {
		q = list[0]
	}
	return q, s.addHolder(ctx, &q)
}

// Withdraw implements store.Queuer.
func (s *Store) Withdraw(ctx context.Context, run, id, by string) error {
	return s.do(ctx, func(ctx context.Context, _ bool) error {
		done, err := s.pool.Exec(ctx, withdraw, run, id, plain(by))
		if err == nil && done.RowsAffected() == 0 {
			err = notFound(run)
		}
		return err
	})
}

// Queues implements store.Queuer.
func (s *Store) Queues(ctx context.Context) ([]store.Queue, error) {
	list, err := s.queues(ctx, nil)
	for i := range list {
		if err == nil {
			err = s.addHolder(ctx, &list[i])
		}
	}
	return list, err
}

// queues returns the queue of a run, or all if it is nil, without the holders of the leases. It removes the places of
// processes that are known to have ended.
func (s *Store) queues(ctx context.Context, run *string) (list []store.Queue, err error) {
	var dead []store.Lease
	err = s.do(ctx, func(ctx context.Context, _ bool) error {
		list, dead = nil, nil
		rows, err := s.pool.Query(ctx, waiting, run)
		if err != nil {
			return err
		}
		var l store.Lease
		var process string
		_, err = pgx.ForEachRow(rows, []any{&l.Run, &l.ID, &l.Host, &l.PID, &l.User, &process, &l.Since, &l.Expires}, func() error {
			switch n := len(list); {
			case s.hasEnded(process):
				dead = append(dead, l)
			case n > 0 && list[n-1].Run == l.Run:
				list[n-1].Waiting = append(list[n-1].Waiting, l)
			default:
				list = append(list, store.Queue{Run: l.Run, Waiting: []store.Lease{l}})
			}
			return nil
		})
		return err
	})
	if err != nil || len(dead) == 0 {
		return list, err
	}
	var runs, holders []string
	for _, l := range dead {
		runs, holders = append(runs, l.Run), append(holders, l.ID)
	}
	return list, s.do(ctx, func(ctx context.Context, _ bool) error {
		_, err := s.pool.Exec(ctx, `DELETE FROM wavefold_queue q USING unnest($1::text[], $2::text[]) AS d (run, holder) WHERE q.run = d.run AND q.holder = d.holder`, runs, holders)
		return err
	})
}

// addHolder adds who has the lease.
func (s *Store) addHolder(ctx context.Context, q *store.Queue) error {
	lease, process, err := s.lease(ctx, q.Run, ` AND expires > clock_timestamp()`)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil && !s.hasEnded(process) {
		q.Holder = &lease
	}
	return err
}
