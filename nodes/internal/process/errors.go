package process

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core"
)

// ErrFlood is inside the error of a program that printed more than its limit.
var ErrFlood = errors.New("too much output")

// ErrHeld is inside the error of a program that ended well while a process it
// had started kept standard output open: what was read may be incomplete.
var ErrHeld = errors.New("ended, but a process it started kept standard output open")

// heldError says what became of the process, and what to do about it.
func heldError(ended bool) error {
	fate := "was ended"
	if !ended {
		fate = "may still run, since it has left the program's session"
	}
	return fmt.Errorf("%w and %s: wait for background processes, or redirect their output", ErrHeld, fate)
}

// ExitError says that a program ended with an exit code that is not OK or was
// killed by a signal that the engine did not send.
type ExitError struct {
	Program string
	Code    int    // -1 when a signal killed it
	Signal  string // such as "killed"
	// Stderr holds the last lines of standard error, masked and shortened.
	Stderr []string
}

// Category says that the program would end alike again, whatever it wrote: its exit code is
// its own word, and its last lines may hold any other.
func (e *ExitError) Category() core.Category { return core.Deterministic }

// Error names the program, the code and the last lines of standard error.
func (e *ExitError) Error() string {
	s := fmt.Sprintf("%s: exit code %d", e.Program, e.Code)
	if e.Signal != "" {
		s = fmt.Sprintf("%s: killed by signal (%s)", e.Program, e.Signal)
	}
	switch len(e.Stderr) {
	case 0:
		return s
	case 1:
		return s + ": " + e.Stderr[0]
	}
	return s + ", last lines of standard error:\n  " + strings.Join(e.Stderr, "\n  ")
}

func floodError(stream string, limit int) error {
	return fmt.Errorf("%w: more than %d bytes on %s, the program was ended (max_output sets the limit)", ErrFlood, limit, stream)
}

// startError adds what a person can do about the commonest refusal.
func startError(err error) error {
	if isTooLong(err) {
		return fmt.Errorf("%w: the arguments and the environment together exceed the system's limit; pass large values on standard input", err)
	}
	return err
}
