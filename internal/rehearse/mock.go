package rehearse

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// Mock gives the answers of a mock file in a run of the real engine: a replay. Unlike in a rehearsal, the plan
// is the one of the workflow, nested workflows run, and waits end at once. It is safe for concurrent use.
type Mock struct {
	name   string
	file   *mock.File
	mu     sync.Mutex
	calls  *script[mock.Answer]
	routes *decisions
}

// NewMock returns the answers of a file for a replay of a run of p. added are the names of the nodes that the
// run has added to its graph. The findings are answers that the replay cannot give.
func NewMock(p *plan.Plan, name string, f *mock.File, added ...string) (*Mock, source.Diagnostics) {
	ds := Names(p, f, added...)
	for _, m := range scripted(f) {
		frame, id := plan.CutPath(m.Key.Value)
		in, err := p.At(frame)
		if err != nil {
			continue // Names has reported it
		}
		switch n, ok := in.Node(id); {
		case !ok:
		case n.Frame != nil:
			ds.Errorf(source.CodeBadValue, m.Key.Pos, "nodes: in a replay, the nested workflow of %s runs", m.Key.Value).
				WithHint("answer for its nodes: %s/NODE", m.Key.Value)
		case n.Wait != nil:
			ds.Errorf(source.CodeBadValue, m.Key.Pos, "nodes: %s waits, which takes no time in a replay and needs no answer", m.Key.Value)
		}
	}
	return &Mock{name: name, file: f, calls: newCalls(f), routes: newDecisions(f)}, ds
}

// Name returns the name of the file.
func (m *Mock) Name() string { return m.name }

// Has reports whether the file has an answer for the node at a path.
func (m *Mock) Has(path string) bool {
	return slices.ContainsFunc(scripted(m.file), func(a source.Member[mock.Answers]) bool { return a.Key.Value == path })
}

// Answer returns the outcome of an attempt. See scheduler.Mock.
func (m *Mock) Answer(c *machine.Command, item int, handle func(core.InterviewerFunc) (core.Result, error)) machine.Outcome {
	node := nodePath(c)
	at := callOf(c, node)
	if item >= 0 {
		at.item = core.Nth(item)
	}
	m.mu.Lock()
	a := m.calls.next(at)
	m.mu.Unlock()
	n := c.Node
	switch late := n.Timeout > 0 && a.Sleep.Value > n.Timeout; {
	case n.Asks && (a.Human != nil || !answers(a)):
		p := &person{answer: a, delay: a.Sleep.Value}
		return called(c, func() (core.Result, error) {
			return handle(func(ctx context.Context, q core.Question) (core.Answer, error) { return p.Ask(ctx, q) })
		})
	case late:
		return failure(core.Failure{Class: core.ClassTimeout, Message: fmt.Sprintf("timed out after %s", n.Timeout)})
	case m.Has(node):
		return outcome(a, c.Plan, n)
	case n.Bookkeeping():
		return called(c, func() (core.Result, error) { return handle(nil) })
	case n.Handler == nil:
		return failure(core.Failure{Class: core.ClassError, Permanent: true, Message: "the engine has no handler for the node, and " + m.name + " has no answer"})
	}
	return outcome(a, c.Plan, n)
}

// called returns the outcome of a handler.
func called(c *machine.Command, handle func() (core.Result, error)) machine.Outcome {
	res, err := handle()
	if err != nil {
		return machine.Outcome{Failure: core.FailureOf(err)}
	}
	return accepted(&res, c.Plan, c.Node)
}

// Route returns the outcome of a decision about an edge.
func (m *Mock) Route(c *machine.Command) machine.Outcome {
	node, q := nodePath(c), c.Call.Route
	m.mu.Lock()
	a := m.routes.next(call{node: node, visit: q.Visit})
	m.mu.Unlock()
	err := errUnscripted
	if a != nil {
		var answer core.RouteAnswer
		if answer, err = answerTo(a, q); err == nil {
			return machine.Outcome{Route: &machine.Route{Answer: &answer}}
		}
	}
	if err == errUnscripted {
		return failure(core.Failure{Class: core.ClassError, Permanent: true,
			Message: fmt.Sprintf("%s has no answer to the decision after visit %d; the choices are %s", m.name, q.Visit, choices(q))})
	}
	return failure(*core.FailureOf(err))
}
