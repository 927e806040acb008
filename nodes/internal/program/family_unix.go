//go:build unix

package program

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/wavefold/wavefold/core"
)

// pollEvery is the interval at which a terminating family is polled. There is no system call that
// waits for processes other than children.
const pollEvery = 5 * time.Millisecond

// killTimeout limits the wait for a process to disappear after SIGKILL. The process only needs to be
// scheduled, unless it hangs in the kernel.
const killTimeout = 5 * time.Second

// ownGroup makes the child the leader of a session and so of a process group. Without a
// controlling terminal, a program that prompts for a password fails immediately; in a background
// group of the same session it would be stopped and hang.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	killWithParent(cmd.SysProcAttr)
}

// group is the id of a process group, which is the process id of its first leader. The id is not
// reused while a member is alive. A signal could reach another group only if all members ended,
// the id was reused and the new process became a group leader, all between two polls.
type group int

func (g group) signal(s syscall.Signal) { _ = syscall.Kill(-int(g), s) } // fails only if the group is gone

// gone reports whether no member of the group can run. If this process is the init of a container,
// it inherits the orphans of the group. They are reaped here, because they would otherwise stay
// zombies, and members of the group, forever.
func (g group) gone() bool {
	for {
		pid, err := syscall.Wait4(-int(g), nil, syscall.WNOHANG, nil)
		if pid <= 0 && !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	return errors.Is(syscall.Kill(-int(g), 0), syscall.ESRCH) || g.onlyZombies()
}

// family is a child and the processes that it started: its group and, on systems where they can
// be found, the processes that left the group (strays). It must be used by one goroutine at a
// time.
type family struct {
	group  group
	asked  bool // the group got SIGTERM
	strays strays
}

// familyOf returns the family of a child that has just been started. mark is an entry of its
// environment that is unique to the child.
func familyOf(p *os.Process, mark string) *family {
	return &family{group: group(p.Pid), strays: straysOf(p.Pid, mark)}
}

// leader identifies the child.
func (f *family) leader() identity { return f.strays.leader() }

// endOn sends SIGTERM to the whole family when ctx ends, and SIGKILL after the grace period or
// when the context is aborted. The returned function must be called after the child has been
// waited for; it stops everything that endOn started. It returns the time at which the family is
// due to be killed, or the zero Time if ctx has not ended.
func (f *family) endOn(ctx context.Context, grace time.Duration) (release func() time.Time) {
	exited, ended := make(chan struct{}), make(chan struct{})
	var due time.Time
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		due = time.Now().Add(grace)
		f.terminate(true)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-exited:
			return
		case <-timer.C:
		case <-core.Aborted(ctx):
		}
		f.kill(true)
	})
	return func() time.Time {
		close(exited)
		if !stop() {
			<-ended
		}
		f.strays.orphaned()
		return due
	}
}

// end terminates the rest of the family after the child has ended: with SIGTERM, unless it was
// sent before, and with SIGKILL at the time due or when abort is closed. If all is set, it also
// searches for strays. found reports whether there were processes to terminate, survivors whether
// some are alive after SIGKILL.
func (f *family) end(all bool, due time.Time, abort <-chan struct{}) (found, survivors bool) {
	defer f.strays.release()
	if f.gone(all) {
		return f.strays.found(), false
	}
	f.terminate(all)
	if f.goneBy(all, due, abort) {
		return true, false
	}
	f.kill(all)
	return true, !f.goneBy(all, time.Now().Add(killTimeout), nil)
}

// terminate sends SIGTERM to the processes that have not been sent it.
func (f *family) terminate(all bool) {
	if all {
		f.strays.find() // before their parents are gone
	}
	if !f.asked {
		f.group.signal(syscall.SIGTERM)
		f.asked = true
	}
	f.strays.terminate()
}

// kill sends SIGKILL. Strays may start other processes until it arrives, so the search is repeated
// until it finds no new ones. The number of searches is limited.
func (f *family) kill(all bool) {
	if all {
		f.strays.find() // before their parents are gone
	}
	f.group.signal(syscall.SIGKILL)
	for range 20 {
		f.strays.kill()
		if !all || !f.strays.find() {
			return
		}
	}
}

// gone reports whether no process is left. The search for strays is much more expensive than a
// check of known processes, so it comes last.
func (f *family) gone(all bool) bool {
	return f.group.gone() && (!all || f.strays.gone() && !f.strays.find())
}

// goneBy waits until no process is left, at most until due or until abort is closed.
func (f *family) goneBy(all bool, due time.Time, abort <-chan struct{}) bool {
	limit, look := time.NewTimer(time.Until(due)), time.NewTicker(pollEvery)
	defer limit.Stop()
	defer look.Stop()
	for {
		if f.gone(all) {
			return true
		}
		f.strays.terminate() // gone may have found new ones
		select {
		case <-look.C:
		case <-limit.C:
			return f.gone(all)
		case <-abort:
			return false
		}
	}
}

func signalName(e *exec.ExitError) string {
	if ws, ok := e.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return e.String()
}

func isTooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }
