package file

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/storetest"
)

// only returns the summary of the only run.
func only(t *testing.T, s *Store) (sum store.Summary) {
	t.Helper()
	n := 0
	for listed, err := range s.List(t.Context(), store.Query{}) {
		if n++; err != nil || n > 1 {
			t.Fatalf("run %d: %v", n, err)
		}
		sum = listed
	}
	return sum
}

// TestAllocated: a journal that is flushed often is longer than what was written. Lists and readers do not see that, and
// at the end the rest is removed.
func TestAllocated(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	reader := open(t, dir, Options{Warn: func(m string) { t.Error(m) }})
	lease := begin(t, s, "r1", 0)
	name := filepath.Join(s.RunDir("r1"), journalName)
	spare := int64(0)
	for seq := uint64(2); seq < 200; seq++ {
		if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(seq, 1), true); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		sum := only(t, reader)
		if sum.Records != seq || sum.Bytes > info.Size() {
			t.Fatalf("%d records of %d bytes in a file of %d, want %d records", sum.Records, sum.Bytes, info.Size(), seq)
		}
		spare = max(spare, info.Size()-sum.Bytes)
		if got, err := read(t, reader, "r1"); got != numbers(int(seq)) || err != nil {
			t.Fatalf("read %s, %v", got, err)
		}
	}
	if allocated := spare > 0; allocated != (runtime.GOOS == "linux") || spare > 2*minAllocate+maxAllocate {
		t.Errorf("up to %d bytes were allocated in advance", spare)
	}
	before := only(t, reader).Bytes
	release(t, s, "r1")
	if info, err := os.Stat(name); err != nil || info.Size() != before {
		t.Errorf("the file has %d bytes at the end, want %d, %v", info.Size(), before, err)
	}
}

// TestRecordsOfOneInstant: a list is right although the journal has been written again without a change of its size and time.
func TestRecordsOfOneInstant(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	lease := begin(t, s, "r1", 0)
	name := filepath.Join(s.RunDir("r1"), journalName)
	now := time.Now()
	for seq := uint64(2); seq < 40; seq++ {
		if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(seq, 1), true); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, now, now); err != nil {
			t.Fatal(err)
		}
		if sum := only(t, s); sum.Records != seq {
			t.Fatalf("%d records are listed, want %d", sum.Records, seq)
		}
	}
}

// TestKilledInZeros ends a write after each of its bytes, in a file that is allocated in advance.
func TestKilledInZeros(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	disk := &faultyDisk{}
	disk.install(s)
	whole := 0
	for room := 0; room == 0 || room < whole; room++ {
		run := fmt.Sprint("r", room)
		lease := begin(t, s, run, 0)
		for seq := uint64(2); seq < allocateFrom+3; seq++ {
			if err := s.Append(t.Context(), run, lease.Token, storetest.Records(seq, 1), true); err != nil {
				t.Fatal(err)
			}
		}
		const last = allocateFrom + 2
		before, err := os.ReadFile(filepath.Join(s.RunDir(run), journalName))
		if err != nil {
			t.Fatal(err)
		}
		whole = disk.cutAppend(t, s, lease, last+1, room)
		torn, err := os.ReadFile(filepath.Join(s.RunDir(run), journalName)) // what a killed process leaves
		if err != nil || len(torn) != len(before) && runtime.GOOS == "linux" {
			t.Fatalf("%d bytes, %d before, %v", len(torn), len(before), err)
		}
		warned := 0
		after := open(t, memoryDir(t), Options{Warn: func(string) { warned++ }})
		writeJournal(t, after, run, torn)
		lease = acquire(t, after, run, holderA, time.Minute)
		if err := after.Append(t.Context(), run, lease.Token, storetest.Records(last+1, 1), true); err != nil {
			t.Fatal(err)
		}
		if got, err := read(t, after, run); got != numbers(last+1) || err != nil || warned != min(1, room) {
			t.Errorf("%d of %d bytes: read %s, %v, and %d warnings", room, whole, got, err, warned)
		}
	}
}
