package storetest

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
)

func testCache(t *testing.T, s store.Store) {
	c, ok := s.(store.Cacher)
	if !ok {
		t.Skip("the store is not a store.Cacher")
	}
	key := func(digit string) string { return strings.Repeat(digit, 64) }
	put := func(e store.CacheEntry) {
		t.Helper()
		if err := c.PutCached(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	want := func(e store.CacheEntry) {
		t.Helper()
		got, err := c.GetCached(t.Context(), e.Key)
		if err != nil || got.Run != e.Run || got.Path != e.Path || !got.Stored.Equal(e.Stored) || !got.Expires.Equal(e.Expires) || string(got.Result) != string(e.Result) {
			t.Errorf("got %+v, %v, want %+v", got, err, e)
		}
	}
	absent := func(key string) {
		t.Helper()
		if _, err := c.GetCached(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("key %s: got %v, want %v", key, err, store.ErrNotFound)
		}
	}
	absent(key("a"))
	lasting := store.CacheEntry{Key: key("a"), Run: "r1", Path: "price[3]", Stored: epoch, Result: json.RawMessage(`{"writes":{"a":"\u0000ü"}}`)}
	put(store.CacheEntry{Key: key("a"), Run: "r0", Stored: epoch, Result: json.RawMessage(`{}`)})
	put(lasting)
	want(lasting)
	large := lasting
	large.Key, large.Result = key("b"), json.RawMessage(`"`+strings.Repeat("x", 1<<20)+`"`)
	put(large)
	want(large)
	old, young := lasting, lasting
	old.Key, old.Expires = key("c"), time.Now().Add(-time.Hour)
	young.Key, young.Expires = key("d"), time.Now().Add(time.Hour)
	put(old)
	put(young)
	want(old)

	lease := begin(t, s, "r1", store.Record{Seq: 2, Type: store.End, Data: []byte(`{"status":"success"}`)})
	acquire(t, s, "r1", lease.Holder, 0)
	if pruned, err := s.Prune(t.Context(), store.Query{DryRun: true}); err != nil || pruned.Cached != 0 {
		t.Errorf("a dry run has removed %d entries, %v", pruned.Cached, err)
	}
	want(old)
	if pruned, err := s.Prune(t.Context(), store.Query{}); err != nil || pruned.Cached != 1 || len(pruned.Runs) != 1 {
		t.Errorf("removed %+v, %v, want run r1 and the entry that has expired", pruned, err)
	}
	absent(old.Key)
	want(lasting) // although its run is gone
	want(young)
	testCacheRace(t, c, key("e"))
}

// A reader gets one of the entries with a key that are stored at the same time, as a whole.
func testCacheRace(t *testing.T, c store.Cacher, key string) {
	var writers sync.WaitGroup
	for _, run := range []string{"r1", "r2"} {
		e := store.CacheEntry{Key: key, Run: run, Stored: epoch, Result: json.RawMessage(`"` + strings.Repeat(run, 5000) + `"`)}
		if err := c.PutCached(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		writers.Go(func() {
			for range 20 {
				if err := c.PutCached(t.Context(), e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		e, err := c.GetCached(t.Context(), key)
		if err != nil || string(e.Result) != `"`+strings.Repeat(e.Run, 5000)+`"` {
			t.Errorf("got an entry of %q with %d bytes, %v", e.Run, len(e.Result), err)
		}
	}
	writers.Wait()
}
