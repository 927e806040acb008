package program

import "syscall"

// killWithParent makes the kernel kill a child when the thread that started it ends. Run keeps the
// thread until the child has ended, so in effect the child is killed when this process ends.
func killWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
