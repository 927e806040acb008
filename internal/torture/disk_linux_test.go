package torture_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// filling is a workflow whose second node has a value with which a store of 1 MB is full.
const filling = `name: job
state: {schema: {a: {type: string}, big: {type: string}, c: {type: string}}}
graph:
  nodes:
    - {id: a, kind: command, run: [sh, -c, "echo a >> ran; echo a"], writes: [a]}
    - {id: big, kind: command, run: [sh, -c, "echo big >> ran; head -c 1500000 /dev/urandom | base64 -w0"], reads: [a], writes: [big], max_output: 8388608}
    - {id: c, kind: command, run: [sh, -c, "echo c >> ran; echo c"], reads: [big], writes: [c]}
  edges: [{from: a, to: big}, {from: big, to: c}]
`

// smallDisk returns a folder with a file system of 1 MB, and a function that mounts it again with other
// flags and options.
func smallDisk(t *testing.T) (dir string, remount func(flags uintptr, options string)) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no small file system can be made: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir, func(flags uintptr, options string) {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|flags, options); err != nil {
			t.Fatal(err)
		}
	}
}

// command runs the command in a folder and returns the exit code and standard error.
func command(t *testing.T, dir string, args ...string) (exit int, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var buf strings.Builder
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), childVariable+"=1", "WAVEFOLD_STORE="), &buf
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), buf.String()
}

// ran returns the nodes that have run.
func ran(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(data)), " ")
}

// TestFullDisk fills the disk of a store: the run ends, no further node begins, and the message names the
// file. With more room the run is resumed.
func TestFullDisk(t *testing.T) {
	disk, remount := smallDisk(t)
	dir, st := t.TempDir(), filepath.Join(disk, "st")
	if err := os.WriteFile(filepath.Join(dir, "job.yaml"), []byte(filling), 0o600); err != nil {
		t.Fatal(err)
	}
	exit, stderr := command(t, dir, "run", "-q", "--store", "file:"+st, "--run-id", runID, "job.yaml")
	if exit != 1 || !strings.Contains(stderr, st) || !strings.Contains(stderr, "no space left on device") {
		t.Errorf("exit code %d, %s", exit, stderr)
	}
	if got := ran(t, dir); got != "a big" {
		t.Errorf("the nodes that have run: %s", got)
	}
	remount(0, "size=16m")
	if exit, stderr := command(t, dir, "resume", "-q", "--store", "file:"+st, runID); exit != 0 {
		t.Errorf("exit code %d, %s", exit, stderr)
	}
	if got := ran(t, dir); got != "a big big c" {
		t.Errorf("the nodes that have run: %s", got)
	}
}

// TestReadOnlyStore: with a store that cannot be written, nothing runs or is resumed, and a run with the
// default store is not stored.
func TestReadOnlyStore(t *testing.T) {
	disk, remount := smallDisk(t)
	dir, st := t.TempDir(), filepath.Join(disk, "st")
	for _, name := range []string{filepath.Join(dir, "job.yaml"), filepath.Join(disk, "job.yaml")} {
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(filling, "ran;", filepath.Join(dir, "ran")+";")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if exit, stderr := command(t, dir, "run", "-q", "--store", "file:"+st, "--run-id", runID, "job.yaml"); exit != 1 {
		t.Fatalf("exit code %d, %s", exit, stderr)
	}
	before := ran(t, dir)
	remount(syscall.MS_RDONLY, "size=16m")
	for _, args := range [][]string{{"run", "--store", "file:" + st, "job.yaml"}, {"resume", "--store", "file:" + st, runID}} {
		exit, stderr := command(t, dir, args...)
		if exit != 2 || !strings.Contains(stderr, "read-only file system") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %s", args[0], exit, stderr)
		}
	}
	if got := ran(t, dir); got != before {
		t.Errorf("the nodes that have run: %s, before: %s", got, before)
	}
	exit, stderr := command(t, disk, "run", "-q", "job.yaml")
	if exit != 0 || !strings.Contains(stderr, "read-only file system") {
		t.Errorf("default store: exit code %d, %s", exit, stderr)
	}
}
