package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
)

// list returns the runs that s lists for q, with their statuses.
func list(t *testing.T, s store.Store, q store.Query) string {
	t.Helper()
	var all []string
	for sum, err := range s.List(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sum.Run+" "+sum.Status)
	}
	return strings.Join(all, ", ")
}

// end makes a run of a workflow that has ended, and releases it.
func end(t *testing.T, s store.Store, run, workflow, status string, started time.Time, recs ...store.Record) {
	t.Helper()
	lease := acquire(t, s, run, holder("a"), ttl)
	recs = append([]store.Record{Head(workflow, started)}, recs...)
	if status != "" {
		recs = append(recs, store.Record{Type: store.End, Data: fmt.Appendf(nil, `{"status":%q,"at":1000}`, status)})
	}
	for i := range recs {
		recs[i].Seq = uint64(i + 1)
	}
	appendTo(t, s, run, lease.Token, recs...)
	acquire(t, s, run, holder("a"), 0)
}

func mark(kind string) store.Record {
	return store.Record{Type: store.Mark, Data: fmt.Appendf(nil, `{"kind":%q}`, kind)}
}

func testList(t *testing.T, s store.Store) {
	day := func(n int) time.Time { return epoch.AddDate(0, 0, n) }
	end(t, s, "old", "load", "success", day(1))
	end(t, s, "paused", "load", "", day(3), mark("asked"), mark("paused"))
	end(t, s, "cut", "load", "", day(2), Records(0, 3)...)
	end(t, s, "again", "send", "failed", day(4), mark("resumed"))
	begin(t, s, "live")
	for q, want := range map[*store.Query]string{
		{}:                                      "again failed, paused paused, cut interrupted, old success, live running",
		{Workflow: "load"}:                      "paused paused, cut interrupted, old success, live running",
		{Status: []string{"failed", "running"}}: "again failed, live running",
		{Prefix: "p"}:                           "paused paused",
		{Since: day(3)}:                         "again failed, paused paused",
		{Limit: 2}:                              "again failed, paused paused",
		{Workflow: "none"}:                      "",
	} {
		if got := list(t, s, *q); got != want {
			t.Errorf("%+v: listed %s, want %s", *q, got, want)
		}
	}
	for sum, err := range s.List(t.Context(), store.Query{Prefix: "paused"}) {
		if err != nil {
			t.Fatal(err)
		}
		if sum.Waiting != 1 || sum.Records != 3 || sum.Bytes == 0 || sum.Updated.IsZero() || sum.File != "load.yaml" || !sum.Started.Equal(day(3)) {
			t.Errorf("%+v", sum)
		}
	}
	for sum := range s.List(t.Context(), store.Query{Prefix: "live"}) {
		if sum.Holder == nil || sum.Holder.Holder != holder("a") {
			t.Errorf("held by %+v", sum.Holder)
		}
	}
	lease := acquire(t, s, "cut", holder("b"), ttl)
	appendTo(t, s, "cut", lease.Token, store.Record{Seq: 5, Type: store.End, Data: []byte(`{"status":"success"}`)})
	if got := list(t, s, store.Query{Prefix: "cut"}); got != "cut success" {
		t.Errorf("after its end: %s", got)
	}
}

func testPrune(t *testing.T, s store.Store) {
	day := func(n int) time.Time { return epoch.AddDate(0, 0, n) }
	for i := range 5 {
		end(t, s, fmt.Sprint("a", i), "a", "success", day(i))
	}
	end(t, s, "b0", "b", "success", day(0))
	end(t, s, "f0", "a", "failed", day(0))
	end(t, s, "p0", "a", "", day(0), mark("paused"))
	end(t, s, "i0", "a", "", day(0))
	begin(t, s, "live")
	end(t, s, "again", "a", "success", day(0)) // an ended run that is being resumed
	acquire(t, s, "again", holder("b"), ttl)

	prune := func(q store.Query) string {
		t.Helper()
		pruned, err := s.Prune(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if (pruned.Bytes > 0) != (len(pruned.Runs) > 0) {
			t.Errorf("%d bytes of %v", pruned.Bytes, pruned.Runs)
		}
		return strings.Join(pruned.Runs, " ")
	}
	success := store.Query{Status: []string{"success"}, Keep: 3, DryRun: true}
	if got := prune(success); got != "a1 a0" {
		t.Errorf("a dry run reports %s", got)
	}
	success.DryRun = false
	success.Before = epoch
	if got := prune(success); got != "" {
		t.Errorf("recent runs were removed: %s", got)
	}
	success.Before = time.Time{}
	if got := prune(success); got != "a1 a0" {
		t.Errorf("removed %s", got)
	}
	for _, err := range s.Read(t.Context(), "a0", 1) {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a removed run: %v", err)
		}
	}
	if got := prune(store.Query{}); got != "a4 a3 a2 f0 b0" {
		t.Errorf("removed %s", got)
	}
	if got := prune(store.Query{Status: []string{store.StatusInterrupted, store.StatusRunning}}); got != "i0" {
		t.Errorf("removed %s", got)
	}
	if got := list(t, s, store.Query{}); got != "p0 paused, live running, again success" {
		t.Errorf("left are %s", got)
	}
	end(t, s, "a0", "a", "success", day(0)) // the name is free
}

// testPruneBlobs: blobs that a journal names, and new ones, survive.
func testPruneBlobs(t *testing.T, s store.Store) {
	put := func(data string) string {
		sum, err := s.Put(t.Context(), []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	kept, young := put("kept"), put("young")
	batch := store.Record{Type: store.Batch, Data: fmt.Appendf(nil, `{"events":[{"$blob":%q}]}`, kept)}
	end(t, s, "r1", "a", "success", epoch)
	end(t, s, "r2", "a", "", epoch, batch)
	pruned, err := s.Prune(t.Context(), store.Query{})
	if err != nil || len(pruned.Runs) != 1 || pruned.Blobs != 0 {
		t.Fatalf("%+v, %v", pruned, err)
	}
	for _, sum := range []string{kept, young} {
		if _, err := s.Get(t.Context(), sum); err != nil {
			t.Error(err)
		}
	}
}
