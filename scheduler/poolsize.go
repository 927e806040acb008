package scheduler

import "time"

// poolSize decides how many workers a run uses. Waking a core takes about 15 µs, and workers that
// return to the machine all the time wait for each other. So more workers only help if handlers
// run long enough.
type poolSize struct {
	procs int   // processors that Go uses
	mean  int64 // moving average of the time that a handler runs, in nanoseconds; 0 if nothing was measured
	last  int64 // the last measured time
}

const (
	// shortHandler is the time of a handler below which one worker alone is the fastest.
	shortHandler = 400
	// longHandler is the time of a handler from which there may be more workers than processors:
	// handlers that take so long may be waiting for something.
	longHandler = 5_000
	// measureEvery is the number of short commands of a worker of which one is measured, because
	// looking at the clock takes a good part of the time of an empty handler.
	measureEvery = 8
	// heldUp is the time after which a handler no longer counts as one that is about to return.
	heldUp = 50 * time.Microsecond
)

// add adds a measured time. A clock that did not advance says nothing. Of two times in a row the
// shorter one counts, because a handler also takes long if its goroutine is interrupted.
func (s *poolSize) add(d int64) {
	if d <= 0 {
		return
	}
	if s.mean == 0 {
		s.mean, s.last = d, d
		return
	}
	s.mean = max(1, (s.mean+min(d, s.last))/2)
	s.last = d
}

// workers returns the number of workers that may run at the same time, not counting those whose
// handlers hold them up.
func (s *poolSize) workers() int {
	switch {
	case s.mean == 0 || s.mean >= longHandler:
		return int(^uint(0) >> 1)
	case s.mean < shortHandler:
		return 1
	}
	return s.procs
}

// measures reports whether the next command of a worker is to be measured.
func (s *poolSize) measures(commands int) bool {
	return s.mean >= 1000 || commands%measureEvery == 0
}

// crowded reports whether there are more workers than are of use.
func (r *run) crowded() bool { return r.active() > r.maxWorkers() }

// maxWorkers returns the number of workers that may be active.
func (r *run) maxWorkers() int {
	if r.opts.Mock != nil { // its answers are given in the order of the calls
		return 1
	}
	return r.poolSize.workers()
}

// active returns the number of workers that are awake and not held up.
func (r *run) active() int { return r.alive - r.idle - r.held }

// watchQueue makes sure that the queue does not wait for a handler that takes longer than the ones
// before it. It is called when commands are queued and no further worker is started.
func (r *run) watchQueue() {
	if r.queueWatch != nil {
		return
	}
	r.queueWatch = r.after(heldUp, func() {
		r.queueWatch = nil
		if r.over || r.head == len(r.queue) {
			return
		}
		now := r.now()
		for _, w := range r.workers {
			if d := now - w.began; w.busy && !w.held && d >= int64(heldUp) {
				w.held = true
				r.held++
				r.poolSize.add(d)
			}
		}
		r.nudge()
	})
}

// release counts a worker whose handler has returned as active again.
func (r *run) release(w *worker) {
	if w.held {
		w.held = false
		r.held--
	}
}
