package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/wavefold/wavefold/store"
)

// Acquire implements store.Store. Leases expire by the clock of the database.
func (s *Store) Acquire(ctx context.Context, run string, h store.Holder, ttl time.Duration) (lease store.Lease, err error) {
	if run == "" {
		return store.Lease{}, errors.New("a run needs a name")
	}
	if ttl == 0 {
		return s.release(ctx, run, h)
	}
	dead := "" // a process of this host that is known to have ended
	for {
		taken, err := s.take(ctx, run, h, ttl, dead)
		if err != nil || taken != nil {
			return s.hold(taken), err
		}
		lease, process, err := s.lease(ctx, run, "")
		switch {
		case errors.Is(err, pgx.ErrNoRows): // it was removed since
		case err != nil:
			return store.Lease{}, err
		case process != dead && s.hasEnded(process):
			dead = process
		case !lease.Expires.IsZero():
			return store.Lease{}, &store.HeldError{Lease: lease}
		}
	}
}

// taken is a lease that was acquired, and the summary of the run.
type taken struct {
	lease   store.Lease
	summary store.Summary
}

// own is true for a row whose lease the holder has.
const own = `(r.holder = $2 AND r.expires IS NOT NULL)`

const take = `INSERT INTO wavefold_runs AS r (run, token, holder, host, pid, username, process, since, expires)
	VALUES ($1, 1, $2, $3, $4, $5, $6, clock_timestamp(), clock_timestamp() + $7 * interval '1 microsecond')
	ON CONFLICT (run) DO UPDATE SET
		token = CASE WHEN ` + own + ` THEN r.token ELSE r.token + 1 END,
		since = CASE WHEN ` + own + ` THEN r.since ELSE excluded.since END,
		holder = excluded.holder, host = excluded.host, pid = excluded.pid, username = excluded.username, process = excluded.process,
		expires = excluded.expires
	WHERE ` + own + ` OR r.expires IS NULL OR r.expires <= clock_timestamp() OR r.process <> '' AND r.process = $8
	RETURNING token, since, expires, records, bytes, summary`

// take acquires or renews a lease. It returns nil if another holder has it whose process is not the dead one.
func (s *Store) take(ctx context.Context, run string, h store.Holder, ttl time.Duration, dead string) (*taken, error) {
	t := &taken{lease: store.Lease{Run: run, Holder: h}}
	var records uint64
	var bytes int64
	var summary []byte
	err := s.do(ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, take, run, h.ID, h.Host, h.PID, h.User, s.process, ttl.Microseconds(), dead).
			Scan(&t.lease.Token, &t.lease.Since, &t.lease.Expires, &records, &bytes, &summary)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err == nil && summary != nil {
		err = json.Unmarshal(summary, &t.summary)
	}
	if err != nil {
		return nil, err
	}
	t.summary.Run, t.summary.Records, t.summary.Bytes = run, records, bytes
	return t, nil
}

// hold remembers a lease, and returns it.
func (s *Store) hold(t *taken) store.Lease {
	if t == nil {
		return store.Lease{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.held[t.lease.Run]; h == nil || h.token != t.lease.Token || h.holder != t.lease.ID {
		s.held[t.lease.Run] = &hold{holder: t.lease.ID, token: t.lease.Token, summary: t.summary}
	}
	return t.lease
}

// lease returns the lease of a run, if a condition holds for it, and the process that has taken it. Expires is zero if
// it is free.
func (s *Store) lease(ctx context.Context, run, condition string) (l store.Lease, process string, err error) {
	l.Run = run
	var expires *time.Time
	err = s.do(ctx, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `SELECT token, holder, host, pid, username, process, since, expires FROM wavefold_runs WHERE run = $1`+condition, run).
			Scan(&l.Token, &l.ID, &l.Host, &l.PID, &l.User, &process, &l.Since, &expires)
	})
	if expires != nil {
		l.Expires = *expires
	}
	return l, process, err
}

// release releases a lease if h has it. A holder whose append has failed does not wait for the server again:
// its lease expires.
func (s *Store) release(ctx context.Context, run string, h store.Holder) (store.Lease, error) {
	patience := s.patience
	s.mu.Lock()
	if held := s.held[run]; held != nil && held.holder == h.ID {
		delete(s.held, run)
		if held.failed != nil {
			patience = 0
		}
	}
	s.mu.Unlock()
	l := store.Lease{Run: run, Holder: h}
	err := s.doFor(ctx, patience, func(ctx context.Context, _ bool) error {
		ctx, cancel := context.WithTimeout(ctx, closeTime)
		defer cancel()
		return s.pool.QueryRow(ctx, `UPDATE wavefold_runs SET expires = NULL WHERE run = $1 AND holder = $2 AND expires IS NOT NULL RETURNING token, since`, run, h.ID).
			Scan(&l.Token, &l.Since)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return l, nil
	}
	return l, err
}
