// Package explain explains, from the events of a run alone, why its nodes ended as they did:
// which condition with which values skipped them, which attempts failed with which errors,
// and which node was the original cause.
//
//	s, err := explain.Read(file)
//	account, ok := s.Account("save")
//
// It reads logs of finished, cancelled and killed runs alike and does not need the plan.
package explain

import (
	"errors"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/eventlog"
)

// Read reads the log of a run. If the log holds several runs, it returns the last one. An
// incomplete last line, as a killed process leaves it, is ignored. A log without events is
// an error. The events are not kept, only what explains the nodes.
func Read(r io.Reader) (*Run, error) {
	in := eventlog.NewReader(r)
	var s *Run
	var e core.Event
	for run := ""; ; {
		if err := in.Next(&e); err != nil {
			if bad, ok := errors.AsType[*eventlog.Error](err); err != io.EOF && !(ok && bad.Cut) {
				return nil, err
			}
			if s == nil {
				return nil, errors.New("there are no events in it")
			}
			return s, nil
		}
		if s == nil || e.Run != run {
			s, run = New(nil), e.Run
		}
		s.Add(&e)
	}
}
