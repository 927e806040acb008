package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/wavefold/wavefold/store"
)

// Options are the settings of a Store. The zero value is usable.
type Options struct {
	// Now returns the time for leases, messages and the age of blobs. Nil means time.Now. It must be
	// safe for concurrent use.
	Now func() time.Time

	// Existing makes Open return a *store.MissingError if the folder has no store.
	Existing bool

	// Warn is called with one line about each repair: the removal of an incomplete record at the end of a
	// journal. Nil means that repairs are not reported. It must be safe for concurrent use.
	Warn func(message string)
}

// Store keeps runs in a folder. Several Stores, in several processes, may use one folder.
type Store struct {
	dir  string
	host string
	now  func() time.Time
	warn func(string)
	open func(name string, size int64) (appendFile, error) // opens a journal for writing; tests replace it

	// flushes limits the flushes at the same time, each of which takes a thread.
	flushes chan struct{}

	mu     sync.Mutex // guards the fields below
	held   map[string]*hold
	places map[placeKey]*place // in queues, of the holders of this store
	closed bool
}

var _ store.Store = (*Store)(nil)

// Open returns the store in a folder, which is made when the first run is acquired. The caller closes the store.
func Open(dir string, o Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("store %s: not a folder", dir)
	} else if o.Existing && !IsStore(dir) {
		what := "the folder has no store"
		if err != nil {
			what = "there is no such folder"
		}
		return nil, fmt.Errorf("store %s: %w", dir, &store.MissingError{What: what})
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, host: host, now: o.Now, warn: o.Warn, open: openJournal, flushes: make(chan struct{}, maxFlushes), held: map[string]*hold{}, places: map[placeKey]*place{}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.warn == nil {
		s.warn = func(string) {}
	}
	return s, nil
}

// IsStore reports whether a folder has a store.
func IsStore(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, "runs"))
	return err == nil && info.IsDir()
}

// Dir returns the absolute path of the folder.
func (s *Store) Dir() string { return s.dir }

// String returns "file:" and the absolute path of the folder.
func (s *Store) String() string { return "file:" + s.dir }

// RunDir returns the folder of a run. Callers may keep other files in it, which are removed with the
// run.
func (s *Store) RunDir(run string) string { return filepath.Join(s.dir, "runs", escape(run)) }

// Close flushes what was appended and releases the leases of the store's holders. Every later call that would write a
// journal returns store.ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return store.ErrClosed
	}
	held, places := s.held, s.places
	s.held, s.places, s.closed = map[string]*hold{}, map[placeKey]*place{}, true
	s.mu.Unlock()
	var errs []error
	for key, p := range places {
		err := p.leave(key.run)
		if _, withdrawn := errors.AsType[*store.WithdrawnError](err); !withdrawn { // it has left
			errs = append(errs, err)
		}
	}
	for _, h := range held {
		errs = append(errs, s.release(h))
	}
	return errors.Join(errs...)
}

// maxFlushes is larger than the number of concurrent flushes from which disks benefit: more than 8
// flushes of different files at a time were not faster in measurements.
const maxFlushes = 32

// makeRun makes the folder of a run.
func (s *Store) makeRun(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.makeDir(); err == nil {
			err = os.Mkdir(dir, 0o700)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// makeDir makes the folder of the store.
func (s *Store) makeDir() error {
	if err := os.MkdirAll(filepath.Join(s.dir, "runs"), 0o700); err != nil {
		return err
	}
	ignore := filepath.Join(s.dir, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(ignore, []byte("*\n"), 0o600); err != nil {
			return err
		}
	}
	return errors.Join(syncDir(s.dir), syncDir(filepath.Dir(s.dir)))
}

// maxName limits the names of files.
const maxName = 200

// escape returns the name of a file. Names that begin with a dot are reserved for the store.
func escape(name string) string {
	name = strings.ReplaceAll(url.PathEscape(name), ":", "%3A")
	if strings.HasPrefix(name, ".") {
		name = "%2E" + name[1:]
	}
	return name
}

// Append implements store.Store. Without flush, the records are written to the operating system, so they
// survive the process.
func (s *Store) Append(ctx context.Context, run string, token uint32, recs []store.Record, flush bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	h, closed := s.held[run], s.closed
	s.mu.Unlock()
	if closed {
		return store.ErrClosed
	}
	if h == nil || h.journal.token != token {
		return s.fenced(run, token)
	}
	return h.journal.append(recs, flush)
}

// fenced returns the error for a token that is not the token of the current lease.
func (s *Store) fenced(run string, token uint32) error {
	lease, _, _ := readLease(run, s.RunDir(run)) // only for the message
	return &store.FencedError{Run: run, Token: token, Now: lease.Token}
}

// Read implements store.Store. It yields the records that were in the files when the iteration
// began.
func (s *Store) Read(ctx context.Context, run string, from uint64) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		stopped := false
		end, err := walk(run, s.RunDir(run), func(rec store.Record) bool {
			if err := ctx.Err(); err != nil {
				stopped = true
				yield(store.Record{}, err)
			} else if rec.Seq >= from {
				stopped = !yield(rec, nil)
			}
			return !stopped
		})
		switch {
		case stopped:
		case err != nil:
			if errors.As(err, new(*store.DamageError)) {
				s.forget(run)
			}
			yield(store.Record{}, err)
		case end.last == 0:
			yield(store.Record{}, notFound(run))
		}
	}
}

func notFound(run string) error { return fmt.Errorf("run %s: %w", run, store.ErrNotFound) }
