package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file/internal/record"
	"github.com/wavefold/wavefold/store/storetest"
)

// faultyDisk opens journals that can fail, and knows what was flushed.
type faultyDisk struct {
	mu     sync.Mutex
	room   int  // bytes that fit; less than 0 means no limit
	broken bool // flushes fail
	syncs  int
	synced map[string]int64 // size of each file at its last flush
}

func (d *faultyDisk) install(s *Store) {
	d.room, d.synced = -1, map[string]int64{}
	s.open = func(name string, size int64) (appendFile, error) {
		f, err := openJournal(name, size)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if _, ok := d.synced[name]; !ok {
			d.synced[name] = size
		}
		return &faultyFile{f.(*dataFile), d}, nil
	}
}

type faultyFile struct {
	*dataFile
	disk *faultyDisk
}

func (f *faultyFile) Write(data []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if room := f.disk.room; room >= 0 && room < len(data) {
		n, _ := f.dataFile.Write(data[:room])
		f.disk.room = 0
		return n, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	return f.dataFile.Write(data)
}

func (f *faultyFile) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.broken {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: syscall.EIO}
	}
	f.disk.syncs++
	f.disk.synced[f.Name()] = f.end
	return f.dataFile.Sync()
}

// losePower removes what was not flushed.
func (d *faultyDisk) losePower(t *testing.T) {
	t.Helper()
	for name, size := range d.synced {
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFullDisk(t *testing.T) {
	for _, flush := range []bool{true, false} {
		var warned []string
		s := open(t, t.TempDir(), Options{Warn: func(m string) { warned = append(warned, m) }})
		disk := &faultyDisk{}
		disk.install(s)
		lease := begin(t, s, "full", 1)
		other := begin(t, s, "other", 1)
		disk.mu.Lock()
		disk.room = 60 // one record and a part of the next
		disk.mu.Unlock()
		err := s.Append(t.Context(), "full", lease.Token, storetest.Records(3, 3), flush)
		if !flush && err == nil {
			err = s.Append(t.Context(), "full", lease.Token, nil, true)
		}
		name := filepath.Join(s.RunDir("full"), journalName)
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), name) {
			t.Errorf("flush %v: %v", flush, err)
		}
		disk.mu.Lock()
		disk.room = -1
		disk.mu.Unlock()
		if err := s.Append(t.Context(), "full", lease.Token, storetest.Records(6, 1), true); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("flush %v: later: %v", flush, err)
		}
		if err := s.Append(t.Context(), "other", other.Token, storetest.Records(3, 1), true); err != nil {
			t.Errorf("flush %v: another run: %v", flush, err)
		}
		if _, err := s.Acquire(t.Context(), "full", holderA, 0); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("flush %v: release: %v", flush, err)
		}
		lease = acquire(t, s, "full", holderA, 1e9)
		if err := s.Append(t.Context(), "full", lease.Token, storetest.Records(4, 1), true); err != nil {
			t.Errorf("flush %v: after the disk has room again: %v", flush, err)
		}
		if got, err := read(t, s, "full"); got != "1 2 3 4" || err != nil {
			t.Errorf("flush %v: read %s, %v", flush, got, err)
		}
		if len(warned) != 1 || !strings.Contains(warned[0], "after record 3 were removed") {
			t.Errorf("flush %v: warnings %q", flush, warned)
		}
	}
}

func TestFlushFails(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	disk := &faultyDisk{}
	disk.install(s)
	lease := begin(t, s, "r1", 1)
	disk.mu.Lock()
	disk.broken = true
	disk.mu.Unlock()
	for range 2 { // what the system has dropped is not flushed by trying again
		if err := s.Append(t.Context(), "r1", lease.Token, nil, false); err != nil && !errors.Is(err, syscall.EIO) {
			t.Error(err)
		}
		if err := s.Append(t.Context(), "r1", lease.Token, storetest.Records(3, 1), true); !errors.Is(err, syscall.EIO) {
			t.Errorf("flush: %v", err)
		}
		disk.mu.Lock()
		disk.broken = false
		disk.mu.Unlock()
	}
}

// TestPowerLoss: what Append has flushed survives, together with all records before it.
func TestPowerLoss(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Options{})
	disk := &faultyDisk{}
	disk.install(s)
	flushed := map[string]uint64{}
	for i := range 8 {
		run := fmt.Sprint("r", i)
		lease := begin(t, s, run, 0)
		flushed[run] = 1
		for seq := uint64(2); seq < 20; seq++ {
			flush := (seq+uint64(i))%5 == 0
			if err := s.Append(t.Context(), run, lease.Token, storetest.Records(seq, 1), flush); err != nil {
				t.Fatal(err)
			}
			if flush {
				flushed[run] = seq
			}
		}
	}
	disk.mu.Lock() // the writer cannot flush any more
	defer disk.mu.Unlock()
	disk.losePower(t)
	after := open(t, dir, Options{})
	for run, seq := range flushed {
		n := uint64(0)
		for rec, err := range after.Read(t.Context(), run, 1) {
			if n++; err != nil || rec.Seq != n {
				t.Errorf("%s: record %d is %d, %v", run, n, rec.Seq, err)
			}
		}
		if n < seq {
			t.Errorf("%s has %d records, %d were flushed", run, n, seq)
		}
	}
}

// cutAppend appends a record of which only some bytes are written. It returns the size of the record.
func (d *faultyDisk) cutAppend(t *testing.T, s *Store, lease store.Lease, seq uint64, room int) int {
	t.Helper()
	recs := storetest.Records(seq, 1)
	d.mu.Lock()
	d.room = room
	d.mu.Unlock()
	if err := s.Append(t.Context(), lease.Run, lease.Token, recs, true); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%d bytes: %v", room, err)
	}
	d.mu.Lock()
	d.room = -1
	d.mu.Unlock()
	recs[0].Token = lease.Token
	return len(record.Append(nil, recs[0]))
}
