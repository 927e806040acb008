package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file/internal/record"
)

// youngBlob is the age up to which Prune keeps a blob that no journal names, because the record
// that names it may not be written yet.
const youngBlob = time.Hour

func (s *Store) blobFile(sum string) string {
	digits := strings.TrimPrefix(sum, "sha256:")
	return filepath.Join(s.dir, "blobs", digits[:2], digits)
}

// Put implements store.Store.
func (s *Store) Put(_ context.Context, data []byte) (string, error) {
	sum := store.BlobName(data)
	name := s.blobFile(sum)
	err := s.touch(name) // makes a blob that is there already young again
	if errors.Is(err, fs.ErrNotExist) {
		err = s.putNew(name, data)
	}
	if err != nil {
		return "", err
	}
	return sum, nil
}

func (s *Store) touch(name string) error {
	now := s.now()
	return os.Chtimes(name, now, now)
}

func (s *Store) putNew(name string, data []byte) error {
	if err := s.makeBlobDir(filepath.Dir(name)); err != nil {
		return err
	}
	return writeFile(name, record.Compress(nil, data), func(temporary string) error {
		return errors.Join(s.touch(temporary), os.Rename(temporary, name))
	})
}

// makeBlobDir makes the folder of some blobs. The names of the folders that it makes are flushed.
func (s *Store) makeBlobDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) { // the first blob of the store
		err = errors.Join(s.makeDir(), os.MkdirAll(dir, 0o700), syncDir(s.dir))
	}
	switch {
	case errors.Is(err, fs.ErrExist): // the process that made it has flushed its name
		return nil
	case err != nil:
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// Get implements store.Store.
func (s *Store) Get(_ context.Context, sum string) ([]byte, error) {
	if !store.IsBlobName(sum) {
		return nil, &store.DamageError{Blob: sum, Err: store.ErrNotFound}
	}
	form, err := os.ReadFile(s.blobFile(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &store.DamageError{Blob: sum, Err: store.ErrNotFound}
	}
	if err != nil {
		return nil, err
	}
	data, err := record.Decompress(form)
	if err == nil && store.BlobName(data) != sum {
		err = errors.New("its content has another SHA-256")
	}
	if err != nil {
		return nil, &store.DamageError{Blob: sum, Err: fmt.Errorf("%s: %w", s.blobFile(sum), err)}
	}
	return data, nil
}
