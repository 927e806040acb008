//go:build unix

package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/secret"
)

// record is a log that keeps its lines and can call a function for each.
type record struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
	on    func(line string)
}

func (r *record) Enabled(context.Context, slog.Level) bool { return true }

func (r *record) Handle(_ context.Context, rec slog.Record) error {
	r.mu.Lock()
	r.lines = append(r.lines, rec.Message)
	r.mu.Unlock()
	if r.on != nil {
		r.on(rec.Message)
	}
	return nil
}

func (r *record) text() string { return strings.Join(r.lines, "\n") }

// run runs the test binary as a child and checks that no process or goroutine is left.
func run(t *testing.T, ctx context.Context, mode string, c Command) (Output, *record, error) {
	t.Helper()
	rec := &record{Handler: slog.DiscardHandler}
	if c.Log == nil {
		c.Log = slog.New(rec)
	}
	c.Path, c.Name = os.Args[0], "child"
	c.Env = append(c.Env, childVar+"="+mode, noRaceDelay)
	out, err := Run(ctx, c)
	noGoroutines(t)
	return out, rec, err
}

// noGoroutines fails if a goroutine of this package or of os/exec is left. It waits a moment, because
// a goroutine may run a little after it has signalled its end.
func noGoroutines(t *testing.T) {
	t.Helper()
	buf := make([]byte, 1<<20)
	for deadline := time.Now().Add(5 * time.Second); ; runtime.Gosched() {
		left := ""
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(g, "os/exec.") || strings.Contains(g, "process.group") || strings.Contains(g, "process.pump") {
				left = g
			}
		}
		if left == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a goroutine is left:\n%s", left)
		}
	}
}

func TestRunOutput(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		mode string
		cmd  Command
		want string
	}{
		{"standard input", "cat", Command{Stdin: []byte("hello\n")}, "hello\n"},
		{"no standard input", "cat", Command{}, ""},
		{"one argument stays one", "args", Command{Args: []string{"", "a b", `"; rm -rf /`, "$HOME", "-x", "ü"}},
			`["" "a b" "\"; rm -rf /" "$HOME" "-x" "ü"]`},
		{"environment", "env", Command{Args: []string{"COLOUR"}, Env: []string{"COLOUR=blue"}}, "blue"},
		{"environment is inherited", "env", Command{Args: []string{"PATH"}}, os.Getenv("PATH")},
		{"folder", "dir", Command{Dir: dir}, dir},
		{"exactly the limit", "print", Command{Args: []string{"1000"}, MaxOutput: 1000}, strings.Repeat("x", 1000)},
		{"more than a pipe holds", "cat", Command{Stdin: []byte(strings.Repeat("0123456789", 100_000))}, strings.Repeat("0123456789", 100_000)},
		{"input that nobody reads", "deaf", Command{Stdin: []byte(strings.Repeat("x", 1<<20))}, ""},
		{"discarded", "print", Command{Args: []string{"1000"}, MaxOutput: 10, Discard: true}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, _, err := run(t, t.Context(), tt.mode, tt.cmd)
			if err != nil || string(out.Stdout) != tt.want {
				t.Errorf("got %.80q, %v, want %.80q", out.Stdout, err, tt.want)
			}
		})
	}
}

func TestRunExit(t *testing.T) {
	tests := []struct {
		name string
		mode string
		cmd  Command
		code int
		want string // part of the error, "" if there is none
	}{
		{"zero", "exit", Command{Args: []string{"0"}}, 0, ""},
		{"allowed code", "exit", Command{Args: []string{"3"}, OK: []int{0, 3}}, 3, ""},
		{"zero not allowed", "exit", Command{Args: []string{"0"}, OK: []int{3}}, 0, "child: exit code 0"},
		{"silent", "exit", Command{Args: []string{"7"}}, 7, "child: exit code 7"},
		{"one line", "exit", Command{Args: []string{"7", "no such table"}}, 7, "child: exit code 7: no such table"},
		{"last lines", "exit", Command{Args: append([]string{"1", "first"}, slices.Repeat([]string{"a", "b"}, 20)...)}, 1,
			"child: exit code 1, last lines of standard error:" + strings.Repeat("\n  a\n  b", 20)},
		// Test runners report errors on standard output.
		{"one line of output", "exit", Command{Args: []string{"1", ">FAIL TestParse"}}, 1, "child: exit code 1: FAIL TestParse"},
		{"both outputs", "exit", Command{Args: []string{"2", ">ok a\n\n\x1b[31mFAIL b \n", "make: *** [test] Error 1"}}, 2,
			"child: exit code 2, last lines of standard error:\n  make: *** [test] Error 1\nlast lines of standard output:\n  ok a\n  [31mFAIL b"},
		{"long lines", "exit", Command{Args: append([]string{"1", ">" + strings.Repeat("x", 500)}, slices.Repeat([]string{">" + strings.Repeat("y", 500)}, 9)...)}, 1,
			"child: exit code 1, last lines of standard output:" + strings.Repeat("\n  "+strings.Repeat("y", 400)+" …", 9)},
		{"a secret", "exit", Command{Args: []string{"1", ">token hunter2"}, Mask: secret.NewMasker("hunter2")}, 1, "child: exit code 1: token ***"},
		{"discarded output", "exit", Command{Args: []string{"1", ">a", "b"}, Discard: true}, 1, "child: exit code 1: b"},
		{"signal", "suicide", Command{}, -1, "child: killed by signal (killed): ready"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, _, err := run(t, t.Context(), tt.mode, tt.cmd)
			if tt.want == "" {
				if err != nil || out.Code != tt.code {
					t.Fatalf("got code %d, %v, want %d", out.Code, err, tt.code)
				}
				return
			}
			exit, ok := errors.AsType[*ExitError](err)
			if !ok || exit.Code != tt.code {
				t.Fatalf("got %#v, want an exit error with code %d", err, tt.code)
			}
			// A child may kill itself before its line is printed.
			if got := err.Error(); got != tt.want && got != strings.TrimSuffix(tt.want, ": ready") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestExitSignature tests that failures that differ only before the last lines of their output have
// different signatures.
func TestExitSignature(t *testing.T) {
	output := func(stream, first, count string) []string {
		return append([]string{"1", stream + first}, slices.Repeat([]string{stream + "ok in " + count + "s"}, 100)...)
	}
	failure := func(t *testing.T, args []string) *core.Failure {
		_, _, err := run(t, t.Context(), "exit", Command{Args: args})
		return core.FailureOf(fmt.Errorf("node x: %w", err))
	}
	for name, stream := range map[string]string{"standard output": ">", "standard error": ""} {
		t.Run(name, func(t *testing.T) {
			base := failure(t, output(stream, "FAIL TestParse (0.1s) 7f00ba1234", "1"))
			if base.Signature == "" {
				t.Fatal("there is no signature")
			}
			if got := failure(t, output(stream, "FAIL TestParse (13.25s) 99ffee1a", "27")); got.Signature != base.Signature {
				t.Errorf("numbers make the signature a different one: %s and %s", got.Signature, base.Signature)
			}
			got := failure(t, output(stream, "FAIL TestWrite (0.1s) 7f00ba1234", "1"))
			if got.Signature == base.Signature || got.Message != base.Message {
				t.Errorf("got %s %s, want another signature than %s and the same message", got.Signature, got.Message, base.Signature)
			}
			data, err := json.Marshal(got)
			var back core.Failure
			if err = errors.Join(err, json.Unmarshal(data, &back)); err != nil || back.Signature != got.Signature {
				t.Errorf("JSON: %s, %v", data, err)
			}
		})
	}
	if got := failure(t, []string{"1"}); got.Signature != "" {
		t.Errorf("a program that prints nothing has the signature %s", got.Signature)
	}
}

// TestExitCategory tests that the outputs determine the category of a failure, and the name of the
// program does not.
func TestExitCategory(t *testing.T) {
	for _, tt := range []struct {
		exit ExitError
		want core.Category
	}{
		{ExitError{Program: "sh", Code: 7, Stderr: []string{"curl: (7) Failed to connect: Connection refused"}}, core.TransientInfra},
		{ExitError{Program: "sh", Code: 1, Stdout: []string{"FAIL: the server is unavailable", "exit status 1"}}, core.TransientInfra},
		{ExitError{Program: "sh", Code: 1, Stdout: []string{"quota of the project"}}, core.BudgetExhausted},
		{ExitError{Program: "abort.sh", Code: 1}, core.Deterministic},
		{ExitError{Program: "sh", Code: -1, Signal: "aborted"}, core.Deterministic},
		{ExitError{Program: "sh", Code: 1, Stderr: []string{"no such table"}}, core.Deterministic},
	} {
		if got := core.CategoryOf(&tt.exit); got != tt.want {
			t.Errorf("%v: got %s, want %s", &tt.exit, got, tt.want)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	tests := []struct {
		name string
		cmd  Command
		want string
	}{
		{"no such program", Command{Path: "/nonexistent/program", Name: "program"}, "program: fork/exec /nonexistent/program: no such file or directory"},
		{"NUL in argument", Command{Path: os.Args[0], Name: "child", Args: []string{"a", "b\x00c"}}, "child: argument 2 contains a NUL byte"},
		{"NUL in environment", Command{Path: os.Args[0], Name: "child", Env: []string{"TOKEN=b\x00c"}}, "child: environment variable TOKEN contains a NUL byte"},
		{"arguments too long", Command{Path: os.Args[0], Name: "child", Args: []string{strings.Repeat("x", 4<<20)}}, "pass large values on standard input"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Run(t.Context(), tt.cmd)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
			noGoroutines(t)
		})
	}
}

func TestRunCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the user left")
	cancel(reason)
	file := filepath.Join(t.TempDir(), "never")
	_, err := Run(ctx, Command{Path: "/bin/sh", Args: []string{"-c", "echo x > " + file}})
	if !errors.Is(err, reason) {
		t.Errorf("got %v, want %v", err, reason)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the program ran although the context had ended")
	}
}

// TestRunCancelled cancels children that react to SIGTERM in different ways.
func TestRunCancelled(t *testing.T) {
	for _, mode := range []string{"hang", "stubborn", "polite"} {
		t.Run(mode, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			rec := &record{Handler: slog.DiscardHandler, on: func(line string) {
				if line == "ready" {
					cancel()
				}
			}}
			grace := 10 * time.Second // only the child that ignores SIGTERM needs all of it
			if mode == "stubborn" {
				grace = 100 * time.Millisecond
			}
			_, _, err := run(t, ctx, mode, Command{Log: slog.New(rec), Grace: grace})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want a cancellation, also when the child then ended well", err)
			}
			if polite := strings.Contains(rec.text(), "cleaned up"); polite != (mode == "polite") {
				t.Errorf("log %q: a child must get SIGTERM, and time, before SIGKILL", rec.text())
			}
		})
	}
}

func TestRunDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := run(t, ctx, "hang", Command{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
}

func TestRunFlood(t *testing.T) {
	for _, stream := range []string{"stdout", "stderr"} {
		t.Run(stream, func(t *testing.T) {
			_, rec, err := run(t, t.Context(), "flood", Command{Args: []string{stream}, MaxOutput: 100_000})
			if !errors.Is(err, ErrOutputLimit) || !strings.Contains(err.Error(), "more than 100000 bytes") {
				t.Errorf("got %v, want a flood that names the limit", err)
			}
			if got := len(rec.text()); got > 100_000 {
				t.Errorf("%d bytes were logged", got)
			}
		})
	}
}

// TestRunLeftBehind tests a child that succeeds and leaves a process of its group. The process must be
// dead when Run returns, whether or not it has the pipes open or ignores SIGTERM.
func TestRunLeftBehind(t *testing.T) {
	tests := []struct {
		mode, pipes string
		outputOpen  bool
	}{
		{"hang", "own", false},
		{"stubborn", "own", false},
		{"hang", "pipes", true},
		{"stubborn", "pipes", true},
	}
	for _, tt := range tests {
		t.Run(tt.mode+" "+tt.pipes, func(t *testing.T) {
			_, rec, err := run(t, t.Context(), "leave", Command{Args: []string{tt.mode, tt.pipes}, Grace: 100 * time.Millisecond})
			if tt.outputOpen != errors.Is(err, ErrOutputOpen) || !tt.outputOpen && err != nil {
				t.Fatalf("got %v, want ErrOutputOpen: %v", err, tt.outputOpen)
			}
			pid := leftBehind(t, rec)
			if alive(pid) {
				t.Errorf("process %d left behind is alive", pid)
			}
			if strings.Contains(rec.text(), "could not be ended") {
				t.Errorf("log %q", rec.text())
			}
		})
	}
}

// marked adds a mark to a command, so that its processes can be found.
func marked(t *testing.T, c Command) Command {
	c.Mark = "WAVEFOLD_TEST_MARK=" + t.Name()
	c.Env = append(c.Env, c.Mark)
	return c
}

// TestRunEscape tests a child that starts a process in a separate session with the pipe open. The
// process must not delay Run, and must not survive it on systems where it can be found. The error
// must describe it correctly.
func TestRunEscape(t *testing.T) {
	_, rec, err := run(t, t.Context(), "leave", marked(t, Command{Args: []string{"stubborn", "pipes", "session"}, Grace: 100 * time.Millisecond}))
	pid := leftBehind(t, rec)
	defer syscall.Kill(pid, syscall.SIGKILL)
	want := "kept standard output open and was ended"
	if runtime.GOOS != "linux" {
		want = "kept standard output open and may still run"
	}
	if !errors.Is(err, ErrOutputOpen) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if alive(pid) != (runtime.GOOS != "linux") {
		t.Errorf("process %d is alive: %t", pid, alive(pid))
	}
}

// TestRunService tests a child that succeeds and leaves a process on purpose, in a separate session
// and without the pipes. Run must not terminate the process.
func TestRunService(t *testing.T) {
	_, rec, err := run(t, t.Context(), "leave", marked(t, Command{Args: []string{"hang", "own", "session"}}))
	pid := leftBehind(t, rec)
	if err != nil || !alive(pid) {
		t.Errorf("%v, process %d is alive: %t", err, pid, alive(pid))
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// TestRunCancelledStrays cancels children that have started a process in a separate session. One
// process keeps its environment, another is found only by its parent. An abort skips the grace
// period.
func TestRunCancelledStrays(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("they cannot be found here")
	}
	for _, words := range [][]string{{"hang", "own", "session", "stay"}, {"stubborn", "own", "session", "stay"}, {"stubborn", "own", "session", "stay", "bare"}} {
		for _, abort := range []bool{false, true} {
			t.Run(strings.Join(words, " ")+" "+strconv.FormatBool(abort), func(t *testing.T) {
				aborted := make(chan struct{})
				ctx, cancel := context.WithCancel(core.WithAbort(t.Context(), aborted))
				defer cancel()
				rec := &record{Handler: slog.DiscardHandler, on: func(line string) {
					if line == "ready" {
						if cancel(); abort {
							close(aborted)
						}
					}
				}}
				grace := 100 * time.Millisecond
				if abort {
					grace = time.Hour
				}
				_, _, err := run(t, ctx, "leave", marked(t, Command{Args: words, Log: slog.New(rec), Grace: grace}))
				pid := leftBehind(t, rec)
				defer syscall.Kill(pid, syscall.SIGKILL)
				if !errors.Is(err, context.Canceled) || alive(pid) || strings.Contains(rec.text(), "could not be ended") {
					t.Errorf("%v, process %d is alive: %t, log %q", err, pid, alive(pid), rec.text())
				}
			})
		}
	}
}

// TestRunAborted cancels a child that ignores SIGTERM. The abort ends its grace period.
func TestRunAborted(t *testing.T) {
	aborted := make(chan struct{})
	ctx, cancel := context.WithCancel(core.WithAbort(t.Context(), aborted))
	defer cancel()
	rec := &record{Handler: slog.DiscardHandler, on: func(line string) {
		if line == "ready" {
			cancel()
			close(aborted)
		}
	}}
	if _, _, err := run(t, ctx, "stubborn", Command{Log: slog.New(rec), Grace: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// An abort also ends the grace period of a group whose leader has exited.
	rec.lines, aborted = nil, make(chan struct{})
	ctx, cancel = context.WithCancel(core.WithAbort(t.Context(), aborted))
	defer cancel()
	_, _, err := run(t, ctx, "leave", Command{Args: []string{"stubborn", "own", "stay"}, Grace: time.Hour, Log: slog.New(rec)})
	pid := leftBehind(t, rec)
	if !errors.Is(err, context.Canceled) || alive(pid) {
		t.Errorf("%v, process %d is alive: %t", err, pid, alive(pid))
	}
}

// alive reports whether a process runs. A zombie does not.
func alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(string(state), "Z")
}

// leftBehind reads the id of the process that the child left from the log.
func leftBehind(t *testing.T, rec *record) (pid int) {
	t.Helper()
	if _, err := fmt.Sscanf(rec.text(), "left %d", &pid); err != nil {
		t.Fatalf("log %q: %v", rec.text(), err)
	}
	return pid
}

func TestRunMasks(t *testing.T) {
	mask := secret.NewMasker("hunter2")
	_, rec, err := run(t, t.Context(), "exit", Command{Mask: mask, Args: []string{"1", "login with hunter2", "x hunter2"}})
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(rec.text(), "hunter2") {
		t.Errorf("the secret is shown: %v, log %q", err, rec.text())
	}
	if rec.text() != "login with ***\nx ***" {
		t.Errorf("got log %q", rec.text())
	}
	if _, err := Run(t.Context(), Command{Path: "/nonexistent/hunter2", Mask: mask}); strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the secret is shown: %v", err)
	}
}

// TestRunParallel runs children concurrently. None may affect the group of another.
func TestRunParallel(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			text := "text " + strconv.Itoa(i)
			out, err := Run(t.Context(), Command{Path: os.Args[0], Env: []string{childVar + "=cat", noRaceDelay}, Stdin: []byte(text)})
			if err != nil || string(out.Stdout) != text {
				t.Errorf("got %q, %v, want %q", out.Stdout, err, text)
			}
		})
	}
	wg.Wait()
	noGoroutines(t)
}
