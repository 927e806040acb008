package machine

import (
	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/expressions"
	"github.com/wavefold/wavefold/scheduler/plan"
	"github.com/wavefold/wavefold/state"
)

// guarded makes a call that may run user code: methods of the Go types of fields that are called
// when values are converted to and from JSON. The call goes through Options.Guard, so that code
// that panics, ends its goroutine or never returns does not affect the machine. Since the code
// may still run when the guard has given it up, it must see only values that were captured
// before, and not the machine. The variables that call sets may be read only if the error is nil.
//
// Graphs without such types are called directly.
func (f *frame) guarded(what string, call func()) error {
	if !f.mayRunUserCode {
		call()
		return nil
	}
	return f.m.opts.Guard(what, call)
}

// test evaluates a condition. A condition that does not complete is false, as is one on a value
// without a JSON form.
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

// explain returns the values that a condition has read.
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

// itemsAt evaluates a source, which must be an array; what names the setting in errors.
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

// startingValues checks the inputs of a run. Their Go types may have methods, which are user
// code.
func startingValues(p *plan.Plan, inputs *value.Object, guard state.Guard) (start []any, given *value.Object, err error) {
	if guard == nil || !p.RunsUserCode && plainValues(inputs) {
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

// plainValues reports whether all values are of basic types, which run no user code.
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

// start evaluates the inputs of a nested run.
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

// accept checks a value of a nested run against the field of the outer run that receives it.
func (f *frame) accept(n *plan.Node, out *plan.Output, v any) (any, error) {
	var r struct {
		v   any
		err error
	}
	if err := f.guarded("output "+out.Name, func() { r.v, r.err = f.p.AcceptOutput(n, out, v) }); err != nil {
		return nil, err
	}
	return r.v, r.err
}

// eventValue returns the value of a field for events. It is an error message if the value has no
// JSON form.
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

// frozenEnv is an environment whose fields and nodes were looked up before. The rest of the
// environment is constant.
type frozenEnv struct {
	expressions.Env
	fields map[int]any
	nodes  map[int]frozenNode
}

type frozenNode struct{ status, output any }

func freeze(fields, nodes []int, env expressions.Env) *frozenEnv {
	h := &frozenEnv{Env: env, fields: make(map[int]any, len(fields)), nodes: make(map[int]frozenNode, len(nodes))}
	for _, slot := range fields {
		h.fields[slot] = env.Field(slot)
	}
	for _, id := range nodes {
		status, output := env.Node(id)
		h.nodes[id] = frozenNode{status, output}
	}
	return h
}

func (h *frozenEnv) Field(slot int) any { return h.fields[slot] }

func (h *frozenEnv) Node(id int) (status, output any) {
	n := h.nodes[id]
	return n.status, n.output
}
