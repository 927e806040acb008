package jsonpath

import (
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core"
)

// Limits of one walk. Every ".." may start anew in whatever the one before it
// found, as JSONPath has it, so a path of a few steps can select the same values
// more often than there is memory or time for.
const (
	// MaxMatches is the largest number of values that a path gives: a list of
	// 160 MB, not counting the values, which are shared.
	MaxMatches = 10_000_000
	// MaxWork is the largest number of steps to a member or an element that a path
	// takes, whether it matches or not: some two seconds. A path that looks at each
	// value once stays below it in all data that fits into memory.
	MaxWork = 100_000_000
)

// ErrStopped is the error of a walk whose caller wanted it to stop.
var ErrStopped = errors.New("following the path was stopped")

// askEvery is the work between two looks at the limit and at stop. It costs some
// ten microseconds.
const askEvery = 1 << 10

// spend pays for n units of work in advance.
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
	advance := min(w.work, askEvery-w.paid)
	w.work -= advance
	w.paid += advance
	return w.paid >= 0
}

// failure words why a walk ended early.
func (w *walker) failure(p *Path) error {
	switch {
	case w.stopped:
		return fmt.Errorf("%s: %w", p.text.Value, ErrStopped)
	case w.full:
		return tooMuch("%s gives more than %d values", p.text.Value, w.matches)
	}
	return tooMuch("%s looks at too many values: gave up after %d steps with %d matches", p.text.Value, w.limit, len(w.out))
}

func tooMuch(format string, args ...any) error {
	return &core.Failure{Class: core.ClassInput, Permanent: true, Message: fmt.Sprintf(format, args...)}
}
