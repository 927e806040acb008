package benchmarks

import (
	"os"
	"syscall"
)

// flush flushes the data of a file, as package store/file does.
func flush(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
