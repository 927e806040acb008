package scheduler

// signOfLife records that a handler is active, if a walk needs to know.
func (r *run) signOfLife() {
	if r.watched.Load() {
		r.sign.Store(r.now())
	}
}
