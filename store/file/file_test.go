package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file/internal/record"
	"github.com/wavefold/wavefold/store/storetest"
)

func open(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() }) // what it returns is tested where errors are expected
	return s
}

// memoryDir returns a temporary folder without a disk, if the system has one, for tests that write much.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "wavefold-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestStore(t *testing.T) {
	storetest.Test(t, func(t *testing.T) store.Store {
		return open(t, filepath.Join(t.TempDir(), "new", ".wavefold"), Options{Warn: func(m string) { t.Error(m) }})
	})
}

var holderA = store.Holder{ID: "a", Host: "host-a", PID: 1, User: "ann"}

func acquire(t testing.TB, s *Store, run string, h store.Holder, ttl time.Duration) store.Lease {
	t.Helper()
	lease, err := s.Acquire(t.Context(), run, h, ttl)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// begin makes a run with a head and n batches, and returns the lease.
func begin(t testing.TB, s *Store, run string, n int) store.Lease {
	t.Helper()
	lease := acquire(t, s, run, holderA, time.Minute)
	recs := append([]store.Record{storetest.Head("load", time.Unix(0, 0))}, storetest.Records(2, n)...)
	if err := s.Append(t.Context(), run, lease.Token, recs, true); err != nil {
		t.Fatal(err)
	}
	return lease
}

func release(t testing.TB, s *Store, run string) {
	t.Helper()
	acquire(t, s, run, holderA, 0)
}

// read returns the numbers of the records of a run as "1 2 3", and the error.
func read(t testing.TB, s *Store, run string) (string, error) {
	t.Helper()
	var seqs []string
	for rec, err := range s.Read(t.Context(), run, 1) {
		if err != nil {
			return strings.Join(seqs, " "), err
		}
		seqs = append(seqs, fmt.Sprint(rec.Seq))
	}
	return strings.Join(seqs, " "), nil
}

func status(t testing.TB, s *Store, run string) string {
	t.Helper()
	for sum, err := range s.List(t.Context(), store.Query{Prefix: run}) {
		if err != nil {
			t.Fatal(err)
		}
		return sum.Status
	}
	return "none"
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "work", ".wavefold")
	s := open(t, dir, Options{})
	if status(t, s, "r1"); exists(dir) {
		t.Error("a list makes the folder")
	}
	begin(t, s, "r1", 1)
	if _, err := s.Put(t.Context(), []byte("blob")); err != nil {
		t.Fatal(err)
	}
	if err := s.Post(t.Context(), "r1", store.Message{Name: "cancel", Data: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	status(t, s, "r1")
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		if strings.Contains(name, ".tmp-") {
			t.Errorf("%s was left", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{".gitignore": "*\n", "runs/r1/inbox/cancel": `{"name":"cancel","posted":"`} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	if _, err := Open(filepath.Join(dir, ".gitignore"), Options{}); err == nil {
		t.Error("a file was opened as a store")
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func TestClosedStore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	lease := begin(t, s, "r1", 0)
	if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(2, 3), false); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(5, 1), true); !errors.Is(err, store.ErrClosed) {
		t.Errorf("append: %v", err)
	}
	if _, err := s.Acquire(t.Context(), "r1", holderA, time.Minute); !errors.Is(err, store.ErrClosed) {
		t.Errorf("acquire: %v", err)
	}
	s = open(t, dir, Options{})
	if got, err := read(t, s, "r1"); got != "1 2 3 4" || err != nil {
		t.Errorf("read %s, %v", got, err)
	}
	other := store.Holder{ID: "b", Host: "host-b"} // need not wait for the lease to expire
	if l := acquire(t, s, "r1", other, time.Minute); l.Token != lease.Token+1 {
		t.Errorf("the token is %d", l.Token)
	}
}

func TestSalvageSuite(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	storetest.Salvage(t, s, func(run string, seq uint64) {
		at := len(record.Magic)
		for rec, err := range s.Read(t.Context(), run, 1) {
			if err != nil {
				t.Fatal(err)
			}
			if rec.Seq == seq {
				break
			}
			at += len(record.Append(nil, rec))
		}
		name := filepath.Join(s.RunDir(run), journalName)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data[at+20] ^= 1
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	})
}
