package rehearse

import (
	"context"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/scheduler/machine"
)

// bySteps reports whether an answer has keys for walks by steps.
func bySteps(a *mock.Answer) bool {
	return a.ToolCalls != nil || a.ToolLoop != nil || a.Guards != nil || a.NextNode.Value != "" || a.Mutations != nil
}

// stepRouting sets what an answer says in a walk by steps.
func stepRouting(r *core.Routing, a *mock.Answer) {
	r.ToolCalls, r.ToolLoop, r.Next = source.Strings(a.ToolCalls), a.ToolLoop, a.NextNode.Value
	if a.Guards != nil {
		r.GuardsPassed, r.GuardsFailed = source.Strings(a.Guards.Passed), source.Strings(a.Guards.Failed)
	}
	for _, m := range a.Mutations {
		change := core.Mutation{Action: m.Action.Value, Node: m.Node.Value, From: m.From.Value, To: m.To.Value}
		change.Config, _ = m.Config.Plain().(*value.Object)
		r.Mutations = append(r.Mutations, change)
	}
}

// addedNode reports whether an answer of a file adds a node of that name to the graph of the run.
func addedNode(f *mock.File, name string) bool {
	isName := func(config *source.Value) bool { return config.Get("name").Plain() == any(name) }
	for _, m := range scripted(f) {
		for i := range m.Value {
			a := &m.Value[i]
			for _, change := range a.Mutations {
				if isName(change.Config) {
					return true
				}
			}
			for _, output := range []*source.Value{a.Output, a.EdgeOutput} {
				if isName(output.Get(core.ActionConfig)) {
					return true
				}
			}
		}
	}
	return false
}

// newVerdicts returns the answers of conditions, by name.
func newVerdicts(f *mock.File) *script[mock.Verdict] {
	s := newScript[mock.Verdict](nil)
	for _, m := range f.Conditions {
		for i := range m.Value {
			s.add(call{node: m.Key.Value}, &m.Value[i])
		}
	}
	return s
}

// neverAsked is a condition whose answers a file has.
func neverAsked(*core.VisitResult) bool { return false }

// functions answers conditions that are Go functions, from the file or by calling them, and calls the
// hooks of nodes that were built in Go.
func (d *driver) functions(c *machine.Command) machine.Outcome {
	f := c.Call.Functions
	switch {
	case f.Before:
		return d.before(c)
	case f.After:
		return d.after(c)
	}
	answers := make([]byte, len(f.Edges))
	for i, edge := range f.Edges {
		if v := d.verdicts.next(call{node: c.Plan.CondText(edge)}); v != nil {
			answers[i] = answerOf(v.Holds, v.Panics)
			continue
		}
		visit, holds := f.Visit, false
		panicked := !safely(func() { holds = c.Plan.Function(edge)(&visit) })
		answers[i] = answerOf(holds, panicked)
	}
	return machine.Outcome{Route: &machine.Route{Visited: &machine.Visited{Answers: string(answers)}}}
}

func answerOf(holds, panicked bool) byte {
	switch {
	case panicked:
		return machine.AnswerPanicked
	case holds:
		return machine.AnswerTrue
	}
	return machine.AnswerFalse
}

// safely calls a function and reports whether it returned without a panic.
func safely(f func()) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	f()
	return true
}

// before calls the hook Before of a node. A hook that fails is ignored, as in a run.
func (d *driver) before(c *machine.Command) (o machine.Outcome) {
	s, err := machine.Shared(c.Plan, c.Node, c.Call, -1, func() bool { return false })
	if err != nil {
		return o
	}
	state := core.NewHookState(func(name string) (any, bool) {
		if v, ok := s.View.Get(name); ok || !c.Plan.Open() {
			return v, ok
		}
		whole, _ := s.View.Get(core.ContextField)
		members, _ := whole.(*value.Object)
		return members.Get(name)
	})
	if !safely(func() { err = c.Node.Decl.Before(context.Background(), state) }) || err != nil {
		return o
	}
	names, values := state.Changes()
	update := value.NewObject(len(names))
	for _, name := range names {
		v, err := value.Canonical(values[name])
		if err != nil {
			return o
		}
		update.Set(name, v)
	}
	if writes, err := c.Plan.AcceptUpdate(update); err == nil {
		o.Writes = writes
	}
	return o
}

// after calls the hook After of a node.
func (d *driver) after(c *machine.Command) (o machine.Outcome) {
	visit := c.Call.Functions.Visit
	var err error
	if !safely(func() { err = c.Node.Decl.After(context.Background(), &visit) }) || err != nil {
		return o
	}
	v, err := value.Canonical(visit.Output)
	if err != nil {
		return o
	}
	o.Output, o.HasOutput, o.Failure = v, v != nil || c.Call.Functions.Visit.Output != nil, visit.Failure
	o.Route = &machine.Route{Visited: machine.VisitedOf(&visit)}
	return o
}
