//go:build !unix

package program

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// ownGroup does nothing, because this system has no process groups.
func ownGroup(*exec.Cmd) {}

// family is the child alone. Processes that it started cannot be terminated with it.
type family struct{ child *os.Process }

func familyOf(p *os.Process, _ string) *family { return &family{p} }

func (f *family) leader() identity { return identify(f.child.Pid) }

// endOn kills the child when ctx ends. There is no signal that requests termination first.
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

// startWatcher does nothing: on this system a child outlives a parent that is killed.
func startWatcher(int) (end func()) { return func() {} }
