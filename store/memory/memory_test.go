package memory

import (
	"errors"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Test(t, func(*testing.T) store.Store { return New(nil) })
}

func TestSweepRemovesOldBlobs(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := New(func() time.Time { return now })
	old, _ := s.Put(t.Context(), []byte("old"))
	again, _ := s.Put(t.Context(), []byte("again"))
	now = now.Add(time.Hour)
	s.Put(t.Context(), []byte("again"))
	h := store.Holder{ID: "a"}
	lease, err := s.Acquire(t.Context(), "r1", h, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	end := store.Record{Seq: 2, Type: store.End, Data: []byte(`{"status":"success"}`)}
	if err := s.Append(t.Context(), "r1", lease.Token, []store.Record{storetest.Head("a", now), end}, true); err != nil {
		t.Fatal(err)
	}
	s.Acquire(t.Context(), "r1", h, 0)
	if pruned, err := s.Prune(t.Context(), store.Query{}); err != nil || pruned.Blobs != 1 {
		t.Errorf("%+v, %v", pruned, err)
	}
	if _, err := s.Get(t.Context(), old); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the old blob: %v", err)
	}
	if _, err := s.Get(t.Context(), again); err != nil {
		t.Error(err)
	}
}
