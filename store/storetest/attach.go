package storetest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
)

// visible limits the time for which a test waits for data written to an attachment. It is longer than the
// second that the interface promises, because test machines are busy.
const visible = 10 * time.Second

func testAttachments(t *testing.T, s store.Store) {
	a, ok := s.(store.Attacher)
	if !ok {
		t.Skip("the store is not a store.Attacher")
	}
	begin(t, s, "r1")
	lease := begin(t, s, "r2")
	text := func(run, name string) string {
		t.Helper()
		r, err := a.Attached(run, name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	long := "output/" + strings.Repeat("x", 300) + "/1.stdout"
	for _, name := range []string{"log", "output/a[3]/../b/[7]#1.1.stdout", "output/a[3]/../b/1.stdout", "output/a[3]/é:\\%2E/1.stdout", long} {
		for _, word := range []string{"one ", "two"} {
			w, err := a.Attach("r1", name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, err := io.WriteString(w, word); err != nil {
				t.Fatal(err)
			}
			got := text("r1", name)
			for start := time.Now(); !strings.HasSuffix(got, word) && time.Since(start) < visible; got = text("r1", name) {
				time.Sleep(10 * time.Millisecond)
			}
			if !strings.HasSuffix(got, word) {
				t.Errorf("%s: what was written is not visible before the end: %q", name, got)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if got := text("r1", name); got != "one two" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	testLargeAttachment(t, a)
	names, err := a.Attachments("r1", "output/a[3]/../b")
	if got := strings.Join(names, " "); got != "1.stdout [7]#1.1.stdout" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	names, err = a.Attachments("r1", "output")
	if got := strings.Join(names, " "); !strings.HasPrefix(got, "a[3]/../b/1.stdout a[3]/../b/[7]#1.1.stdout a[3]/é:\\%2E/1.stdout") || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	if names, err := a.Attachments("r1", "output/none"); len(names) > 0 || err != nil {
		t.Errorf("got %v, %v", names, err)
	}
	for range 2 {
		if err := a.Detach("r1", "log"); err != nil {
			t.Error(err)
		}
	}
	for _, where := range [][2]string{{"r1", "log"}, {"r2", long}, {"r3", "log"}} {
		if _, err := a.Attached(where[0], where[1]); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s of %s: %v", where[1], where[0], err)
		}
	}
	if _, err := a.Attach("r3", "log"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("attached to a run that there is not: %v", err)
	}
	testPruneAttachments(t, s, a, lease)
}

// Attachments are removed with their run.
func testPruneAttachments(t *testing.T, s store.Store, a store.Attacher, lease store.Lease) {
	w, err := a.Attach("r2", "output/a/1.stdout")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "text"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	appendTo(t, s, "r2", lease.Token, store.Record{Seq: 2, Type: store.End, Data: []byte(`{"status":"success"}`)})
	acquire(t, s, "r2", holder("a"), 0)
	pruned, err := s.Prune(t.Context(), store.Query{Prefix: "r2"})
	if err != nil || len(pruned.Runs) != 1 {
		t.Fatalf("removed %v, %v", pruned.Runs, err)
	}
	if _, err := a.Attached("r2", "output/a/1.stdout"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the output of a removed run: %v", err)
	}
}

// A file of several megabytes, written in pieces of odd sizes, is read as it was written.
func testLargeAttachment(t *testing.T, a store.Attacher) {
	t.Helper()
	w, err := a.Attach("r1", "large")
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	for i := 0; want.Len() < 5<<20; i++ {
		piece := bytes.Repeat([]byte{byte(i), 0, '\\', 0xff}, i*37%30_000)
		want.Write(piece)
		if n, err := w.Write(piece); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := a.Attached("r1", "large")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("read %d bytes of %d, equal: %v, %v", len(got), want.Len(), bytes.Equal(got, want.Bytes()), err)
	}
	if err := a.Detach("r1", "large"); err != nil {
		t.Error(err)
	}
}
