package machine

import (
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// mutate makes the changes of the graph that a visit requests: first the changes that its code
// requests, in order, then the action in its output. A change that is not possible is rejected.
func (t *bySteps) mutate(v *visit, o *Outcome) {
	if o.Route != nil && o.Route.Visited != nil {
		for i := range o.Route.Visited.Mutations {
			m := &o.Route.Visited.Mutations[i]
			t.emitMutation(v, m, nil, t.change(m))
		}
	}
	if !o.HasOutput || t.w.Steps.Fixed {
		return
	}
	output, _ := o.Output.(*value.Object)
	if action, ok := output.Get(core.GraphAction); ok {
		t.act(v, action, output)
	}
}

var (
	errFixed = errors.New("the graph of this workflow cannot be changed")
	errCap   = errors.New("the run has made as many changes of its graph as it may")
)

// mayChange returns an error if the run must not change its graph any more.
func (t *bySteps) mayChange() error {
	switch {
	case t.w.Steps.Fixed:
		return errFixed
	case t.Accepted >= t.w.Steps.MaxMutations:
		return errCap
	}
	return nil
}

// change makes a change of the graph, and returns an error if it is rejected.
func (t *bySteps) change(m *core.Mutation) error {
	if err := t.mayChange(); err != nil {
		return err
	}
	p, err := t.f.p.Changed(*m, t.f.m.opts.AddedKinds)
	if err != nil {
		return err
	}
	t.use(p)
	t.Accepted++
	t.Changes = p.Changes()
	t.grow()
	return nil
}

// act performs the action in an output.
func (t *bySteps) act(v *visit, action any, output *value.Object) {
	name, isText := action.(string)
	m := core.Mutation{Action: name}
	text := func(key string) (string, error) {
		s, ok := member(output, key).(string)
		if !ok || s == "" {
			return s, fmt.Errorf("%s has no %s", name, key)
		}
		return s, nil
	}
	var err, err2 error
	var update *value.Object
	switch {
	case !isText:
		err = fmt.Errorf("%s is %s, want a string", core.GraphAction, value.TypeName(action))
		m.Action = value.TypeName(action)
	case name == core.MutationSkipTo:
		if m.To, err = text(core.ActionTarget); err == nil {
			err = t.jump(m.To)
		}
	case name == core.MutationRetryWith:
		m.To = t.id(v.Node)
		update, err = t.retryWith(v, output)
	case name == core.MutationAddEdge:
		m.From, err = text(core.ActionFrom)
		if m.To, err2 = text(core.ActionTo); err == nil {
			err = err2
		}
		if err == nil {
			err = t.change(&m)
		}
	case name == core.MutationAddNode:
		var ok bool
		if m.Config, ok = member(output, core.ActionConfig).(*value.Object); !ok {
			err = fmt.Errorf("%s has no %s", name, core.ActionConfig)
		} else {
			err = t.change(&m)
		}
	default:
		err = fmt.Errorf("there is no action %q", name)
	}
	var shown any
	if update != nil {
		shown = update
	}
	t.emitMutation(v, &m, shown, err)
}

// member returns a member of an output, or nil if there is none.
func member(o *value.Object, key string) any {
	v, _ := o.Get(key)
	return v
}

// jump accepts a jump to a node or the end.
func (t *bySteps) jump(to string) error {
	if err := t.mayChange(); err != nil {
		return err
	}
	if _, ok := t.f.p.Lookup(to); !ok && to != core.EndNode {
		return fmt.Errorf("there is no node %q", to)
	}
	t.Accepted++
	t.Finished.Jump = to
	return nil
}

// retryWith accepts an update of the state after which the node is visited again. The update is made
// when the writes of the visit have been made.
func (t *bySteps) retryWith(v *visit, output *value.Object) (*value.Object, error) {
	update, ok := member(output, core.ActionUpdate).(*value.Object)
	if !ok {
		return nil, fmt.Errorf("%s has no %s that is an object", core.MutationRetryWith, core.ActionUpdate)
	}
	if err := t.mayChange(); err != nil {
		return update, err
	}
	if _, err := t.f.p.AcceptUpdate(update); err != nil {
		return update, err
	}
	if fail := t.rejection(t.updates(update)); fail != nil {
		return update, errors.New(fail.Message)
	}
	t.Accepted++
	t.Finished.Jump, t.Finished.Update = t.id(v.Node), update
	return update, nil
}

// updates returns the writes of an update that was accepted.
func (t *bySteps) updates(update *value.Object) []plan.Write {
	writes, _ := t.f.p.AcceptUpdate(update)
	return writes
}
