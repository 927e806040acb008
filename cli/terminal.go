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

// terminal returns the file behind a stream, which is read or written, if it is a terminal.
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

// sizeOf asks a terminal for its size.
func sizeOf(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// widthOf is the width to keep to on a stream, 0 when it is no terminal and lines
// may be long.
func widthOf(w io.Writer) int {
	f, ok := terminal(w)
	if !ok {
		return 0
	}
	width, _ := sizeOf(f)
	return width
}

// Why a context ended.
var errBrokenPipe = errors.New("the reader of the output has gone")

// interruption is the signal that ended a run from outside.
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

// code is the exit code, as a shell reports a program that the signal ended: 130 after an
// interrupt, 131 after SIGQUIT, 143 after SIGTERM.
func (i interruption) code() int32 {
	if s, ok := i.signal.(syscall.Signal); ok {
		return exitSignal + int32(s)
	}
	return exitInterrupted
}

// stop records the exit code of the first thing that ends the command from outside.
func (a *app) stop(code int32) { a.stopped.CompareAndSwap(0, code) }

// stopCode is the exit code of a command that was ended from outside.
func (a *app) stopCode() int {
	if code := a.stopped.Load(); code != 0 {
		return int(code)
	}
	return exitInterrupted // by the caller's context
}

// patience is how long a run may take to end once all its programs have been killed.
// Only Go code that ignores its context takes longer, and ends with the process.
const patience = 2 * time.Second

// longest is how long a command may take to end after the first interrupt, whatever the
// readers of its output do: the run has its grace period, and whoever listens a tenth more.
const longest = scheduler.DefaultGrace + scheduler.DefaultGrace/10 + patience

// interruptible returns a context that the first interrupt during a run ends, and so
// does a reader of the output that goes away. The second one aborts it: what runs is
// killed, and the process ends soon. Any other interrupt ends the process. stop ends
// the watching and waits for it.
func (a *app) interruptible(ctx context.Context) (_ context.Context, stop func()) {
	abort := make(chan struct{})
	ctx, cancel := context.WithCancelCause(core.WithAbort(ctx, abort))
	signals := make(chan os.Signal, 2) // both, if they come at once
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT)
	if !signal.Ignored(syscall.SIGHUP) { // under nohup it stays ignored
		// The programs of a run are in sessions of their own: a terminal that is
		// closed ends this process only, and they would run on.
		signal.Notify(signals, syscall.SIGHUP)
	}
	// Without this a reader that goes away, as head does, would end this process at
	// once, and the programs of the run would run on. Nobody listens to the signal
	// itself: the write that fails says whose reader it was.
	unheard := make(chan os.Signal, 1)
	signal.Notify(unheard, syscall.SIGPIPE)
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
		var late, limit <-chan time.Time // nil until the run is aborted, or cancelled
		for {
			var why interruption
			select {
			case s := <-signals:
				why = interruption{s}
				a.stop(why.code())
			case <-cancelled:
				cancelled, limit = nil, time.After(longest)
				continue
			case <-limit: // somebody who reads what is printed takes nothing
				a.leave()
			case <-late:
				if !a.running.Load() { // it has ended, and what became of it is being printed
					continue
				}
			case <-quit:
				return
			}
			switch {
			case !a.running.Load() || late != nil:
				a.leave()
			case ctx.Err() == nil:
				cancel(why)
			default:
				close(abort)
				late = time.After(patience)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(unheard)
		close(quit)
		<-done
		cancel(nil)
	}
}

// leave ends the process at once. A terminal that has been stopped is left as it is.
func (a *app) leave() {
	restored := make(chan struct{})
	go func() {
		defer close(restored)
		if f := a.abandon.Load(); f != nil {
			(*f)()
		}
	}()
	select {
	case <-restored:
	case <-time.After(patience / 10):
	}
	os.Exit(a.stopCode())
}
