package program

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// ErrOutputLimit is wrapped by the error of a program that printed more than its limit.
var ErrOutputLimit = errors.New("too much output")

// ErrOutputOpen is wrapped by the error of a program that succeeded while a process it had started kept
// standard output open, so that the output may be incomplete.
var ErrOutputOpen = errors.New("ended, but a process it started kept standard output open")

// openOutputError returns the error for ErrOutputOpen. It says whether the process was terminated, and what
// to do about it.
func openOutputError(ended bool) error {
	status := "was ended"
	if !ended {
		status = "may still run, since it has left the program's session"
	}
	return fmt.Errorf("%w and %s: wait for background processes, or redirect their output", ErrOutputOpen, status)
}

// ExitError is the error of a program that exited with a code that is not OK, or was killed by a
// signal that the engine did not send.
type ExitError struct {
	Program string
	Code    int    // -1 if a signal killed it
	Signal  string // such as "killed"
	// Stdout and Stderr hold the last lines of both outputs, masked and shortened. Stdout
	// is empty for a Command that discards it.
	Stdout, Stderr []string
	// Signature is a digest of both complete outputs without numbers, hexadecimal
	// identifiers and names of temporary files; "" if nothing was printed.
	Signature string
}

// FailureSignature returns Signature. Two failures of a program differ if its output differs,
// even if the last lines are equal.
func (e *ExitError) FailureSignature() string { return e.Signature }

// Category returns the category that the last lines of both outputs suggest. It ignores the name
// of the program: a script called abort.sh was not aborted.
func (e *ExitError) Category() core.Category {
	return core.CategoryOfText(strings.Join(slices.Concat(e.Stdout, e.Stderr), "\n"))
}

// Error returns a message with the program, the code and the last lines of both outputs. Many
// programs, such as test runners, report errors on standard output.
func (e *ExitError) Error() string {
	s := fmt.Sprintf("%s: exit code %d", e.Program, e.Code)
	if e.Signal != "" {
		s = fmt.Sprintf("%s: killed by signal (%s)", e.Program, e.Signal)
	}
	switch lines := slices.Concat(e.Stderr, e.Stdout); len(lines) {
	case 0:
		return s
	case 1:
		return s + ": " + lines[0]
	}
	between := ", "
	for _, o := range []struct {
		name  string
		lines []string
	}{{"error", e.Stderr}, {"output", e.Stdout}} {
		if len(o.lines) > 0 {
			s += between + "last lines of standard " + o.name + ":\n  " + strings.Join(o.lines, "\n  ")
			between = "\n"
		}
	}
	return s
}

func outputLimitError(stream string, limit int) error {
	return fmt.Errorf("%w: more than %d bytes on %s, the program was ended (max_output sets the limit)", ErrOutputLimit, limit, stream)
}

// startError adds a hint to the most common error of starting a program.
func startError(err error) error {
	if isTooLong(err) {
		return fmt.Errorf("%w: the arguments and the environment together exceed the system's limit; pass large values on standard input", err)
	}
	return err
}
