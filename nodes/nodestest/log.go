package nodestest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// Log is a slog.Handler that keeps the records. The zero Log is ready to use. A Log is safe for
// concurrent use.
type Log struct {
	// On is called with each message if it is not nil.
	On func(message string)

	mu    sync.Mutex
	lines []string // guarded by mu
}

var _ slog.Handler = (*Log)(nil)

// Enabled returns true.
func (l *Log) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps the record.
func (l *Log) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		fmt.Fprintf(&b, " %v", a.Value)
		return true
	})
	l.mu.Lock()
	l.lines = append(l.lines, b.String())
	l.mu.Unlock()
	if l.On != nil {
		l.On(r.Message)
	}
	return nil
}

// WithAttrs returns the same log.
func (l *Log) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup returns the same log.
func (l *Log) WithGroup(string) slog.Handler { return l }

// Text returns the records so far, one on each line: the message and the values of its attributes.
func (l *Log) Text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == 0 {
		return ""
	}
	return strings.Join(l.lines, "\n") + "\n"
}
