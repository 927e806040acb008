package schedulertest

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file"
	"github.com/wavefold/wavefold/store/memory"
)

// disk is where the run is stored: what is left of it after a crash.
type disk struct {
	memory *memory.Store // nil for a folder
	dir    string        // has the folders

	mu      sync.RWMutex // held by goroutines that write to the folder from outside of the processes
	copies  int          // the last one is the folder: each crash makes a new one
	current *file.Store  // reads the folder
	flushed journals     // what a loss of power leaves; known if there are some
}

func newDisk(t *testing.T, c Crashes) *disk {
	if !c.File {
		return &disk{memory: memory.New(nil)}
	}
	base := "/dev/shm" // without a disk flushes are fast
	if _, err := os.Stat(base); err != nil {
		base = t.TempDir()
	}
	dir, err := os.MkdirTemp(base, "wavefold-crash-")
	if err != nil {
		t.Fatal(err)
	}
	d := &disk{dir: dir}
	d.current = d.openFolder(t)
	return d
}

// compressOnce makes what all stores in folders compress with. It has channels, which must not belong to
// the synctest bubble of the first run.
var compressOnce = sync.OnceValue(func() error {
	dir, err := os.MkdirTemp("", "wavefold-crash-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := file.Open(dir, file.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	sum, err := s.Put(context.Background(), make([]byte, 1<<16))
	if err == nil {
		_, err = s.Get(context.Background(), sum)
	}
	return err
})

func (d *disk) close() {
	if d.current != nil {
		d.current.Close()
		os.RemoveAll(d.dir)
	}
}

func (d *disk) folder() string { return filepath.Join(d.dir, strconv.Itoa(d.copies)) }

func (d *disk) openFolder(t *testing.T) *file.Store {
	s, err := file.Open(d.folder(), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// open returns the store for a process.
func (d *disk) open(t *testing.T) store.Store {
	if d.memory != nil {
		return d.memory
	}
	return d.openFolder(t)
}

// forget ends the use of a store by a process.
func (d *disk) forget(s store.Store) {
	if f, ok := s.(*file.Store); ok {
		f.Close() // a failure of the process is its last error already
	}
}

// reader returns the store as others see it.
func (d *disk) reader() store.Store {
	if d.memory != nil {
		return d.memory
	}
	return d.current
}

// outside calls f with the store as others see it. No crash comes in between.
func (d *disk) outside(f func(store.Store) error) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return f(d.reader())
}

// journals are the files of a journal by name.
type journals map[string][]byte

func (d *disk) runDir() string { return filepath.Join(d.folder(), "runs", "test") }

func (d *disk) journals() journals {
	all := journals{}
	entries, _ := os.ReadDir(d.runDir()) // it need not exist
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "journal") {
			all[e.Name()], _ = os.ReadFile(filepath.Join(d.runDir(), e.Name())) // files are not removed at this time
		}
	}
	return all
}

// replace writes the files that differ with their content in after. It creates a file only if it
// does not exist.
func (d *disk) replace(t *testing.T, before, after journals) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, data := range after {
		old, ok := before[name]
		if _, err := os.Lstat(filepath.Join(d.runDir(), name)); !ok && err == nil || bytes.Equal(old, data) {
			continue
		}
		writeTo(t, filepath.Join(d.runDir(), name), data)
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			if err := os.Remove(filepath.Join(d.runDir(), name)); err != nil {
				t.Error(err)
			}
		}
	}
}

// writeTo makes data the content of a file. Others may read it at the same time, as while it is appended
// to.
func writeTo(t *testing.T, name string, data []byte) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Truncate(int64(len(data))), f.Close())
	}
	if err != nil {
		t.Error(err)
	}
}

// crash makes a copy of the folder in which the next process finds the run. Of the bytes that the
// journal has in after and not in before, the copy has the first ones; draw returns their number. The
// last lease is unchanged, is empty, or is lost.
func (d *disk) crash(t *testing.T, before, after journals, draw func(n int) int, lease int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := d.runDir()
	d.copies++
	if err := os.CopyFS(d.runDir(), os.DirFS(from)); err != nil {
		t.Error(err)
	}
	for name, data := range after {
		torn := tear(before[name], data, draw)
		if _, ok := before[name]; !ok && len(torn) == 0 {
			os.Remove(filepath.Join(d.runDir(), name)) // its name was not flushed
			continue
		}
		writeTo(t, filepath.Join(d.runDir(), name), torn)
	}
	leases, _ := filepath.Glob(filepath.Join(from, "lease-*")) // the pattern is well-formed
	for _, name := range leases {
		kept := filepath.Join(d.runDir(), filepath.Base(name))
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // a late process has just given it back
		case lease == 1:
			writeTo(t, kept, nil)
		case lease == 2:
			err = os.Remove(kept)
		case err == nil:
			err = os.Chtimes(kept, info.ModTime(), info.ModTime()) // when it expires
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	d.current.Close()
	d.current = d.openFolder(t)
}

// tear returns a file of which only the beginning of the last writes has reached the disk.
func tear(before, after []byte, draw func(n int) int) []byte {
	from, to := 0, len(after)
	for from < min(len(before), to) && before[from] == after[from] {
		from++
	}
	for to > from && to <= len(before) && before[to-1] == after[to-1] {
		to--
	}
	if from < to {
		from += draw(to - from + 1)
	}
	torn := bytes.Clone(after[:from])
	if from < len(before) {
		torn = append(torn, before[from:]...)
	}
	return torn
}
