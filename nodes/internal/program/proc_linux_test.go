package program

import (
	"os"
	"os/exec"
	"testing"
)

func TestParseProc(t *testing.T) {
	rest := " 10 20 30 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 1 2 3"
	for _, c := range []struct {
		stat string
		want proc
		ok   bool
	}{
		{"5 (cat) S" + rest, proc{pid: 5, parent: 10, group: 20, session: 30, start: 777}, true},
		{"5 (a) Z 1 1 1) Z" + rest, proc{pid: 5, parent: 10, group: 20, session: 30, start: 777, ended: true}, true},
		{"5 (x\ny) X" + rest, proc{pid: 5, parent: 10, group: 20, session: 30, start: 777, ended: true}, true},
		{"5 (cat) S 1 2 3", proc{}, false},
		{"5 (cat) S x" + rest, proc{}, false},
		{"", proc{}, false},
	} {
		if got, ok := parseProc(5, []byte(c.stat)); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: got %+v, %t", c.stat, got, ok)
		}
	}
	self, ok := readProc(os.Getpid())
	if !ok || self.parent != os.Getppid() || self.start == 0 || self.ended || procs()[os.Getpid()] != self {
		t.Errorf("this process is %+v", self)
	}
}

// TestStraysAreYounger tests that a process that started before the child is not a stray, whatever its
// environment: a service of an earlier run with the same id may continue.
func TestStraysAreYounger(t *testing.T) {
	const mark = "WAVEFOLD_TEST_MARK=younger"
	start := func() *exec.Cmd {
		cmd := exec.Command("sleep", "60")
		cmd.Env = []string{mark}
		ownGroup(cmd)
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	older := start()
	s := straysOf(start().Process.Pid, mark)
	s.start = procs()[s.child].start + 1 // as if the child had started one tick later
	younger := proc{pid: older.Process.Pid, start: s.start + 1, group: older.Process.Pid, session: older.Process.Pid}
	if s.find() || len(s.known) > 0 {
		t.Errorf("found %+v, which are older", s.known)
	}
	if !s.descends(younger, procs()) {
		t.Error("a younger process with the mark is not recognized")
	}
	if s.mark = nil; s.descends(younger, procs()) {
		t.Error("a process without mark, parent or session is taken for one of the family")
	}
}
