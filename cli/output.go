package cli

import (
	"errors"
	"io"
	"sync"
	"syscall"
)

// output is a stream of the command. It remembers the first write that went wrong,
// so that not every place that prints has to look, and tells when its reader is
// gone. The signal SIGPIPE does not tell that: it also comes when a program of the
// run ends without having read what it was given.
type output struct {
	to     io.Writer
	broken func() // nil where nobody wants to know; set before the first write

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

// failed returns the first error of a write, nil if all went well.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// written returns the exit code of a command in view of what became of its output:
// what was asked for and is lost is a failure. A reader that has gone knows that
// it has, and hears nothing, as from other tools.
func (a *app) written(code int) int {
	err, lost := a.out.failed(), exitFailed
	switch {
	case err == nil:
		return code
	case errors.Is(err, syscall.EPIPE):
		lost = exitBrokenPipe
	default:
		a.errorf("the output is not complete: %v", err)
	}
	if code == exitOK {
		return lost
	}
	return code
}
