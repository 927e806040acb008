package jsonpath

import (
	"errors"
	"fmt"
)

// Limits of one evaluation. In JSONPath, every ".." starts again from each match of the
// previous one. A path with a few steps can therefore select the same values many
// times, and exhaust memory or time.
const (
	// MaxMatches is the maximum number of values a path may select. The result then
	// takes 160 MB, not counting the values, which are shared.
	MaxMatches = 10_000_000
	// MaxWork is the maximum number of steps to a member or element, whether or not it
	// matches. It takes about two seconds. A path that visits each value once stays
	// below it for any data that fits into memory.
	MaxWork = 100_000_000
)

// ErrStopped is returned if the caller stopped the evaluation.
var ErrStopped = errors.New("following the path was stopped")

// LimitError reports a path that exceeds MaxMatches or MaxWork. Another evaluation of the
// same value would exceed it too.
type LimitError struct{ message string }

// Error returns a message that names the path and the limit.
func (e *LimitError) Error() string { return e.message }

// checkInterval is the amount of work between two checks of the limit and of stop. It
// takes about ten microseconds.
const checkInterval = 1 << 10

// spend accounts for n units of work before they are done. It returns false if the
// evaluation must stop.
func (w *walker) spend(n int) bool {
	w.paid -= n
	return w.paid >= 0 || w.pay()
}

func (w *walker) pay() bool {
	if w.work <= 0 {
		return false
	}
	if w.stopped = w.stop != nil && w.stop(); w.stopped {
		return false
	}
	advance := min(w.work, checkInterval-w.paid)
	w.work -= advance
	w.paid += advance
	return w.paid >= 0
}

// failure returns the error for an evaluation that ended early.
func (w *walker) failure(p *Path) error {
	switch {
	case w.stopped:
		return fmt.Errorf("%s: %w", p.text.Value, ErrStopped)
	case w.tooMany:
		return tooMuch("%s gives more than %d values", p.text.Value, w.maxMatches)
	}
	return tooMuch("%s looks at too many values: gave up after %d steps with %d matches", p.text.Value, w.maxWork, len(w.out))
}

func tooMuch(format string, args ...any) error {
	return &LimitError{fmt.Sprintf(format, args...)}
}
