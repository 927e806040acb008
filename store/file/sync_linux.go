package file

import (
	"cmp"
	"os"
	"syscall"
)

// syncData flushes the data of a file with fdatasync, which does not flush times.
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

// allocate makes a file longer: n bytes from off on are zeros, and have blocks on the disk.
func allocate(f *os.File, off, n int64) error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = c.Control(func(fd uintptr) {
		for failed = syscall.EINTR; failed == syscall.EINTR; {
			failed = syscall.Fallocate(int(fd), 0, off, n)
		}
	})
	return cmp.Or(failed, err)
}
