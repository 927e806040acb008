package program

import "syscall"

// dieTogether makes the kernel kill a child when the thread that starts it ends. Run keeps
// that thread as long as the child lives, so this is when the process ends.
func dieTogether(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
