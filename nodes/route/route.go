package route

import (
	"context"
	"errors"
	"fmt"

	"github.com/wavefold/wavefold/core"
	"github.com/wavefold/wavefold/core/source"
	"github.com/wavefold/wavefold/core/value"
	"github.com/wavefold/wavefold/nodes/internal/setting"
)

// Kind is the kind "route".
var Kind = core.NewKind(core.KindOf[config]{
	Name:    "route",
	Doc:     "Chooses one of several edges by conditions in plain language that a model evaluates.",
	Compile: compile,
	Partial: true,
})

type config struct {
	Choices []choiceConfig                `wavefold:"choices,required" doc:"what to choose from"`
	Shows   source.Members[[]source.Text] `wavefold:"shows" doc:"ids of nodes whose results the model is shown, and which members of each"`
	Node    source.Text                   `wavefold:"node,fixed" doc:"the node that the question is about"`
	Model   source.Text                   `wavefold:"model,fixed" doc:"the model to ask"`
}

type choiceConfig struct {
	When   source.Text     `wavefold:"when" doc:"the condition, in plain language; absent: chosen when none fits"`
	Target source.Text     `wavefold:"target,fixed" doc:"the id of the node that it leads to; default its number"`
	Name   source.Text     `wavefold:"name" doc:"what people call it"`
	Pos    source.Position `wavefold:",pos"`
}

func compile(n *core.Node, _ core.Env, c *config) (core.Compiled, source.Diagnostics) {
	var ds source.Diagnostics
	h := &handler{model: c.Model.Value, node: c.Node.Value, fallback: core.NoRoute}
	for i, o := range c.Choices {
		target := o.Target.Value
		if target == "" {
			target = fmt.Sprint(i)
		}
		if o.When.Value == "" {
			if h.fallback != core.NoRoute {
				ds.Errorf(source.CodeBadValue, o.Pos, "%s: choices[%d]: choices[%d] has no condition either, and only one can be what is left", n.Subject(), i, h.fallback)
			}
			h.fallback = i
		}
		h.choices = append(h.choices, core.RouteChoice{Target: target, Name: o.Name.Value, When: o.When.Value})
	}
	made := core.Compiled{Handler: h, Models: true, AsksRouter: true, RouterModel: h.model}
	for _, m := range c.Shows {
		made.Nodes = append(made.Nodes, m.Key)
		h.shows = append(h.shows, visibleNode{m.Key.Value, source.Strings(m.Value)})
	}
	switch len(n.Writes) {
	case 0:
	case 1:
		h.write = n.Writes[0].Value
		made.Results = []value.Property{{Name: h.write, Type: value.PlainType(value.IntegerType)}}
	default:
		ds.Errorf(source.CodeBadValue, n.Writes[1].Pos, "%s: writes one number, so it has one field to write", n.Subject())
	}
	if ds = append(ds, setting.UnusedArgs(n, setting.NoArgs)...); ds.Failed(false) {
		return core.Compiled{Nodes: made.Nodes}, ds
	}
	return made, ds
}

// visibleNode is a node whose result a router sees. If members is empty, the router sees all members.
type visibleNode struct {
	node    string
	members []string
}

// handler is a compiled node. It is immutable.
type handler struct {
	choices  []core.RouteChoice
	fallback int
	shows    []visibleNode
	node     string
	model    string
	write    string // the field that gets the number, or "" if there is none
}

var errNoRouter = errors.New("no model is configured to choose the way on")

// Handle calls the router of the run.
func (h *handler) Handle(ctx context.Context, in core.Input) (core.Result, error) {
	if ctx.Err() != nil {
		return core.Result{}, context.Cause(ctx)
	}
	s := in.Shared()
	if dry, _ := s.Inputs.Get(core.InputDryRun); dry == true {
		return h.result(core.NoRoute, "dry run: no model was asked"), nil
	}
	r := core.RouterOf(ctx)
	if r == nil {
		return core.Result{}, core.FailRun(errNoRouter)
	}
	q := h.question(in, &s)
	a, err := r.Route(ctx, q)
	if err != nil {
		return core.Result{}, core.FailRun(fmt.Errorf("choosing the way on: %w", err))
	}
	return h.result(q.Chosen(a), a.Raw), nil
}

func (h *handler) result(choice int, note string) core.Result {
	r := core.Result{EdgeOutput: int64(choice), Note: note}
	if h.write != "" {
		r.Delta = map[string]any{h.write: int64(choice)}
	}
	return r
}

func (h *handler) question(in core.Input, s *core.Shared) core.RouteQuestion {
	q := core.RouteQuestion{Run: in.Run(), Node: h.node, Visit: 1, Model: h.model, Inputs: s.Inputs, View: value.NewObject(len(h.shows)),
		Choices: h.choices, Fallback: h.fallback}
	if q.Node == "" {
		q.Node = in.Node()
	}
	for _, n := range h.shows {
		if s.Nodes == nil {
			break
		}
		if status, v, ok := s.Nodes(n.node); ok && (status == core.Success || status == core.PartialSuccess) {
			q.View.Set(n.node, n.visible(v))
		}
	}
	for field, v := range s.View.All() {
		q.View.Set(field, v)
	}
	return q
}

// visible returns the part of a result that the router sees.
func (n *visibleNode) visible(result any) any {
	if len(n.members) == 0 {
		return result
	}
	return core.ViewOf(result, n.members)
}
