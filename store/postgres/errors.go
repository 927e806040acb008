package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/wavefold/wavefold/store"
)

// Codes of errors of the server.
const (
	undefinedTable      = "42P01"
	uniqueViolation     = "23505"
	foreignKeyViolation = "23503"
	duplicateSchema     = "42P06"
)

const (
	// attemptTime limits one attempt, because a network can lose packets without an error.
	attemptTime = 20 * time.Second
	// The pauses between attempts grow from minPause to maxPause.
	minPause = 50 * time.Millisecond
	maxPause = 2 * time.Second
)

// do calls f until it succeeds, until it fails for a reason other than a lost server, or until the server
// has been unreachable for Options.Patience. again is true if an earlier attempt may have been executed
// although its result was lost.
func (s *Store) do(ctx context.Context, f func(ctx context.Context, again bool) error) error {
	return s.doFor(ctx, s.patience, f)
}

// doFor is do with another time instead of Options.Patience.
func (s *Store) doFor(ctx context.Context, patience time.Duration, f func(ctx context.Context, again bool) error) error {
	var begun time.Time // of the first attempt that failed
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		if s.closing.Err() != nil {
			return store.ErrClosed
		}
		attempt, cancel := context.WithTimeout(ctx, attemptTime)
		stop := context.AfterFunc(s.closing, cancel)
		err := f(attempt, !begun.IsZero())
		stop()
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && s.closing.Err() != nil:
			return store.ErrClosed
		case !away(err):
			s.back()
			return s.failed(err)
		}
		s.lost(err)
		if begun.IsZero() {
			begun = time.Now()
		}
		if time.Since(begun)+pause > patience {
			return fmt.Errorf("store %s: the server was unreachable for %v: %w", s.name, patience, explain(err))
		}
		if err := s.sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// sleep waits. It returns the error of a context that ended, or store.ErrClosed.
func (s *Store) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing.Done():
		return store.ErrClosed
	}
}

// lost reports the beginning of an outage.
func (s *Store) lost(err error) {
	s.mu.Lock()
	first := s.awaySince.IsZero()
	if first {
		s.awaySince = time.Now()
	}
	s.mu.Unlock()
	if first {
		s.pool.Reset() // the other connections are lost, too
		s.warn(fmt.Sprintf("store %s: the server is unreachable, trying for %v: %v", s.name, s.patience, explain(err)))
	}
}

// back reports the end of an outage.
func (s *Store) back() {
	s.mu.Lock()
	since := s.awaySince
	s.awaySince = time.Time{}
	s.mu.Unlock()
	if !since.IsZero() {
		s.warn(fmt.Sprintf("store %s: the server is reachable again after %v", s.name, time.Since(since).Round(time.Millisecond)))
	}
}

// failed adds the name of the store to an error of the server or of the network. It does not change
// errors of package store.
func (s *Store) failed(err error) error {
	if _, ok := errors.AsType[*pgconn.PgError](err); !ok && !isNetworkError(err) {
		return err
	}
	return fmt.Errorf("store %s: %w", s.name, explain(err))
}

// away reports whether an error says that the server cannot be reached, is starting or stopping, or
// does not write at the moment, so that another attempt may succeed.
func away(err error) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return isNetworkError(err)
	}
	switch pg.Code {
	case "57P01", "57P02", "57P03", // it was shut down, has crashed, is starting
		"53300",          // it has too many connections
		"25006",          // it is a standby: the connection is from before a failover
		"40001", "40P01": // the transaction was rolled back because of another one
		return true
	}
	return strings.HasPrefix(pg.Code, "08")
}

func isNetworkError(err error) bool {
	if err == nil {
		return false
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	return pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded)
}

// explain shortens an error of the driver, whose message lists the addresses that it tried, and adds
// the details of an error of the server.
func explain(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		text := pg.Message
		if pg.Detail != "" {
			text += ": " + pg.Detail
		}
		return &serverError{text: text + " [" + pg.Code + "]", err: err}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return &serverError{text: "cannot find host " + dns.Name + ": " + dns.Err, err: err}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return &serverError{text: op.Err.Error(), err: err}
	}
	return err
}

// serverError has a shortened error message.
type serverError struct {
	text string
	err  error
}

func (e *serverError) Error() string { return e.text }
func (e *serverError) Unwrap() error { return e.err }
