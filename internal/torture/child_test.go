package torture_test

import (
	"encoding/binary"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/wavefold/wavefold"
	"github.com/wavefold/wavefold/cli"
	"github.com/wavefold/wavefold/internal/crashpoint"
	"github.com/wavefold/wavefold/nodes/std"
)

// The environment of a child process.
const (
	childVariable   = "WAVEFOLD_TORTURE_CHILD"   // set in children
	recordsVariable = "WAVEFOLD_TORTURE_RECORDS" // the number of records after which the child kills itself
	tornVariable    = "WAVEFOLD_TORTURE_TORN"    // and the bytes of the next record that it writes before
	flushedVariable = "WAVEFOLD_TORTURE_FLUSHED" // the file that has the flushed length of the journal
)

// TestMain lets the tests run this binary as the command.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	left, err := strconv.Atoi(os.Getenv(recordsVariable))
	if err != nil {
		left = -1
	}
	torn, _ := strconv.Atoi(os.Getenv(tornVariable)) // 0 if it is not set
	crashpoint.Wrap = func(f crashpoint.File) crashpoint.File {
		m := &mortal{File: f, left: left, torn: torn, flushed: os.Getenv(flushedVariable)}
		if info, err := os.Stat(f.Name()); err == nil { // no space is allocated in advance when it is opened
			m.written = info.Size()
		}
		return m
	}
	cli.Main(wavefold.NewEngine(std.Kinds()...))
}

// mortal is a journal that kills the process.
type mortal struct {
	crashpoint.File
	left, torn int
	written    int64
	flushed    string
}

// Write writes data up to the end of the last record that the process may write.
func (f *mortal) Write(data []byte) (int, error) {
	if f.left < 0 {
		return f.write(data)
	}
	rest := data
	if string(rest[:min(len(rest), 16)]) == "WAVEFOLD JRNL 1\n" {
		rest = rest[16:]
	}
	const header = 24
	for len(rest) > 0 && f.left > 0 {
		rest = rest[header+int(binary.LittleEndian.Uint32(rest)):]
		f.left--
	}
	if len(rest) == 0 {
		return f.write(data)
	}
	next := header + int(binary.LittleEndian.Uint32(rest))
	_, _ = f.File.Write(data[:len(data)-len(rest)+min(f.torn, next-1)])
	kill()
	return 0, nil
}

func (f *mortal) write(data []byte) (int, error) {
	n, err := f.File.Write(data)
	f.written += int64(n)
	return n, err
}

// Sync notes how much of the journal survives a loss of power.
func (f *mortal) Sync() error {
	err := f.File.Sync()
	if err == nil && f.flushed != "" {
		err = os.WriteFile(f.flushed, strconv.AppendInt(nil, f.written, 10), 0o600)
	}
	return err
}

func kill() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal may take a moment
}
