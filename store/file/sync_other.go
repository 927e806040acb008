//go:build !linux

package file

import (
	"errors"
	"os"
)

func syncData(f *os.File) error { return f.Sync() }

func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }
