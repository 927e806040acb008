package program

import "syscall"

// readSmall returns the content of a file of at most 4 KiB. Package os takes ten system calls for that, because it tries to poll the
// file; this is called for each program.
func readSmall(name string) ([]byte, error) {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	buf := make([]byte, 4<<10)
	n, err := syscall.Read(fd, buf)
	return buf[:max(n, 0)], err
}
