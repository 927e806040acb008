package rehearse

import (
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// outcome turns an answer into what the machine is told, after the checks that
// a handler's result gets.
func outcome(a *mock.Answer, p *plan.Plan, n *plan.Node) machine.Outcome {
	switch {
	case a.Panic != nil:
		return failure(core.Failure{Class: core.ClassPanic, Message: "panic: " + a.Panic.Value, Permanent: true})
	case a.Error != nil:
		return failure(core.Failure{Class: core.ClassError, Message: a.Error.Message.Value, Permanent: !a.Error.Retryable, Category: category(a.Error.Retryable)})
	}
	res := core.Result{Delta: make(map[string]any, len(a.Delta))}
	for _, w := range a.Delta {
		res.Delta[w.Key.Value] = w.Value.Plain()
	}
	if a.EdgeOutput != nil {
		res.EdgeOutput, res.HasEdgeOutput = a.EdgeOutput.Plain(), true
	}
	switch a.Status.Value {
	case core.Fail.String():
		res.Status, res.Note = core.Fail, "the mock answers with status fail"
	case core.PartialSuccess.String():
		res.Status = core.PartialSuccess
	case core.Retry.String():
		res.Status = core.Retry
	}
	var o machine.Outcome
	o.Accept(p, n, &res)
	return o
}

// category is that of a scripted error: one that may be tried again says so.
func category(retryable bool) core.Category {
	if retryable {
		return core.TransientInfra
	}
	return ""
}

func failure(f core.Failure) machine.Outcome { return machine.Outcome{Failure: &f} }

// answersInside reports whether a mock file answers for a node inside the
// nested workflow that the node id runs.
func answersInside(f *mock.File, id string) bool {
	return slices.ContainsFunc(f.Nodes, func(m core.Member[mock.Answers]) bool {
		parts := strings.Split(m.Key.Value, "/")
		return slices.Contains(parts[:len(parts)-1], id)
	})
}

// answersFor reports whether a mock file answers for a node of that id, at any
// depth.
func answersFor(f *mock.File, id string) bool {
	return slices.ContainsFunc(f.Nodes, func(m core.Member[mock.Answers]) bool {
		return m.Key.Value[strings.LastIndexByte(m.Key.Value, '/')+1:] == id
	})
}

// calls counts the calls of each node, to find the next answer.
type calls struct {
	answers map[call][]*mock.Answer
	count   map[call]int
}

// call is a node with one index, or with 0 for any.
type call struct {
	node string
	item core.Ordinal
}

func newCalls(f *mock.File) *calls {
	c := &calls{answers: map[call][]*mock.Answer{}, count: map[call]int{}}
	for _, m := range f.Nodes {
		for i := range m.Value {
			key := call{node: m.Key.Value}
			if item := m.Value[i].Item; item != nil {
				key.item = core.Nth(item.Value)
			}
			c.answers[key] = append(c.answers[key], &m.Value[i])
		}
	}
	return c
}

// next returns the answer to the next call of a node. Answers for the call's
// index go first; without one the answers for any index count on, over all
// indexes together. The last answer repeats.
func (c *calls) next(node string, index core.Ordinal) *mock.Answer {
	for _, key := range []call{{node, index}, {node, 0}} {
		if list := c.answers[key]; len(list) > 0 {
			at := min(c.count[key], len(list)-1)
			c.count[key]++
			return list[at]
		}
	}
	return &mock.Answer{}
}
