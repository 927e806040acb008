//go:build unix

package hostile

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/nodes/std"
)

// asCommand makes the test binary behave as the wavefold command.
const asCommand = "WAVEFOLD_HOSTILE_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		e := wavefold.NewEngine(std.Kinds()...)
		if err := e.AddTool("deaf", core.HandlerFunc(ignoresContext)); err != nil {
			panic(err)
		}
		cli.Main(e)
	}
	// Under nohup, SIGHUP is ignored, and child processes would inherit that. They do not
	// inherit a handler.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(m.Run())
}

// ignoresContext is Go code that ignores the end of its context.
func ignoresContext(context.Context, core.Input) (core.Result, error) {
	if err := os.WriteFile("deaf.pid", []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return core.Result{}, err
	}
	select {}
}

// command returns the wavefold command in a folder with one workflow.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0", "WAVEFOLD_STORE=none")
	return cmd
}

// stubborn is a workflow of a program that writes its process id and never ends.
const stubborn = `name: stubborn
graph:
  nodes:
    - {id: a, kind: command, run: [sh, -c, "echo $$ > pid; while :; do echo line >&2; sleep 0.02; done"], output: none}
`

// waitForProgram waits for the program of stubborn to end.
func waitForProgram(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if syscall.Kill(pid, 0) != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d still runs", pid)
}

// An interrupt, SIGTERM and the closing of the terminal end the programs of a run too,
// although they are in sessions of their own.
func TestSignalsEndTheProgramsOfARun(t *testing.T) {
	for s, word := range map[syscall.Signal]string{syscall.SIGINT: "interrupted", syscall.SIGTERM: "terminated", syscall.SIGHUP: "hung up", syscall.SIGQUIT: "quit"} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "workflow.yaml"), stubborn)
			cmd := command(t, dir, "run")
			cmd.Stdout = io.Discard
			lines, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var rest bytes.Buffer
			for in := bufio.NewScanner(lines); in.Scan(); {
				if rest.WriteString(in.Text() + "\n"); strings.Contains(in.Text(), "INFO line") && cmd.Process != nil {
					_ = cmd.Process.Signal(s)
					_, _ = io.Copy(&rest, lines)
				}
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 128+int(s) || !strings.Contains(rest.String(), "the run was cancelled: "+word) {
				t.Errorf("exit code %d\n%s", code, rest.String())
			}
			waitForProgram(t, dir)
		})
	}
}

// If the reader of the output closes it, as head does, the run is cancelled. This used to
// end the command at once, and the programs continued.
func TestReaderThatGoesAway(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "workflow.yaml"), stubborn)
	cmd := command(t, dir, "run", "--events", "-")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for in.Scan() && !strings.Contains(in.Text(), `"log":"line"`) {
	}
	out.Close()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 141 || !strings.Contains(stderr.String(), "wavefold: the run was cancelled: the reader of the output has gone") ||
		strings.Contains(stderr.String(), "not complete") {
		t.Errorf("exit code %d\n%s", code, stderr.String())
	}
	waitForProgram(t, dir)
}

// Programs that end without reading their input break pipes of the command, too. The
// command used to treat that as the reader of its own output closing it, and cancelled the
// run or truncated its summary.
func TestProgramsThatDoNotReadTheirInput(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "workflow.yaml"), `name: deaf
state: {schema: {rows: {type: array, default: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}}}
graph:
  nodes:
    - {id: f, kind: command, run: ["true"], stdin: "{{$item}}", writes: [], for_each: {source: $.rows, concurrency: 4}}
`)
	for range 5 {
		cmd := command(t, dir, "run", "-q")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "deaf: success") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}
