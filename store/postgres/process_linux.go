package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// thisProcess identifies this process among all that have run on this machine: the boot, the namespace of its
// id, the id, and the time at which it started.
func thisProcess() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, nerr := os.Readlink("/proc/self/ns/pid")
	start, serr := startOf(os.Getpid())
	if err != nil || nerr != nil || serr != nil {
		return ""
	}
	return fmt.Sprintf("%s %s %d %s", bytes.TrimSpace(boot), namespace, os.Getpid(), start)
}

// startOf returns the time at which a process started, in clock ticks since boot.
func startOf(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from the state on; the name of the process may contain anything
	if len(fields) < 20 {
		return "", errors.New("the form of stat is unknown")
	}
	return string(fields[19]), nil
}

// hasEnded reports whether another process, as thisProcess has identified it, is known to have ended. A process
// of another machine or container is not known.
func (s *Store) hasEnded(process string) bool {
	own, other := strings.Fields(s.process), strings.Fields(process)
	if len(own) != 4 || len(other) != 4 || own[0] != other[0] || own[1] != other[1] {
		return false
	}
	var pid int
	if _, err := fmt.Sscan(other[2], &pid); err != nil || pid <= 0 {
		return false
	}
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	start, err := startOf(pid)
	return err == nil && start != other[3] // the id was given to another process
}
