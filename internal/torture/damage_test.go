package torture_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// interrupted returns a run that was killed after a number of records.
func interrupted(t *testing.T, records int) *runner {
	t.Helper()
	j := &job{name: "row-pipeline", args: exampleJobs["row-pipeline"], files: os.DirFS(filepath.Join("..", "..", "examples", "row-pipeline"))}
	r := j.start(t, &tally{})
	r.rng = rand.New(rand.NewPCG(1, 2))
	if !r.process(&death{records: records}, "run") {
		t.Fatal("the run has ended before it was killed")
	}
	return r
}

// resume resumes the run and returns the exit code and standard error.
func (r *runner) resume(flags ...string) (exit int, stderr string) {
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"resume", "-q", "--store", "file:" + r.path("store"), runID}, flags...)...)
	cmd.Dir, cmd.Env = r.path("work"), append(os.Environ(), childVariable+"=1")
	var buf bytes.Buffer
	cmd.Stderr = &buf
	if err := cmd.Run(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			r.t.Fatal(err)
		}
	}
	return cmd.ProcessState.ExitCode(), buf.String()
}

// TestDamagedJournal: a bit that has changed before a good record is found, and nothing is changed.
// With --salvage the run continues after the last good record.
func TestDamagedJournal(t *testing.T) {
	r := interrupted(t, 12)
	name := r.path("store", "runs", runID, "journal")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/4*3] ^= 4
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if exit, stderr := r.resume(); exit != 1 || !strings.Contains(stderr, "[JOURNAL_DAMAGED]") {
		t.Errorf("exit code %d, %s", exit, stderr)
	}
	if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, data) {
		t.Errorf("the journal was changed: %v", err)
	}
	if exit, stderr := r.resume("--salvage"); exit != 0 || !strings.Contains(stderr, "journal.damaged is a copy") {
		t.Errorf("--salvage: exit code %d, %s", exit, stderr)
	}
	if copied, err := os.ReadFile(name + ".damaged"); err != nil || !bytes.Equal(copied, data) {
		t.Errorf("the copy is not what was damaged: %v", err)
	}
}

// TestTornJournal: what is left of a record that was being written is removed and reported.
func TestTornJournal(t *testing.T) {
	r := interrupted(t, 12)
	name := r.path("store", "runs", runID, "journal")
	info, err := os.Stat(name)
	if err == nil {
		err = os.Truncate(name, info.Size()-7)
	}
	if err != nil {
		t.Fatal(err)
	}
	if exit, stderr := r.resume(); exit != 0 || !strings.Contains(stderr, "of an incomplete record after record 11 were removed") {
		t.Errorf("exit code %d, %s", exit, stderr)
	}
}

// TestIndexIsNotNeeded resumes runs whose store has lost its index, or has a broken one.
func TestIndexIsNotNeeded(t *testing.T) {
	for _, content := range []string{"", "{broken"} {
		r := interrupted(t, 12)
		index := r.path("store", "index.json")
		err := os.Remove(index)
		if content != "" {
			err = os.WriteFile(index, []byte(content), 0o600)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if exit, stderr := r.resume(); exit != 0 {
			t.Errorf("index %q: exit code %d, %s", content, exit, stderr)
		}
	}
}

// TestTwoResume: of two processes that resume a run, no node runs in both. One may come too late to
// find it in progress.
func TestTwoResume(t *testing.T) {
	for range 3 {
		r := interrupted(t, 12)
		var group sync.WaitGroup
		exits := make([]int, 2)
		for i := range exits {
			group.Go(func() { exits[i], _ = r.resume() })
		}
		group.Wait()
		if !(exits[0] == 0 || exits[1] == 0) || exits[0]%5 != 0 || exits[1]%5 != 0 {
			t.Errorf("exit codes %v, want 0 and 5, or 0 twice", exits)
		}
	}
}
