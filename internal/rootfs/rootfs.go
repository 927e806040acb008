// Package rootfs words what os.Root says about files below a folder.
package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Leaves reports whether err is that of an os.Root about a path that leads out of
// its folder. Package os has no name for this error.
func Leaves(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && e.Err != nil && e.Err.Error() == "path escapes from parent"
}

// Word returns an error about a file below dir as messages show it: that a path
// leads out of the folder, or else under the name that the document uses. It keeps
// what kind of error it is.
func Word(name, dir string, err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil:
		return nil
	case Leaves(err):
		return fmt.Errorf("%q leaves the workflow's folder%s through a symbolic link", name, Of(dir))
	case !ok:
		return err
	}
	return &fs.PathError{Op: strings.TrimSuffix(e.Op, "at"), Path: name, Err: e.Err} // openat is what the system calls it
}

// Of names a folder in brackets, behind the word for it. An unknown folder is
// not named.
func Of(dir string) string {
	if dir == "" {
		return ""
	}
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	return " (" + dir + ")"
}
