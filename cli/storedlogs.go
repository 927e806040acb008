package cli

import (
	"errors"
	"io"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/eventlog"
	"github.com/wavefold/wavefold/store"
)

// storedLogs reads the log and progress events of a stored run, to be put between its other events.
type storedLogs struct {
	in   *eventlog.Reader
	file io.Closer
	next core.Event
	seq  int64 // of the last other event
	err  error // io.EOF after the last event
}

// openLogs opens the log of a stored run. The caller closes it.
func (r *storedRun) openLogs() (*storedLogs, error) {
	files, err := r.files()
	if err != nil {
		return nil, err
	}
	file, err := files.Attached(r.Run, store.LogFile)
	if errors.Is(err, store.ErrNotFound) {
		return &storedLogs{err: io.EOF}, nil
	}
	if err != nil {
		return nil, &exitError{exitFailed, err}
	}
	l := &storedLogs{in: eventlog.NewReader(file), file: file}
	l.advance()
	return l, nil
}

// advance reads the next event. It leaves out lines that a crash has cut off.
func (l *storedLogs) advance() {
	for {
		l.err = l.in.Next(&l.next)
		if !errors.As(l.err, new(*eventlog.Error)) {
			return
		}
	}
}

// before writes the events up to a time, all of them if it is zero, with the number of the event before them.
func (l *storedLogs) before(t time.Time, write func(*core.Event) error) error {
	for l.err == nil && (t.IsZero() || l.next.Time.Before(t)) {
		l.next.Seq = l.seq
		if err := write(&l.next); err != nil {
			return err
		}
		l.advance()
	}
	if l.err != nil && l.err != io.EOF {
		return l.err
	}
	return nil
}

func (l *storedLogs) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
