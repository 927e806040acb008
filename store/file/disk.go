package file

import (
	"io"
	"os"
	"path/filepath"

	"github.com/wavefold/wavefold/internal/crashpoint"
)

// appendFile is a journal that is being written. Tests replace it by one that fails, or that loses what
// was not flushed.
type appendFile interface {
	io.WriteCloser
	Sync() error // flushes the data, and of its metadata only what is needed to read them
}

// openJournal opens a journal for appending after its first size bytes. What follows them is removed.
func openJournal(name string, size int64) (appendFile, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		f.Close()
		return nil, err
	}
	if wrap := crashpoint.Wrap; wrap != nil {
		return wrap(dataFile{f}), nil
	}
	return dataFile{f}, nil
}

type dataFile struct{ *os.File }

func (f dataFile) Sync() error { return syncData(f.File) }

// writeFile writes a file that is there whole or not at all, under a name that nobody else uses until then:
// publish gives it its final name.
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
