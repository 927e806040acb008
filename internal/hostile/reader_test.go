//go:build linux

package hostile

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// many is a workflow whose log is larger than the buffer of a pipe.
const many = `name: many
graph:
  nodes:
    - {id: a, kind: command, run: [sh, -c, "i=0; while [ $i -lt N ]; do i=$((i+1)); echo line $i >&2; done; echo $$ > a.pid; THEN"], output: none}
`

// interruptWithReader starts the command with a pipe as its standard output, which read reads, and
// interrupts the command once the file a.pid exists.
func interruptWithReader(t *testing.T, s syscall.Signal, lines, then string, read func(io.Reader), args ...string) (cmd *exec.Cmd, stderr string, took time.Duration) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "workflow.yaml"), strings.NewReplacer("N", lines, "THEN", then).Replace(many))
	cmd = command(t, dir, args...)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var stderrBuffer syncBuffer
	cmd.Stdout, cmd.Stderr = in, &stderrBuffer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	go read(out)
	eventually(t, "the program", func() bool { _, err := os.Stat(filepath.Join(dir, "a.pid")); return err == nil })
	time.Sleep(100 * time.Millisecond)
	begin := time.Now()
	_ = cmd.Process.Signal(s)
	_ = cmd.Wait()
	return cmd, stderrBuffer.String(), time.Since(begin)
}

// The command used to wait without limit for a reader of its events that read nothing, or
// little, even after an interrupt, and only a second interrupt ended it.
func TestInterruptWithASlowReader(t *testing.T) {
	needs(t, "sh", "sleep")
	nothing := func(io.Reader) {}
	slow := func(r io.Reader) {
		for in := bufio.NewScanner(r); in.Scan(); {
			time.Sleep(50 * time.Millisecond)
		}
	}
	missing := regexp.MustCompile(`the log of events is not complete: its reader is too slow, and the last ([0-9]+) events are missing`)
	for name, c := range map[string]struct {
		s    syscall.Signal
		then string
		read func(io.Reader)
	}{
		"nothing is read":                    {syscall.SIGINT, "sleep 100", nothing},
		"nothing is read after the end":      {syscall.SIGTERM, "exit 0", nothing},
		"a line now and then":                {syscall.SIGTERM, "sleep 100", slow},
		"a line now and then, after the end": {syscall.SIGINT, "exit 0", slow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, stderr, took := interruptWithReader(t, c.s, "5000", c.then, c.read, "run", "-q", "--events", "-")
			found := missing.FindStringSubmatch(stderr)
			if found == nil {
				t.Fatalf("exit code %d after %s\n%s", cmd.ProcessState.ExitCode(), took, stderr)
			}
			if n, _ := strconv.Atoi(found[1]); n < 1000 || n > 5100 {
				t.Errorf("%d events are missing", n)
			}
			if took > time.Minute || !strings.Contains(stderr, "many: ") {
				t.Errorf("ended after %s\n%s", took, stderr)
			}
		})
	}
}
