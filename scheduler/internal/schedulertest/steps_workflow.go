package schedulertest

import (
	"context"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
)

// Workflow returns the graph as a workflow with its handlers, and the registry that it runs
// with.
func (g *StepsGraph) Workflow() (*core.Workflow, *core.Registry) {
	reg := core.NewRegistry()
	handler := core.HandlerFunc(func(_ context.Context, in core.Input) (core.Result, error) {
		inner, n := g.at(in.Node())
		v := inner.visit(n, in.Node(), in.Visit())
		v.seen(seenM(in), len(in.Conversation()))
		return v.result(in.Attempt())
	})
	for _, kind := range []string{"note", "other", "forbidden"} {
		_ = reg.AddTool(kind, handler)
	}
	nested := nestedKind{}
	reg.AddKind(nested)
	return g.workflow(reg, handler, nested), reg
}

// workflow returns the graph as a workflow, which may be nested.
func (g *StepsGraph) workflow(reg *core.Registry, handler core.Handler, nested nestedKind) *core.Workflow {
	w := &core.Workflow{Name: text("steps"), Mode: core.ModeWalk, Walk: &core.Walk{Router: text(core.RouterSteps), Entry: text(g.Nodes[0].ID),
		MaxSteps: number(g.MaxSteps), MaxVisits: number(g.MaxNode)}}
	if g.MaxMutations >= 0 {
		w.Walk.MaxMutations = &source.Int{Value: g.MaxMutations}
	}
	if g.Fixed {
		w.Walk.FixedGraph = &source.Located[bool]{Value: true}
	}
	if g.Schema {
		integer := &value.Type{Kind: value.IntegerType}
		w.Fields = []core.FieldDecl{{Name: text("m"), Type: integer, Default: value.Missing}, {Name: text("sum"), Type: integer, Merge: text("sum"), Default: value.Missing}}
	}
	for _, n := range g.Nodes {
		out := &core.Node{ID: text(n.ID), Kind: text("fn"), Handler: handler, Reads: texts([]string{"m"}), Writes: texts(n.Writes), HasWrites: true,
			Critical: n.Critical, DefaultNext: text(n.Default), MaxVisits: number(n.MaxVisits)}
		if n.Attempts > 1 {
			out.OnError = policy("retry", n.Attempts, "")
		}
		for _, t := range n.Transitions {
			out.Transitions = append(out.Transitions, core.Transition{Key: text(t.Key), To: text(t.To)})
		}
		n.hooks(g, out)
		n.nest(out, reg, handler, nested)
		w.Nodes = append(w.Nodes, out)
	}
	for _, e := range g.Edges {
		out := &core.Edge{From: text(e.From), To: text(e.To), Priority: source.Int{Value: e.Priority}}
		out.When, out.Cond = g.condition(e.Cond, reg)
		w.Edges = append(w.Edges, out)
	}
	for _, l := range g.Loops {
		out := &core.LoopUntil{Node: text(l.Node), ExitTo: text(l.Exit), MaxIterations: number(l.Max)}
		out.Until, out.Cond = g.condition(l.Until, reg)
		w.Walk.LoopUntil = append(w.Walk.LoopUntil, out)
	}
	return w
}

// condition returns a condition as an expression, or in its other forms.
func (g *StepsGraph) condition(c StepsCond, reg *core.Registry) (*source.Text, *core.Cond) {
	predicate := func(r *core.VisitResult) bool {
		holds, panics := g.answer(c.ID, r.Node, r.Visit)
		if panics {
			panic("wanted panic")
		}
		return holds
	}
	switch c.Form {
	case "data":
		out := &core.Cond{Kind: text(c.Kind), Key: text(c.Key), Value: c.Value}
		if c.Min != core.DefaultConfidence {
			out.Min = &source.Located[float64]{Value: c.Min}
		}
		return nil, out
	case "function":
		return nil, &core.Cond{Func: predicate}
	case "both":
		return nil, &core.Cond{Func: predicate, Ref: text(c.ID)}
	case "named":
		_ = reg.AddCondition(c.ID, predicate) // it may be used by several edges
		return nil, &core.Cond{Ref: text(c.ID)}
	case "expression":
		return condition(c.expression()), nil
	}
	return nil, nil
}

// expression returns the condition as an expression.
func (c *StepsCond) expression() string {
	switch c.Kind {
	case core.CondToolCalled:
		return "length($tool_calls) > 0"
	case core.CondNoToolCall:
		return "length($tool_calls) == 0"
	case core.CondOutput:
		return fmt.Sprintf("$output.%s == %s", c.Key, value.JSON(c.Value))
	case core.CondError:
		return `$error != ""`
	case core.CondConfidence:
		return fmt.Sprintf("$output.confidence >= %v", c.Min)
	case core.CondGuardFailed:
		return "length($guards_failed) > 0"
	case "visits":
		return fmt.Sprintf("$visits == %d", c.Value)
	}
	return fmt.Sprintf("$.%s == %d", c.Key, c.Value)
}
