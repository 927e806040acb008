package dataset

import (
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// pollable returns standard input in a form whose reads can be interrupted. A pipe or a
// terminal is opened a second time, because its mode must not change: the original may be
// shared with other processes. Files that cannot be opened again, or never block, are
// returned unchanged.
func pollable(from io.Reader) io.ReadCloser {
	f, ok := from.(*os.File)
	if !ok {
		return io.NopCloser(from)
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) == 0 {
		return io.NopCloser(from)
	}
	conn, err := f.SyscallConn() // Fd would set f to blocking mode
	if err != nil {
		return io.NopCloser(from)
	}
	var again *os.File
	other := conn.Control(func(fd uintptr) {
		again, err = os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(fd)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	})
	if err != nil || other != nil {
		return io.NopCloser(from)
	}
	return again
}
