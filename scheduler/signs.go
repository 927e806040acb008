package scheduler

import (
	"context"
	"log/slog"
)

// signOfLife notes that a handler is at work, if a walk wants to know.
func (r *run) signOfLife() {
	if r.watched.Load() {
		r.sign.Store(r.now())
	}
}

// signs is the log of a handler whose records nobody reads.
type signs struct {
	slog.Handler
	run *run
}

// Enabled tells of the record; it is not made.
func (s signs) Enabled(context.Context, slog.Level) bool {
	s.run.signOfLife()
	return false
}

// WithAttrs returns s: nobody reads attributes.
func (s signs) WithAttrs([]slog.Attr) slog.Handler { return s }

// WithGroup returns s.
func (s signs) WithGroup(string) slog.Handler { return s }
