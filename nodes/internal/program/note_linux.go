package program

import (
	"strings"
	"sync"
	"syscall"
	"time"
)

// identify describes a process that has just been started.
func identify(pid int) identity {
	p, _ := readProc(pid)
	return identity{PID: pid, Start: p.start, Boot: bootID()}
}

// alive reports whether the process is running.
func (i identity) alive() bool {
	p, ok := readProc(i.PID)
	return ok && !p.ended && p.start == i.Start && i.Boot == bootID()
}

// bootID returns an id that is different after each start of the machine, or "".
var bootID = sync.OnceValue(func() string {
	id, err := readSmall("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
})

// killGroup kills the group that the process leads or has led, and waits for its end. It does
// nothing if the id belongs to another process now. The id is not reused while a member of
// the group is alive, so if the leader has ended, the id still denotes the same group.
func (i identity) killGroup() {
	if i.Boot == "" || i.Boot != bootID() {
		return
	}
	if p, ok := readProc(i.PID); ok && p.start != i.Start {
		return
	}
	g := group(i.PID)
	g.signal(syscall.SIGKILL)
	limit, look := time.NewTimer(killTimeout), time.NewTicker(pollEvery)
	defer limit.Stop()
	defer look.Stop()
	for !g.gone() {
		select {
		case <-look.C:
		case <-limit.C:
			return
		}
	}
}
