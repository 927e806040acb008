package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wavefold/wavefold/store"
)

// prunedPrefix begins the names of folders of runs that are being removed.
const prunedPrefix = ".pruned-"

// Prune implements store.Store.
func (s *Store) Prune(ctx context.Context, q store.Query) (store.Pruned, error) {
	var pruned store.Pruned
	all, listed, err := s.summaries(ctx)
	if err != nil {
		return pruned, err
	}
	for _, sum := range q.SelectPrune(all) {
		removed, bytes, err := s.pruneRun(ctx, sum.Run, listed[sum.Run].Stamp, q.DryRun)
		if err != nil {
			return pruned, err
		}
		if removed {
			pruned.Runs = append(pruned.Runs, sum.Run)
			pruned.Bytes += bytes
		}
	}
	if q.DryRun {
		return pruned, nil
	}
	left, err := s.removePruned()
	if err == nil && left {
		err = s.sweep(ctx, &pruned)
	}
	return pruned, errors.Join(err, s.sweepCache(&pruned))
}

// pruneRun renames the folder of a run, unless the run is held or its journal has changed since it was listed. With dryRun it does
// nothing.
func (s *Store) pruneRun(ctx context.Context, run string, listed stamp, dryRun bool) (bool, int64, error) {
	dir := s.RunDir(run)
	bytes := folderSize(dir)
	if dryRun {
		return true, bytes, nil
	}
	holder := store.NewHolder()
	if _, err := s.take(run, holder, time.Minute); errors.As(err, new(*store.HeldError)) {
		return false, 0, nil
	} else if err != nil {
		return false, 0, err
	}
	_, st, err := stampOf(dir)
	unchanged := err == nil && st.equal(listed)
	if unchanged {
		err = os.Rename(dir, filepath.Join(s.dir, "runs", prunedPrefix+holder.ID))
	}
	_, rerr := s.Acquire(ctx, run, holder, 0)
	return unchanged && err == nil, bytes, errors.Join(err, rerr)
}

// removePruned removes the folders that this call, or an interrupted one, has renamed. It reports whether there
// were any.
func (s *Store) removePruned() (any bool, err error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	var errs []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prunedPrefix) {
			any = true
			errs = append(errs, os.RemoveAll(filepath.Join(s.dir, "runs", e.Name())))
		}
	}
	return any, errors.Join(errs...)
}

func folderSize(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// sweep removes the blobs that no journal names. It removes nothing if a journal cannot be read, because the
// blobs that such a journal names are not known.
func (s *Store) sweep(ctx context.Context, pruned *store.Pruned) error {
	named, err := s.namedBlobs(ctx)
	if errors.As(err, new(*store.DamageError)) || errors.As(err, new(*store.FormatError)) {
		return nil
	}
	if err != nil {
		return err
	}
	err = filepath.WalkDir(filepath.Join(s.dir, "blobs"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || named["sha256:"+d.Name()] {
			return err
		}
		n, err := s.sweepBlob(name)
		if n > 0 {
			pruned.Blobs++
			pruned.Bytes += n
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Store) namedBlobs(ctx context.Context) (map[string]bool, error) {
	names, err := s.runNames()
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, run := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_, err := walk(run, s.RunDir(run), func(rec store.Record) bool {
			for sum := range store.BlobNames(rec.Data) {
				named[sum] = true
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return named, nil
}

// sweepBlob removes a blob, or a temporary file, unless it is young. It returns the number of bytes.
func (s *Store) sweepBlob(name string) (int64, error) {
	young := func(info fs.FileInfo) bool { return s.now().Sub(info.ModTime()) < youngBlob }
	info, err := os.Stat(name)
	if err != nil || young(info) {
		return 0, err
	}
	// A Put may make the blob young at this moment. Before the blob has another name, the check below finds that
	// it is young; afterwards, Put does not find the blob and stores it again.
	trash := filepath.Join(filepath.Dir(name), ".tmp-trash-"+filepath.Base(name))
	if err := os.Rename(name, trash); err != nil {
		return 0, err
	}
	if info, err := os.Stat(trash); err != nil || young(info) {
		return 0, errors.Join(err, os.Rename(trash, name))
	}
	return info.Size(), os.Remove(trash)
}
