//go:build unix && !linux

package program

import "syscall"

// dieTogether does nothing: these kernels have no such feature, so only the watcher kills the
// child.
func dieTogether(*syscall.SysProcAttr) {}
