package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/wavefold/wavefold/cli/internal/tty"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler"
)

var colorModes = []string{"auto", "always", "never"}

func (a *app) checkColor() error {
	if !slices.Contains(colorModes, a.color) {
		return fmt.Errorf("--color is %q, want auto, always or never", a.color)
	}
	return nil
}

// terminal returns the file of a stream, for input or output, if it is a terminal.
func terminal(stream any) (*os.File, bool) {
	if o, ok := stream.(*output); ok {
		stream = o.to
	}
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil, false
	}
	return f, true
}

// palette returns the colours for a stream.
func (a *app) palette(w io.Writer) tty.Palette {
	switch a.color {
	case "always":
		return tty.NewPalette(true)
	case "never":
		return tty.NewPalette(false)
	}
	_, isTerminal := terminal(w)
	return tty.NewPalette(isTerminal && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb")
}

// sizeOf returns the size of a terminal.
func sizeOf(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// widthOf returns the maximum width of lines on a stream, 0 if it is not a terminal and
// lines may have any length.
func widthOf(w io.Writer) int {
	f, ok := terminal(w)
	if !ok {
		return 0
	}
	width, _ := sizeOf(f)
	return width
}

// Reasons why a context ended.
var errBrokenPipe = errors.New("the reader of the output has gone")

// interruption is the signal that interrupted a run.
type interruption struct{ signal os.Signal }

func (i interruption) Error() string {
	switch i.signal {
	case syscall.SIGTERM:
		return "terminated"
	case syscall.SIGHUP:
		return "hung up"
	case syscall.SIGQUIT:
		return "quit"
	}
	return "interrupted"
}

// code returns the exit code, as a shell reports a program that the signal ended: 130 after
// an interrupt, 131 after SIGQUIT, 143 after SIGTERM.
func (i interruption) code() int32 {
	if s, ok := i.signal.(syscall.Signal); ok {
		return exitSignal + int32(s)
	}
	return exitInterrupted
}

// stop records the exit code of the first event that ends the command from outside.
func (a *app) stop(code int32) { a.stopped.CompareAndSwap(0, code) }

// stopCode returns the exit code of a command that was ended from outside.
func (a *app) stopCode() int {
	if code := a.stopped.Load(); code != 0 {
		return int(code)
	}
	return exitInterrupted // by the caller's context
}

// abortTimeout limits the time that a run may take to end after all its programs have been
// killed. Only Go code that ignores its context takes longer, and ends with the process.
const abortTimeout = 2 * time.Second

// maxShutdown limits the time that a command may take to end after the first interrupt, even if
// the readers of its output are blocked: the run has its grace period, and listeners
// another tenth of it.
const maxShutdown = scheduler.DefaultGrace + scheduler.DefaultGrace/10 + abortTimeout

// interruptible returns a context that is cancelled by the first interrupt during a run or
// when the reader of the output closes it. The second interrupt aborts the context: running
// programs are killed, and the process ends soon. At any other time an interrupt ends the
// process. stop stops watching for signals and waits for the watcher.
func (a *app) interruptible(ctx context.Context) (_ context.Context, stop func()) {
	abort := make(chan struct{})
	ctx, cancel := context.WithCancelCause(core.WithAbort(ctx, abort))
	signals := make(chan os.Signal, 2) // buffers two signals that arrive at once
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	if !signal.Ignored(syscall.SIGHUP) { // under nohup, SIGHUP stays ignored
		// The programs of a run are in sessions of their own: closing the terminal ends
		// only this process, and the programs would continue.
		signal.Notify(signals, syscall.SIGHUP)
	}
	// Without this, SIGPIPE would end the process at once when the reader of the output
	// closes it, as head does, and the programs of the run would continue. The signal
	// itself is ignored: the write that fails identifies the stream.
	sigpipe := make(chan os.Signal, 1)
	signal.Notify(sigpipe, syscall.SIGPIPE)
	broken := func() {
		if !a.running.Load() {
			os.Exit(exitBrokenPipe)
		}
		a.stop(exitBrokenPipe)
		cancel(errBrokenPipe)
	}
	a.out.broken, a.err.broken = broken, broken
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		cancelled := ctx.Done()
		var late, limit <-chan time.Time // nil until the run is aborted or cancelled
		for {
			var why interruption
			select {
			case s := <-signals:
				why = interruption{s}
				a.stop(why.code())
			case <-cancelled:
				cancelled, limit = nil, time.After(maxShutdown)
				continue
			case <-limit: // the reader of the output is blocked
				a.exitNow()
			case <-late:
				if !a.running.Load() { // the run has ended, and its result is being printed
					continue
				}
			case <-quit:
				return
			}
			switch {
			case !a.running.Load() || late != nil:
				a.exitNow()
			case ctx.Err() == nil:
				cancel(why)
			default:
				close(abort)
				late = time.After(abortTimeout)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(sigpipe)
		close(quit)
		<-done
		cancel(nil)
	}
}

// exitNow ends the process at once. A terminal whose output has been stopped is left
// unchanged.
func (a *app) exitNow() {
	restored := make(chan struct{})
	go func() {
		defer close(restored)
		if f := a.abandon.Load(); f != nil {
			(*f)()
		}
	}()
	select {
	case <-restored:
	case <-time.After(abortTimeout / 10):
	}
	os.Exit(a.stopCode())
}
