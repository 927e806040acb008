package cli_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/llm/llmtest"
	"github.com/wavefold/wavefold/nodes/std"
)

// TestMain lets the scripts run this test binary as the command.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"wavefold": func() { cli.Main(wavefold.NewEngine(std.Kinds()...)) },
		// The command with a model that answers nothing.
		"wavefold-model": func() {
			e := wavefold.NewEngine(std.Kinds()...)
			e.UseModel(&llmtest.Scripted{})
			cli.Main(e)
		},
	})
}

// promptRace lets processes under the race detector exit without the delay of one second in
// which they wait for reports of other goroutines.
const promptRace = "GORACE=atexit_sleep_ms=0"

// TestScripts runs the scripts under testdata/script with the real main function, streams,
// files and exit codes. With UPDATE=1 in the environment it writes the expected outputs
// into the scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, promptRace, "WAVEFOLD_STORE=none") // tests of stores set it to ""
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":      code,
			"mask":      mask,
			"interrupt": interrupt,
		},
	})
}

// code runs a command and expects an exit code:
//
//	code 2 wavefold validate broken.yaml
//
// The output streams go to the files stdout.txt and stderr.txt.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command args...")
	}
	cmd := command(ts, args[1:])
	finish(ts, args[0], cmd, cmd.Run())
}

// interrupt runs a command, waits until a file exists or the command has written a string
// to standard error, interrupts the command as often as asked, and expects an exit code:
//
//	interrupt 1 started.txt 130 wavefold run slow.yaml
//	interrupt 1 said:up 130 wavefold run slow.yaml
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt TIMES FILE|said:TEXT N command args...")
	}
	times, err := strconv.Atoi(args[0])
	ts.Check(err)
	cmd := command(ts, args[3:])
	ts.Check(cmd.Start())
	ended := make(chan error, 1) // the send never blocks
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for sent := 0; sent < times; {
		select {
		case err := <-ended:
			finish(ts, args[2], cmd, err)
			return
		case <-tick.C:
		}
		output := cmd.Stderr.(*lockedBuffer).String()
		_, err := os.Stat(ts.MkAbs(args[1]))
		text, isText := strings.CutPrefix(args[1], "said:")
		up := err == nil || isText && strings.Contains(output, text)
		if up && (sent == 0 || strings.Contains(output, "interrupted")) {
			ts.Check(cmd.Process.Signal(os.Interrupt))
			sent++
		}
	}
	finish(ts, args[2], cmd, <-ended)
}

func command(ts *testscript.TestScript, args []string) *exec.Cmd {
	path := args[0]
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, args[0])); err == nil {
			path = filepath.Join(dir, args[0])
			break
		}
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("HOME"), "TMPDIR=" + ts.Getenv("TMPDIR"), "WAVEFOLD_STORE=" + ts.Getenv("WAVEFOLD_STORE"), promptRace}
	cmd.Stdout, cmd.Stderr = &lockedBuffer{}, &lockedBuffer{}
	return cmd
}

func finish(ts *testscript.TestScript, want string, cmd *exec.Cmd, err error) {
	stdout, stderr := cmd.Stdout.(*lockedBuffer).String(), cmd.Stderr.(*lockedBuffer).String()
	ts.Check(os.WriteFile(ts.MkAbs("stdout.txt"), []byte(stdout), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), []byte(stderr), 0o600))
	got := 0
	if x, ok := errors.AsType[*exec.ExitError](err); ok {
		got = x.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit code %d, want %s\nstdout:\n%s\nstderr:\n%s", got, want, stdout, stderr)
	}
}

// mask replaces the values that differ between runs in a file: durations, with the spaces
// around them, and ids of runs.
func mask(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		path := ts.MkAbs(name)
		data, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, maskText(data), 0o600))
	}
}

var masks = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`"(ts|started)":\s*"[^"]*"`), `"$1": "TIME"`},
	{regexp.MustCompile(`"(duration_ns|started_ns)":\s*\d+`), `"$1": 0`},
	{regexp.MustCompile(`"run":\s*"[A-Z0-9]{26}"`), `"run": "RUN"`},
	{regexp.MustCompile(` *\b\d+(\.\d+)?(ns|µs|ms|s)\b`), ` TIME`},
	{regexp.MustCompile(`(\S) {2,}`), `$1  `}, // masked values determine the width of columns
}

func maskText(data []byte) []byte {
	for _, m := range masks {
		data = m.pattern.ReplaceAll(data, []byte(m.by))
	}
	return data
}

// lockedBuffer is a buffer that can be read while a process writes to it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends to the buffer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns the content so far.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
