//go:build unix && !linux

package program

import "syscall"

// dieTogether does nothing: the kernel offers nothing of the sort here, and the watcher is
// all there is.
func dieTogether(*syscall.SysProcAttr) {}
