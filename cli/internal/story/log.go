// Package story tells, from the events of a run alone, why its nodes ended as
// they did: which condition with which values skipped them, which attempts
// failed with which errors, and which node the trouble began at.
//
//	events, err := story.Read(file)
//	s := story.New(events)
//	account, ok := s.Account("save")
//
// It reads logs of finished, cancelled and killed runs alike and knows nothing
// of plans.
package story

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/wavefold/wavefold/core"
)

// Read reads events, one JSON object on a line. Of a log that holds several
// runs it returns the last one. A last line that was cut off in the middle, as a
// killed process leaves it, is passed over.
func Read(r io.Reader) ([]core.Event, error) {
	in := bufio.NewReader(r)
	var events []core.Event
	for line := 1; ; line++ {
		text, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		last := err != nil
		if text = bytes.TrimSpace(text); len(text) > 0 {
			var e core.Event
			if bad := decode(text, &e); bad != nil {
				if last {
					return events, nil
				}
				return nil, fmt.Errorf("line %d: %w", line, bad)
			}
			if len(events) > 0 && e.Run != events[0].Run {
				events = events[:0]
			}
			events = append(events, e)
		}
		if last {
			return events, nil
		}
	}
}

func decode(text []byte, e *core.Event) error {
	if err := json.Unmarshal(text, e); err != nil {
		return fmt.Errorf("this is no event: %w", err)
	}
	if e.V != core.EventVersion {
		return fmt.Errorf("event format %d, this program reads format %d", e.V, core.EventVersion)
	}
	return nil
}
