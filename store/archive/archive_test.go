package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/archive"
	"github.com/wavefold/wavefold/store/file"
	"github.com/wavefold/wavefold/store/memory"
)

// blob is a value that is too large for a record.
var blob = []byte(`"` + strings.Repeat("large ", 20_000) + `"`)

// document is what the run was compiled from.
var document = []byte("name: w\n")

// fill stores a run of n records, with a blob and an answer.
func fill(t *testing.T, s store.Store, n int) {
	t.Helper()
	sum, err := s.Put(t.Context(), blob)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, 1, n, sum)
	if err := s.Post(t.Context(), "r1", store.Message{Name: "gate#1.1", Data: []byte(`{"answer":{"choice":"yes"}}`)}); err != nil {
		t.Fatal(err)
	}
	for name, text := range attached {
		w, err := s.(store.Attacher).Attach("r1", name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(w, text)
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// attached are the attachments of a run.
var attached = map[string]string{"log.ndjson": "{}\n", "output/a/1.stdout": strings.Repeat("out", 10_000), "output/a[3]/b/1.stderr": "err"}

// add appends records.
func add(t *testing.T, s store.Store, from, to int, sum string) {
	t.Helper()
	h := store.NewHolder()
	lease, err := s.Acquire(t.Context(), "r1", h, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	source, err := s.Put(t.Context(), document)
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i <= to; i++ {
		rec := store.Record{Seq: uint64(i), Type: store.Batch, Version: store.Format, Data: fmt.Appendf(nil, `{"n":%d,"x":"<a&b>","v":{"$blob":%q,"bytes":%d}}`, i, sum, len(blob))}
		if i == 1 {
			rec.Type, rec.Data = store.Head, []byte(`{"workflow":"w","file":"w.yaml","started":"2026-01-02T03:04:05Z","sources":[{"path":"w.yaml","blob":"`+source+`"}],"like":"sha256:`+strings.Repeat("0", 64)+`"}`)
		}
		if err := s.Append(t.Context(), "r1", lease.Token, []store.Record{rec}, true); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Acquire(t.Context(), "r1", h, 0); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, s store.Store) []byte {
	t.Helper()
	var b bytes.Buffer
	m, err := archive.Write(t.Context(), &b, s, "r1")
	if err != nil {
		t.Fatal(err)
	}
	if m.Run != "r1" || m.Workflow != "w" || m.Status != store.StatusInterrupted {
		t.Errorf("the manifest is %+v", m)
	}
	return b.Bytes()
}

func readAll(t *testing.T, s store.Store) (list []string) {
	t.Helper()
	for rec, err := range s.Read(t.Context(), "r1", 1) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(rec.Seq, rec.Type, rec.Version, string(rec.Data)))
	}
	return list
}

func openFile(t *testing.T) *file.Store {
	t.Helper()
	s, err := file.Open(t.TempDir(), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestRoundTrip: a run is the same in the other store, byte by byte, with its blob and its answer.
func TestRoundTrip(t *testing.T) {
	stores := map[string]func(t *testing.T) store.Store{
		"file":   func(t *testing.T) store.Store { return openFile(t) },
		"memory": func(*testing.T) store.Store { return memory.New(nil) },
	}
	for from, open := range stores {
		for to, openTo := range stores {
			t.Run(from+" to "+to, func(t *testing.T) {
				a, b := open(t), openTo(t)
				fill(t, a, 20)
				data := write(t, a)
				if again := write(t, a); !bytes.Equal(again, data) {
					t.Error("two archives of a run differ")
				}
				if _, added, err := archive.Read(t.Context(), bytes.NewReader(data), b); err != nil || !added {
					t.Fatal(added, err)
				}
				if got, want := readAll(t, b), readAll(t, a); !slices.Equal(got, want) {
					t.Errorf("got %q\nwant %q", got, want)
				}
				got, err := b.Get(t.Context(), store.BlobName(blob))
				if err != nil || !bytes.Equal(got, blob) {
					t.Errorf("the blob has %d bytes (%v)", len(got), err)
				}
				inbox, err := b.Inbox(t.Context(), "r1")
				if err != nil || len(inbox) != 1 || inbox[0].Name != "gate#1.1" || string(inbox[0].Data) != `{"answer":{"choice":"yes"}}` {
					t.Errorf("the inbox is %v (%v)", inbox, err)
				}
				for name, want := range attached {
					r, err := b.(store.Attacher).Attached("r1", name)
					if err != nil {
						t.Fatal(err)
					}
					got, err := io.ReadAll(r)
					if err := errors.Join(err, r.Close()); err != nil || string(got) != want {
						t.Errorf("%s has %d bytes, want %d (%v)", name, len(got), len(want), err)
					}
				}
				add(t, b, 21, 22, store.BlobName(blob)) // it can be resumed
			})
		}
	}
}

// TestAgain: a run that the store already has is not changed, and another run with the same id is
// an error.
func TestAgain(t *testing.T) {
	a := memory.New(nil)
	fill(t, a, 5)
	data := write(t, a)
	for _, tt := range []struct {
		name   string
		change func(b store.Store)
		err    error
	}{
		{"the same", func(store.Store) {}, nil},
		{"it was resumed", func(b store.Store) { add(t, b, 6, 6, store.BlobName(blob)) }, archive.ErrOther},
		{"it has another answer", func(b store.Store) {
			if _, err := b.Prune(t.Context(), store.Query{Status: []string{store.StatusInterrupted}}); err != nil {
				t.Fatal(err)
			}
			add(t, b, 1, 5, store.BlobName(blob))
			if err := b.Post(t.Context(), "r1", store.Message{Name: "gate#1.1", Data: []byte(`{"answer":{"choice":"no"}}`)}); err != nil {
				t.Fatal(err)
			}
		}, archive.ErrOther},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := memory.New(nil)
			if _, _, err := archive.Read(t.Context(), bytes.NewReader(data), b); err != nil {
				t.Fatal(err)
			}
			tt.change(b)
			before := readAll(t, b)
			_, added, err := archive.Read(t.Context(), bytes.NewReader(data), b)
			if added || !errors.Is(err, tt.err) || tt.err == nil && err != nil {
				t.Errorf("added is %v, the error %v", added, err)
			}
			if !slices.Equal(readAll(t, b), before) {
				t.Error("the run has changed")
			}
		})
	}
	// A shorter journal in the store is another run, too: importing must not undo what happened there.
	b := memory.New(nil)
	add(t, b, 1, 3, store.BlobName(blob))
	if _, _, err := archive.Read(t.Context(), bytes.NewReader(data), b); !errors.Is(err, archive.ErrOther) {
		t.Errorf("the error is %v", err)
	}
}

// TestDamage flips a bit of each byte of an archive and cuts it at each length. Read fails and adds no
// run, unless the bit has no meaning in zstd: then the run equals the run that was written.
func TestDamage(t *testing.T) {
	a := memory.New(nil)
	add(t, a, 1, 3, store.BlobName(blob)[:20]) // without the blob, so that the archive is short
	data := write(t, a)
	want, unharmed := readAll(t, a), 0
	try := func(what string, data []byte) {
		b := memory.New(nil)
		m, _, err := archive.Read(t.Context(), bytes.NewReader(data), b)
		if err == nil {
			unharmed++
			if m.Run != "r1" || !slices.Equal(readAll(t, b), want) {
				t.Errorf("%s: no error, %+v", what, m)
			}
			return
		}
		for range b.List(t.Context(), store.Query{}) {
			t.Errorf("%s: the store has a run (%v)", what, err)
		}
	}
	for i := range data {
		flipped := bytes.Clone(data)
		flipped[i] ^= 0x20
		try(fmt.Sprint("byte ", i), flipped)
		try(fmt.Sprint("cut at ", i), data[:i])
	}
	if unharmed > 10 {
		t.Errorf("%d of %d damaged archives can be read", unharmed, 2*len(data))
	}
}

// TestMissing: what is not in the store is named.
func TestMissing(t *testing.T) {
	s := memory.New(nil)
	if _, err := archive.Write(t.Context(), &bytes.Buffer{}, s, "r1"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	add(t, s, 1, 2, store.BlobName(blob))
	_, err := archive.Write(t.Context(), &bytes.Buffer{}, s, "r1")
	if damage, ok := errors.AsType[*store.DamageError](err); !ok || damage.Blob != store.BlobName(blob) {
		t.Error(err)
	}
}

// growing appends a record whenever it has been read.
type growing struct {
	store.Store
	t    *testing.T
	last int
}

// Inbox appends the next record: it is called between the two times that Write reads the journal.
func (s *growing) Inbox(ctx context.Context, run string) ([]store.Message, error) {
	s.last++
	add(s.t, s.Store, s.last, s.last, store.BlobName(blob))
	return s.Store.Inbox(ctx, run)
}

// TestRunInProgress: the archive of a run that is being written is complete in itself.
func TestRunInProgress(t *testing.T) {
	a := memory.New(nil)
	fill(t, a, 5)
	var buf bytes.Buffer
	if _, err := archive.Write(t.Context(), &buf, &growing{a, t, 5}, "r1"); err != nil {
		t.Fatal(err)
	}
	b := memory.New(nil)
	if _, _, err := archive.Read(t.Context(), &buf, b); err != nil {
		t.Fatal(err)
	}
	if n := len(readAll(t, b)); n != 5 {
		t.Errorf("%d records", n)
	}
}
