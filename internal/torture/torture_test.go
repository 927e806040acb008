package torture_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/internal/torture"
	"github.com/wavefold/wavefold/nodes/std"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/store"
	"github.com/wavefold/wavefold/store/file"
)

// job is a document that runs offline.
type job struct {
	name  string
	args  []string // of run, the document first
	files fs.FS
	long  bool // the run succeeds, and its journal may have more than maxRecords
}

// exampleJobs are the examples that need no model. Their paths are relative to the example's folder.
var exampleJobs = map[string][]string{
	"birdstrikes": {"birdstrikes.yaml"}, "fan-out-review": {"workflow.yaml"}, "fix-loop": {"fix-loop.dot"}, "flights": {"flights.yaml"}, "publish": {"publish.dot"},
	"quorum": {"quorum.dot"}, "refine-loop": {"workflow.yaml"}, "row-pipeline": {"workflow.yaml"}, "release-gate": {"release.dot", "--auto-approve"},
	"weather": {"weather.yaml", "--input", "until=2012-06-30"},
}

func jobs(t *testing.T) (list []job) {
	for name, args := range exampleJobs {
		list = append(list, job{name: name, args: args, files: os.DirFS(filepath.Join("..", "..", "examples", name))})
	}
	archives, _ := filepath.Glob(filepath.Join("..", "..", "corpus", "testdata", "correct", "*.txtar")) // the pattern is well-formed
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, line, runs := strings.Cut(string(a.Comment), "$ wavefold run ")
		line, _, _ = strings.Cut(line, "\n")
		args := slices.DeleteFunc(strings.Fields(line), func(arg string) bool { return arg == "-q" || arg == "--strict" })
		files, encoded := fstest.MapFS{}, false
		for _, f := range a.Files {
			encoded = encoded || strings.HasSuffix(f.Name, ".base64")
			files[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o600}
		}
		if runs && !encoded {
			list = append(list, job{name: strings.TrimSuffix(filepath.Base(name), ".txtar"), args: args, files: files})
		}
	}
	slices.SortFunc(list, func(a, b job) int { return strings.Compare(a.name, b.name) })
	if len(list) < 40 {
		t.Fatalf("found %d documents", len(list))
	}
	return list
}

// maxRecords limits the journal of a job, so that it can be killed after each record.
const maxRecords = 300

// effort determines how often each job is killed.
type effort struct{ every, instants, share int }

// efforts are the values of WAVEFOLD_TORTURE. By default a third of the jobs are killed a few times.
var efforts = map[string]effort{"": {every: 12, instants: 1, share: 3}, "ci": {every: 10, instants: 20, share: 1}, "all": {every: 1, instants: 500, share: 1}}

// TestKilled kills runs with SIGKILL and resumes them until they end. The results and files must equal
// the results and files of an undisturbed run, and executions that have ended must not run again. -v
// prints the seed; WAVEFOLD_TORTURE_SEED repeats it.
func TestKilled(t *testing.T) {
	level, ok := efforts[os.Getenv("WAVEFOLD_TORTURE")]
	if !ok {
		t.Fatalf("WAVEFOLD_TORTURE is %q, want ci or all", os.Getenv("WAVEFOLD_TORTURE"))
	}
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("WAVEFOLD_TORTURE_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("WAVEFOLD_TORTURE_SEED=%d", seed)
	tally := &tally{}
	t.Run("jobs", func(t *testing.T) {
		for i, j := range jobs(t) {
			if (uint64(i)+seed)%uint64(level.share) > 0 {
				continue
			}
			t.Run(j.name, func(t *testing.T) {
				t.Parallel()
				j.torture(t, level, rand.New(rand.NewPCG(seed, uint64(i))), tally)
			})
		}
	})
	t.Logf("%d kills, %d of them found no process, %d executions were kept, %d programs ran, %d of them again", tally.kills, tally.late, tally.kept, tally.programs, tally.again)
	if !t.Failed() && (tally.kept == 0 || tally.kills == 0) {
		t.Error("nothing was killed, or nothing was kept")
	}
}

type tally struct {
	mu                                 sync.Mutex
	kills, late, kept, programs, again int
}

func (j *job) torture(t *testing.T, level effort, rng *rand.Rand, tally *tally) {
	calm := j.start(t, tally)
	began := time.Now()
	calm.process(nil, "run")
	took := time.Since(began)
	want := calm.outcome()
	if s := want["status"]; j.long && s != "success" && s != "partial_success" {
		t.Fatalf("the run is %s: %v", s, calm.status["error"])
	}
	records := calm.witness().Records
	if records > maxRecords && !j.long {
		t.Fatalf("the journal has %d records, at most %d are wanted: cut the inputs", records, maxRecords)
	}
	every := level.every * max(1, records/maxRecords)
	for n := 1 + rng.IntN(min(every, records)); n <= records; n += every {
		r := j.start(t, tally)
		r.rng = rng
		r.killed(fmt.Sprintf("after record %d", n), r.boundary(n), want)
	}
	for range level.instants {
		r := j.start(t, tally)
		r.rng = rng
		after := time.Duration(rng.Int64N(int64(took)))
		r.killed(fmt.Sprintf("after %s", after), death{after: after}, want)
	}
}

// death describes how a process ends.
type death struct {
	records, torn int
	after         time.Duration // 0 if it kills itself
	power         bool          // what was not flushed is lost
}

// boundary returns a death after a record, sometimes in the middle of the next one.
func (r *runner) boundary(n int) death {
	d := death{records: n, power: r.rng.IntN(4) == 0}
	if r.rng.IntN(2) == 0 {
		d.torn = 1 + r.rng.IntN(200)
	}
	return d
}

// runner executes one run of a job in processes that may be killed.
type runner struct {
	*job
	t         *testing.T
	tally     *tally
	rng       *rand.Rand
	dir       string // work, with the files; store; bin
	mode      string
	plan      *plan.Plan
	processes int
	status    map[string]any // what the last process printed
}

func (j *job) start(t *testing.T, tally *tally) *runner {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "") // removed with it
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{job: j, t: t, tally: tally, dir: dir, mode: "batch"}
	if err := os.CopyFS(r.path("work"), j.files); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.path("work", "out")); err != nil { // of earlier runs of an example
		t.Fatal(err)
	}
	r.writeShims()
	e := wavefold.NewEngine(std.Kinds()...)
	w, ds := e.Read(r.path("work", j.args[0]))
	if w != nil {
		r.plan, ds = e.Compile(w, false)
	}
	if r.plan == nil {
		t.Fatal(ds)
	}
	return r
}

func (r *runner) path(parts ...string) string {
	return filepath.Join(append([]string{r.dir}, parts...)...)
}

// writeShims makes programs that note the key of the attempt that starts them.
func (r *runner) writeShims() {
	if err := os.Mkdir(r.path("bin"), 0o700); err != nil {
		r.t.Fatal(err)
	}
	for _, name := range []string{"awk", "sh", "bash", "cp", "cat", "sort", "grep", "sed", "echo", "printf", "true", "false", "test", "wc", "head"} {
		real, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		script := "#!/bin/sh\nif [ -z \"$TORTURE_INSIDE\" ]; then echo \"$TORTURE_PROCESS $WAVEFOLD_ATTEMPT $WAVEFOLD_IDEMPOTENCY_KEY\" >> '" + r.path("programs") + "'; export TORTURE_INSIDE=1; fi\nexec " + real + " \"$@\"\n"
		if err := os.WriteFile(r.path("bin", name), []byte(script), 0o700); err != nil {
			r.t.Fatal(err)
		}
	}
}

const runID = "run1"

// process runs the command, and kills it if d is not nil. It reports whether it was killed.
func (r *runner) process(d *death, command string) (killed bool) {
	r.t.Helper()
	r.processes++
	args := []string{command, "--json", "--store", "file:" + r.path("store"), "--durability", r.mode}
	if command == "run" {
		args = append(append(args, "--run-id", runID), r.args...)
	} else {
		args = append(args, runID)
		if slices.Contains(r.args, "--auto-approve") {
			args = append(args, "--auto-approve")
		}
	}
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir = r.path("work")
	cmd.Env = append(os.Environ(), childVariable+"=1", flushedVariable+"="+r.path("flushed"), "TORTURE_PROCESS="+strconv.Itoa(r.processes),
		"PATH="+r.path("bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second // programs of a killed process may keep the pipes open
	if d != nil && d.after == 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", recordsVariable, d.records), fmt.Sprintf("%s=%d", tornVariable, d.torn))
	}
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	if d != nil && d.after > 0 {
		timer := time.AfterFunc(d.after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	hung := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) }) // prints its goroutines
	defer hung.Stop()
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() && s.Signal() == syscall.SIGKILL {
			return true
		}
	}
	r.status = nil
	if jerr := json.Unmarshal(stdout.Bytes(), &r.status); jerr != nil {
		r.t.Fatalf("%s of process %d: %v\n%s\n%s", command, r.processes, err, stdout.String(), stderr.String())
	}
	return false
}

// killed kills a run, and the processes that resume it now and then, and checks how it ends.
func (r *runner) killed(how string, d death, want outcome) {
	r.t.Helper()
	r.mode = []string{"full", "batch"}[r.rng.IntN(2)]
	story := []string{r.mode + ", killed " + how}
	known := &torture.Witness{}
	command, next := "run", &d
	for {
		killed := r.process(next, command)
		r.tally.count(next, killed)
		if killed && next.power {
			story[len(story)-1] += ", power lost"
			r.losePower()
		}
		known = r.check(story, known)
		if !killed {
			break
		}
		if command = "resume"; known.Records == 0 {
			command = "run" // the run had not begun
		}
		if next = nil; r.processes < 4 && r.rng.IntN(2) == 0 {
			again := r.boundary(1 + r.rng.IntN(8))
			next = &again
			story = append(story, fmt.Sprintf("again after %d records", again.records))
		}
	}
	if diff := want.differences(r.outcome()); len(diff) > 0 && !countsRuns[r.name] {
		r.t.Errorf("%s\n%s", strings.Join(story, ", "), strings.Join(diff, "\n"))
	}
}

func (t *tally) count(d *death, killed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case killed:
		t.kills++
	case d != nil:
		t.late++
	}
}

// losePower removes what was not flushed from the journal.
func (r *runner) losePower() {
	flushed, err := os.ReadFile(r.path("flushed"))
	size, perr := strconv.ParseInt(string(flushed), 10, 64)
	journal := r.path("store", "runs", runID, "journal")
	info, serr := os.Stat(journal)
	if err != nil || perr != nil || serr != nil || info.Size() <= size {
		return // no data was flushed, or all of it
	}
	if err := os.Truncate(journal, size); err != nil {
		r.t.Fatal(err)
	}
}

func (r *runner) witness() *torture.Witness {
	r.t.Helper()
	s, err := file.Open(r.path("store"), file.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	w, err := torture.Read(context.Background(), r.plan, s, runID)
	if errors.Is(err, store.ErrNotFound) {
		return &torture.Witness{}
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

// check compares the programs that the last process has started with the journals before and after
// it.
func (r *runner) check(story []string, before *torture.Witness) (after *torture.Witness) {
	r.t.Helper()
	after = r.witness()
	ended, cancelled, issued := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for e := range before.Ended {
		ended[fmt.Sprint(e.Attempt, " ", e.Key(runID))] = true
	}
	for e := range before.Cancelled {
		cancelled[fmt.Sprint(e.Attempt, " ", e.Key(runID))] = true
	}
	for e := range after.Issued {
		issued[fmt.Sprint(e.Attempt, " ", e.Key(runID))] = true
	}
	seen, earlier := map[string]int{}, map[string]bool{}
	programs, again := 0, 0
	for process, attempt := range r.programs() {
		if process != r.processes {
			earlier[attempt] = true
			continue
		}
		programs++
		if earlier[attempt] {
			again++
		}
		if seen[attempt]++; seen[attempt] > 1 {
			r.t.Errorf("%s: process %d started %s %d times", strings.Join(story, ", "), process, attempt, seen[attempt])
		}
		if ended[attempt] {
			r.t.Errorf("%s: process %d started %s again, and its answer was recorded", strings.Join(story, ", "), process, attempt)
		}
		if cancelled[attempt] {
			r.t.Errorf("%s: process %d started %s again, which was cancelled", strings.Join(story, ", "), process, attempt)
		}
		if !issued[attempt] {
			r.t.Errorf("%s: process %d started %s, and the journal does not know it", strings.Join(story, ", "), process, attempt)
		}
	}
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	r.tally.kept += len(before.Ended)
	r.tally.programs += programs
	r.tally.again += again
	return after
}

// programs yields the programs that were started: the number of the process, and the attempt.
func (r *runner) programs() func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		data, _ := os.ReadFile(r.path("programs")) // it need not exist
		for line := range strings.Lines(string(data)) {
			process, attempt, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "#0"), " ") // an Execution has no round 0
			n, _ := strconv.Atoi(process)
			if !yield(n, attempt) {
				return
			}
		}
	}
}

// outcome describes how a run ended: the parts of the report and the files, by name.
type outcome map[string]string

func (r *runner) outcome() outcome {
	r.t.Helper()
	o := outcome{"status": fmt.Sprint(r.status["status"])}
	list, report := r.status["nodes"].([]any)
	if report { // resume prints less of a run that ended just before its process was killed
		o["state"], o["path"] = text(r.status["state"]), text(r.status["path"])
	}
	for _, x := range list {
		n, _ := x.(map[string]any)
		for _, key := range []string{"status", "attempts", "items", "failed", "output", "reason"} {
			o[fmt.Sprint("node ", n["id"], " ", key)] = text(n[key])
		}
	}
	err := filepath.WalkDir(r.path("work"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if filepath.Ext(path) == ".db" { // how the pages of a database are filled depends on its history
			data, err = exec.Command("sqlite3", path, "select name from sqlite_master order by 1", ".dump --data-only").Output()
			data = commits.ReplaceAll(data, nil)
		}
		name, _ := filepath.Rel(r.path("work"), path)
		o["file "+name] = string(data)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return o
}

// commits matches the rows in which a database notes what runs have written, with the time.
var commits = regexp.MustCompile(`(?m)^INSERT INTO "?wavefold_commits"? .*\n`)

// countsRuns are the documents with a program that does something else when it runs again, such as mv. A
// program that was killed runs again, so the results may differ, and only the programs are compared.
var countsRuns = map[string]bool{"retry_of_a_command": true, "fix-loop": true, "publish": true}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (o outcome) differences(got outcome) (list []string) {
	for key, want := range o {
		if have, ok := got[key]; !ok || have != want {
			list = append(list, fmt.Sprintf("%s: got %.300q, want %.300q", key, have, want))
		}
	}
	for key := range got {
		if _, ok := o[key]; !ok {
			list = append(list, "not expected: "+key)
		}
	}
	slices.Sort(list)
	return list
}
