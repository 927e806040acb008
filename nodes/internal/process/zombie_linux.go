package process

import (
	"bytes"
	"os"
	"strconv"
)

// onlyZombies reports whether no member of the group can run any more: all have
// ended and wait for their parent to notice. In many containers nobody does, and
// a signal to the group would find them for ever.
func (g group) onlyZombies() bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return false
	}
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err == nil && g.runs(stat) {
			return false
		}
	}
	return true
}

// runs reports whether the line of /proc/PID/stat is about a member of the group
// that has not ended. The fields after the name, which may contain anything, are
// state, parent and group.
func (g group) runs(stat []byte) bool {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 || string(fields[2]) != strconv.Itoa(int(g)) {
		return false
	}
	state := fields[0][0]
	return state != 'Z' && state != 'X'
}
