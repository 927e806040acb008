//go:build unix

package program

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// watcher is a small process that kills a program's group if this process dies for any reason,
// including SIGKILL. It waits for the end of a pipe that only this process can write to. The zero
// watcher does nothing.
type watcher struct {
	cmd *exec.Cmd
	in  *os.File
}

// watchScript is the shell script of the watcher. Its argument is the id of the group. The line that
// it reads never arrives: the watcher is killed when the program has ended.
const watchScript = `trap "" HUP INT QUIT TERM
read -r line
kill -s KILL -- "-$1"`

// watchDelay is the time for which a program runs without a watcher. Most programs end within it, and
// starting a watcher is as expensive as running a short program.
const watchDelay = 10 * time.Millisecond

// startWatcher starts a watcher for a group after watchDelay. The returned function stops the
// watcher and waits for it.
func startWatcher(group int) (end func()) {
	var w watcher
	done := make(chan struct{})
	t := time.AfterFunc(watchDelay, func() {
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

// watch starts a watcher for a group. Without a shell it returns the zero watcher.
func watch(group int) watcher {
	out, in, err := os.Pipe()
	if err != nil {
		return watcher{}
	}
	defer out.Close()
	cmd := exec.Command("/bin/sh", "-c", watchScript, "watcher", strconv.Itoa(group))
	cmd.Stdin, cmd.Dir, cmd.Env = out, "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a controlling terminal
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
	_ = w.cmd.Process.Kill() // before the pipe is closed
	w.in.Close()
	_ = w.cmd.Wait()
}
