//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// pollEvery is how often a dying group is looked at. There is no call that waits
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
}

// group is a process group by its number, the process id of its first leader.
// The number cannot be given to a new process while a member is alive, so a
// signal never reaches a stranger unless all members ended, the number came
// round again and its new owner became a group leader, all within the moment
// between two looks.
type group int

func groupOf(p *os.Process) group { return group(p.Pid) }

func (g group) signal(s syscall.Signal) error { return syscall.Kill(-int(g), s) }

// endOn sends the group SIGTERM when ctx ends and SIGKILL when it is still there
// after the grace period. The returned function must be called once the child
// has been waited for; after it nothing of this is left running.
func (g group) endOn(ctx context.Context, grace time.Duration) (release func()) {
	exited, ended := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = g.signal(syscall.SIGTERM) // fails only when the group is gone
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-exited:
		case <-timer.C:
			_ = g.signal(syscall.SIGKILL)
		}
	})
	return func() {
		close(exited)
		if !stop() {
			<-ended
		}
	}
}

// end ends what is left of the group after its leader: SIGTERM, the grace
// period, SIGKILL. It reports whether members survived even that.
func (g group) end(grace time.Duration) (survivors bool) {
	if g.gone() {
		return false
	}
	_ = g.signal(syscall.SIGTERM)
	if g.goneWithin(grace) {
		return false
	}
	_ = g.signal(syscall.SIGKILL)
	return !g.goneWithin(dying)
}

func (g group) goneWithin(d time.Duration) bool {
	limit, look := time.NewTimer(d), time.NewTicker(pollEvery)
	defer limit.Stop()
	defer look.Stop()
	for {
		if g.gone() {
			return true
		}
		select {
		case <-look.C:
		case <-limit.C:
			return g.gone()
		}
	}
}

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
	return errors.Is(g.signal(0), syscall.ESRCH) || g.onlyZombies()
}

func signalName(e *exec.ExitError) string {
	if ws, ok := e.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return e.String()
}

func isTooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }
