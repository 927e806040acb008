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

// maxQueue is the number of bytes from which Append waits until they are flushed, so that a slow disk does not
// fill the memory.
const maxQueue = 4 << 20

// journal is the journal of a run that a holder of this store writes. Appending frames records
// into a queue, which the writer empties.
type journal struct {
	store *Store
	run   string
	dir   string
	token uint32
	lease string // the file of the lease: the holder has the lease as long as it is there
	fresh bool   // whether records go to a new file, because the last holder was on another host

	mu      sync.Mutex // guards all up to the blank line
	opened  bool
	last    uint64       // the number of the last record in the queue or the file
	queue   []byte       // what is to be written
	spare   []byte       // an earlier queue, for reuse
	waiting []chan error // callers that wait for the next flush
	closing bool
	err     error // why nothing can be written any more

	queued bool // whether it is in writer.dirty; guarded by writer.mu

	// The writer's own:
	name     string // of the file, without folder
	size     int64  // at which the file is opened
	file     appendFile
	created  bool         // whether the names of the file and its folder have not been flushed
	unsynced int          // bytes that were written and not flushed
	flushing []chan error // callers that wait for the current flush
}

// add puts records into the queue. The channel, which is nil if the caller need not wait, receives the result of the
// flush.
func (j *journal) add(recs []store.Record, flush bool) (<-chan error, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil && j.closing {
		j.err = j.store.fenced(j.run, j.token)
	}
	if j.err != nil {
		return nil, j.err
	}
	if !j.opened {
		if len(recs) == 0 {
			return nil, nil
		}
		if j.err = j.open(recs[0].Seq); j.err != nil {
			return nil, j.err
		}
	}
	if err := store.CheckAppend(j.run, j.last, recs); err != nil {
		return nil, err
	}
	if !j.opened {
		j.opened = true
		if j.size == 0 {
			j.queue = append(j.queue, record.Magic...)
		}
	}
	for _, rec := range recs {
		rec.Token = j.token
		j.queue = record.Append(j.queue, rec)
		j.last = rec.Seq
	}
	var done chan error
	if flush || len(j.queue) > maxQueue {
		done = make(chan error, 1)
		j.waiting = append(j.waiting, done)
	}
	j.store.writer.wake(j)
	return done, nil
}

// open finds the end of the journal before the first append, whose first record has the number next.
func (j *journal) open(next uint64) error {
	end, err := walk(j.run, j.dir, func(store.Record) bool { return true })
	if err != nil {
		return err
	}
	if end.token > j.token {
		return fmt.Errorf("run %s has records with token %d, and the lease has token %d: a file of a lease was lost", j.run, end.token, j.token)
	}
	j.last, j.name, j.size = end.last, end.part, end.offset
	switch {
	case j.fresh && end.last > 0:
		j.name, j.size = fmt.Sprintf("%s-%d", journalName, j.token), 0
		j.last = min(j.last, max(next, 2)-1) // records from next on are those of a holder that had lost its lease
	case j.name == "":
		j.name = journalName
	case end.torn > 0:
		j.store.warn(fmt.Sprintf("%s: %d bytes of an incomplete record after record %d were removed", filepath.Join(j.dir, j.name), end.torn, end.last))
	}
	return nil
}

// write hands the queue to the operating system. Only the writer calls it.
func (j *journal) write() {
	j.mu.Lock()
	queue, err := j.queue, j.err
	j.queue, j.flushing, j.waiting = j.spare[:0], j.waiting, nil
	j.mu.Unlock()
	if err == nil && len(queue) > 0 {
		if err = j.writeFile(queue); err != nil {
			j.fail(err)
		}
	}
	if cap(queue) <= maxQueue {
		j.mu.Lock()
		j.spare = queue
		j.mu.Unlock()
	}
}

func (j *journal) writeFile(data []byte) error {
	if _, err := os.Lstat(j.lease); errors.Is(err, fs.ErrNotExist) {
		return j.store.fenced(j.run, j.token)
	} else if err != nil {
		return err
	}
	if j.file == nil {
		file, err := j.store.open(filepath.Join(j.dir, j.name), j.size)
		if err != nil {
			return err
		}
		j.file, j.created = file, j.size == 0
	}
	n, err := j.file.Write(data)
	j.unsynced += n
	return err
}

// sync flushes what was written. Only the writer calls it, and a goroutine that it waits for.
func (j *journal) sync() {
	if j.unsynced == 0 {
		return
	}
	var err error
	if j.created {
		err = j.syncNew()
	} else {
		err = j.file.Sync()
	}
	j.unsynced, j.created = 0, false
	if err != nil {
		j.fail(err)
	}
}

// syncNew flushes the file, its name and that of its folder. Flushes at the same time share much of their work.
func (j *journal) syncNew() error {
	var errs [3]error
	var wg sync.WaitGroup
	wg.Go(func() { errs[0] = syncDir(j.dir) })
	wg.Go(func() { errs[1] = syncDir(filepath.Dir(j.dir)) })
	errs[2] = j.file.Sync()
	wg.Wait()
	return errors.Join(errs[:]...)
}

// fail makes all later appends fail. The first error stays.
func (j *journal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = err
	}
}

// answer gives the callers that wait for the flush its result, and reports whether the journal is to
// be closed.
func (j *journal) answer() (closing bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, done := range j.flushing {
		done <- j.err
	}
	j.flushing = nil
	return j.closing
}

// close flushes the queue and closes the file. It returns the error of the journal, if it has one.
func (j *journal) close() error {
	done := make(chan error, 1)
	j.mu.Lock()
	j.closing = true
	j.waiting = append(j.waiting, done)
	j.mu.Unlock()
	j.store.writer.wake(j)
	return <-done
}
