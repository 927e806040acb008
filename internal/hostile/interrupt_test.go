//go:build linux

package hostile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// syncBuffer is a buffer that can be read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends to the buffer.
func (h *syncBuffer) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

// String returns the content so far.
func (h *syncBuffer) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 2000 {
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

// runningProcesses reads the files *.pid of a folder and lists the processes that are still running.
func runningProcesses(t *testing.T, dir string) (all int, alive []int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.pid"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		pid, err := strconv.Atoi(strings.TrimSpace(read(t, f)))
		if err != nil { // it is being written
			continue
		}
		all++
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			alive = append(alive, pid)
		}
	}
	return all, alive
}

// Two interrupts end all processes that a run has started before the command exits, however
// they handle signals and whatever sessions they have moved to. The second interrupt used
// to end the command at once, and processes that ignored SIGTERM continued.
func TestInterruptsLeaveNothingBehind(t *testing.T) {
	needs(t, "sh", "setsid", "env", "sleep")
	const loop = "while :; do sleep 0.02; done"
	cases := map[string]struct {
		nodes      string
		pids       int
		interrupts int
	}{
		"ends when it is asked":         {`{id: a, kind: command, run: [sh, -c, "echo $$ > a.pid; ` + loop + `"], output: none}`, 1, 1},
		"a polite stray":                {`{id: a, kind: command, run: [sh, -c, "setsid sh -c 'echo $$ > b.pid; ` + loop + `' & echo $$ > a.pid; ` + loop + `"], output: none}`, 2, 1},
		"deaf":                          {`{id: a, kind: command, run: [sh, -c, "trap '' TERM INT HUP; echo $$ > a.pid; ` + loop + `"], output: none}`, 1, 2},
		"a deaf stray":                  {`{id: a, kind: command, run: [sh, -c, "trap '' TERM; setsid sh -c 'echo $$ > b.pid; ` + loop + `' & echo $$ > a.pid; ` + loop + `"], output: none}`, 2, 2},
		"a stray whose parent has gone": {`{id: a, kind: command, run: [sh, -c, "trap '' TERM; (setsid sh -c 'echo $$ > b.pid; ` + loop + `' &); echo $$ > a.pid; ` + loop + `"], output: none}`, 2, 2},
		"a stray without environment":   {`{id: a, kind: command, run: [sh, -c, "trap '' TERM; setsid env -i sh -c 'echo $$ > b.pid; while :; do /bin/sleep 0.02; done' & echo $$ > a.pid; ` + loop + `"], output: none}`, 2, 2},
		"a stray of a stray":            {`{id: a, kind: command, run: [sh, -c, "trap '' TERM; setsid setsid sh -c 'setsid sh -c \"echo \\$\\$ > c.pid; ` + loop + `\" & echo $$ > b.pid; ` + loop + `' & echo $$ > a.pid; ` + loop + `"], output: none}`, 3, 2},
		"eight at a time":               {`{id: a, kind: command, run: [sh, -c, "trap '' TERM; echo $$ > $0.pid; ` + loop + `", "{{$item}}"], output: none, for_each: {source: $.eight, concurrency: 8}}`, 8, 2},
		"Go code":                       {`{id: a, kind: tool, impl: deaf, writes: []}`, 1, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "workflow.yaml"), "name: x\nstate: {schema: {eight: {type: array, default: [1, 2, 3, 4, 5, 6, 7, 8]}}}\ngraph:\n  nodes:\n    - "+c.nodes+"\n")
			cmd := command(t, dir, "run")
			var out, err syncBuffer
			cmd.Stdout, cmd.Stderr = &out, &err
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { // clean up after any failure
				_, alive := runningProcesses(t, dir)
				for _, pid := range alive {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}()
			eventually(t, "all run\n"+err.String(), func() bool { all, _ := runningProcesses(t, dir); return all == c.pids })
			for i := range c.interrupts {
				_ = cmd.Process.Signal(syscall.SIGINT)
				if i == 0 {
					eventually(t, "an answer", func() bool { return strings.Contains(err.String(), "interrupted: waiting for ") })
				}
			}
			_ = cmd.Wait()
			if all, alive := runningProcesses(t, dir); all != c.pids || len(alive) > 0 {
				t.Errorf("of %d processes %v still run", all, alive)
			}
			if code := cmd.ProcessState.ExitCode(); code != 130 {
				t.Errorf("exit code %d", code)
			}
			if reported := strings.Contains(err.String(), "interrupted again: killing what runs"); reported != (c.interrupts == 2) {
				t.Errorf("told of the second interrupt: %t\n%s", reported, err.String())
			}
			if name != "Go code" && !strings.Contains(out.String(), "x: cancelled") {
				t.Errorf("no summary:\n%s\n%s", out.String(), err.String())
			}
		})
	}
}

// A run that waits to read input ends with the interrupt, and leaves no file, not even a
// partial one. The file of rejects is the exception: it exists without rows from the start,
// so that the file of an earlier run is not mistaken for it.
func TestInterruptOfAReader(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reading a pipe is not ended here, the run leaves its reader behind")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "workflow.yaml"), `name: x
state: {schema: {rows: {}}}
graph:
  nodes:
    - {id: a, kind: dataset, source: "-", format: csv, checks: [{name: small, expr: $item.v < 2}], rejects: bad.csv, stream: true, writes: [rows]}
    - {id: b, kind: sink, reads: [rows], to: out.csv}
  edges: [{from: a, to: b}]
`)
	cmd := command(t, dir, "run")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var stderr syncBuffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Write([]byte("v\n1\n2\n"))
	eventually(t, "the reader", func() bool { return strings.Contains(stderr.String(), "node.started   b") })
	_ = cmd.Process.Signal(syscall.SIGINT)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || strings.Contains(stderr.String(), "still running") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
	onlyWhole(t, dir, "workflow.yaml", "bad.csv")
	if rejects := read(t, filepath.Join(dir, "bad.csv")); strings.Count(rejects, "\n") != 1 {
		t.Errorf("the rejects are %q, want a header", rejects)
	}
}

// A command that was started with SIGHUP ignored, as by nohup, survives the closing of its
// terminal.
func TestHangUpIsIgnoredUnderNohup(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "workflow.yaml"), `name: goes on
graph:
  nodes:
    - {id: a, kind: command, run: [sh, -c, "echo begun >&2; while [ ! -e go ]; do sleep 0.01; done"], output: none}
`)
	cmd := command(t, dir, "run")
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}, cmd.Args...)
	var stderr syncBuffer
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the program", func() bool { return strings.Contains(stderr.String(), "INFO begun") })
	_ = cmd.Process.Signal(syscall.SIGHUP)
	write(t, filepath.Join(dir, "go"), "")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 || strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
}
