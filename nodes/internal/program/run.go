package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
)

// Defaults of a Command.
const (
	DefaultMaxOutput = 10 << 20
	DefaultGrace     = 5 * time.Second
)

// linger is how long others may hold the pipes of a child that has exited, and how
// long they get to end after it.
const linger = 2 * time.Second

// Command describes one call of a program. The zero value of every field but
// Path is useful.
type Command struct {
	// Path is the program's file, as found by exec.LookPath. Name is what
	// messages call it; "" means Path.
	Path string
	Name string
	// Args are the arguments, without the program itself.
	Args []string
	// Dir is the working folder, "" the one of this process.
	Dir string
	// Inherit says what it gets of the environment of this process. Env holds KEY=value
	// texts beside that, which win over it.
	Inherit Inherit
	Env     []string
	Stdin   []byte
	// Discard throws standard output away instead of collecting it.
	Discard bool
	// MaxOutput limits standard output and standard error, each, in bytes; 0
	// means DefaultMaxOutput.
	MaxOutput int
	// KeepStderr is how many bytes of the end of standard error Output has.
	KeepStderr int
	// OK lists the exit codes that are no error; empty means 0 only.
	OK []int
	// Grace is the time between SIGTERM and SIGKILL when the context ends; 0
	// means DefaultGrace. Others in the group have as long, but at most two
	// seconds, to close the pipes once the child has exited.
	Grace time.Duration
	// Mark is an entry of Env that no other child has at the same time. With it
	// processes are found that left the group and have lost their parents.
	Mark string
	// Log gets the lines of standard error; nil drops them.
	Log *slog.Logger
	// Mask hides secrets in log lines and errors.
	Mask secret.Masker
}

// Output is what a program left behind.
type Output struct {
	Stdout []byte
	// Stderr is the end of standard error, as it was printed, and of all of it
	// StderrSize the length.
	Stderr     []byte
	StderrSize int
	// Code is the exit code, one of Command.OK when Run returned no error.
	Code int
}

// Run runs the program and waits for it and everything it started. When the context
// ends they have the grace period to end; none once it is aborted, see
// core.WithAbort. The error is an *ExitError for an exit code that is not OK or a
// signal, the context's cause when the context ended first, ErrFlood, ErrHeld, or
// why the program could not be started. With an *ExitError comes what the program left.
func Run(parent context.Context, c Command) (Output, error) {
	c = c.withDefaults()
	if parent.Err() != nil {
		return Output{}, c.fail(context.Cause(parent))
	}
	if err := c.check(); err != nil {
		return Output{}, c.fail(err)
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	out := &capture{limit: c.MaxOutput, flood: func() { cancel(floodError("standard output", c.MaxOutput)) }}
	lines := &lineLog{limit: c.MaxOutput, log: c.Log, mask: c.Mask, digest: newDigest(c.Mask), keep: c.KeepStderr,
		flood: func() { cancel(floodError("standard error", c.MaxOutput)) }}
	cmd := c.exec(out, lines)
	// A child dies with the thread that started it; see dieTogether.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return Output{}, c.fail(startError(err))
	}
	defer guard(cmd.Process.Pid)()
	f := familyOf(cmd.Process, c.Mark)
	release := f.endOn(ctx, c.Grace)
	err := cmd.Wait()
	due := release()
	held := !c.Discard && !out.complete
	if due.IsZero() {
		due = time.Now().Add(min(c.Grace, linger))
	}
	// A program may leave a service behind on purpose. One that was cut short, or
	// whose output is not over, may not.
	found, survivors := f.end(held || ctx.Err() != nil, due, core.Aborted(ctx))
	if survivors {
		c.Log.Warn(c.Name + ": a process it started could not be ended")
	}
	if ctx.Err() != nil {
		return Output{}, c.fail(context.Cause(ctx))
	}
	left := Output{Stdout: out.data, Stderr: lines.end(), StderrSize: lines.seen, Code: cmd.ProcessState.ExitCode()}
	if err := c.exit(cmd, err, out, lines); err != nil {
		return left, err
	}
	if held {
		return Output{}, c.fail(heldError(found && !survivors))
	}
	return left, nil
}

func (c Command) withDefaults() Command {
	if c.Name == "" {
		c.Name = c.Path
	}
	if c.MaxOutput <= 0 {
		c.MaxOutput = DefaultMaxOutput
	}
	if c.Grace <= 0 {
		c.Grace = DefaultGrace
	}
	if len(c.OK) == 0 {
		c.OK = []int{0}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// check refuses what the system call would refuse with a text that does not say
// which argument is meant.
func (c Command) check() error {
	for i, a := range c.Args {
		if strings.Contains(a, "\x00") {
			return fmt.Errorf("argument %d contains a NUL byte, which no program can be given", i+1)
		}
	}
	for _, e := range c.Env {
		if strings.Contains(e, "\x00") {
			name, _, _ := strings.Cut(e, "=")
			return fmt.Errorf("environment variable %s contains a NUL byte, which no program can be given", name)
		}
	}
	return nil
}

// exec prepares the child. WaitDelay makes Wait give up on pipes that another
// process holds open: it closes our ends and so ends the copying goroutines,
// which os/exec owns and awaits.
func (c Command) exec(out *capture, lines *lineLog) *exec.Cmd {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(c.Inherit.environ(os.Environ()), c.Env...)
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be everything
	}
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	if !c.Discard {
		cmd.Stdout = out
	}
	cmd.Stderr = lines
	cmd.WaitDelay = min(c.Grace, linger)
	ownGroup(cmd)
	return cmd
}

// exit judges how a child ended that nobody cut short; err is what Wait returned.
func (c Command) exit(cmd *exec.Cmd, err error, out *capture, lines *lineLog) error {
	exit, failed := errors.AsType[*exec.ExitError](err)
	if err != nil && !failed && !errors.Is(err, exec.ErrWaitDelay) {
		return c.fail(err)
	}
	code, signal := cmd.ProcessState.ExitCode(), ""
	switch {
	case failed && code < 0:
		signal = signalName(exit)
	case slices.Contains(c.OK, code):
		return nil
	}
	return &ExitError{Program: c.Name, Code: code, Signal: signal, Stdout: lastLines(out.data, c.Mask), Stderr: fitting(lines.tail),
		Signature: c.signature(out, lines)}
}

// signature identifies what a program printed. Standard error is digested while the program
// runs, since only its end is kept; standard output is there in whole.
func (c Command) signature(out *capture, lines *lineLog) string {
	stdout := newDigest(c.Mask)
	stdout.Write(out.data)
	a, b := lines.digest.Sum(), stdout.Sum()
	if a == "" && b == "" {
		return ""
	}
	return a + "-" + b
}

func (c Command) fail(err error) error {
	return c.Mask.Error(fmt.Errorf("%s: %w", c.Name, err))
}
