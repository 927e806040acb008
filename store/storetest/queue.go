package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
)

func enqueue(t *testing.T, s store.Queuer, run, id string, ttl time.Duration) (ids []string) {
	t.Helper()
	q, err := s.Enqueue(t.Context(), run, holder(id), ttl)
	if err != nil || q.Run != run {
		t.Fatalf("%s in the queue of %s: %+v, %v", id, run, q, err)
	}
	return waitingIDs(q)
}

func waitingIDs(q store.Queue) (ids []string) {
	for _, l := range q.Waiting {
		ids = append(ids, l.ID)
	}
	return ids
}

// testQueue: holders wait in the order in which they came, until they leave or their time is over.
func testQueue(t *testing.T, s store.Store) {
	q, ok := s.(store.Queuer)
	if !ok {
		t.Skip("the store is not a store.Queuer")
	}
	check := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	check("the first", enqueue(t, q, "key:k", "c", ttl), "c")
	check("the second", enqueue(t, q, "key:k", "a", ttl), "c", "a")
	check("one of another host that has died", enqueue(t, q, "key:k", "dead", time.Nanosecond), "c", "a")
	check("the third", enqueue(t, q, "key:k", "b", ttl), "c", "a", "b")
	check("again", enqueue(t, q, "key:k", "c", 2*ttl), "c", "a", "b")
	check("another queue", enqueue(t, q, "key:other/é", "x", ttl), "x")
	check("a place of a holder without one", enqueue(t, q, "key:k", "none", 0), "c", "a", "b")
	check("the second leaves", enqueue(t, q, "key:k", "a", 0), "c", "b")
	check("it comes back", enqueue(t, q, "key:k", "a", ttl), "c", "b", "a")
	acquire(t, s, "key:k", holder("z"), ttl)
	all, err := q.Queues(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("queues: %+v, %v", all, err)
	}
	check("queue", waitingIDs(all[0]), "c", "b", "a")
	check("other queue", waitingIDs(all[1]), "x")
	if all[0].Run != "key:k" || all[0].Holder == nil || all[0].Holder.Holder != holder("z") || all[1].Run != "key:other/é" || all[1].Holder != nil {
		t.Errorf("queues: %+v", all)
	}
	first := all[0].Waiting[0]
	if first.Run != "key:k" || first.Holder != holder("c") || time.Since(first.Since).Abs() > time.Minute || first.Expires.Sub(first.Since) < ttl {
		t.Errorf("the first is %+v", first)
	}
	if got := all[0].Before("b"); len(got) != 1 || got[0].ID != "c" || len(all[0].Before("none")) != 3 {
		t.Errorf("before b: %+v", got)
	}
	for _, id := range []string{"a", "b", "c"} {
		enqueue(t, q, "key:k", id, 0)
	}
	check("empty", enqueue(t, q, "key:k", "x", 0))
	for range s.List(t.Context(), store.Query{}) {
		t.Error("a queue is in the list of runs")
	}
}

// testWithdraw: a holder that was asked to leave the queue keeps its place until it leaves, and learns of it
// even if it leaves without having looked.
func testWithdraw(t *testing.T, s store.Store) {
	q, ok := s.(store.Queuer)
	if !ok {
		t.Skip("the store is not a store.Queuer")
	}
	for _, id := range []string{"a", "b", "c"} {
		enqueue(t, q, "key:k", id, ttl)
	}
	for _, id := range []string{"b", "c"} {
		if err := q.Withdraw(t.Context(), "key:k", id, "ann \x00é"); err != nil {
			t.Fatal(err)
		}
	}
	asked := func(id string, ttl time.Duration) {
		t.Helper()
		_, err := q.Enqueue(t.Context(), "key:k", holder(id), ttl)
		if w, ok := errors.AsType[*store.WithdrawnError](err); !ok || w.Run != "key:k" || !strings.HasPrefix(w.By, "ann") {
			t.Errorf("%s: %v, want a store.WithdrawnError", id, err)
		}
	}
	asked("b", ttl)
	asked("b", ttl)
	if got := enqueue(t, q, "key:k", "a", ttl); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("before they leave: %q", got)
	}
	asked("b", 0)
	asked("c", 0)
	for _, id := range []string{"b", "none"} {
		if err := q.Withdraw(t.Context(), "key:k", id, "ann"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s has no place: %v", id, err)
		}
	}
	if err := q.Withdraw(t.Context(), "key:other", "a", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such queue: %v", err)
	}
	if got := enqueue(t, q, "key:k", "b", ttl); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("it comes back: %q", got)
	}
	enqueue(t, q, "key:k", "a", 0)
	enqueue(t, q, "key:k", "b", 0)
	if all, err := q.Queues(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("queues: %+v, %v", all, err)
	}
}

// testQueueOfMany: of many holders that join at the same time, each gets a place, and no two get
// the same one.
func testQueueOfMany(t *testing.T, s store.Store) {
	q, ok := s.(store.Queuer)
	if !ok {
		t.Skip("the store is not a store.Queuer")
	}
	const n = 16
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			h := holder(fmt.Sprint(i))
			if list, err := q.Enqueue(t.Context(), "key:k", h, ttl); err != nil || !slices.Contains(waitingIDs(list), h.ID) {
				t.Errorf("%s: %v, %v", h.ID, list, err)
			}
		})
	}
	wg.Wait()
	before := enqueue(t, q, "key:k", "0", ttl)
	for i := range n {
		wg.Go(func() {
			if list, err := q.Enqueue(t.Context(), "key:k", holder(fmt.Sprint(i)), 2*ttl); err != nil || !slices.Equal(waitingIDs(list), before) {
				t.Errorf("the order has changed: %v, %v", list, err)
			}
		})
	}
	wg.Wait()
	slices.Sort(before)
	if before = slices.Compact(before); len(before) != n {
		t.Errorf("in the queue: %q", before)
	}
}
