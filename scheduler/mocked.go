package scheduler

import (
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/scheduler/journal"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// Mock gives the answers of a replay in place of handlers, models and people.
type Mock interface {
	// Name is the name of the file with the answers.
	Name() string
	// Has reports whether there is an answer for the node at a path.
	Has(path string) bool
	// Answer returns the outcome of an attempt. item is the item of a fan-out, or -1 if there is none.
	// handle calls the handler with a function that answers questions to people; it is for nodes whose
	// handler has no effect outside of the run.
	Answer(c *machine.Command, item int, handle func(core.InterviewerFunc) (core.Result, error)) machine.Outcome
	// Route returns the outcome of a decision about an edge.
	Route(c *machine.Command) machine.Outcome
}

// ErrMocked is the error of Resume for a replay with mock answers: what has not ended would run.
var ErrMocked = errors.New("the run is a replay with answers of a mock file, which cannot be resumed: start the replay again")

// mocked answers a command from the mock.
func (x *executor) mocked(e *machine.Event) {
	c, mock := x.c, x.run.opts.Mock
	switch {
	case c.Op == machine.OpPlace: // nothing was prepared in this process
		e.Kind = machine.Gone
	case c.ID.Attempt == machine.PauseAttempt: // it continues at once
	case c.Call != nil && c.Call.Route != nil:
		e.Outcome = mock.Route(c)
	case c.Node.Pull || len(c.Node.Streams()) > 0:
		e.Outcome.Failure = &core.Failure{Class: core.ClassError, Permanent: true, Message: "the node reads or writes a stream, for which a mock file has no answer in a replay"}
	case c.Node.Source != nil:
		x.items(e)
		return
	default:
		x.mockOne(-1, &e.Outcome)
	}
	e.Ended = x.run.now()
}

// mockOne answers an attempt from the mock.
func (x *executor) mockOne(place int, o *machine.Outcome) {
	x.item = place
	*o = x.run.opts.Mock.Answer(x.c, place, func(ask core.InterviewerFunc) (core.Result, error) {
		s, err := x.captured(x.ctx, x.c.Node, x.c.Call, place)
		if err != nil {
			return core.Result{}, err
		}
		s.Ask = ask
		return call(x.ctx, x.c.Node, core.NewInput(x.run.opts.Run, x.c.Call.Name(x.c.Node), x.c.ID.AttemptNumber(), s))
	})
	x.final = o
}

// mockable returns an error for a node of the run that may run and that a mock cannot answer.
func (x *past) mockable() error {
	has := ran(x.kept)
	for i := range x.plan.Nodes {
		n := &x.plan.Nodes[i]
		if has[n.ID] && !x.again[n.ID] {
			continue
		}
		if n.Pull || len(n.Streams()) > 0 || x.plan.Vertices[n.Vertex].Unit != nil && x.plan.Vertices[n.Vertex].Unit.Puller != nil {
			return fmt.Errorf("node %s reads or writes a stream, for which a mock file has no answer in a replay", n.ID)
		}
	}
	return nil
}

// mockOf returns the name of the mock file of a replay, "" for other runs.
func mockOf(h *journal.Head) string {
	if h.Parent == nil {
		return ""
	}
	return h.Parent.Mock
}
