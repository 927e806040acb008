package file

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/wavefold/wavefold/store"
)

const leasePrefix = "lease"

// errLocked is the error of lock for a file that another process or store has locked.
var errLocked = errors.New("locked by another")

// hold is the lease of a holder of this store. Its lease is guarded by Store.mu.
type hold struct {
	lease   store.Lease
	file    *os.File // of the lease
	lock    *os.File // closing it unlocks the run on this host
	journal *journal
}

// leaseRecord is the content of the file of a lease.
type leaseRecord struct {
	store.Lease
	Journal string `json:"journal"` // the name of the file to which the holder appends; the file need not exist yet
}

// setExpiry sets the time at which the lease expires. The error is a *store.FencedError if it was lost.
func (h *hold) setExpiry(expires time.Time) error {
	if err := h.journal.checkLease(); err != nil {
		return err
	}
	return setExpiry(h.journal.lease, expires)
}

// Acquire implements store.Store.
func (s *Store) Acquire(_ context.Context, run string, holder store.Holder, ttl time.Duration) (store.Lease, error) {
	if run == "" {
		return store.Lease{}, errors.New("a run needs a name")
	}
	if len(escape(run)) > maxName {
		return store.Lease{}, fmt.Errorf("the name of run %s is too long", run)
	}
	if lease, ok, err := s.renew(run, holder, ttl); ok || err != nil {
		return lease, err
	}
	if ttl == 0 {
		return store.Lease{Run: run, Holder: holder}, nil
	}
	return s.take(run, holder, ttl)
}

// renew renews or releases the lease if the holder has it.
func (s *Store) renew(run string, holder store.Holder, ttl time.Duration) (store.Lease, bool, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return store.Lease{}, false, store.ErrClosed
	}
	h := s.held[run]
	if h == nil || h.lease.ID != holder.ID {
		s.mu.Unlock()
		return store.Lease{}, false, nil
	}
	var err error
	if ttl > 0 {
		expires := s.now().Add(ttl)
		if err = h.setExpiry(expires); err == nil {
			h.lease.Expires = expires
		}
		if !isFenced(err) {
			defer s.mu.Unlock()
			return h.lease, true, err
		}
	}
	delete(s.held, run) // released, or lost to another host
	s.mu.Unlock()
	lost := err != nil
	err = s.release(h)
	if isFenced(err) {
		err = nil
	}
	h.lease.Expires = time.Time{}
	return h.lease, !lost, err
}

// release ends a hold that was removed from s.held: it writes what was appended and frees the run.
func (s *Store) release(h *hold) error {
	err := h.journal.close()
	if eerr := h.setExpiry(time.Time{}); !isFenced(eerr) {
		err = errors.Join(err, eerr)
	}
	return errors.Join(err, h.file.Close(), h.lock.Close())
}

func isFenced(err error) bool { return errors.As(err, new(*store.FencedError)) }

// take acquires a lease that the holder does not have.
func (s *Store) take(run string, holder store.Holder, ttl time.Duration) (store.Lease, error) {
	dir := s.RunDir(run)
	if err := s.makeRun(dir); err != nil {
		return store.Lease{}, err
	}
	lockFile, err := lockRun(filepath.Join(dir, "lock-"+escape(holder.Host)))
	if errors.Is(err, errLocked) {
		err = s.heldError(run, dir)
	}
	if err != nil {
		return store.Lease{}, err
	}
	h, err := s.takeLocked(run, dir, holder, ttl)
	if err != nil {
		lockFile.Close()
		return store.Lease{}, err
	}
	h.lock = lockFile
	s.mu.Lock()
	old := s.held[run] // of a holder on another host; this happens only in tests
	s.held[run] = h
	s.mu.Unlock()
	if old != nil {
		if err := s.release(old); err != nil && !isFenced(err) {
			return store.Lease{}, err
		}
	}
	return h.lease, nil
}

// lockPatience limits the time for acquiring a lock that is held. A reader that checks whether a holder is
// alive has the lock for an instant. If a holder is killed while it starts a program, the new process has the
// lock until it has loaded the program, which takes longer on a busy machine.
const lockPatience = 250 * time.Millisecond

// lockRun locks a run on this host. It returns errLocked if the lock does not become free within lockPatience.
func lockRun(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = lock(f)
	for start := time.Now(); errors.Is(err, errLocked) && time.Since(start) < lockPatience; {
		<-time.After(time.Millisecond)
		err = lock(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (s *Store) heldError(run, dir string) error {
	lease, _, err := readLease(run, dir)
	if err != nil {
		return err
	}
	return &store.HeldError{Lease: lease.Lease}
}

// takeLocked takes the lease while the run is locked on the holder's host.
func (s *Store) takeLocked(run, dir string, holder store.Holder, ttl time.Duration) (*hold, error) {
	last, _, err := readLease(run, dir)
	if err != nil {
		return nil, err
	}
	now := s.now()
	if last.Held(now) && (last.Host != holder.Host || !canLock) {
		return nil, &store.HeldError{Lease: last.Lease}
	}
	// The journal is read because the names of leases may be lost: with power, or when a run is copied.
	end, err := walk(run, dir, func(store.Record) bool { return true })
	unreadable := errors.As(err, new(*store.DamageError)) || errors.As(err, new(*store.FormatError))
	if err != nil && !unreadable { // Read and Append report records that cannot be read
		return nil, err
	}
	token := max(last.Token, end.token) + 1
	lease := leaseRecord{store.Lease{Run: run, Token: token, Holder: holder, Since: now, Expires: now.Add(ttl)}, last.Journal}
	if last.Host == "" {
		lease.Journal = cmp.Or(end.part, journalName)
	}
	if last.Host != "" && last.Host != holder.Host || partToken(lease.Journal) < partToken(end.part) {
		lease.Journal = fmt.Sprintf("%s-%d", journalName, token)
	}
	file, mine, err := createLease(leaseFile(dir, token), lease)
	if errors.Is(err, fs.ErrExist) {
		return nil, s.heldError(run, dir)
	} else if err != nil {
		return nil, err
	}
	err = s.settle(run, dir, token)
	if err == nil && partToken(last.Journal) > 0 && partToken(last.Journal) == last.Token && end.token < last.Token && end.last > 0 && lease.Journal != last.Journal {
		err = seal(filepath.Join(dir, last.Journal))
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &hold{lease: lease.Lease, file: file, journal: &journal{store: s, run: run, dir: dir, token: token, name: lease.Journal,
		lease: leaseFile(dir, token), mine: mine, end: end, known: end.part == lease.Journal && !unreadable}}, nil
}

// settle removes the files of leases with tokens below token. If there is a lease with a larger token, settle
// removes the new lease: its holder was late, and the token was acquired and released by another holder
// before.
func (s *Store) settle(run, dir string, token uint32) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	last, files := leaseFiles(entries)
	if last != token {
		return cmp.Or(os.Remove(leaseFile(dir, token)), s.heldError(run, dir))
	}
	for _, name := range files {
		if name != filepath.Base(leaseFile(dir, token)) {
			os.Remove(filepath.Join(dir, name)) // if it stays, it is ignored: its token is smaller
		}
	}
	return nil
}

// seal creates the file of a journal that its holder has not created yet. That holder may have checked its
// lease and be about to write its first records, which would replace records of earlier holders that the new
// holder has read.
func seal(name string) error {
	for {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err := createPart(name)
		if err == nil {
			err = setExpiry(name, time.Time{}) // the time of the run remains the time of its last record
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// createPart creates a file of a journal. The error is fs.ErrExist if it already exists.
func createPart(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func leaseFile(dir string, token uint32) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%d", leasePrefix, token))
}

// createLease creates the file of a lease. The error is fs.ErrExist if another process has created it. The
// file stays open, so that no other file can have its identity, which is also returned. The file is not
// flushed, because a loss of power also ends its holder.
func createLease(name string, lease leaseRecord) (*os.File, fs.FileInfo, error) {
	data, err := json.Marshal(lease)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".tmp-*")
	if err != nil {
		return nil, nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	err = cmp.Or(err, setExpiry(f.Name(), lease.Expires))
	if err == nil {
		err = os.Link(f.Name(), name)
	}
	var info fs.FileInfo
	if err == nil {
		info, err = f.Stat()
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// setExpiry sets the time at which a lease expires, which is the time of its file. The zero time, of a lease that
// was released, is the beginning of 1970.
func setExpiry(name string, expires time.Time) error {
	if expires.IsZero() {
		expires = time.Unix(0, 0)
	}
	return os.Chtimes(name, expires, expires)
}

// readLease returns the last lease of a run, and the names of the files of all its leases. Without a lease its
// Token is 0.
func readLease(run, dir string) (lease leaseRecord, files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return lease, nil, err
	}
	token, files := leaseFiles(entries)
	if token > 0 {
		lease, err = openLease(leaseFile(dir, token), token)
		if errors.Is(err, fs.ErrNotExist) { // another holder has replaced it
			return readLease(run, dir)
		}
	}
	lease.Run = run
	return lease, files, err
}

// leaseFiles returns the token of the last lease among the files of a run, and the names of the files of all.
func leaseFiles(entries []fs.DirEntry) (last uint32, files []string) {
	for _, e := range entries {
		if token, ok := numbered(e.Name(), leasePrefix); ok {
			files = append(files, e.Name())
			last = max(last, token)
		}
	}
	return last, files
}

// openLease reads the file of a lease. A file that cannot be parsed was not flushed before a loss of power:
// its holder is unknown, and its process has ended.
func openLease(name string, token uint32) (lease leaseRecord, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return lease, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return lease, err
	}
	if json.Unmarshal(data, &lease) != nil {
		lease = leaseRecord{}
	} else if lease.Expires = info.ModTime(); isReleased(info) {
		lease.Expires = time.Time{}
	}
	lease.Token = token
	return lease, nil
}

// live returns the lease of a run if its holder is alive as far as this host can know. Entries are the files of the
// run.
func (s *Store) live(run string, entries []fs.DirEntry) (store.Lease, bool, error) {
	token, _ := leaseFiles(entries)
	if token == 0 {
		return store.Lease{}, false, nil
	}
	s.mu.Lock()
	if h := s.held[run]; h != nil && h.journal.checkLease() == nil {
		defer s.mu.Unlock()
		return h.lease, true, nil
	}
	s.mu.Unlock()
	dir := s.RunDir(run)
	info, err := os.Stat(leaseFile(dir, token))
	if err == nil && isReleased(info) {
		return store.Lease{}, false, nil
	}
	lease, _, err := readLease(run, dir)
	if err != nil || lease.Expires.IsZero() {
		return store.Lease{}, false, err
	}
	if lease.Host == s.host && canLock {
		return lease.Lease, isLocked(filepath.Join(dir, "lock-"+escape(s.host))), nil
	}
	return lease.Lease, lease.Held(s.now()), nil
}

// isReleased reports whether the file belongs to a lease that was released.
func isReleased(file fs.FileInfo) bool { return file.ModTime().Unix() == 0 }
