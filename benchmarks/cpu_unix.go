//go:build unix

package benchmarks

import (
	"syscall"
	"time"
)

// processTime returns the processor time that all threads of the process have used.
func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
