package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wavefold/wavefold/store"
)

var _ store.Attacher = (*Store)(nil)

const (
	// attachSize is the maximum number of bytes in a row. attachDelay is the time after which a
	// smaller row is written.
	attachSize  = 64 << 10
	attachDelay = 200 * time.Millisecond
	// attachPatience limits the time for which opening and writing a file wait for an unreachable
	// server, because programs wait with them.
	attachPatience = 5 * time.Second
	// attachPage is the number of rows that one query reads.
	attachPage = 32
)

// attachment is a file of a run that is open for writing. What is written is collected for attachDelay.
type attachment struct {
	store     *Store
	run, name string

	mu    sync.Mutex // guards the fields below
	n     int64      // of the last row
	data  []byte     // not in a row yet
	timer *time.Timer
	err   error // of a write; all later ones fail, too
}

// Attach implements store.Attacher.
func (s *Store) Attach(run, name string) (io.WriteCloser, error) {
	a := &attachment{store: s, run: run, name: name}
	err := s.doFor(s.closing, attachPatience, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `INSERT INTO wavefold_attachments (run, name, n, data)
			SELECT $1::text, $2::text, coalesce(max(n), 0) + 1, '' FROM wavefold_attachments WHERE run = $1 AND name = $2 RETURNING n`, run, name).Scan(&a.n)
	})
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == foreignKeyViolation {
		return nil, notFound(run)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Write appends to the file. It fails if an earlier write has failed.
func (a *attachment) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for rest := p; len(rest) > 0; {
		n := min(len(rest), attachSize-len(a.data))
		a.data = append(a.data, rest[:n]...)
		if rest = rest[n:]; len(a.data) == attachSize {
			a.flush()
		}
	}
	if len(a.data) > 0 && a.timer == nil && a.err == nil {
		a.timer = time.AfterFunc(attachDelay, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.flush()
		})
	}
	return len(p), a.err
}

// flush writes what was collected. A lock is held while it waits for the server, for at most attachPatience.
func (a *attachment) flush() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	if len(a.data) == 0 || a.err != nil {
		a.data = a.data[:0]
		return
	}
	a.n++
	ctx, cancel := context.WithTimeout(a.store.closing, attachPatience)
	defer cancel()
	a.err = a.store.doFor(ctx, attachPatience, func(ctx context.Context, _ bool) error {
		_, err := a.store.pool.Exec(ctx, `INSERT INTO wavefold_attachments (run, name, n, data) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, a.run, a.name, a.n, a.data)
		return err
	})
	a.data = a.data[:0]
}

// Close writes what was collected.
func (a *attachment) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flush()
	return a.err
}

// Detach implements store.Attacher.
func (s *Store) Detach(run, name string) error {
	if _, err := s.tokenOf(run); err != nil {
		return err
	}
	return s.do(s.closing, func(ctx context.Context, _ bool) error {
		_, err := s.pool.Exec(ctx, `DELETE FROM wavefold_attachments WHERE run = $1 AND name = $2`, run, name)
		return err
	})
}

// tokenOf returns the token of a run. The error is store.ErrNotFound if there is no such run.
func (s *Store) tokenOf(run string) (token int64, err error) {
	err = s.do(s.closing, func(ctx context.Context, _ bool) error {
		return s.pool.QueryRow(ctx, `SELECT token FROM wavefold_runs WHERE run = $1`, run).Scan(&token)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = notFound(run)
	}
	return token, err
}

// Attached implements store.Attacher.
func (s *Store) Attached(run, name string) (io.ReadCloser, error) {
	r := &attachedReader{store: s, run: run, name: name}
	if err := r.page(); err != nil {
		return nil, err
	}
	if r.n == 0 {
		return nil, fmt.Errorf("%s of run %s: %w", name, run, store.ErrNotFound)
	}
	return r, nil
}

// attachedReader reads a file of a run, several rows at a time.
type attachedReader struct {
	store     *Store
	run, name string
	n         int64 // of the last row
	data      bytes.Buffer
	end       bool
}

// page reads the next rows.
func (r *attachedReader) page() error {
	var rows int
	err := r.store.do(r.store.closing, func(ctx context.Context, _ bool) error {
		result, err := r.store.pool.Query(ctx, `SELECT n, data FROM wavefold_attachments WHERE run = $1 AND name = $2 AND n > $3 ORDER BY n LIMIT $4`, r.run, r.name, r.n, attachPage)
		if err != nil {
			return err
		}
		r.data.Reset()
		rows = 0
		last, data := r.n, []byte(nil)
		_, err = pgx.ForEachRow(result, []any{&last, &data}, func() error {
			rows++
			r.data.Write(data)
			return nil
		})
		if err == nil {
			r.n = last
		}
		return err
	})
	r.end = rows < attachPage
	return err
}

// Read implements io.Reader.
func (r *attachedReader) Read(p []byte) (int, error) {
	for r.data.Len() == 0 {
		if r.end {
			return 0, io.EOF
		}
		if err := r.page(); err != nil {
			return 0, err
		}
	}
	return r.data.Read(p)
}

// Close does nothing.
func (r *attachedReader) Close() error { return nil }

// Attachments implements store.Attacher.
func (s *Store) Attachments(run, folder string) (names []string, err error) {
	if _, err := s.tokenOf(run); err != nil {
		return nil, err
	}
	err = s.do(s.closing, func(ctx context.Context, _ bool) error {
		rows, err := s.pool.Query(ctx, `SELECT DISTINCT substr(name, length($2) + 1) COLLATE "C" AS rest FROM wavefold_attachments
			WHERE run = $1 AND left(name, length($2)) = $2 ORDER BY rest`, run, folder+"/")
		if err != nil {
			return err
		}
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return names, err
}
