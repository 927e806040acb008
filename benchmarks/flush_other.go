//go:build !linux

package benchmarks

import "os"

func flush(f *os.File) error { return f.Sync() }
