package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wavefold/wavefold/store"
)

var _ store.Cacher = (*Store)(nil)

func (s *Store) cacheFile(key string) string { return filepath.Join(s.dir, "cache", key[:2], key) }

// PutCached implements store.Cacher. The file is written whole under another name, and then renamed.
func (s *Store) PutCached(_ context.Context, e store.CacheEntry) error {
	if !store.IsCacheKey(e.Key) {
		return fmt.Errorf("%q is not the key of an entry of the cache", e.Key)
	}
	form, err := e.Encode()
	if err != nil {
		return err
	}
	name := s.cacheFile(e.Key)
	if err := errors.Join(s.makeDir(), os.MkdirAll(filepath.Dir(name), 0o700)); err != nil {
		return err
	}
	return replaceFile(name, form)
}

// replaceFile replaces a file atomically. It does not flush the file: after a loss of power, the
// checksum shows whether the file is complete.
func replaceFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".tmp-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error counts
	}
	return err
}

// GetCached implements store.Cacher.
func (s *Store) GetCached(_ context.Context, key string) (store.CacheEntry, error) {
	if !store.IsCacheKey(key) {
		return store.CacheEntry{}, fmt.Errorf("entry %q of the cache: %w", key, store.ErrNotFound)
	}
	form, err := os.ReadFile(s.cacheFile(key))
	if errors.Is(err, fs.ErrNotExist) {
		return store.CacheEntry{}, fmt.Errorf("entry %s of the cache: %w", key, store.ErrNotFound)
	}
	if err != nil {
		return store.CacheEntry{}, err
	}
	return store.DecodeCacheEntry(key, form)
}

// sweepCache removes the entries of the cache that have expired or are damaged, and temporary files that
// are not young.
func (s *Store) sweepCache(pruned *store.Pruned) error {
	now := s.now()
	err := filepath.WalkDir(filepath.Join(s.dir, "cache"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		form, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		e, damaged := store.DecodeCacheEntry(d.Name(), form)
		switch {
		case strings.HasPrefix(d.Name(), ".tmp-") && now.Sub(info.ModTime()) < youngBlob:
			return nil
		case damaged == nil && !e.Expired(now):
			return nil
		}
		pruned.Cached++
		pruned.Bytes += info.Size()
		return os.Remove(name)
	})
	if errors.Is(err, fs.ErrNotExist) { // there is no cache, or another process removed the same entry
		return nil
	}
	return err
}
