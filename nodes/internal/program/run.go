package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

// pipeTimeout limits the time for which other processes may keep the pipes of a child open after it
// has exited, and the time that they have to end.
const pipeTimeout = 2 * time.Second

// Command describes one call of a program. All fields except Path are optional.
type Command struct {
	// Path is the file of the program, as found by exec.LookPath. Name is its name in
	// messages; "" means Path.
	Path string
	Name string
	// Args are the arguments, without the program itself.
	Args []string
	// Dir is the working folder; "" means the working folder of this process.
	Dir string
	// Inherit selects the environment variables of this process that the program inherits.
	// Env has further entries KEY=value, which take precedence.
	Inherit Inherit
	Env     []string
	Stdin   []byte
	// Discard discards standard output instead of collecting it.
	Discard bool
	// MaxOutput limits standard output and standard error, each, in bytes; 0
	// means DefaultMaxOutput.
	MaxOutput int
	// KeepStderr limits Output.Stderr, the end of standard error, in bytes.
	KeepStderr int
	// OK lists the exit codes that mean success; an empty list means only 0.
	OK []int
	// Grace is the time between SIGTERM and SIGKILL when the context ends; 0
	// means DefaultGrace. After the child has exited, other processes of the group have the
	// same time, but at most two seconds, to close the pipes.
	Grace time.Duration
	// Mark is an entry of Env that is unique among running children. It identifies processes
	// that left the group and whose parents have ended.
	Mark string
	// Notes is a folder in which the process group is noted while the program runs, "" for
	// none. If it has a note with the same Mark, which a process that was killed has left,
	// Run first kills that group.
	Notes string
	// Keep returns a writer that gets what the program prints to "stdout" or "stderr", except
	// standard output with Discard. Run closes it. It may be nil.
	Keep func(stream string) io.WriteCloser
	// Log gets the lines of standard error. If it is nil, they are dropped.
	Log *slog.Logger
	// Mask masks secrets in log lines and errors.
	Mask secret.Masker
}

// Output is the output of a program that has ended.
type Output struct {
	Stdout []byte
	// Stderr is the end of standard error, unmasked. StderrSize is the length of all of it.
	Stderr     []byte
	StderrSize int
	// Code is the exit code, one of Command.OK if Run returned no error.
	Code int
}

// Run runs the program and waits for it and for the processes that it started. When the context
// ends, they have the grace period to end; when it is aborted, they have none, see
// core.WithAbort. The error is an *ExitError for a signal or an exit code that is not OK, the
// context's cause if the context ended first, ErrOutputLimit, ErrOutputOpen, or the reason why the program
// could not be started. With an *ExitError, Run also returns the output.
func Run(parent context.Context, c Command) (Output, error) {
	c = c.withDefaults()
	if parent.Err() != nil {
		return Output{}, c.fail(context.Cause(parent))
	}
	if err := c.check(); err != nil {
		return Output{}, c.fail(err)
	}
	note := c.note()
	defer note.close()
	note.killLeftover()
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	keptOut, keptErr := c.keep("stdout"), c.keep("stderr")
	defer keptOut.Close()
	defer keptErr.Close()
	out := &capture{limit: c.MaxOutput, kept: keptOut, flood: func() { cancel(outputLimitError("standard output", c.MaxOutput)) }}
	lines := &lineLog{limit: c.MaxOutput, kept: keptErr, log: c.Log, mask: c.Mask, digest: newDigest(c.Mask), keepEnd: c.KeepStderr,
		flood: func() { cancel(outputLimitError("standard error", c.MaxOutput)) }}
	cmd := c.exec(out, lines)
	// The child is killed when the thread that started it ends, see killWithParent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return Output{}, c.fail(startError(err))
	}
	f := familyOf(cmd.Process, c.Mark)
	defer note.write(f.leader())()
	defer startWatcher(cmd.Process.Pid)()
	release := f.endOn(ctx, c.Grace)
	err := cmd.Wait()
	due := release()
	outputOpen := !c.Discard && !out.complete
	if due.IsZero() {
		due = time.Now().Add(min(c.Grace, pipeTimeout))
	}
	// A program may leave a service running on purpose, unless it was cancelled or its
	// output is still open.
	found, survivors := f.end(outputOpen || ctx.Err() != nil, due, core.Aborted(ctx))
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
	if outputOpen {
		return Output{}, c.fail(openOutputError(found && !survivors))
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

// keep returns the writer for a stream, which discards everything if the stream is not kept.
func (c Command) keep(stream string) io.WriteCloser {
	if c.Keep == nil {
		return notKept{}
	}
	return c.Keep(stream)
}

// notKept keeps nothing.
type notKept struct{}

func (notKept) Write(p []byte) (int, error) { return len(p), nil }
func (notKept) Close() error                { return nil }

// check rejects arguments that the system call would reject without naming the argument.
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

// exec prepares the child. WaitDelay limits the time that Wait waits for pipes that another
// process keeps open: Wait then closes our ends, which ends the copying goroutines that os/exec
// owns and awaits.
func (c Command) exec(out *capture, lines *lineLog) *exec.Cmd {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = append(c.Inherit.environ(os.Environ()), c.Env...)
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean the environment of this process
	}
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	if !c.Discard {
		cmd.Stdout = out
	}
	cmd.Stderr = lines
	cmd.WaitDelay = min(c.Grace, pipeTimeout)
	ownGroup(cmd)
	return cmd
}

// exit returns the error of a child that was not cancelled; err is the error of Wait.
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
	return &ExitError{Program: c.Name, Code: code, Signal: signal, Stdout: lastLines(out.data, c.Mask), Stderr: limitTail(lines.tail),
		Signature: c.signature(out, lines)}
}

// signature returns the signature of the outputs of a program. Standard error is digested while
// the program runs, because only its end is kept.
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
