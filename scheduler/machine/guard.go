package machine

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// This file is where the machine runs code of the user's: what Go types of fields
// bring along on the way from JSON and to it. Reducers and merges are called by the
// ledger. It all goes through Options.Guard, so that a call that ends its goroutine,
// or never returns, does not take the machine with it. What is called sees values
// that were taken before and not the machine itself: it may be given up and still
// run. Where no field has such a type, nothing of this happens.

// guarded makes a call that may run code of the user's. What it sets may be looked at
// only if there is no error.
func (f *frame) guarded(what string, call func()) error {
	if !f.mayRunUserCode {
		call()
		return nil
	}
	return f.m.opts.Guard(what, call)
}

// test evaluates a condition. One that does not come to its end is false, like one on
// a value that has no JSON form.
func (f *frame) test(p *expressions.Program, env expressions.Env) bool {
	if !f.mayRunUserCode {
		return p.Test(env)
	}
	held, ok := freeze(p.FieldSlots(), p.Nodes(), env), new(bool)
	if err := f.guarded("the condition "+p.Source(), func() { *ok = p.Test(held) }); err != nil {
		return false
	}
	return *ok
}

// explain returns what a condition read.
func (f *frame) explain(p *expressions.Program, env expressions.Env) *value.Object {
	if !f.mayRunUserCode {
		return p.Explain(env)
	}
	held, o := freeze(p.FieldSlots(), p.Nodes(), env), new(*value.Object)
	if err := f.guarded("the condition "+p.Source(), func() { *o = p.Explain(held) }); err != nil {
		return nil
	}
	return *o
}

// itemsAt looks up the array that a source names; what says whose it is.
func (f *frame) itemsAt(what string, source *plan.Source, env expressions.Env) (Items, *core.Failure) {
	if !f.mayRunUserCode {
		return itemsAt(what, source, env)
	}
	fields, nodes := source.Reads()
	held := freeze(fields, nodes, env)
	var r struct {
		items   Items
		failure *core.Failure
	}
	if err := f.guarded(what+" "+source.Text.Value, func() { r.items, r.failure = itemsAt(what, source, held) }); err != nil {
		return Items{}, badInputs(err)
	}
	return r.items, r.failure
}

// startingValues checks the inputs of a run. Values of Go types may bring code along.
func startingValues(p *plan.Plan, inputs *value.Object, guard state.Guard) (start []any, given *value.Object, err error) {
	if guard == nil || !p.Foreign && plainValues(inputs) {
		return p.Start(inputs)
	}
	var r struct {
		start []any
		given *value.Object
		err   error
	}
	s := &r
	if err := guard("reading the starting values", func() { s.start, s.given, s.err = p.Start(inputs) }); err != nil {
		return nil, nil, err
	}
	return s.start, s.given, s.err
}

// plainValues reports whether all values are of types that bring no code along, as far as
// one look tells.
func plainValues(o *value.Object) bool {
	for _, v := range o.All() {
		switch v.(type) {
		case nil, bool, int, int64, float64, string:
		default:
			return false
		}
	}
	return true
}

// start resolves the inputs of a nested run.
func (f *frame) start(n *plan.Node, call *Call) (start []any, given *value.Object, err error) {
	type started struct {
		start []any
		given *value.Object
		err   error
	}
	r := new(started)
	resolve := func() {
		args, err := n.Args.Resolve(Captured{For: n, Call: call, Place: -1}, nil)
		if err != nil {
			r.err = err
			return
		}
		r.start, r.given, r.err = n.Frame.Plan.Start(args)
	}
	if err := f.guarded("the inputs of node "+f.name(n.ID), resolve); err != nil {
		return nil, nil, err
	}
	return r.start, r.given, r.err
}

// accept checks a value of a nested run against the field around it that it is for.
func (f *frame) accept(n *plan.Node, out *plan.Output, v any) (any, error) {
	var r struct {
		v   any
		err error
	}
	if err := f.guarded("output "+out.Name, func() { r.v, r.err = f.p.AcceptField(n, out.Outer, v) }); err != nil {
		return nil, err
	}
	return r.v, r.err
}

// shown returns the value of a field as events show it; what has no JSON form is the
// reason why.
func (f *frame) eventValue(field string, v any) any {
	var r struct {
		v   any
		err error
	}
	err := f.guarded("writing field "+field+" as JSON", func() { r.v, r.err = value.Canonical(v) })
	switch {
	case err != nil:
		return "<" + err.Error() + ">"
	case r.err != nil:
		return "<" + r.err.Error() + ">"
	}
	return r.v
}

// held is an environment whose fields and nodes were looked up before. What else there
// is in one does not change.
type frozenEnv struct {
	expressions.Env
	fields map[int]any
	nodes  map[int]NodeValue
}

func freeze(fields, nodes []int, env expressions.Env) *frozenEnv {
	h := &frozenEnv{Env: env, fields: make(map[int]any, len(fields)), nodes: make(map[int]NodeValue, len(nodes))}
	for _, slot := range fields {
		h.fields[slot] = env.Field(slot)
	}
	for _, id := range nodes {
		status, output := env.Node(id)
		h.nodes[id] = NodeValue{status, output}
	}
	return h
}

func (h *frozenEnv) Field(slot int) any             { return h.fields[slot] }
func (h *frozenEnv) Node(id int) (core.Status, any) { return h.nodes[id].Status, h.nodes[id].Output }
