package postgres

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

var bob = store.Holder{ID: "b", Host: "h", PID: 2, User: "bob"}

// A process that was suspended while another one took its lease adds nothing, whether it was about to append or to
// check the lease.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	dsn := newDSN(t)
	suspended, other := open(t, dsn, Options{}), open(t, dsn, Options{})
	first := begin(t, suspended, "r1")
	if _, err := suspended.Acquire(t.Context(), "r1", ann, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	second, err := other.Acquire(t.Context(), "r1", bob, ttl)
	if err != nil || second.Token != first.Token+1 {
		t.Fatalf("taken over as %+v, %v", second, err)
	}
	for _, recs := range [][]store.Record{storetest.Records(2, 1), nil} {
		var fenced *store.FencedError
		if err := suspended.Append(t.Context(), "r1", first.Token, recs, true); !errors.As(err, &fenced) || fenced.Now != second.Token {
			t.Errorf("%d records: %v", len(recs), err)
		}
	}
	var held *store.HeldError
	if _, err := suspended.Acquire(t.Context(), "r1", ann, ttl); !errors.As(err, &held) || held.Lease.Holder != bob {
		t.Errorf("renewed: %v", err)
	}
	if err := other.Append(t.Context(), "r1", second.Token, storetest.Records(2, 1), true); err != nil {
		t.Error(err)
	}
	if n := count(t, other, "r1"); n != 2 {
		t.Errorf("%d records", n)
	}
}

// A process that appends without a pause is stopped by another one between two records: the journal has no
// gap, and no record of the first process after one of the second.
func TestTakenOverWhileAppending(t *testing.T) {
	t.Parallel()
	dsn := newDSN(t)
	writer, other := open(t, dsn, Options{}), open(t, dsn, Options{})
	lease := begin(t, writer, "r1")
	var writing sync.WaitGroup
	writing.Go(func() {
		for seq := uint64(2); seq < 100_000; seq++ {
			if err := writer.Append(t.Context(), "r1", lease.Token, storetest.Records(seq, 1), false); err != nil {
				if !errors.As(err, new(*store.FencedError)) {
					t.Error(err)
				}
				return
			}
			if seq == 20 { // the lease has expired from here on; appending does not need it until it is taken
				if _, err := writer.Acquire(t.Context(), "r1", ann, time.Nanosecond); err != nil {
					t.Error(err)
				}
			}
		}
	})
	var taken store.Lease
	for held := true; held; {
		var err error
		taken, err = other.Acquire(t.Context(), "r1", bob, ttl)
		if held = errors.As(err, new(*store.HeldError)); err != nil && !held {
			t.Fatal(err)
		}
	}
	n := uint64(count(t, other, "r1"))
	if err := other.Append(t.Context(), "r1", taken.Token, storetest.Records(n+1, 100), true); err != nil {
		t.Error(err)
	}
	writing.Wait()
	token := lease.Token
	for rec, err := range other.Read(t.Context(), "r1", 1) {
		if err != nil || rec.Token < token || (rec.Seq > n) != (rec.Token == taken.Token) {
			t.Fatalf("record %d has token %d after %d, %v", rec.Seq, rec.Token, token, err)
		}
		token = rec.Token
	}
}

// Prune leaves a run alone whose lease is taken, or that is written, while it waits for the run.
func TestPruneAndResume(t *testing.T) {
	t.Parallel()
	s := open(t, newDSN(t), Options{})
	for _, c := range []struct{ run, change string }{
		{"resumed", "UPDATE wavefold_runs SET expires = clock_timestamp() + interval '1 hour', token = 2 WHERE run = 'resumed'"},
		{"written", "UPDATE wavefold_runs SET records = 3 WHERE run = 'written'"},
	} {
		lease := begin(t, s, c.run)
		if err := s.Append(t.Context(), c.run, lease.Token, last[:1], true); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Acquire(t.Context(), c.run, ann, 0); err != nil {
			t.Fatal(err)
		}
		tx, err := s.pool.Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), c.change)
		}
		if err != nil {
			t.Fatal(err)
		}
		pruned := make(chan store.Pruned)
		go func() {
			p, err := s.Prune(t.Context(), store.Query{Prefix: c.run})
			if err != nil {
				t.Error(err)
			}
			pruned <- p
		}()
		for waiting := false; !waiting; {
			if err := tx.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))").Scan(&waiting); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p := <-pruned; len(p.Runs) > 0 {
			t.Errorf("%s: removed %v", c.run, p.Runs)
		}
	}
}
