//go:build linux

package hostile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// watchers counts the shell processes that monitor the programs of a command.
func watchers(parent int) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		text, _ := os.ReadFile(file)
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "stat"))
		if bytes.Contains(text, []byte("read -r line")) && bytes.Contains(stat, fmt.Appendf(nil, ") S %d ", parent)) {
			n++
		}
	}
	return n
}

// A signal that kills the command leaves it no time to end its programs. They used to
// continue, and a second run started next to them. Now neither they nor their descendants
// survive, even if they ignore signals.
func TestKilledCommandsLeaveNothingBehind(t *testing.T) {
	needs(t, "sh", "sleep")
	const loop = "while :; do sleep 0.02; done"
	const doc = `name: x
graph:
  nodes:
    - {id: a, kind: command, run: [sh, -c, "trap '' TERM INT HUP; sh -c 'echo $$ > b.pid; ` + loop + `' & echo $$ > a.pid; ` + loop + `"], output: none}
    - {id: c, kind: command, run: [sh, -c, "echo $$ > c.pid; ` + loop + `"], output: none}
`
	for s, rounds := range map[syscall.Signal]int{syscall.SIGKILL: 60, syscall.SIGABRT: 6, syscall.SIGQUIT: 6} {
		for round := range rounds {
			t.Run(fmt.Sprint(s, " ", round), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				write(t, filepath.Join(dir, "workflow.yaml"), doc)
				cmd := command(t, dir, "run", "-q", "-j", "2")
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() { // clean up after any failure
					_, alive := runningProcesses(t, dir)
					for _, pid := range alive {
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
				}()
				eventually(t, "all run", func() bool { all, _ := runningProcesses(t, dir); return all == 3 && watchers(cmd.Process.Pid) == 2 })
				_ = cmd.Process.Signal(s)
				_ = cmd.Wait()
				if s == syscall.SIGKILL && !strings.Contains(cmd.ProcessState.String(), "signal: killed") {
					t.Errorf("it ended by itself: %s", cmd.ProcessState)
				}
				eventually(t, "the end of the programs", func() bool { _, alive := runningProcesses(t, dir); return len(alive) == 0 })
			})
		}
	}
}
