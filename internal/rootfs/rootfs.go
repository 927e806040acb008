// Package rootfs formats the errors of os.Root for messages.
package rootfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Leaves reports whether err is the error of an os.Root about a path that leads out of its
// folder. Package os does not export this error.
func Leaves(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && e.Err != nil && e.Err.Error() == "path escapes from parent"
}

// Describe formats an error about a file below dir for messages: it reports a path that leads
// out of the folder, and otherwise uses the name in the document. The result wraps the same
// kind of error.
func Describe(name, dir string, err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil:
		return nil
	case Leaves(err):
		return fmt.Errorf("%q leaves the workflow's folder%s through a symbolic link", name, Of(dir))
	case !ok:
		return err
	}
	return &fs.PathError{Op: strings.TrimSuffix(e.Op, "at"), Path: name, Err: e.Err} // the name of the system call
}

// Of returns the name of a folder in brackets, with a space before it; "" if the folder is
// unknown.
func Of(dir string) string {
	if dir == "" {
		return ""
	}
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	return " (" + dir + ")"
}
