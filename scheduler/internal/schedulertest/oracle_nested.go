package schedulertest

import (
	"fmt"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/value"
)

// arguments resolves the arguments of an execution: strings of the form $.field and $item.
// An argument whose path has no value is omitted.
func arguments(a *attempt) *value.Object {
	if a.node.Args == nil {
		return nil
	}
	out := value.NewObject(len(a.node.Args.Keys))
	for i, k := range a.node.Args.Keys {
		text, _ := a.node.Args.Values[i].Scalar.(string)
		v := value.Missing
		if field, ok := strings.CutPrefix(text, "$."); ok {
			v = a.view.get(field)
		} else if text == "$item" && a.index != 0 {
			v = a.item
		}
		if !value.IsMissing(v) {
			out.Set(k.Value, v)
		}
	}
	return out
}

// nested runs another workflow instead of a handler: the arguments are its inputs, and its
// fields become the writes.
func (o *oracle) nested(a *attempt) (core.Result, *core.Failure) {
	kind, _ := o.reg.Kind(a.node.Kind.Value)
	compiled, _ := kind.Compile(a.node, core.Env{})
	inputs := map[string]any{}
	for k, v := range arguments(a).All() {
		inputs[k] = v
	}
	for _, f := range compiled.Frame.Workflow.Fields {
		if v, ok := inputs[f.Name.Value]; ok && f.Type.Check(v) != nil {
			return core.Result{}, &core.Failure{Class: core.ClassInput, Message: f.Name.Value, Permanent: true}
		}
	}
	if t := a.node.Timeout; t != nil && expiring(t.Value, a.attempts) {
		return core.Result{}, &core.Failure{Class: core.ClassTimeout, Message: a.node.ID.Value}
	}
	inner := newOracle(compiled.Frame.Workflow, inputs)
	inner.reg, inner.void, inner.choices = o.reg, o.void, o.choices
	inner.path = o.path + a.node.ID.Value
	if i, ok := a.index.Get(); ok {
		inner.path += fmt.Sprintf("[%d]", i)
	} else if a.loop != "" {
		inner.path += fmt.Sprintf("[%d]", a.round)
	}
	inner.path += "/"
	inner.runAll()
	return inner.result(compiled.Frame)
}

// result returns the result of a nested run for the node that contains it.
func (o *oracle) result(f *core.Frame) (core.Result, *core.Failure) {
	res := core.Result{Delta: map[string]any{}}
	switch o.runStatus() {
	case core.RunFailed:
		return core.Result{}, &core.Failure{Class: o.firstClass(), Message: "the nested run failed", Node: o.path}
	case core.RunPartial:
		res.Status = core.PartialSuccess
	}
	for outer, inner := range f.Outputs {
		if v := o.state.get(inner); !value.IsMissing(v) {
			res.Delta[outer] = v
		}
	}
	return res, nil
}

// firstClass returns the class of the first failure, in canonical order, that failed the
// run.
func (o *oracle) firstClass() string {
	var first *unit
	for _, u := range o.units {
		if u.status == core.Fail && !o.excused(u) && (first == nil || u.level < first.level) {
			first = u
		}
	}
	if first == nil {
		return core.ClassMerge // no node failed, but a value is lost
	}
	return first.class
}

// evaluate evaluates a condition on a state; $nodes.ID.status is the status of a node that
// is resolved.
func (o *oracle) evaluate(condition string, s values) bool {
	return evaluate(condition, func(path string) any {
		if id, ok := strings.CutPrefix(path, "$nodes."); ok {
			return o.records[id].Status.String()
		}
		if v := s.get(path); !isMergeFailed(v) {
			return v
		}
		return value.Missing
	})
}
