package dataset

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/wavefold/wavefold/core"
)

// standard is standard input, which can be read once, whoever asks: a second
// reader would be told that it is empty. The plan sees to it that one node reads
// it; this one refuses its second attempt, or run.
type standard struct {
	from  io.Reader // nil: there is none
	taken atomic.Bool
}

func (s *standard) open() (io.ReadCloser, error) {
	switch {
	case s.from == nil:
		return nil, core.Permanent(errors.New("there is no standard input here"))
	case s.taken.Swap(true):
		return nil, core.Permanent(errors.New("standard input can be read once, and it has been read; save it as a file to read it again"))
	}
	return pollable(s.from), nil
}
