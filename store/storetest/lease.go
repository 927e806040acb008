package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
)

// testFencing: only the holder of the lease can append.
func testFencing(t *testing.T, s store.Store) {
	first := begin(t, s, "r1")
	fenced := func(token uint32) {
		t.Helper()
		for _, recs := range [][]store.Record{Records(2, 1), nil} {
			var err *store.FencedError
			if got := s.Append(t.Context(), "r1", token, recs, true); !errors.As(got, &err) || err.Run != "r1" || err.Token != token {
				t.Errorf("token %d, %d records: %v", token, len(recs), got)
			}
		}
	}
	fenced(first.Token + 1)
	fenced(first.Token - 1)
	acquire(t, s, "r1", holder("a"), 0)
	fenced(first.Token)
	second := acquire(t, s, "r1", holder("b"), ttl)
	if second.Token <= first.Token {
		t.Errorf("the token is %d after %d", second.Token, first.Token)
	}
	fenced(first.Token)
	appendTo(t, s, "r1", second.Token, Records(2, 1)...)
	if got := read(t, s, "r1", 2); len(got) != 1 || got[0].Token != second.Token {
		t.Errorf("read\n%s", describe(got))
	}
}

func testLeases(t *testing.T, s store.Store) {
	a, b := holder("a"), holder("b")
	first := acquire(t, s, "r1", a, ttl)
	if first.Run != "r1" || first.Token == 0 || first.Holder != a || first.Expires.Sub(first.Since) < ttl/2 {
		t.Errorf("the lease is %+v", first)
	}
	var held *store.HeldError
	if _, err := s.Acquire(t.Context(), "r1", b, ttl); !errors.As(err, &held) {
		t.Fatalf("another holder: %v", err)
	}
	if l := held.Lease; l.Run != "r1" || l.Holder != a || l.Token != first.Token || !l.Since.Equal(first.Since) || l.Expires.IsZero() {
		t.Errorf("held by %+v, want %+v", l, first)
	}
	if renewed := acquire(t, s, "r1", a, 2*ttl); renewed.Token != first.Token || !renewed.Expires.After(first.Expires) || !renewed.Since.Equal(first.Since) {
		t.Errorf("renewed to %+v", renewed)
	}
	acquire(t, s, "r1", b, 0) // releases nothing: b does not hold it
	if _, err := s.Acquire(t.Context(), "r1", b, ttl); !errors.As(err, &held) {
		t.Fatalf("another holder, after a release of its own: %v", err)
	}
	if l := acquire(t, s, "r1", a, 0); !l.Expires.IsZero() {
		t.Errorf("a released lease expires at %v", l.Expires)
	}
	second := acquire(t, s, "r1", b, ttl)
	acquire(t, s, "r1", b, 0)
	if third := acquire(t, s, "r1", b, ttl); second.Token <= first.Token || third.Token <= second.Token {
		t.Errorf("the tokens are %d, %d, %d", first.Token, second.Token, third.Token)
	}
	acquire(t, s, "r2", a, ttl) // another run
}

func testOneLease(t *testing.T, s store.Store) {
	var mu sync.Mutex
	var winners []store.Lease
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			l, err := s.Acquire(t.Context(), "r1", holder(fmt.Sprint(i)), ttl)
			var held *store.HeldError
			if err != nil && !errors.As(err, &held) {
				t.Error(err)
			}
			if err == nil {
				mu.Lock()
				winners = append(winners, l)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(winners) != 1 {
		t.Errorf("%d holders have the lease: %v", len(winners), winners)
	}
}

// testExpiry: a lease of a dead holder on another host can be taken, and the old holder is fenced
// off.
func testExpiry(t *testing.T, s store.Store) {
	first := acquire(t, s, "r1", holder("a"), time.Nanosecond)
	appendTo(t, s, "r1", first.Token, Head("load", epoch)) // expired, but not acquired by another
	if again := acquire(t, s, "r1", holder("a"), time.Nanosecond); again.Token != first.Token {
		t.Errorf("an expired lease of one's own was renewed as %+v", again)
	}
	second := acquire(t, s, "r1", holder("b"), ttl)
	if second.Token <= first.Token {
		t.Errorf("the token is %d after %d", second.Token, first.Token)
	}
	var fenced *store.FencedError
	if err := s.Append(t.Context(), "r1", first.Token, Records(2, 1), true); !errors.As(err, &fenced) || fenced.Now != second.Token {
		t.Errorf("append with the old lease: %v", err)
	}
	acquire(t, s, "r1", holder("a"), 0)
	var held *store.HeldError
	if _, err := s.Acquire(t.Context(), "r1", holder("a"), ttl); !errors.As(err, &held) || held.Lease.Token != second.Token {
		t.Errorf("the old holder: %v", err)
	}
	appendTo(t, s, "r1", second.Token, Records(2, 2)...)
	if got := read(t, s, "r1", 1); len(got) != 3 || got[0].Token != first.Token || got[2].Token != second.Token {
		t.Errorf("read\n%s", describe(got))
	}
}
