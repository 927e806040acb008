package dataset

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/wavefold/wavefold/core"
)

// standard is standard input, which can be read only once in a process: a second reader
// would find it empty. The plan ensures that only one node reads it, and standard rejects a
// second attempt or run.
type standard struct {
	from  io.Reader // nil if there is none
	taken atomic.Bool
}

// open opens standard input for an attempt.
func (s *standard) open(in core.Input) (io.ReadCloser, error) {
	d := in.Shared().Durability
	switch {
	case d != nil && d.Resumed:
		return nil, core.FailRun(core.ErrReadTwice)
	case s.from == nil:
		return nil, core.Permanent(errors.New("there is no standard input here"))
	case s.taken.Swap(true):
		return nil, core.Permanent(errors.New("standard input can be read once, and it has been read; save it as a file to read it again"))
	}
	return pollable(s.from), nil
}
