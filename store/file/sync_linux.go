package file

import (
	"os"
	"syscall"
)

// syncData flushes the data of a file with fdatasync, which leaves out times.
func syncData(f *os.File) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var flushed error
	err = c.Control(func(fd uintptr) {
		for flushed = syscall.EINTR; flushed == syscall.EINTR; {
			flushed = syscall.Fdatasync(int(fd))
		}
	})
	if flushed != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: flushed}
	}
	return err
}
