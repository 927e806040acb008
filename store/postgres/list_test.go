package postgres

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

// Queries in SQL select the same runs as store.Query does.
func TestQueries(t *testing.T) {
	t.Parallel()
	s := open(t, newDSN(t), Options{})
	random := rand.New(rand.NewPCG(1, 2))
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	var updated time.Time // of a run in the middle
	for i := range 60 {
		run := fmt.Sprintf("%c%d", 'a'+rune(i%3), i)
		lease := begin(t, s, run+"x")
		head := storetest.Head([]string{"load", "send", ""}[random.IntN(3)], day(1+random.IntN(20)))
		if lease, err := s.Acquire(t.Context(), run, ann, ttl); err != nil {
			t.Fatal(err)
		} else if err := s.Append(t.Context(), run, lease.Token, []store.Record{head, last[random.IntN(len(last))]}, true); err != nil {
			t.Fatal(err)
		}
		for _, run := range []string{run, run + "x"} {
			if random.IntN(4) > 0 {
				if _, err := s.Acquire(t.Context(), run, ann, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		if i == 30 {
			for sum := range s.List(t.Context(), store.Query{Prefix: lease.Run}) {
				updated = sum.Updated
			}
		}
	}
	all := listOf(t, s, store.Query{})
	if len(all) != 120 {
		t.Fatalf("listed %d runs", len(all))
	}
	one := func(values ...string) string { return values[random.IntN(len(values))] }
	for range 300 {
		q := store.Query{Prefix: one("", "", "a", "b1", "%", "_"), Workflow: one("", "", "load", "none"), Limit: random.IntN(2) * random.IntN(50), Keep: random.IntN(2) * random.IntN(10)}
		for range random.IntN(3) {
			q.Status = append(q.Status, one("success", "failed", store.StatusPaused, store.StatusRunning, store.StatusInterrupted, store.StatusDamaged))
		}
		if random.IntN(2) == 0 {
			q.Since = day(1 + random.IntN(20))
		}
		if random.IntN(2) == 0 {
			q.Before = updated
		}
		if got, want := names(listOf(t, s, q)), names(q.Select(slices.Clone(all))); !slices.Equal(got, want) {
			t.Errorf("%+v: listed %q, want %q", q, got, want)
		}
		q.DryRun = true
		pruned, err := s.Prune(t.Context(), q)
		if want := names(q.SelectPrune(slices.Clone(all))); err != nil || !slices.Equal(pruned.Runs, want) {
			t.Errorf("%+v: would prune %q, %v; want %q", q, pruned.Runs, err, want)
		}
	}
}

// last are the second records of runs.
var last = []store.Record{
	{Seq: 2, Type: store.End, Data: []byte(`{"status":"success","reason":"a \u0000secret:X\u0000 b"}`)},
	{Seq: 2, Type: store.End, Data: []byte(`{"status":"failed","counts":{"n":1}}`)},
	{Seq: 2, Type: store.Mark, Data: []byte(`{"kind":"paused","questions":2}`)},
	{Seq: 2, Type: store.Batch, Data: []byte(`{"n":1}`)},
	{Seq: 2, Type: store.End, Data: []byte(`{"status":7}`)}, // damaged
}

func listOf(t *testing.T, s *Store, q store.Query) (all []store.Summary) {
	t.Helper()
	for sum, err := range s.List(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sum)
	}
	return all
}

func names(all []store.Summary) []string {
	list := []string{}
	for _, s := range all {
		list = append(list, s.Run)
	}
	return slices.Clip(list)
}

// A list has everything that the records say, also characters that a column of type text cannot have.
func TestSummary(t *testing.T) {
	t.Parallel()
	s := open(t, newDSN(t), Options{})
	lease := begin(t, s, "r1")
	end := last[0]
	if err := s.Append(t.Context(), "r1", lease.Token, []store.Record{end}, true); err != nil {
		t.Fatal(err)
	}
	want := store.Summary{Run: "r1"}
	for rec, err := range s.Read(t.Context(), "r1", 1) {
		if err != nil {
			t.Fatal(err)
		}
		want.Bytes += int64(len(rec.Data))
		if err := want.Add(rec); err != nil {
			t.Fatal(err)
		}
	}
	got := listOf(t, s, store.Query{})[0]
	if got.Holder == nil || got.Holder.Token != lease.Token || got.Updated.IsZero() {
		t.Errorf("listed %+v", got)
	}
	got.Holder, got.Updated = nil, time.Time{}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("listed\n%+v, want\n%+v", got, want)
	}
}

// Old blobs are removed when no journal names them any more.
func TestOldBlobs(t *testing.T) {
	t.Parallel()
	s := open(t, newDSN(t), Options{})
	var sums []string
	for _, data := range []string{"of r1", "of both", "of r2", "young", "again"} {
		sum, err := s.Put(t.Context(), []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sum)
	}
	for run, named := range map[string][]string{"r1": sums[:2], "r2": sums[1:3]} {
		lease := begin(t, s, run)
		recs := []store.Record{{Seq: 2, Type: store.Batch, Data: fmt.Appendf(nil, `{"blobs":[%q,%q]}`, named[0], named[1])}, last[0]}
		recs[1].Seq = 3
		if err := s.Append(t.Context(), run, lease.Token, recs, true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.pool.Exec(t.Context(), "UPDATE wavefold_blobs SET stored = stored - interval '2 hours' WHERE sum <> $1", sums[3]); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), []byte("again")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context(), "r1", ann, 0); err != nil {
		t.Fatal(err)
	}
	pruned, err := s.Prune(t.Context(), store.Query{})
	if err != nil || len(pruned.Runs) != 1 || pruned.Blobs != 1 {
		t.Errorf("pruned %+v, %v", pruned, err)
	}
	for i, sum := range sums {
		if _, err := s.Get(t.Context(), sum); (err == nil) != (i > 0) {
			t.Errorf("blob %d: %v", i, err)
		}
	}
	var left string
	if err := s.pool.QueryRow(t.Context(), `SELECT string_agg(run || ' ' || seq, ',' ORDER BY seq) FROM wavefold_records`).Scan(&left); err != nil || left != "r2 1,r2 2,r2 3" {
		t.Errorf("the records left are %s, %v", left, err)
	}
}

// A record that somebody has deleted is damage; a run that was pruned while it was read is not found.
func TestMissingRecords(t *testing.T) {
	t.Parallel()
	s := open(t, newDSN(t), Options{})
	for _, c := range []struct{ run, delete, want string }{
		{"middle", "DELETE FROM wavefold_records WHERE run = 'middle' AND seq = 300", "journal damaged (record 300 of 600) of run middle: the record is missing"},
		{"end", "DELETE FROM wavefold_records WHERE run = 'end' AND seq > 512", "journal damaged (record 513 of 600) of run end: the record is missing"},
		{"pruned", "WITH r AS (DELETE FROM wavefold_records WHERE run = 'pruned') DELETE FROM wavefold_runs WHERE run = 'pruned'", "run pruned: not found"},
	} {
		lease := begin(t, s, c.run)
		if err := s.Append(t.Context(), c.run, lease.Token, storetest.Records(2, 599), true); err != nil {
			t.Fatal(err)
		}
		var got error
		for rec, err := range s.Read(t.Context(), c.run, 1) {
			if rec.Seq == 1 {
				if _, err := s.pool.Exec(t.Context(), c.delete); err != nil {
					t.Fatal(err)
				}
			}
			got = err
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.run, got, c.want)
		}
	}
}
