package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// channel is the channel on which posted messages are notified. The payload is the run.
	channel = "wavefold_messages"
	// pollEvery is the interval at which messages are counted, in case that notifications are lost.
	pollEvery = 500 * time.Millisecond
)

// watcher finds new messages for all runs that are watched. While there are such runs, it has a goroutine
// with its own connection.
type watcher struct {
	running sync.WaitGroup

	mu     sync.Mutex // guards all below, and the fields of watched
	runs   map[string]*watched
	closed bool
}

// watched is a run that is watched.
type watched struct {
	of       *watcher
	watchers int
	messages int64         // the number of messages when they were last counted
	changed  chan struct{} // closed and replaced when there may be a new message
}

// join adds a run. leave must be called at the end of the watch.
func (w *watcher) join(s *Store, run string) (r *watched, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs == nil && !w.closed {
		w.runs = map[string]*watched{}
		w.running.Go(func() { w.loop(s) })
	}
	r = w.runs[run]
	if r == nil {
		r = &watched{of: w, changed: make(chan struct{})}
		if w.runs != nil { // else the store is closed
			w.runs[run] = r
		}
	}
	r.watchers++
	return r, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if r.watchers--; r.watchers == 0 && w.runs[run] == r {
			delete(w.runs, run)
		}
	}
}

// next returns a channel that is closed at the next change.
func (r *watched) next() <-chan struct{} {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	return r.changed
}

// wake wakes the watchers of a run. It is called with the mutex of the watcher held.
func (r *watched) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// wait waits until the goroutine has ended, after the store was closed.
func (w *watcher) wait() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.running.Wait()
}

// loop looks for messages until no run is watched or the store is closed. It makes a new connection when
// one is lost.
func (w *watcher) loop(s *Store) {
	for !w.idle(s.closing) {
		_ = w.listen(s.closing, s.pool.Config().ConnConfig) // Append and Acquire report an unreachable server
		_ = s.sleep(s.closing, pollEvery)
	}
}

// idle reports whether the goroutine can end, because no run is watched or ctx has ended. A later join then
// starts another one.
func (w *watcher) idle(ctx context.Context) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.runs) > 0 && ctx.Err() == nil {
		return false
	}
	w.runs = nil
	return true
}

// listen wakes the watchers of runs that have new messages until there are no watchers or the connection is lost.
func (w *watcher) listen(ctx context.Context, config *pgx.ConnConfig) error {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		end, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		_ = conn.Close(end)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for {
		runs := w.watchedRuns()
		if len(runs) == 0 {
			return nil
		}
		if err := w.count(ctx, conn, runs); err != nil {
			return err
		}
		if err := w.awaitNotification(ctx, conn); err != nil {
			return err
		}
	}
}

func (w *watcher) watchedRuns() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.runs))
}

// count wakes the watchers of runs whose number of messages has changed.
func (w *watcher) count(ctx context.Context, conn *pgx.Conn, runs []string) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	rows, err := conn.Query(ctx, `SELECT run, count(*) FROM wavefold_messages WHERE run = ANY($1) GROUP BY run`, runs)
	if err != nil {
		return err
	}
	var run string
	var messages int64
	_, err = pgx.ForEachRow(rows, []any{&run, &messages}, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		if r := w.runs[run]; r != nil && r.messages != messages {
			r.messages = messages
			r.wake()
		}
		return nil
	})
	return err
}

// awaitNotification wakes the watchers of a run that was notified. It returns after pollEvery if there was
// no notification.
func (w *watcher) awaitNotification(ctx context.Context, conn *pgx.Conn) error {
	until, cancel := context.WithTimeout(ctx, pollEvery)
	defer cancel()
	n, err := conn.WaitForNotification(until)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && !conn.IsClosed() {
			return nil
		}
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.runs[n.Payload]; r != nil {
		r.wake()
	}
	return nil
}
