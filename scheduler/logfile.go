package scheduler

import (
	"io"
	"log/slog"
	"sync"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
	"github.com/wavefold/wavefold/store"
)

// maxLogFile limits the bytes that a process adds to the log of a run.
const maxLogFile = 64 << 20

// logFile keeps the log and progress events of a stored run. They may be incomplete, so after an
// error of the store the logFile only stops recording them.
type logFile struct {
	run  string
	to   store.Attacher
	mask func() secret.Masker

	mu    sync.Mutex // guards all below
	file  io.WriteCloser
	line  []byte
	size  int
	ended bool
}

// logged reports whether log and progress events are wanted.
func (r *run) logged() bool { return r.events != nil || r.logs != nil }

// log passes a log or progress event to the listener, and to the log of a stored run.
func (r *run) log(e core.Event) {
	if r.events != nil {
		r.events.add(e)
	}
	if r.logs != nil {
		r.logs.add(r.logs.mask().Event(e))
	}
}

func (l *logFile) add(e core.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	if l.size > maxLogFile {
		e = core.Event{V: e.V, Type: core.LogLine, Run: e.Run, Time: e.Time, Severity: slog.LevelWarn.String(),
			Log: "the log records and the progress from here on are not kept: there are too many"}
		l.ended = true
	}
	var err error
	if l.line, err = e.AppendJSON(l.line[:0]); err != nil {
		return
	}
	if l.file == nil {
		if l.file, err = l.to.Attach(l.run, store.LogFile); err != nil {
			l.file, l.ended = nil, true
			return
		}
	}
	l.line = append(l.line, '\n')
	l.size += len(l.line)
	if _, err := l.file.Write(l.line); err != nil {
		l.ended = true
	}
}

// close ends the log. Handlers that were left behind may still log.
func (l *logFile) close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.file != nil {
		_ = l.file.Close()
	}
}
