package verify

import (
	"errors"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/eventlog"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Events checks the events of a run that a listener has kept, as if each stood on a line
// of its own. The error says why there is nothing to compare.
func Events(p *plan.Plan, events []core.Event) (*Report, error) {
	c := New(p)
	for i := range events {
		if err := c.Add(i+1, &events[i]); err != nil {
			return nil, err
		}
	}
	return c.Finish(), nil
}

// Log checks a whole log, as `run --events` writes it. The error says why there is
// nothing to compare: what is read is no log, is cut off, is that of another workflow
// or of a newer program. It holds one line in memory at a time.
func Log(p *plan.Plan, r io.Reader) (*Report, error) {
	c, in := New(p), eventlog.NewReader(r)
	var e core.Event // nobody keeps it
	for {
		err := in.Next(&e)
		switch {
		case err == io.EOF && c.report.Events == 0:
			return nil, errors.New("there are no events in it")
		case err == io.EOF:
			return c.Finish(), nil
		case err != nil:
			return nil, err
		}
		if err := c.Add(in.Line(), &e); err != nil {
			return nil, err
		}
	}
}
