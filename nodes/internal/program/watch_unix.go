//go:build unix

package program

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// watcher is a small process that ends a program's group if this process dies, however it
// dies: nothing here can run after SIGKILL. It waits for the end of a pipe that only this
// process can write to. The zero watcher is none.
type watcher struct {
	cmd *exec.Cmd
	in  *os.File
}

// watching is the text of the watcher, whose argument is the number of the group. The line it
// waits for never comes: the watcher is killed when the program has ended.
const watching = `trap "" HUP INT QUIT TERM
read -r line
kill -s KILL -- "-$1"`

// brief is how long a program may run without a watcher: most are over by then, and a
// watcher costs as much as a short program does.
const brief = 10 * time.Millisecond

// guard has a group watched once its program has run for a moment. The function it returns
// ends that and waits for it.
func guard(group int) (end func()) {
	var w watcher
	done := make(chan struct{})
	t := time.AfterFunc(brief, func() {
		defer close(done)
		w = watch(group)
	})
	return func() {
		if !t.Stop() {
			<-done
		}
		w.end()
	}
}

// watch starts a watcher over a group; none where there is no shell.
func watch(group int) watcher {
	out, in, err := os.Pipe()
	if err != nil {
		return watcher{}
	}
	defer out.Close()
	cmd := exec.Command("/bin/sh", "-c", watching, "watcher", strconv.Itoa(group))
	cmd.Stdin, cmd.Dir, cmd.Env = out, "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal reaches it
	if err := cmd.Start(); err != nil {
		in.Close()
		return watcher{}
	}
	return watcher{cmd, in}
}

// end ends the watcher and waits for it.
func (w watcher) end() {
	if w.cmd == nil {
		return
	}
	_ = w.cmd.Process.Kill() // before its pipe ends
	w.in.Close()
	_ = w.cmd.Wait()
}
