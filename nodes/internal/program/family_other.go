//go:build !unix

package program

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// family stands for the child alone: what it started cannot be ended with it.
type family struct{ child *os.Process }

func familyOf(p *os.Process, _ string) *family { return &family{p} }

// endOn kills the child when ctx ends. There is no polite signal to send first.
func (f *family) endOn(ctx context.Context, _ time.Duration) (release func() time.Time) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = f.child.Kill() // fails only when it has exited
	})
	return func() time.Time {
		if !stop() {
			<-ended
		}
		return time.Time{}
	}
}

func (f *family) end(bool, time.Time, <-chan struct{}) (found, survivors bool) { return false, false }

func signalName(e *exec.ExitError) string { return e.String() }

func isTooLong(error) bool { return false }

// guard does nothing: here a child outlives a parent that is killed.
func guard(int) (end func()) { return func() {} }
