package program

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// hanging starts a child that leads a group of its own and ignores signals. It is reaped at
// the end of the test.
func hanging(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=stubborn", noRaceDelay)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// TestLeftover: a program whose engine has died is killed before its work is repeated. A
// program is not killed if the engine is alive, or if its id belongs to another process now.
func TestLeftover(t *testing.T) {
	dead := hanging(t)
	engine := identify(dead.Process.Pid)
	_ = dead.Process.Kill()
	_ = dead.Wait()
	self := identify(os.Getpid())
	tests := []struct {
		name   string
		noted  func(child identity) noted
		killed bool
	}{
		{"the engine is dead", func(child identity) noted { return noted{child, engine} }, true},
		{"the id of the engine was reused", func(child identity) noted {
			return noted{child, identity{self.PID, self.Start - 1, self.Boot}}
		}, true},
		{"the engine is alive", func(child identity) noted { return noted{child, self} }, false},
		{"the id of the child was reused", func(child identity) noted { child.Start--; return noted{child, engine} }, false},
		{"the machine was started again", func(child identity) noted { child.Boot = "other"; return noted{child, engine} }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			left := hanging(t)
			c := marked(t, Command{Path: "/bin/true", Notes: filepath.Join(t.TempDir(), "pids")})
			text, err := json.Marshal(tt.noted(identify(left.Process.Pid)))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(c.Notes, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(c.note().path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if killed := !identify(left.Process.Pid).alive(); killed != tt.killed {
				t.Errorf("the child was killed: %t, want %t", killed, tt.killed)
			}
			if entries, _ := os.ReadDir(c.Notes); len(entries) != 0 {
				t.Errorf("%d notes are left", len(entries))
			}
		})
	}
}

// TestNote: while a program runs, there is a note with its id.
func TestNote(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "pids")
	// The note is written after the start of the program, which therefore waits for it.
	c := marked(t, Command{Path: "/bin/sh", Args: []string{"-c", `until [ -s "$1"/* ]; do :; done; cat "$1"/*`, "sh", notes}, Notes: notes})
	out, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var n noted
	if err := json.Unmarshal(out.Stdout, &n); err != nil || n.Engine != identify(os.Getpid()) || n.Child.PID == 0 || n.Child.Start == 0 {
		t.Errorf("the note is %s, %v", out.Stdout, err)
	}
}
