package scheduler

// signOfLife notes that a handler is at work, if a walk wants to know.
func (r *run) signOfLife() {
	if r.watched.Load() {
		r.sign.Store(r.now())
	}
}
