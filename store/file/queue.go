package file

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wavefold/wavefold/store"
)

var _ store.Queuer = (*Store)(nil)

// place is the place of a holder of this store in a queue. It is a file whose name begins with the number of
// the place and whose time is the time at which the place expires. The file is locked as long as the process
// is alive.
type place struct {
	name string
	file *os.File
}

// placeKey identifies a place.
type placeKey struct{ run, holder string }

// leave removes the place. The error is a *store.WithdrawnError if the holder was asked to do so.
func (p *place) leave(run string) error {
	err := errors.Join(removePlace(p.name), p.file.Close())
	if err == nil { // after the place is removed, so that no later request is missed
		err = p.withdrawn(run)
	}
	_ = os.Remove(markOf(p.name))
	_ = os.Remove(filepath.Dir(p.name)) // succeeds if the queue is empty
	return err
}

// withdrawn returns a *store.WithdrawnError if the holder was asked to leave the queue.
func (p *place) withdrawn(run string) error {
	by, err := os.ReadFile(markOf(p.name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return &store.WithdrawnError{Run: run, By: string(by)}
}

const markPrefix = "withdrawn-"

// markOf returns the name of the file with which another process asks the holder of a place to leave. It
// contains the name of who asks.
func markOf(place string) string {
	_, sum, _ := strings.Cut(filepath.Base(place), "-")
	return filepath.Join(filepath.Dir(place), markPrefix+sum)
}

func removePlace(name string) error {
	err := os.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Store) queueDir(run string) string { return filepath.Join(s.dir, "queues", escape(run)) }

// Enqueue implements store.Queuer.
func (s *Store) Enqueue(_ context.Context, run string, h store.Holder, ttl time.Duration) (store.Queue, error) {
	if run == "" {
		return store.Queue{}, errors.New("a run needs a name")
	}
	if len(escape(run)) > maxName {
		return store.Queue{}, fmt.Errorf("the name of run %s is too long", run)
	}
	key := placeKey{run, h.ID}
	s.mu.Lock()
	p, closed := s.places[key], s.closed
	s.mu.Unlock()
	if closed {
		return store.Queue{}, store.ErrClosed
	}
	if p != nil {
		expires := s.now().Add(ttl)
		if ttl > 0 && os.Chtimes(p.name, expires, expires) == nil {
			if err := p.withdrawn(run); err != nil {
				return store.Queue{}, err
			}
			return s.queue(run)
		}
		s.mu.Lock()
		delete(s.places, key)
		s.mu.Unlock()
		if err := p.leave(run); err != nil {
			return store.Queue{}, err
		}
	}
	if ttl > 0 {
		if err := s.join(key, h, ttl); err != nil {
			return store.Queue{}, err
		}
	}
	return s.queue(run)
}

// Withdraw implements store.Queuer.
func (s *Store) Withdraw(_ context.Context, run, id, by string) error {
	q, err := s.queue(run)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(q.Waiting, func(l store.Lease) bool { return l.ID == id }) {
		return notFound(run)
	}
	dir := s.queueDir(run)
	mark := filepath.Join(dir, markPrefix+placeSum(id))
	if err := replaceFile(mark, []byte(by)); errors.Is(err, fs.ErrNotExist) {
		return notFound(run) // it was the only one, and has left
	} else if err != nil {
		return err
	}
	names, err := placeNames(dir)
	if err != nil || slices.ContainsFunc(names, func(name string) bool { return markOf(name) == filepath.Base(mark) }) {
		return err
	}
	_ = os.Remove(mark) // it has left before it could see the file
	_ = os.Remove(dir)
	return notFound(run)
}

// join adds a place at the end of a queue.
func (s *Store) join(key placeKey, h store.Holder, ttl time.Duration) error {
	now := s.now()
	lease := store.Lease{Run: key.run, Holder: h, Since: now, Expires: now.Add(ttl)}
	p, err := createPlace(s.queueDir(key.run), &lease)
	for errors.Is(err, fs.ErrNotExist) { // the queue is empty, or its last place was just removed with the folder
		if err = s.makeDir(); err == nil {
			err = os.MkdirAll(s.queueDir(key.run), 0o700)
		}
		if err != nil {
			return err
		}
		p, err = createPlace(s.queueDir(key.run), &lease)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.Join(store.ErrClosed, p.leave(key.run))
	}
	s.places[key] = p
	return nil
}

// createPlace creates the file of a place. The place becomes visible to other processes when the
// file is locked.
func createPlace(dir string, lease *store.Lease) (*place, error) {
	data, err := json.Marshal(lease)
	if err != nil {
		return nil, err
	}
	names, err := placeNames(dir)
	if err != nil {
		return nil, err
	}
	number := 1
	if len(names) > 0 {
		number = placeNumber(names[len(names)-1]) + 1
	}
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return nil, err
	}
	p := &place{filepath.Join(dir, fmt.Sprintf("%d-%s", number, placeSum(lease.ID))), f}
	_, err = f.Write(data)
	err = cmp.Or(err, lock(f), os.Chtimes(f.Name(), lease.Expires, lease.Expires))
	if err == nil {
		err = os.Rename(f.Name(), p.name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		_ = f.Close()
		return nil, err
	}
	return p, nil
}

// placeSum returns the part of the name of a place that no other place ever has.
func placeSum(holder string) string {
	sum := sha256.Sum256([]byte(holder))
	return hex.EncodeToString(sum[:8])
}

// placeNames returns the names of the files of a queue, from the first place to the last.
func placeNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if placeNumber(e.Name()) > 0 {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(placeNumber(a)-placeNumber(b), strings.Compare(a, b)) })
	return names, err
}

// placeNumber returns the number of a place, or 0 for any other file.
func placeNumber(name string) int {
	digits, _, _ := strings.Cut(name, "-")
	n, _ := strconv.Atoi(digits)
	return n
}

// queue returns the queue for the lease of a run. It removes the places of holders that are dead.
func (s *Store) queue(run string) (store.Queue, error) {
	q := store.Queue{Run: run}
	dir := s.queueDir(run)
	names, err := placeNames(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return q, err
	}
	for _, name := range names {
		lease, err := openLease(filepath.Join(dir, name), 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has left
		}
		if err != nil {
			return q, err
		}
		alive := lease.Held(s.now()) && (lease.Host != s.host || !canLock || isLocked(filepath.Join(dir, name)))
		if alive {
			q.Waiting = append(q.Waiting, lease.Lease)
		} else if err := removePlace(filepath.Join(dir, name)); err != nil {
			return q, err
		} else {
			_ = os.Remove(markOf(filepath.Join(dir, name)))
		}
	}
	entries, err := os.ReadDir(s.RunDir(run))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return q, err
	}
	if lease, held, err := s.live(run, entries); err != nil {
		return q, err
	} else if held {
		q.Holder = &lease
	}
	return q, nil
}

// Queues implements store.Queuer.
func (s *Store) Queues(ctx context.Context) ([]store.Queue, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "queues"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []store.Queue
	for _, e := range entries {
		run, err := url.PathUnescape(e.Name())
		if err != nil || escape(run) != e.Name() {
			continue
		}
		q, err := s.queue(run)
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		if len(q.Waiting) > 0 {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b store.Queue) int { return strings.Compare(a.Run, b.Run) })
	return list, nil
}
