//go:build !unix

package process

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// group stands for the child alone: what it started cannot be ended with it.
type group struct{ child *os.Process }

func groupOf(p *os.Process) group { return group{p} }

// endOn kills the child when ctx ends. There is no polite signal to send first.
func (g group) endOn(ctx context.Context, _ time.Duration) (release func()) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = g.child.Kill() // fails only when it has exited
	})
	return func() {
		if !stop() {
			<-ended
		}
	}
}

func (g group) end(time.Duration) (survivors bool) { return false }

func signalName(e *exec.ExitError) string { return e.String() }

func isTooLong(error) bool { return false }
