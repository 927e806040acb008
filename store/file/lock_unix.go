//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package file

import (
	"errors"
	"os"
	"syscall"
)

// canLock reports whether a lock shows that its holder is alive.
const canLock = true

// lock locks a file until it is closed, or the process ends. It returns errLocked if another
// process or store has locked it.
func lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// isLocked reports whether another process, or another opened file of this one, has locked the file.
func isLocked(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, syscall.LOCK_SH), errLocked)
}

func flock(f *os.File, how int) error {
	switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errLocked
	case err != nil:
		return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
	return nil
}

// syncDir flushes the names in a folder.
func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
