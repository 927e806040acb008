package file

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/wavefold/wavefold/internal/crashpoint"
)

// appendFile is a journal that is being written. Tests replace it by an implementation that fails, or
// that loses data that was not flushed.
type appendFile interface {
	io.WriteCloser
	Sync() error // flushes the data, and of its metadata only what is needed to read them
}

// openJournal opens a journal for appending after its first size bytes. Bytes after them are
// removed.
func openJournal(name string, size int64) (appendFile, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		f.Close()
		return nil, err
	}
	d := &dataFile{File: f, end: size, size: size}
	if wrap := crashpoint.Wrap; wrap != nil {
		return wrap(d), nil
	}
	return d, nil
}

// dataFile is a journal on the disk. A flush of a file that grows also writes its size and its new blocks. So
// a file that is flushed often is allocated in advance, and zeros follow its end until it is closed. After a
// crash the file still has a prefix of the records, because allocated blocks are read as zeros until a flush
// has written their data.
type dataFile struct {
	*os.File
	end     int64 // of what was written
	size    int64 // of the file
	flushes int
	grows   bool // the system cannot allocate
}

const (
	// allocateFrom is the number of flushes after which a file is allocated in advance. Short runs
	// do not benefit from it.
	allocateFrom = 16

	// Each allocation is as large as the data that the file has, within these limits.
	minAllocate = 4 << 10
	maxAllocate = 256 << 10
)

func (f *dataFile) Write(data []byte) (int, error) {
	if end := f.end + int64(len(data)); end > f.size && f.flushes >= allocateFrom && !f.grows {
		size := end + min(max(end, minAllocate), maxAllocate)
		if err := allocate(f.File, f.size, size-f.size); err == nil {
			f.size = size
		} else { // such as a full disk, which may still have room for the data
			f.grows = true
		}
	}
	n, err := f.WriteAt(data, f.end)
	f.end += int64(n)
	f.size = max(f.size, f.end)
	return n, err
}

func (f *dataFile) Sync() error {
	f.flushes++
	return syncData(f.File)
}

// Close removes the zeros after the end.
func (f *dataFile) Close() error {
	var err error
	if f.size > f.end {
		err = f.Truncate(f.end)
	}
	return errors.Join(err, f.File.Close())
}

// writeFile creates a file atomically. It writes the data under a temporary name, and publish gives
// the file its final name.
func writeFile(name string, data []byte, publish func(temporary string) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".tmp-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails if publish renamed it
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = publish(f.Name())
	}
	if err == nil {
		err = syncDir(filepath.Dir(name))
	}
	return err
}
