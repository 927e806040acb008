package rehearse

import (
	"fmt"
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
		return failure(core.Failure{Class: core.ClassError, Message: a.Error.Message.Value, Permanent: !a.Error.Retryable, Category: category(a.Error)})
	}
	res := core.Result{Delta: make(map[string]any, len(a.Delta)), Routing: routing(a)}
	for _, w := range a.Delta {
		res.Delta[w.Key.Value] = w.Value.Plain()
	}
	if a.Output != nil {
		if missing := write(&res, n, a.Output.Plain()); missing != "" {
			return failure(core.Failure{Class: core.ClassWrite, Message: missing})
		}
	}
	if a.EdgeOutput != nil {
		res.EdgeOutput, res.HasEdgeOutput = a.EdgeOutput.Plain(), true
	}
	if s := a.Status.Value; s != "" {
		_ = res.Status.UnmarshalText([]byte(s)) // the file has only such words
	}
	res.Note = a.Note.Value
	if res.Status == core.Fail && res.Note == "" {
		res.Note = "the mock answers with status fail"
	}
	return accepted(&res, p, n)
}

func accepted(res *core.Result, p *plan.Plan, n *plan.Node) machine.Outcome {
	var o machine.Outcome
	o.Accept(p, n, res)
	return o
}

// routing is what an answer says of the way on, nil for nothing.
func routing(a *mock.Answer) *core.Routing {
	if a.PreferredLabel.Value == "" && a.SuggestedNext == nil && a.ContextUpdates == nil && a.Evals == nil && a.Category.Value == "" {
		return nil
	}
	r := &core.Routing{PreferredLabel: a.PreferredLabel.Value, SuggestedNext: core.Strings(a.SuggestedNext), Context: map[string]any{},
		Category: core.Category(a.Category.Value)}
	for _, m := range a.ContextUpdates {
		r.Context[m.Key.Value] = m.Value.Plain()
	}
	for _, m := range a.Evals {
		if r.Evals == nil {
			r.Evals = core.NewObject(len(a.Evals))
		}
		r.Evals.Set(m.Key.Value, eval(m.Key.Value, &m.Value))
	}
	return r
}

// eval is a check as routers are shown it.
func eval(name string, e *mock.Eval) *core.Object {
	kind := e.Kind.Value
	if kind == "" {
		kind = "value"
	}
	o := core.ObjectOf("name", name, "kind", kind, "pass", e.Pass)
	if e.Reasoning.Value != "" {
		o.Set("reasoning", e.Reasoning.Value)
	}
	return o
}

// write sends the data that a node comes to, and writes it as a node does that a model
// runs: a field gets the member of its name; the only field of a node gets all of it when
// there is no such member, and one that the node's schema does not require keeps its value.
// The text is what is missing, "" for nothing.
func write(res *core.Result, n *plan.Node, data any) string {
	res.EdgeOutput, res.HasEdgeOutput = data, true
	o, _ := data.(*core.Object)
	for _, name := range n.Decl.Writes {
		switch v, ok := o.Get(name.Value); {
		case ok:
			res.Delta[name.Value] = v
		case o != nil && optional(n.Decl.Config.Get("schema"), name.Value):
		case len(n.Decl.Writes) == 1:
			res.Delta[name.Value] = data
		default:
			return fmt.Sprintf("the output has no member %q, which the node writes", name.Value)
		}
	}
	return ""
}

// optional reports whether a schema in the document declares a member without requiring it.
func optional(schema *core.Value, name string) bool {
	required, _ := schema.Get("required").Plain().([]any)
	return schema.Get("properties").Get(name) != nil && !slices.Contains(required, any(name))
}

// category is that of a scripted error: one that may be tried again says so.
func category(e *mock.Error) core.Category {
	switch {
	case e.Category.Value == string(core.Deterministic):
		return ""
	case e.Category.Value != "":
		return core.Category(e.Category.Value)
	case e.Retryable:
		return core.TransientInfra
	}
	if c := core.CategoryOfText(e.Message.Value); c != core.Deterministic {
		return c
	}
	return ""
}

func failure(f core.Failure) machine.Outcome { return machine.Outcome{Failure: &f} }

// answersInside reports whether a mock file answers for a node inside the
// nested workflow that the node id runs.
func answersInside(f *mock.File, id string) bool {
	return answersWhere(f, func(path string) bool {
		parts := strings.Split(path, "/")
		return slices.Contains(parts[:len(parts)-1], id)
	})
}

// answersFor reports whether a mock file answers for a node of that id, at any
// depth.
func answersFor(f *mock.File, id string) bool {
	return answersWhere(f, func(path string) bool { return path[strings.LastIndexByte(path, '/')+1:] == id })
}

// scripted lists the answers of all nodes, whichever section they stand in.
func scripted(f *mock.File) core.Members[mock.Answers] {
	if f.Model == nil {
		return f.Nodes
	}
	return slices.Concat(f.Nodes, f.Model.Run)
}

func answersWhere(f *mock.File, path func(string) bool) bool {
	return slices.ContainsFunc(scripted(f), func(m core.Member[mock.Answers]) bool { return path(m.Key.Value) })
}

// calls counts the calls of each node, to find the next answer.
type calls struct {
	answers map[call][]*mock.Answer
	count   map[call]int
}

// call is a node with one index or one visit, or with 0 for any.
type call struct {
	node  string
	item  core.Ordinal
	visit int
}

func newCalls(f *mock.File) *calls {
	c := &calls{answers: map[call][]*mock.Answer{}, count: map[call]int{}}
	for _, m := range scripted(f) {
		for i := range m.Value {
			key := call{node: m.Key.Value}
			if item := m.Value[i].Item; item != nil {
				key.item = core.Nth(item.Value)
			}
			if visit := m.Value[i].Visit; visit != nil {
				key.visit = visit.Value
			}
			c.answers[key] = append(c.answers[key], &m.Value[i])
		}
	}
	return c
}

// next returns the answer to the next call of a node. Answers for the call's
// index or visit go first; without one the answers for any count on, over all of them
// together. The last answer repeats.
func (c *calls) next(at call) *mock.Answer {
	for _, key := range []call{at, {node: at.node}} {
		if list := c.answers[key]; len(list) > 0 {
			at := min(c.count[key], len(list)-1)
			c.count[key]++
			return list[at]
		}
	}
	return &mock.Answer{}
}
