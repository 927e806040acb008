package cli

import (
	"errors"
	"io"
	"sync"
	"syscall"
)

// output is an output stream of the command. It records the first write error, so that
// callers that print need not check, and detects that the reader of the stream has closed
// it. The signal SIGPIPE is not sufficient for that: it also arrives when a program of the
// run ends without having read all of its input.
type output struct {
	to     io.Writer
	broken func() // nil if no callback is needed; set before the first write

	mu  sync.Mutex
	err error
}

// Write writes to the stream.
func (o *output) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if err != nil {
		o.mu.Lock()
		if o.err == nil {
			o.err = err
		}
		o.mu.Unlock()
		if o.broken != nil && errors.Is(err, syscall.EPIPE) {
			o.broken()
		}
	}
	return n, err
}

// failed returns the first write error, nil if there is none.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// written returns the exit code of a command, given the state of its output: the loss of
// requested output is a failure. If the reader has closed the output, no message is
// printed, as is usual for commands.
func (a *app) written(code int) int {
	err, failure := a.out.failed(), exitFailed
	switch {
	case err == nil:
		return code
	case errors.Is(err, syscall.EPIPE):
		failure = exitBrokenPipe
	default:
		a.errorf("the output is not complete: %v", err)
	}
	if code == exitOK {
		return failure
	}
	return code
}
