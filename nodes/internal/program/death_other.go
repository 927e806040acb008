//go:build unix && !linux

package program

import "syscall"

// killWithParent does nothing: these kernels have no such feature, so only the watcher kills the
// child.
func killWithParent(*syscall.SysProcAttr) {}
