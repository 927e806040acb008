package verify

import (
	"errors"
	"io"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/internal/eventlog"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Events checks the events of a run in memory. The line of a violation is the index of
// its event plus one. The error explains why the events cannot be compared with the
// workflow.
func Events(p *plan.Plan, events []core.Event) (*Report, error) {
	c := New(p)
	for i := range events {
		if err := c.Add(i+1, &events[i]); err != nil {
			return nil, err
		}
	}
	return c.Finish(), nil
}

// Log checks a whole log, as written by `run --events`. The error explains why the log
// cannot be compared with the workflow: it is not a log, it is truncated, or it belongs
// to another workflow or a newer program. Log holds one line in memory at a time.
func Log(p *plan.Plan, r io.Reader) (*Report, error) {
	c, in := New(p), eventlog.NewReader(r)
	var e core.Event // not retained
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
