package rehearse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/formats/mock"
	"github.com/wavefold/wavefold/scheduler/machine"
	"github.com/wavefold/wavefold/scheduler/plan"
)

// outcome converts an answer to an outcome for the machine, after the same checks as for
// the result of a handler.
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
		_ = res.Status.UnmarshalText([]byte(s)) // the file has been checked for other values
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

// routing returns the routing fields of an answer, or nil if it has none.
func routing(a *mock.Answer) *core.Routing {
	if a.PreferredLabel.Value == "" && a.SuggestedNext == nil && a.ContextUpdates == nil && a.Evals == nil && a.Category.Value == "" && !bySteps(a) {
		return nil
	}
	r := &core.Routing{PreferredLabel: a.PreferredLabel.Value, SuggestedNext: source.Strings(a.SuggestedNext), Context: map[string]any{},
		Category: core.Category(a.Category.Value)}
	stepRouting(r, a)
	for _, m := range a.ContextUpdates {
		r.Context[m.Key.Value] = m.Value.Plain()
	}
	for _, m := range a.Evals {
		if r.Evals == nil {
			r.Evals = value.NewObject(len(a.Evals))
		}
		r.Evals.Set(m.Key.Value, eval(m.Key.Value, &m.Value))
	}
	return r
}

// eval returns a check in the form that routers see.
func eval(name string, e *mock.Eval) *value.Object {
	kind := e.Kind.Value
	if kind == "" {
		kind = "value"
	}
	o := value.ObjectOf("name", name, "kind", kind, "pass", e.Pass)
	if e.Reasoning.Value != "" {
		o.Set("reasoning", e.Reasoning.Value)
	}
	return o
}

// write sends the output data of a node along its edges and writes it like a node that runs
// a model: each field gets the member with its name. The only field of a node gets all of
// the data if there is no such member, and a field that the node's schema does not require
// keeps its value. write returns a description of what is missing, or "" if nothing is
// missing.
func write(res *core.Result, n *plan.Node, data any) string {
	res.EdgeOutput, res.HasEdgeOutput = data, true
	o, _ := data.(*value.Object)
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
func optional(schema *source.Value, name string) bool {
	required, _ := schema.Get("required").Plain().([]any)
	return schema.Get("properties").Get(name) != nil && !slices.Contains(required, any(name))
}

// category returns the category of a scripted error: transient if it allows another
// attempt.
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

// answersInside reports whether a mock file answers for a node inside the nested workflow
// that the node id runs.
func answersInside(f *mock.File, id string) bool {
	return answersWhere(f, func(path string) bool {
		parts := strings.Split(path, "/")
		return slices.Contains(parts[:len(parts)-1], id)
	})
}

// answersFor reports whether a mock file answers for a node with that id, at any depth.
func answersFor(f *mock.File, id string) bool {
	return answersWhere(f, func(path string) bool { return path[strings.LastIndexByte(path, '/')+1:] == id })
}

// scripted lists the answers of all nodes from all sections.
func scripted(f *mock.File) source.Members[mock.Answers] {
	if f.Model == nil {
		return f.Nodes
	}
	return slices.Concat(f.Nodes, f.Model.Run)
}

func answersWhere(f *mock.File, path func(string) bool) bool {
	return slices.ContainsFunc(scripted(f), func(m source.Member[mock.Answers]) bool { return path(m.Key.Value) })
}

// call is a node with one index or one visit; 0 means any.
type call struct {
	node  string
	item  core.Ordinal
	visit int
}

// script holds the answers of a file, and counts the calls that they have answered.
type script[T any] struct {
	answers map[call][]*T
	count   map[call]int
	missing *T // the answer to calls for which the file has none
}

func newScript[T any](missing *T) *script[T] {
	return &script[T]{answers: map[call][]*T{}, count: map[call]int{}, missing: missing}
}

func (s *script[T]) add(at call, answer *T) { s.answers[at] = append(s.answers[at], answer) }

// next returns the answer to the next call of a node. Answers for the call's index or visit
// take precedence; if there are none, the answers without an index or visit are used in
// order, counted over all calls. The last answer repeats.
func (s *script[T]) next(at call) *T {
	for _, key := range []call{at, {node: at.node}} {
		if list := s.answers[key]; len(list) > 0 {
			n := min(s.count[key], len(list)-1)
			s.count[key]++
			return list[n]
		}
	}
	return s.missing
}

// newCalls returns the answers of nodes. A node without answers succeeds without writes.
func newCalls(f *mock.File) *script[mock.Answer] {
	calls := newScript(&mock.Answer{})
	for _, m := range scripted(f) {
		for i := range m.Value {
			key := call{node: m.Key.Value}
			if item := m.Value[i].Item; item != nil {
				key.item = core.Nth(item.Value)
			}
			if visit := m.Value[i].Visit; visit != nil {
				key.visit = visit.Value
			}
			calls.add(key, &m.Value[i])
		}
	}
	return calls
}
