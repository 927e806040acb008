//go:build unix

package program

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childVar is the environment variable that makes the test binary a child process. Its value is the
// name of a behaviour below. The tests need no other programs.
const childVar = "WAVEFOLD_TEST_CHILD"

// noRaceDelay disables the delay of a second before the exit of a child with the race detector.
const noRaceDelay = "GORACE=atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childVar); mode != "" {
		os.Exit(behave(mode, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// behave is the main function of a child. A child that hangs first prints "ready" to standard error,
// so that a test can cancel it.
func behave(mode string, args []string) int {
	switch mode {
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "args":
		fmt.Printf("%q", args)
	case "env":
		fmt.Print(os.Getenv(args[0]))
	case "dir":
		dir, _ := os.Getwd()
		fmt.Print(dir)
	case "exit": // code, lines for standard error, or for standard output behind a ">"
		for _, line := range args[1:] {
			if out, ok := strings.CutPrefix(line, ">"); ok {
				fmt.Fprintln(os.Stdout, out)
				continue
			}
			fmt.Fprintln(os.Stderr, line)
		}
		code, _ := strconv.Atoi(args[0])
		return code
	case "flood": // stdout or stderr
		return flood(args[0])
	case "print": // n bytes
		n, _ := strconv.Atoi(args[0])
		fmt.Print(strings.Repeat("x", n))
	case "hang":
		hang()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		hang()
	case "polite":
		return polite()
	case "suicide":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		hang()
	case "deaf": // does not read its input
	case "leave": // behaviour of the one left behind, "pipes" or "own", further words, see there
		return leave(args[0], args[1] == "pipes", args[2:])
	}
	return 0
}

func hang() {
	fmt.Fprintln(os.Stderr, "ready")
	time.Sleep(time.Hour)
}

func flood(stream string) int {
	w := bufio.NewWriter(os.Stdout)
	if stream == "stderr" {
		w = bufio.NewWriter(os.Stderr)
	}
	for {
		if _, err := w.WriteString("once more\n"); err != nil {
			return 3
		}
	}
}

func polite() int {
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGTERM)
	fmt.Fprintln(os.Stderr, "ready")
	<-got
	fmt.Fprintln(os.Stderr, "cleaned up")
	return 0
}

// leave starts another child, prints its process id and exits without waiting. With the word session
// the other child leaves the group, with bare it has no environment, and with stay this child hangs
// instead of exiting.
func leave(mode string, pipes bool, words []string) int {
	cmd := exec.Command(os.Args[0])
	if cmd.Env = os.Environ(); slices.Contains(words, "bare") {
		cmd.Env = nil
	}
	cmd.Env = append(cmd.Env, childVar+"="+mode, noRaceDelay)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: slices.Contains(words, "session")}
	ready, err := os.CreateTemp("", "ready")
	if err != nil {
		return 9
	}
	defer os.Remove(ready.Name())
	if cmd.Stderr = ready; pipes {
		cmd.Stdout = os.Stdout
	}
	if err := cmd.Start(); err != nil {
		return 9
	}
	for { // wait until the other child has set up its signals
		if data, _ := os.ReadFile(ready.Name()); len(data) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}

	fmt.Fprintln(os.Stderr, "left", cmd.Process.Pid)
	if slices.Contains(words, "stay") {
		hang()
	}
	return 0
}
