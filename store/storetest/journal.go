package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/store"
)

func testAppend(t *testing.T, s store.Store) {
	lease := begin(t, s, "r1")
	all := []store.Type{store.Batch, store.Side, store.Mark, store.Snapshot, store.End, store.Mark, store.Batch}
	want := fmt.Sprintf("1/%d head v1 %s\n", lease.Token, Head("load", epoch).Data)
	for i, typ := range all {
		rec := store.Record{Seq: uint64(i + 2), Token: 99, Type: typ, Data: fmt.Appendf(nil, `{"n":%d}`, i)}
		if err := s.Append(t.Context(), "r1", lease.Token, []store.Record{rec}, i%2 == 0); err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("%d/%d %s v1 %s\n", rec.Seq, lease.Token, typ, rec.Data)
	}
	appendTo(t, s, "r1", lease.Token) // no records: only flushes
	if got := describe(read(t, s, "r1", 0)); got != want {
		t.Errorf("read\n%swant\n%s", got, want)
	}
	for from, n := range map[uint64]int{1: 8, 2: 7, 8: 1, 9: 0, 100: 0} {
		recs := read(t, s, "r1", from)
		if len(recs) != n || n > 0 && recs[0].Seq != from {
			t.Errorf("from %d: %s", from, describe(recs))
		}
	}
	for range s.Read(t.Context(), "r1", 1) {
		break // a reader may stop early
	}
}

func testCopies(t *testing.T, s store.Store) {
	lease := begin(t, s, "r1")
	data := []byte(`{"n":"kept"}`)
	if err := s.Append(t.Context(), "r1", lease.Token, []store.Record{{Seq: 2, Type: store.Batch, Data: data}}, false); err != nil {
		t.Fatal(err)
	}
	copy(data, `{"n":"lost"}`)
	appendTo(t, s, "r1", lease.Token)
	for range 2 {
		got := read(t, s, "r1", 2)[0].Data
		if string(got) != `{"n":"kept"}` {
			t.Errorf("the record is %s", got)
		}
		copy(got, `{"n":"lost"}`)
	}
}

func testLarge(t *testing.T, s store.Store) {
	lease := begin(t, s, "r1")
	var recs []store.Record
	for i, size := range []int{1, 1000, 5000, 70_000, 1 << 20, 3, 5 << 20} {
		text := strings.Repeat(fmt.Sprint(i, " large "), size/8+1)
		recs = append(recs, store.Record{Seq: uint64(i + 2), Type: store.Batch, Data: []byte(`{"text":"` + text + `"}`)})
	}
	appendTo(t, s, "r1", lease.Token, recs...)
	got := read(t, s, "r1", 2)
	if len(got) != len(recs) {
		t.Fatalf("read %d records, want %d", len(got), len(recs))
	}
	for i := range recs {
		if string(got[i].Data) != string(recs[i].Data) {
			t.Errorf("record %d has changed", recs[i].Seq)
		}
	}
}

func testNumbers(t *testing.T, s store.Store) {
	lease := begin(t, s, "r1", Records(2, 2)...)
	for name, recs := range map[string][]store.Record{
		"gap":            Records(5, 1),
		"repeated":       Records(3, 1),
		"gap inside":     append(Records(4, 1), Records(6, 1)...),
		"without number": {{Type: store.Batch, Data: []byte("{}")}},
	} {
		if err := s.Append(t.Context(), "r1", lease.Token, recs, true); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	lease = acquire(t, s, "r1", holder("a"), ttl)
	appendTo(t, s, "r1", lease.Token, Records(4, 1)...)
	if got := read(t, s, "r1", 1); len(got) != 4 {
		t.Errorf("read\n%s", describe(got))
	}
}

func testExists(t *testing.T, s store.Store) {
	lease := begin(t, s, "r1")
	if err := s.Append(t.Context(), "r1", lease.Token, []store.Record{Head("load", epoch)}, true); !errors.Is(err, store.ErrExists) {
		t.Errorf("a second head: %v", err)
	}
	acquire(t, s, "r1", holder("a"), 0)
	lease = acquire(t, s, "r1", holder("b"), ttl)
	if err := s.Append(t.Context(), "r1", lease.Token, []store.Record{Head("load", epoch)}, true); !errors.Is(err, store.ErrExists) {
		t.Errorf("a second head of another holder: %v", err)
	}
	head := Head("load", epoch) // of a part: it continues the journal
	head.Seq = 2
	appendTo(t, s, "r1", lease.Token, head)
}

func testUnknown(t *testing.T, s store.Store) {
	acquire(t, s, "leased", holder("a"), ttl) // a lease makes no journal
	for _, run := range []string{"unknown", "leased"} {
		for _, err := range s.Read(t.Context(), run, 1) {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("read %s: %v", run, err)
			}
		}
		for _, err := range s.Watch(t.Context(), run) {
			if !errors.Is(err, store.ErrNotFound) {
				t.Errorf("watch %s: %v", run, err)
			}
		}
		if _, err := s.Inbox(t.Context(), run); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("inbox of %s: %v", run, err)
		}
		if err := s.Post(t.Context(), run, store.Message{Name: "m", Data: []byte("{}")}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("post to %s: %v", run, err)
		}
	}
	if got := list(t, s, store.Query{}); got != "" {
		t.Errorf("the list is %q", got)
	}
	var fenced *store.FencedError
	if err := s.Append(t.Context(), "unknown", 1, []store.Record{Head("load", epoch)}, true); !errors.As(err, &fenced) {
		t.Errorf("append without a lease: %v", err)
	}
	if _, err := s.Acquire(t.Context(), "unknown", holder("a"), 0); err != nil {
		t.Errorf("release of an unknown run: %v", err)
	}
}

func testNames(t *testing.T, s store.Store) {
	names := []string{"a.b-c_d", "..", ".", "a/b", `a\b`, "../../x", "é ü", "%2F", "A", "key: x=1"}
	for _, name := range names {
		begin(t, s, name)
	}
	for _, name := range names {
		if got := read(t, s, name, 1); len(got) != 1 {
			t.Errorf("%q has %d records", name, len(got))
		}
	}
	var got []string
	for sum, err := range s.List(t.Context(), store.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, sum.Run)
	}
	slices.Sort(got)
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("listed %q, want %q", got, names)
	}
	if _, err := s.Acquire(t.Context(), "", holder("a"), ttl); err == nil {
		t.Error("a run without a name was acquired")
	}
}

func testConcurrent(t *testing.T, s store.Store) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			run := fmt.Sprint("r", i)
			lease := begin(t, s, run)
			for seq := uint64(2); seq < 200; seq += 3 {
				if err := s.Append(t.Context(), run, lease.Token, Records(seq, 3), seq%4 == 0); err != nil {
					t.Error(err)
				}
			}
			appendTo(t, s, run, lease.Token)
			if recs := read(t, s, run, 1); len(recs) != 199 {
				t.Errorf("%s has %d records", run, len(recs))
			}
		})
	}
	wg.Wait()
}

// testReader: a reader sees a prefix of the journal, whatever the writer does.
func testReader(t *testing.T, s store.Store) {
	lease := begin(t, s, "r1")
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		for seq := uint64(2); seq < 500; seq++ {
			if err := s.Append(t.Context(), "r1", lease.Token, Records(seq, 1), seq == 499); err != nil {
				t.Error(err)
			}
		}
	})
	for running, last := true, uint64(0); running; {
		select {
		case <-done:
			running = false
		default:
		}
		n := uint64(0)
		for rec, err := range s.Read(t.Context(), "r1", 1) {
			if n++; err != nil || rec.Seq != n {
				t.Fatalf("record %d is %d, %v", n, rec.Seq, err)
			}
		}
		if n < last {
			t.Fatalf("%d records after %d", n, last)
		}
		last = n
	}
	wg.Wait()
	if n := len(read(t, s, "r1", 1)); n != 499 {
		t.Errorf("%d records", n)
	}
}
