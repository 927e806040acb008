package dataset

import (
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// pollable returns standard input in a form whose reading can be ended: a pipe or a
// terminal is opened a second time, because whoever handed it over may not want it to
// change. What cannot be opened so, or never blocks, is returned as it is.
func pollable(from io.Reader) io.ReadCloser {
	f, ok := from.(*os.File)
	if !ok {
		return io.NopCloser(from)
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) == 0 {
		return io.NopCloser(from)
	}
	conn, err := f.SyscallConn() // Fd would change how f is read
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
