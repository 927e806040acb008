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

// pollEvery is how often a dying family is looked at. There is no call that waits
// for processes that are not our children.
const pollEvery = 5 * time.Millisecond

// dying is how long a process may take to disappear after SIGKILL. It needs no
// more than its turn on a processor, unless it hangs inside the kernel.
const dying = 5 * time.Second

// ownGroup makes the child the leader of a session, and with it of a process
// group. Without a controlling terminal a program that wants to ask for a
// password fails at once; in a mere background group it would be stopped and
// hang.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieTogether(cmd.SysProcAttr)
}

// group is a process group by its number, the process id of its first leader.
// The number cannot be given to a new process while a member is alive, so a
// signal never reaches a stranger unless all members ended, the number came
// round again and its new owner became a group leader, all within the moment
// between two looks.
type group int

func (g group) signal(s syscall.Signal) { _ = syscall.Kill(-int(g), s) } // fails only when it is gone

// gone reports whether no member is left that could do anything. Where this process is the init of a
// container it inherits the orphans of the group; they are reaped here, as they
// would otherwise stay zombies, and members, for ever.
func (g group) gone() bool {
	for {
		pid, err := syscall.Wait4(-int(g), nil, syscall.WNOHANG, nil)
		if pid <= 0 && !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	return errors.Is(syscall.Kill(-int(g), 0), syscall.ESRCH) || g.onlyZombies()
}

// family is a child and what it started: its group and, where they can be found,
// the processes that left the group (strays). It is used by one goroutine at a
// time.
type family struct {
	group  group
	asked  bool // the group got SIGTERM
	strays strays
}

// familyOf returns the family of a child that has just been started. mark is an
// entry of its environment that no other child has.
func familyOf(p *os.Process, mark string) *family {
	return &family{group: group(p.Pid), strays: straysOf(p.Pid, mark)}
}

// endOn asks the whole family to end when ctx ends, and kills it after the grace
// period, or at once when the context is aborted. The returned function must be
// called once the child has been waited for; after it nothing of this is left
// running. It returns when the family is to be killed, the zero Time if ctx has not
// ended.
func (f *family) endOn(ctx context.Context, grace time.Duration) (release func() time.Time) {
	exited, ended := make(chan struct{}), make(chan struct{})
	var due time.Time
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		due = time.Now().Add(grace)
		f.ask(true)
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

// end ends what is left of the family after the child: SIGTERM, unless it has had
// one, SIGKILL when it is due or abort is closed. With all it looks for strays too.
// found reports whether there was anything to end, survivors that even SIGKILL did
// not help.
func (f *family) end(all bool, due time.Time, abort <-chan struct{}) (found, survivors bool) {
	defer f.strays.release()
	if f.gone(all) {
		return f.strays.found(), false
	}
	f.ask(all)
	if f.goneBy(all, due, abort) {
		return true, false
	}
	f.kill(all)
	return true, !f.goneBy(all, time.Now().Add(dying), nil)
}

// ask sends SIGTERM to whom has not had one.
func (f *family) ask(all bool) {
	if all {
		f.strays.find() // before their parents are gone
	}
	if !f.asked {
		f.group.signal(syscall.SIGTERM)
		f.asked = true
	}
	f.strays.ask()
}

// kill sends SIGKILL. Strays may start others until they get it, so they are looked
// for again until there are no new ones, or too often: then there will always be.
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

// gone reports whether nobody is left. Searching for strays costs much more than
// looking at known ones, so it comes last.
func (f *family) gone(all bool) bool {
	return f.group.gone() && (!all || f.strays.gone() && !f.strays.find())
}

// goneBy waits until nobody is left, at most until due or until abort is closed.
func (f *family) goneBy(all bool, due time.Time, abort <-chan struct{}) bool {
	limit, look := time.NewTimer(time.Until(due)), time.NewTicker(pollEvery)
	defer limit.Stop()
	defer look.Stop()
	for {
		if f.gone(all) {
			return true
		}
		f.strays.ask() // those that gone has just found
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
