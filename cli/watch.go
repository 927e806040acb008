package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wavefold/wavefold/cli/internal/screen"
	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/incremental"
	"github.com/wavefold/wavefold/internal/runview"
	"github.com/wavefold/wavefold/nodes/command"
	"github.com/wavefold/wavefold/scheduler"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Values of --log.
const (
	logAuto  = "auto" // a tree on a terminal, lines elsewhere
	logLines = "lines"
	logJSON  = "json" // one JSON object per event, as in an event log
	logNone  = "none"
)

var logForms = []string{logAuto, logLines, logJSON, logNone}

// watcher passes the events of a run on to the event log, and to the live tree or the line
// output. The scheduler calls it on one goroutine; a slow disk or pipe can block that
// goroutine beyond the end of the run.
type watcher struct {
	log       *eventLog
	live      *screen.Live
	lines     *lineWriter
	json      *eventLog
	err       io.Writer
	width     func() int // width of err if it is a terminal, else 0
	runs      inProgress
	omitState bool          // events are written without the final state
	gate      *questionGate // questions at the terminal; nil if none are asked there
	last      chan struct{} // closed after the last event
	delivered atomic.Int64  // number of events written and shown
	event     core.Event    // the current event, used by the listener only
	unflushed int64         // events that the listener has been given since the last flush
	over      atomic.Bool   // the run has ended; events may still be queued
}

// watch sets up the outputs that the flags of run ask for.
func (a *app) watch(p *plan.Plan, f *runFlags) (*watcher, error) {
	w := &watcher{err: a.Err, width: func() int { return widthOf(a.Err) }, omitState: f.noState, last: make(chan struct{})}
	if f.events != "" {
		var err error
		if w.log, err = a.openEvents(f.events, f.resumed); err != nil {
			return nil, err
		}
	}
	if f.quiet || f.log == logNone {
		return w, nil
	}
	if f.log == logJSON {
		w.json = newEventLog(a.Err)
		return w, nil
	}
	out, isTerminal := terminal(a.Err)
	_, mixed := terminal(a.Out)
	mixed = mixed && (f.events == "-" || f.stdoutTaken) // two writers would overwrite each other
	if isTerminal && f.log != logLines && !mixed && a.Getenv("TERM") != "dumb" {
		size := func() (int, int) { return sizeOf(out) }
		w.live = screen.Start(out, size, runview.New(p.Describe()), a.palette(a.Err))
		abandon := w.live.Abandon
		a.abandon.Store(&abandon)
		return w, nil
	}
	if !mixed || f.log == logLines {
		w.lines = &lineWriter{out: a.Err, palette: a.palette(a.Err)}
	}
	return w, nil
}

// listener returns the listener for the scheduler. It is nil if no output needs events, so
// that the run does not create any.
func (w *watcher) listener() func(core.Event) {
	if w.log == nil && w.live == nil && w.lines == nil && w.json == nil {
		return nil
	}
	return func(event core.Event) {
		w.event = event
		e := &w.event
		w.runs.apply(e)
		if w.omitState {
			e.State = nil
		}
		full := w.log != nil && w.log.write(e)
		if w.live != nil {
			w.live.Apply(e)
			if e.Type == core.LogLine {
				w.live.Print(logLine(e))
			}
		}
		if w.lines != nil {
			w.lines.write(e)
		}
		full = w.json != nil && w.json.write(e) || full
		w.unflushed++
		if full || e.Type == core.RunFinished || e.Type == core.RunHeld {
			w.flush()
		}
		switch {
		case e.Type == core.NodeAsked && w.gate != nil:
			close(w.gate.of(question{e.Execution(), e.Visit, e.Attempt}))
		case e.Type == core.RunFinished || e.Type == core.RunHeld:
			close(w.last)
		}
	}
}

// replayed returns the listener for the events of earlier processes of a resumed run: they are shown as
// the state of the tree, and not written again. It is nil if they are not needed.
func (w *watcher) replayed(s *incremental.Session) func(core.Event) {
	if s == nil && w.live == nil {
		return nil
	}
	return func(e core.Event) {
		if s != nil {
			s.Listen(e)
		}
		if w.live != nil {
			w.live.Apply(&e)
		}
	}
}

// flush writes the lines of events that wait to be written together. The scheduler calls it when no
// further event waits.
func (w *watcher) flush() {
	if w.log != nil {
		w.log.flush()
	}
	if w.json != nil {
		w.json.flush()
	}
	w.delivered.Add(w.unflushed)
	w.unflushed = 0
}

// say prints a message about the run, above the tree if there is one. On a terminal it
// wraps lines between words.
func (w *watcher) say(text string) {
	if w.json != nil {
		w.json.write(&core.Event{V: core.EventVersion, Type: core.LogLine, Time: time.Now(), Severity: slog.LevelWarn.String(), Log: text})
		w.json.flush()
		return
	}
	for _, line := range tty.Wrap(tty.Safe(text), w.width()-1) { // some terminals wrap at the last column
		if w.live != nil {
			w.live.Print(string(line))
			continue
		}
		tty.Fprintf(w.err, "%s\n", line)
	}
}

// announceInterrupt prints what the command waits for when ctx ends, and again when running nodes are
// killed. The function it returns stops the goroutine that does so and waits for it.
func (w *watcher) announceInterrupt(ctx context.Context) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
		case <-quit:
			if ctx.Err() == nil {
				return
			}
		}
		why := "interrupted"
		switch cause := context.Cause(ctx).(type) {
		case interruption:
			why = cause.Error()
		default:
			if cause == errBrokenPipe {
				why = errBrokenPipe.Error()
			}
		}
		if w.over.Load() {
			w.say(fmt.Sprintf("%s: the run has ended; the reader of its events has %s to read the rest", why, scheduler.DefaultGrace))
			return
		}
		w.say(fmt.Sprintf("%s: waiting for %s to end; programs are killed after %s, or at once if you interrupt again", why, &w.runs, command.Grace))
		select {
		case <-core.Aborted(ctx):
			w.say("interrupted again: killing what runs")
		case <-quit:
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// suspend suspends the display of the run until resume is called, so that another user
// of the terminal can write to it. Files and JSON output continue.
func (w *watcher) suspend() (resume func()) {
	switch {
	case w.live != nil:
		w.live.Suspend()
		return w.live.Resume
	case w.lines != nil:
		w.lines.suspend()
		return w.lines.resume
	}
	return func() {}
}

// close ends the output. unheard is the number of events that were still queued at the end of
// the run because their reader is slow. close waits for them, since a log without its end
// would be of little use: not at all if ctx has ended, and for at most the grace period of a
// run if ctx ends while it waits. It returns an error if a log is incomplete.
func (w *watcher) close(ctx context.Context, undelivered int64) error {
	w.over.Store(true)
	before := w.delivered.Load()
	if undelivered > 0 && !w.finish(ctx) { // the listener is still writing
		return &unwritten{max(1, undelivered-(w.delivered.Load()-before)), w.log != nil || w.json != nil}
	}
	if w.live != nil {
		w.live.Close()
	}
	if w.log != nil {
		return w.log.close()
	}
	return nil
}

// finish waits for the last event of a run that has ended, and reports whether it arrived.
func (w *watcher) finish(ctx context.Context) bool {
	select {
	case <-w.last:
		return true
	default:
	}
	if ctx.Err() != nil {
		return false
	}
	select {
	case <-w.last:
		return true
	case <-ctx.Done():
	}
	late := time.NewTimer(scheduler.DefaultGrace)
	defer late.Stop()
	select {
	case <-w.last:
		return true
	case <-core.Aborted(ctx):
	case <-late.C:
	}
	return false
}

// unwritten reports that events were dropped because their reader is too slow. log is set
// if they were for a log, which callers rely on.
type unwritten struct {
	events int64
	log    bool
}

func (u *unwritten) Error() string {
	return fmt.Sprintf("its reader is too slow, and the last %s are missing", plural(int(u.events), "event"))
}

// eventLog writes events as lines of JSON. Lines are written together while further events
// wait, and at once otherwise, so that the log is complete up to the moment a process is
// killed.
type eventLog struct {
	mu    sync.Mutex
	out   io.Writer
	lines []byte // not written yet
	close func() error
	err   error
}

// fullLog is the number of bytes that are written together.
const fullLog = 1 << 15

func newEventLog(out io.Writer) *eventLog {
	return &eventLog{out: tty.JSON(out), close: func() error { return nil }}
}

func (a *app) openEvents(path string, appended bool) (*eventLog, error) {
	if path == "-" { // the stream records its error
		return newEventLog(a.Out), nil
	}
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	var f *os.File
	if err == nil {
		how := os.O_TRUNC
		if appended { // to the events of earlier processes
			how = os.O_APPEND
		}
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o666)
	}
	if err != nil {
		return nil, fmt.Errorf("--events: %w", err)
	}
	l := newEventLog(f)
	l.close = func() error {
		if err := f.Close(); l.err == nil {
			l.err = err
		}
		return l.err
	}
	return l, nil
}

// write adds a line and reports whether the lines should be written now.
func (l *eventLog) write(e *core.Event) (full bool) {
	l.mu.Lock() // messages of the command itself come from another goroutine
	defer l.mu.Unlock()
	if l.err != nil {
		return false
	}
	if l.lines, l.err = e.AppendJSON(l.lines); l.err == nil {
		l.lines = append(l.lines, '\n')
	}
	return len(l.lines) >= fullLog
}

// flush writes the lines that were added.
func (l *eventLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == 0 {
		return
	}
	if _, err := l.out.Write(l.lines); err != nil && l.err == nil {
		l.err = err
	}
	if l.lines = l.lines[:0]; cap(l.lines) > 8*fullLog { // the final state may be large
		l.lines = nil
	}
}

// lineWriter writes one line for each event that is of interest to people.
type lineWriter struct {
	out       io.Writer
	mu        sync.Mutex
	aside     int          // calls of suspend minus calls of resume
	suspended []tty.Styled // lines to print at resume
	palette   tty.Palette
	started   time.Time
	progress  progressLines
	condenser condenser
}

func (l *lineWriter) write(e *core.Event) {
	if l.started.IsZero() {
		l.started = e.Time
	}
	for _, line := range l.lines(e) {
		at := fmt.Sprintf("%8.3fs", max(0, e.Time.Sub(l.started)).Seconds())
		l.print(tty.Sprintf("%s  %s\n", l.palette.Dim(at), line))
	}
}

func (l *lineWriter) print(line tty.Styled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.aside > 0 {
		l.suspended = append(l.suspended, line)
		return
	}
	_, _ = io.WriteString(l.out, string(line)) // the stream records its error
}

// suspend holds lines back until resume is called.
func (l *lineWriter) suspend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.aside++
}

func (l *lineWriter) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.aside--; l.aside > 0 {
		return
	}
	for _, line := range l.suspended {
		_, _ = io.WriteString(l.out, string(line))
	}
	l.suspended = nil
}

func (l *lineWriter) lines(e *core.Event) []string {
	if e.Type != core.Progress {
		condensed, progress := l.condenser.condense(e)
		if !condensed {
			return []string{lineOf(e)}
		}
		if e = progress; e == nil {
			return nil
		}
	}
	if line := l.progress.line(e); line != "" {
		return []string{line}
	}
	return nil
}
