package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file/internal/record"
)

// maxSpare limits the buffer that a journal keeps between appends.
const maxSpare = 1 << 20

// journal is the journal of a run whose lease a holder of this store has.
type journal struct {
	store *Store
	run   string
	dir   string
	token uint32
	lease string      // the name of the file of the lease: the holder has the lease as long as the file is there
	mine  fs.FileInfo // the identity of that file: after a run was removed, another run can have its name and tokens
	name  string      // of the file to which records are appended; a holder on another host appends to another file

	mu       sync.Mutex // guards the fields below
	end      tail       // of the journal when the lease was taken
	known    bool       // whether it still ends there
	file     appendFile // nil before the first append
	last     uint64     // the number of the last record in the file
	unsynced bool       // whether something was written and not flushed
	named    bool       // whether the names of the file and its folder have been flushed
	spare    []byte
	err      error // why no more records can be written
}

// append writes records with one call, and flushes them if flush is set.
func (j *journal) append(recs []store.Record, flush bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if err := j.checkLease(); err != nil {
		return j.fail(err)
	}
	if len(recs) > 0 {
		if err := j.write(recs); err != nil {
			return err
		}
	}
	if flush && j.unsynced {
		return j.sync()
	}
	return nil
}

// checkLease returns an error if another holder has taken the lease.
func (j *journal) checkLease() error {
	info, err := os.Lstat(j.lease)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, j.mine) {
		return j.store.fenced(j.run, j.token)
	}
	return err
}

func (j *journal) write(recs []store.Record) error {
	buf := j.spare[:0]
	if j.file == nil {
		created, err := j.open(recs)
		if err != nil {
			return err
		}
		if created {
			buf = append(buf, record.Magic...)
		}
	} else if err := store.CheckAppend(j.run, j.last, recs); err != nil {
		return err
	}
	for _, rec := range recs {
		rec.Token = j.token
		buf = record.Append(buf, rec)
	}
	if cap(buf) <= maxSpare {
		j.spare = buf
	}
	j.unsynced = true
	if _, err := j.file.Write(buf); err != nil {
		return j.fail(err)
	}
	j.last = recs[len(recs)-1].Seq
	return nil
}

// open opens the last file of the journal, or a new one, for the first records of this holder. It reports whether
// the file is new.
func (j *journal) open(recs []store.Record) (created bool, err error) {
	end := j.end
	if !j.known {
		if end, err = walk(j.run, j.dir, func(store.Record) bool { return true }); err != nil {
			return false, j.fail(err)
		}
	}
	isNew := end.part != j.name
	if isNew && end.last > 0 {
		// Records from here on are replaced: they were written by a holder that had lost its lease.
		end.last = min(end.last, max(recs[0].Seq, 2)-1)
	}
	if isNew {
		end.offset, end.torn = 0, 0
		if _, err := os.Lstat(filepath.Join(j.dir, j.name)); err == nil { // must not be cut
			return false, j.fail(fmt.Errorf("%s exists and is not the last file of the journal", filepath.Join(j.dir, j.name)))
		}
	}
	if err := store.CheckAppend(j.run, end.last, recs); err != nil {
		return false, err
	}
	name := filepath.Join(j.dir, j.name)
	if partToken(j.name) > 0 {
		if isNew {
			err = createPart(name)
		}
		if err = errors.Join(err, j.syncParts()); err != nil {
			return false, j.fail(err)
		}
	}
	if end.torn > 0 {
		j.store.warn(fmt.Sprintf("%s: %d bytes of an incomplete record after record %d were removed", name, end.torn, end.last))
	}
	if j.file, err = j.store.open(name, end.offset); err != nil {
		j.file = nil
		return false, j.fail(err)
	}
	return end.offset == 0, nil
}

// syncParts flushes the files of earlier holders, whose last records may not be on the disk yet. Records that
// follow them must not survive without them.
func (j *journal) syncParts() error {
	parts, err := openParts(j.dir)
	closeParts(parts)
	for _, p := range parts {
		f, oerr := os.OpenFile(filepath.Join(j.dir, p.name), os.O_WRONLY, 0)
		if oerr == nil {
			oerr = errors.Join(syncData(f), f.Close())
		}
		err = errors.Join(err, oerr)
	}
	return err
}

// sync flushes the file. The first call also flushes the name of the file and the name of its
// folder.
func (j *journal) sync() error {
	j.store.flushes <- struct{}{}
	defer func() { <-j.store.flushes }()
	err := j.file.Sync()
	if err == nil && !j.named {
		err = errors.Join(syncDir(j.dir), syncDir(filepath.Dir(j.dir)))
	}
	j.unsynced, j.named = false, true
	if err != nil {
		return j.fail(err)
	}
	return nil
}

// fail makes all later appends fail with err. After a failed write the end of the file is not known. After a
// failed flush it is not known which data is on the disk.
func (j *journal) fail(err error) error {
	j.err = err
	return err
}

// close flushes and closes the file. It returns the error of the journal, if it has one.
func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	if j.err == nil && j.unsynced {
		if j.err = j.checkLease(); j.err == nil {
			j.sync() // keeps its error
		}
	}
	err := errors.Join(j.err, j.file.Close())
	j.file = nil
	if j.err == nil {
		j.err = &store.FencedError{Run: j.run, Token: j.token}
	}
	return err
}

// reopen makes the next append find the end of the journal again.
func (j *journal) reopen() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err, j.known = nil, false
}
