package guard

import (
	"context"
	"slices"
	"strings"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/setting"
	"github.com/wavefold/wavefold/nodes/internal/templates"
)

// Kind is the kind "guard".
var Kind = core.NewKind(core.KindOf[config]{
	Name:    "guard",
	Doc:     "Checks conditions, and lets the graph continue according to the result.",
	Compile: compile,
	Partial: true,
})

type config struct {
	Check  *source.Text  `wavefold:"check" doc:"the condition, an expression; either this or checks"`
	Checks []checkConfig `wavefold:"checks" doc:"several conditions: [{name, expr}]"`
	OnPass source.Text   `wavefold:"on_pass,fixed" doc:"in a walk by steps: the next node if all conditions hold"`
	OnFail source.Text   `wavefold:"on_fail,fixed" doc:"in a walk by steps: the next node if one does not hold"`
}

type checkConfig struct {
	Name source.Text `wavefold:"name,required,fixed" doc:"what the check is called"`
	Expr source.Text `wavefold:"expr,required" doc:"the condition, an expression"`
}

// nameOfCheck is the name of the only check of a node with the key check.
const nameOfCheck = "check"

func compile(n *core.Node, env core.Env, c *config) (core.Compiled, source.Diagnostics) {
	var ds source.Diagnostics
	h := &handler{onPass: c.OnPass.Value, onFail: c.OnFail.Value}
	texts := templates.NewSet(n, env)
	list := c.Checks
	switch {
	case c.Check != nil && c.Checks != nil:
		ds.Errorf(source.CodeBadValue, c.Check.Pos, "%s: check and checks exclude each other", n.Subject())
	case c.Check != nil:
		list = []checkConfig{{source.At(nameOfCheck, c.Check.Pos), *c.Check}}
	case len(c.Checks) == 0 && n.Config.Whole() && !n.Lost.Any("check", "checks"):
		ds.Errorf(source.CodeMissingKey, n.Pos, `%s: key "check" or "checks" is missing`, n.Subject())
	}
	for _, k := range list {
		if slices.ContainsFunc(h.checks, func(o check) bool { return o.name == k.Name.Value }) {
			ds.Errorf(source.CodeDuplicate, k.Name.Pos, "%s: checks: two checks are called %s", n.Subject(), k.Name.Value)
		}
		key := nameOfCheck
		if c.Check == nil {
			key = "checks: " + k.Name.Value
		}
		h.checks = append(h.checks, check{k.Name.Value, texts.Condition(k.Expr, key)})
	}
	into, found := setting.TargetOf(n, source.Text{}, n.Subject())
	h.write = into.Field
	ds = append(append(ds, texts.Found...), found...)
	made := core.Compiled{Reads: texts.Reads, Nodes: texts.Nodes, Next: next(c)}
	if ds.Failed(false) {
		return made, ds
	}
	if !env.Steps {
		ds = append(ds, setting.NoEffect(n, "a graph that is not a walk by steps", "on_pass", "on_fail")...)
	}
	ds = append(ds, setting.UnusedArgs(n, setting.NoArgs)...)
	made.Handler, made.Bookkeeping, made.Results = h, true, into.Type(value.ObjectType)
	return made, ds
}

// next returns the nodes that the configuration names.
func next(c *config) []source.Text {
	return slices.DeleteFunc([]source.Text{c.OnPass, c.OnFail}, func(t source.Text) bool { return t.Value == "" })
}

type check struct {
	name string
	when *templates.Condition
}

// handler is a compiled node. It is immutable.
type handler struct {
	checks         []check
	onPass, onFail string
	write          string // the field that gets the result, or "" if there is none
}

// Handle evaluates the conditions.
func (h *handler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if ctx.Err() != nil {
		return core.Result{}, context.Cause(ctx)
	}
	routing, each := &core.Routing{Next: h.onPass}, value.NewObject(len(h.checks))
	for _, c := range h.checks {
		holds := c.when.Test(in)
		each.Set(c.name, holds)
		if holds {
			routing.GuardsPassed = append(routing.GuardsPassed, c.name)
		} else {
			routing.GuardsFailed = append(routing.GuardsFailed, c.name)
		}
	}
	failed := len(routing.GuardsFailed) > 0
	r := core.Send(value.ObjectOf("passed", !failed, "failed", failed, "checks", each))
	if r.Routing = routing; failed {
		routing.Next = h.onFail
		r.Note = "failed: " + strings.Join(routing.GuardsFailed, ", ")
	}
	if h.write != "" {
		r.Delta = map[string]any{h.write: r.EdgeOutput}
	}
	return r, nil
}
