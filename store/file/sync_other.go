//go:build !linux

package file

import "os"

func syncData(f *os.File) error { return f.Sync() }
