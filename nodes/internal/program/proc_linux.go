package program

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// proc is the data of a process in /proc/PID/stat.
type proc struct {
	pid, parent, group, session int
	ended                       bool   // it is a zombie
	start                       uint64 // in clock ticks since boot
}

// readProc returns a process; ok is false if it does not exist.
func readProc(pid int) (p proc, ok bool) {
	stat, err := readSmall("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	return parseProc(pid, stat)
}

// parseProc parses a line of /proc/PID/stat. The name of the process may contain any characters.
// The fields after it are state, parent, group, session and others; the twentieth is the start
// time.
func parseProc(pid int, stat []byte) (p proc, ok bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 {
		return proc{}, false
	}
	p = proc{pid: pid, ended: fields[0][0] == 'Z' || fields[0][0] == 'X'}
	for i, to := range []*int{&p.parent, &p.group, &p.session} {
		n, err := strconv.Atoi(string(fields[1+i]))
		if err != nil {
			return proc{}, false
		}
		*to = n
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	p.start = start
	return p, err == nil
}

// procs returns all processes by id, nil if there is no /proc.
func procs() map[int]proc {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	out := make(map[int]proc, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProc(pid); ok {
				out[pid] = p
			}
		}
	}
	return out
}

// onlyZombies reports whether all members of the group are zombies. In many containers no process
// reaps orphans, so that signals to the group would succeed forever.
func (g group) onlyZombies() bool {
	all := procs()
	for _, p := range all {
		if p.group == int(g) && !p.ended {
			return false
		}
	}
	return all != nil
}

// strays finds the processes that a child started and that left its group. It identifies them by
// their session or parents and, after their parents have ended, by the mark in their environment.
// Processes that started before the child are never strays.
type strays struct {
	child  int
	mark   []byte
	start  uint64
	reaped bool // the id of the child may have been reused
	known  []*stray
}

// stray is a process with a handle, which stays valid if the process id is reused.
type stray struct {
	proc
	handle *os.Process
	asked  bool
}

func straysOf(child int, mark string) strays {
	p, _ := readProc(child) // it exists, because it has not been waited for
	return strays{child: child, mark: []byte(mark), start: p.start}
}

// leader identifies the child.
func (s *strays) leader() identity { return identity{s.child, s.start, bootID()} }

// orphaned records that the child has been waited for.
func (s *strays) orphaned() { s.reaped = true }

// found reports whether any strays were found.
func (s *strays) found() bool { return len(s.known) > 0 }

// find looks for strays and reports whether there are new ones.
func (s *strays) find() (news bool) {
	all := procs()
	for pid, p := range all {
		if p.ended || p.group == s.child || p.start < s.start || pid == os.Getpid() || s.knows(p) || !s.descends(p, all) {
			continue
		}
		handle, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		// The handle is for the current process with this id, which may be another one.
		if again, ok := readProc(pid); !ok || again.start != p.start {
			_ = handle.Release()
			continue
		}
		s.known = append(s.known, &stray{proc: p, handle: handle})
		news = true
	}
	return news
}

func (s *strays) knows(p proc) bool {
	for _, k := range s.known {
		if k.pid == p.pid && k.start == p.start {
			return true
		}
	}
	return false
}

// descends reports whether a process descends from the child.
func (s *strays) descends(p proc, all map[int]proc) bool {
	for at, ok := p, true; ok && at.pid > 1; at, ok = all[at.parent] {
		if at.group == s.child || at.session == s.child || at.pid == s.child && !s.reaped || s.knows(at) {
			return true
		}
	}
	return s.isMarked(p.pid)
}

func (s *strays) isMarked(pid int) bool {
	if len(s.mark) == 0 {
		return false
	}
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil { // the process belongs to another user
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(entry, s.mark) {
			return true
		}
	}
	return false
}

// terminate sends SIGTERM to the strays that have not been sent it.
func (s *strays) terminate() {
	for _, k := range s.known {
		if !k.asked {
			_ = k.handle.Signal(syscall.SIGTERM) // fails only if it is gone
			k.asked = true
		}
	}
}

func (s *strays) kill() {
	for _, k := range s.known {
		_ = k.handle.Signal(syscall.SIGKILL)
	}
}

// gone reports whether no known stray can run. Strays that this process has inherited are reaped,
// like the members of a group.
func (s *strays) gone() bool {
	for _, k := range s.known {
		_, _ = syscall.Wait4(k.pid, nil, syscall.WNOHANG, nil) // fails if it is not a child of this process
		if p, ok := readProc(k.pid); ok && p.start == k.start && !p.ended {
			return false
		}
	}
	return true
}

// release releases the handles.
func (s *strays) release() {
	for _, k := range s.known {
		_ = k.handle.Release()
	}
}
