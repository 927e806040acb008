package file

import (
	"sync"
	"time"
)

const (
	flushAfter  = 10 * time.Millisecond // after a write for whose flush no caller waits
	flushBytes  = 1 << 20               // unflushed bytes of a journal that are flushed at once
	maxParallel = 8                     // files that are flushed at once: a disk flushes eight in a third of the time
)

// writer is the goroutine that writes all journals of a store. While it writes and flushes, records
// gather in the queues of the journals, so the next round handles them together.
type writer struct {
	signal chan struct{} // has room for one: a signal that waits covers later ones
	quit   chan struct{}
	done   chan struct{}

	mu    sync.Mutex
	dirty []*journal // those with something to do, in order of arrival; guarded by mu

	unsynced map[*journal]bool // those that were written and not flushed; the goroutine's own
}

func newWriter() *writer {
	w := &writer{signal: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}), unsynced: map[*journal]bool{}}
	go w.run() // stop ends it
	return w
}

// stop ends the goroutine and waits for it. All journals have been closed.
func (w *writer) stop() {
	close(w.quit)
	<-w.done
}

// wake makes the writer handle a journal soon.
func (w *writer) wake(j *journal) {
	w.mu.Lock()
	if !j.queued {
		j.queued = true
		w.dirty = append(w.dirty, j)
	}
	w.mu.Unlock()
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

func (w *writer) run() {
	defer close(w.done)
	timer := time.NewTimer(flushAfter)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-w.signal:
			armed := len(w.unsynced) > 0
			if w.round(w.take(), false); !armed && len(w.unsynced) > 0 {
				timer.Reset(flushAfter)
			}
		case <-timer.C:
			w.round(w.take(), true)
		case <-w.quit:
			return
		}
	}
}

// take returns the journals that have something to do.
func (w *writer) take() []*journal {
	w.mu.Lock()
	defer w.mu.Unlock()
	dirty := w.dirty
	w.dirty = nil
	for _, j := range dirty {
		j.queued = false
	}
	return dirty
}

// round writes the queues of journals and flushes those for which a caller waits, or all that were
// written.
func (w *writer) round(dirty []*journal, all bool) {
	var flush []*journal
	for _, j := range dirty {
		j.write()
		switch {
		case len(j.flushing) > 0 || j.unsynced >= flushBytes:
			flush = append(flush, j)
			delete(w.unsynced, j)
		case j.unsynced > 0:
			w.unsynced[j] = true
		}
	}
	if all {
		for j := range w.unsynced {
			flush = append(flush, j)
		}
		clear(w.unsynced)
	}
	syncAll(flush)
	for _, j := range flush {
		if j.answer() && j.file != nil {
			j.file.Close() // it has been flushed
			j.file = nil
		}
	}
}

// syncAll flushes journals, several at once.
func syncAll(list []*journal) {
	if len(list) == 1 {
		list[0].sync()
		return
	}
	next := make(chan *journal, len(list))
	for _, j := range list {
		next <- j
	}
	close(next)
	var wg sync.WaitGroup
	for range min(maxParallel, len(list)) {
		wg.Go(func() {
			for j := range next {
				j.sync()
			}
		})
	}
	wg.Wait()
}
