package program

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// hanging starts a child that leads its own process group and ignores signals. It is reaped
// at the end of the test.
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
		noted  func(child identity) (c, engine identity)
		killed bool
		stays  int // the number of files with notes at the end
	}{
		{"the engine is dead", func(child identity) (_, _ identity) { return child, engine }, true, 0},
		{"the id of the engine was reused", func(child identity) (_, _ identity) {
			return child, identity{self.PID, self.Start - 1, self.Boot}
		}, true, 0},
		{"the engine is alive", func(child identity) (_, _ identity) { return child, self }, false, 1},
		{"the id of the child was reused", func(child identity) (_, _ identity) { child.Start--; return child, engine }, false, 0},
		{"the machine was started again", func(child identity) (_, _ identity) { child.Boot = "other"; return child, engine }, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			left := hanging(t)
			c := marked(t, Command{Path: "/bin/true", Notes: filepath.Join(t.TempDir(), "pids")})
			child, engine := tt.noted(identify(left.Process.Pid))
			leaveNotes(t, c.Notes, noted{shortMark(c.Mark), child, engine})
			if _, err := Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if killed := !identify(left.Process.Pid).alive(); killed != tt.killed {
				t.Errorf("the child was killed: %t, want %t", killed, tt.killed)
			}
			if entries, _ := os.ReadDir(c.Notes); len(entries) != tt.stays {
				t.Errorf("%d files with notes are left, want %d", len(entries), tt.stays)
			}
		})
	}
}

// leaveNotes writes the notes of a process that was killed.
func leaveNotes(t *testing.T, folder string, notes ...noted) {
	t.Helper()
	b := &book{folder: folder}
	for _, n := range notes {
		b.write(n)
	}
	if err := b.file.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBook: the file of a process that was killed stays until its last note is not needed, and lines are used again.
func TestBook(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pids")
	dead := identity{PID: 1 << 30, Start: 1, Boot: bootID()}
	leaveNotes(t, folder, noted{"m1", dead, dead}, noted{"m2", dead, dead})
	b := openBook(folder)
	same := openBook(folder)
	for i := range 3 {
		first, second := b.write(noted{"m3", dead, engine()}), same.write(noted{"m4", dead, engine()})
		if own := leftNotes(folder); len(own) != 4-max(0, i-1) {
			t.Errorf("round %d: %d notes", i, len(own))
		}
		second()
		first()
		note{b, fmt.Sprint("m", i)}.killLeftover()
	}
	if b.size != 2*noteSize {
		t.Errorf("the file has %d bytes, want two lines", b.size)
	}
	b.close()
	if left := leftNotes(folder); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	same.close()
	if entries, _ := os.ReadDir(folder); len(entries) != 0 {
		t.Errorf("%d files are left", len(entries))
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
