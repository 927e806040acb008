// Package explain explains, from the events of a run alone, why its nodes ended as they did:
// which condition with which values skipped them, which attempts failed with which errors,
// and which node was the original cause.
//
//	events, err := explain.Read(file)
//	s := explain.New(events)
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
// incomplete last line, as a killed process leaves it, is ignored.
func Read(r io.Reader) ([]core.Event, error) {
	in := eventlog.NewReader(r)
	var events []core.Event
	for {
		var e core.Event
		if err := in.Next(&e); err != nil {
			if bad, ok := errors.AsType[*eventlog.Error](err); err == io.EOF || ok && bad.Cut {
				return events, nil
			}
			return nil, err
		}
		if len(events) > 0 && e.Run != events[0].Run {
			events = events[:0]
		}
		events = append(events, e)
	}
}
