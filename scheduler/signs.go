package scheduler

import "github.com/wavefold/wavefold/core"

// signOfLife records that a handler is active, if a walk needs to know.
func (r *run) signOfLife() {
	if r.watched.Load() {
		r.sign.Store(r.now())
	}
}

// livelyReports returns what receives the progress of handlers without a reporter of their own: it only
// records that they are active.
func (r *run) livelyReports() *core.Reports {
	r.lively.Do(func() {
		r.livelyRoom.Report = func(core.Input, int64, int64) { r.signOfLife() }
	})
	return &r.livelyRoom
}
