package torture_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const flushing = `name: job
state: {schema: {big: {type: string}, rows: {type: array, default: [{a: 1}, {a: 2}]}}}
graph:
  nodes:
    - {id: make, kind: command, run: [sh, -c, "head -c 90000 /dev/zero | tr '\\0' x"], writes: [big]}
    - {id: save, kind: sink, reads: [rows], to: out.csv}
    - {id: gate, kind: human}
  edges: [{from: make, to: save}, {from: save, to: gate}]
`

// traced runs the command under strace and returns its system calls that make, rename and flush files,
// in the order of their ends. -y adds the paths of open files.
func traced(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "calls")
	cmd := exec.Command("strace", slices.Concat([]string{"-f", "-y", "-qq", "-s", "1", "-o", out, "-e", "signal=none",
		"-e", "trace=mkdirat,linkat,rename,renameat,renameat2,fsync,fdatasync,pwrite64", self}, args)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), childVariable+"=1")
	if text, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("%v: %s", err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	unfinished := map[string]string{} // by thread
	for line := range strings.Lines(string(data)) {
		thread, call, _ := strings.Cut(strings.TrimSpace(line), " ")
		call = strings.TrimSpace(call)
		if begin, ok := strings.CutSuffix(call, "<unfinished ...>"); ok {
			unfinished[thread] = begin
			continue
		}
		if _, end, ok := strings.Cut(call, "resumed>"); ok {
			call = unfinished[thread] + end
		}
		if !strings.Contains(call, " = -1 ") {
			calls = append(calls, call)
		}
	}
	return calls
}

var (
	openPath  = regexp.MustCompile(`^\w+\(\d+<([^>]*)>`) // of fsync, fdatasync and pwrite64
	namedPath = regexp.MustCompile(`(?:<([^>]*)>, )?"([^"]*)"`)
)

// unflushed replays system calls. It reports each relevant file that was published before its content
// was flushed, or whose name was not flushed before the next record was written, or at the end.
func unflushed(calls []string, matters func(path string) bool) (published int, faults []string) {
	flushed, names := map[string]bool{}, map[string]bool{}
	for _, call := range calls {
		var paths []string
		for _, m := range namedPath.FindAllStringSubmatch(call, -1) {
			path := m[2]
			if !filepath.IsAbs(path) {
				path = filepath.Join(m[1], path)
			}
			paths = append(paths, path)
		}
		open := openPath.FindStringSubmatch(call)
		switch name, _, _ := strings.Cut(call, "("); name {
		case "fsync", "fdatasync":
			flushed[open[1]] = true
			for path := range names {
				if filepath.Dir(path) == open[1] {
					delete(names, path)
				}
			}
		case "mkdirat":
			if matters(paths[0]) {
				names[paths[0]] = true
			}
		case "linkat", "rename", "renameat", "renameat2":
			if from, to := paths[0], paths[1]; matters(to) {
				published++
				names[to] = true
				if !flushed[from] {
					faults = append(faults, "published before it was flushed: "+to)
				}
			}
		case "pwrite64":
			if filepath.Base(open[1]) != "journal" {
				continue
			}
			for path := range names {
				faults = append(faults, "its name was not flushed before the next record: "+path)
			}
		}
	}
	for path := range names {
		faults = append(faults, "its name is never flushed: "+path)
	}
	return published, faults
}

// TestEverythingIsFlushed checks the system calls of a run with a large value, a sink and a question, and
// of the answer to it: what a record refers to survives a loss of power before the record does, and so
// does the answer before the command ends.
func TestEverythingIsFlushed(t *testing.T) {
	if out, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("system calls cannot be traced: %v %s", err, out)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	st, run := filepath.Join(dir, "st"), filepath.Join(dir, "st", "runs", runID)
	if err := os.WriteFile(filepath.Join(dir, "job.yaml"), []byte(flushing), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args    []string
		want    int // files
		matters func(path string) bool
	}{
		// the workflow, the value, and the file of the sink
		{[]string{"run", "-q", "--store", "file:" + st, "--durability", "full", "--run-id", runID, "job.yaml"}, 3, func(path string) bool {
			return strings.HasPrefix(path, filepath.Join(st, "blobs")) || path == filepath.Join(dir, "out.csv")
		}},
		{[]string{"answer", "--store", "file:" + st, runID, "gate", "--choice", "approve"}, 1, func(path string) bool {
			return strings.HasPrefix(path, filepath.Join(run, "inbox"))
		}},
	} {
		n, faults := unflushed(traced(t, dir, tt.args...), tt.matters)
		if n != tt.want || len(faults) > 0 {
			t.Errorf("%s: %d files, want %d\n%s", tt.args[0], n, tt.want, strings.Join(faults, "\n"))
		}
	}
}
